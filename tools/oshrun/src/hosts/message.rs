//! What the `oshrun` that a user starts (the head) and the ones on the hosts (its daemons) say to each other.

use super::pack::{Bytes, Field, packed};
use pellucid_profile::live::{PeNow, State};
use pellucid_profile::op;
use pellucid_profile::segment::{Condition, CurrentOp, Phase};
use std::ffi::OsString;

/// Changes with every change of the messages. The first message of a daemon keeps its form for ever.
pub const PROTOCOL: u32 = 10;
/// Version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

packed! {
    /// A value of a PE, for [`pellucid_core::bootstrap::wireup`].
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct KeyValue {
        /// Whose.
        pub pe: u32,
        /// Its name.
        pub key: String,
        /// The value.
        pub value: Bytes,
    }
}

packed! {
    /// What a daemon is to do.
    #[derive(Debug, Clone, PartialEq, Eq, Default)]
    pub struct Order {
        /// PEs of the job.
        pub npes: u32,
        /// First PE of this host.
        pub first: u32,
        /// PEs of this host.
        pub pes: u32,
        /// The host, as the user calls it.
        pub host: String,
        /// All hosts, as [`pellucid_core::bootstrap::talk::Reply::Hosts`] tells them.
        pub hosts: Vec<(u32, u32)>,
        /// The program, as given.
        pub program: OsString,
        /// Its arguments.
        pub args: Vec<OsString>,
        /// Variables for the PEs.
        pub environment: Vec<(OsString, OsString)>,
        /// Working directory.
        pub directory: OsString,
        /// Whether lines begin with the number of their PE.
        pub label: bool,
        /// `--bind`, as the user would write it; empty where it is not given.
        pub bind: String,
        /// `--cores-per-pe`; 0 where it is not given.
        pub cores: u32,
        /// `--output`; empty where it is not given.
        pub output: String,
        /// Whether a profile is recorded, and whether in detail.
        pub profile: Option<bool>,
        /// Whether calls are traced.
        pub trace: bool,
        /// Whether a person may be typing for PE 0.
        pub prompt: bool,
        /// Begin of the job: nanoseconds since 1970 at the head.
        pub start_realtime: u64,
        /// The same moment in nanoseconds of this host's counter.
        pub start_counter_ns: u64,
        /// Process of the head.
        pub root_pid: u32,
        /// Step of the batch system that the head is in; the daemon may be in one of its own.
        pub step: String,
        /// Whether the job goes on without PEs that are lost.
        pub survive: bool,
    }
}

packed! {
    /// From the head to a daemon.
    #[derive(Debug, Clone)]
    pub enum ToDaemon {
        /// The head knows the daemon, and shows by the second secret that it is the head.
        Welcome = 1 { secret: String, }
        /// Start the PEs.
        Start = 2 { order: Box<Order>, }
        /// The head is there.
        Beat = 3 {}
        /// The head is about to be stopped (SIGTSTP): it will be silent.
        Pause = 4 {}
        /// A signal for the PEs.
        Signal = 5 { number: i32, }
        /// What do the PEs do? Where `inside` is given, of those only that are inside the library; true: in
        /// `shmem_finalize`, too. A signal that PEs have a handler for goes to them instead (0: none).
        Report = 6 { id: u32, inside: Option<bool>, number: i32, }
        /// End the PEs: ask, then insist. The PE that has called `shmem_global_exit`, if that is why, and its status.
        End = 7 { asked_by: Option<u32>, status: i32, }
        /// Insist now.
        Hurry = 8 {}
        /// Nobody reads the standard output (`error` false) or error of the job any more.
        Closed = 9 { error: bool, }
        /// All PEs of the job have come to the fence.
        Fenced = 10 {}
        /// A value that was asked for.
        KeyValue = 11 { pe: u32, key: String, value: Option<Bytes>, }
        /// What time is it?
        Ping = 12 { number: u32, }
        /// Send profile and trace. What to add to this host's time at its `counter_ns` to get the head's.
        Collect = 13 { drift_ns: i64, counter_ns: u64, profile: bool, }
        /// The snapshot with this number is written, or never will be.
        Kept = 14 { number: u32, }
        /// The job is over.
        Bye = 15 {}
        /// The job goes on without a PE, which a signal has ended, or whose host is lost (0).
        Lost = 16 { pe: u32, signal: i32, }
        /// PEs of this host have agreed with others, in requests of these names, on an outcome
        /// ([`pellucid_core::bootstrap::agreement`]).
        Agreed = 17 { waiting: Vec<(u32, u32)>, outcome: Bytes, }
    }
}

packed! {
    /// From a daemon to the head.
    #[derive(Debug, Clone)]
    pub enum ToHead {
        /// Who this is. The form of this message does not change.
        Hello = 1 { protocol: u32, version: String, secret: String, host: u32, name: String, }
        /// The daemon is there.
        Beat = 2 {}
        /// Something to say that decides nothing.
        Note = 3 { text: String, }
        /// The job must end with this status; what to say of it, and the PE that has called `shmem_global_exit`, if
        /// that is why.
        Verdict = 4 { status: i32, text: Option<String>, asked_by: Option<u32>, }
        /// A PE ended with this status after it had left the library: the others may finish. What to say of it.
        Late = 5 { pe: u32, who: String, status: i32, text: Option<String>, }
        /// A PE ended with status 0: where it was, whether it had begun, and whether that was after `shmem_finalize`.
        Left = 6 { pe: u32, who: String, place: String, begun: bool, finalized: bool, }
        /// What the PEs do: answer to a report. `handled`: they got the signal instead.
        Report = 7 { id: u32, handled: bool, lines: Vec<String>, pes: Vec<PeNow>, }
        /// The PEs of this host have come to the next fence; their new values.
        Fence = 8 { key_values: Vec<KeyValue>, }
        /// A value is wanted.
        Wanted = 9 { pe: u32, key: String, }
        /// It is this time: nanoseconds of this host's counter.
        Pong = 10 { number: u32, counter_ns: u64, }
        /// All PEs of this host have ended, and what they wrote is passed on.
        Ended = 11 {}
        /// A piece of a PE's profile. The last one has `last`. `snapshot`: of a PE that goes on; 0: the end.
        Profile = 12 { pe: u32, snapshot: u32, bytes: Bytes, last: bool, }
        /// A PE has asked for a snapshot, of which this is all.
        Snapshot = 13 { number: u32, }
        /// A piece of a file of the trace.
        Trace = 14 { name: String, bytes: Bytes, }
        /// There is nothing more to send. Whether a PE of this host has said that something is missing from its trace.
        Done = 15 { trace_explained: bool, }
        /// Whether the signal comes to nothing with all PEs of this host: their handlers take a note of it, and they
        /// wait inside the library.
        Deaf = 16 { number: i32, deaf: bool, }
        /// All PEs of this host are out of `shmem_init`.
        Begun = 17 {}
        /// A signal has ended a PE, without which the job goes on; what to say of it.
        Lost = 18 { pe: u32, signal: i32, text: String, }
        /// A PE has come to an agreement: the request's name, and the PE's word
        /// ([`pellucid_core::bootstrap::agreement`]).
        Agree = 19 { pe: u32, id: u32, proposal: Bytes, }
        /// Somebody other than the head has sent this host's part a signal that asks for the end.
        Signalled = 20 { number: i32, }
        /// A PE of this host has not reached another one for long; what the network says of that.
        Unreached = 21 { pe: u32, why: String, }
        /// The transport of the job, profiles of which follow.
        Transport = 22 { name: String, }
    }
}

impl Field for PeNow {
    fn put(&self, out: &mut Vec<u8>) {
        self.pe.put(out);
        self.pid.put(out);
        (self.state as u8).put(out);
        self.recorded.put(out);
        self.threads.put(out);
        self.locks.put(out);
        self.memory.iter().for_each(|word| word.put(out));
        self.heap.put(out);
        self.program.put(out);
        self.quiet_ns.put(out);
        self.at_least.put(out);
        self.asleep.put(out);
        self.place.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let (pe, pid) = (u32::take(from)?, u32::take(from)?);
        let number = u8::take(from)?;
        let states = [State::Absent, State::Starting, State::Running, State::Finalized, State::Ended, State::Stopped];
        let state = states.into_iter().find(|state| *state as u8 == number)?;
        let recorded = bool::take(from)?;
        let (threads, locks) = (Field::take(from)?, Field::take(from)?);
        let mut memory = [0; 4];
        for word in &mut memory {
            *word = u64::take(from)?;
        }
        let (heap, program) = (Field::take(from)?, Field::take(from)?);
        let (quiet_ns, at_least, asleep) = (Field::take(from)?, bool::take(from)?, bool::take(from)?);
        let place = Field::take(from)?;
        Some(Self {
            pe,
            pid,
            state,
            recorded,
            threads,
            locks,
            memory,
            heap,
            program,
            quiet_ns,
            at_least,
            asleep,
            place,
        })
    }
}

impl Field for CurrentOp {
    fn put(&self, out: &mut Vec<u8>) {
        self.thread.put(out);
        self.op.put(out);
        (self.phase as u8).put(out);
        self.peer.put(out);
        self.site.put(out);
        // Numbers have no sign on the way.
        let team = self.team.map(|(id, start, stride, size)| vec![id, start as u32, stride as u32, size as u32]);
        team.put(out);
        self.condition.put(out);
        for value in [self.addr, self.bytes, self.start_ns, self.elapsed_ns] {
            value.put(out);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let (thread, op, number) = (u32::take(from)?, u16::take(from)?, u8::take(from)?);
        let phase = [Phase::Inside, Phase::Returned, Phase::Entered].into_iter().find(|p| *p as u8 == number)?;
        // Both sides are of one version, so that the tables of routines are the same.
        let routine = op::get(op)?.name();
        let (peer, site) = (Field::take(from)?, Field::take(from)?);
        let team = match <Option<Vec<u32>> as Field>::take(from)?.as_deref() {
            Some(&[id, start, stride, size]) => Some((id, start as i32, stride as i32, size as i32)),
            Some(_) => return None,
            None => None,
        };
        let condition = Field::take(from)?;
        let mut next = || Field::take(from);
        Some(Self {
            thread,
            routine,
            op,
            phase,
            peer,
            site,
            team,
            condition,
            addr: next()?,
            bytes: next()?,
            start_ns: next()?,
            elapsed_ns: next()?,
        })
    }
}

impl Field for Condition {
    fn put(&self, out: &mut Vec<u8>) {
        let Condition { addr, bytes, signed, cmp, wanted, found, set } = self;
        [*addr, *wanted, *found].iter().for_each(|word| word.put(out));
        [*bytes, *cmp].iter().for_each(|byte| byte.put(out));
        signed.put(out);
        set.map(|(of, all)| vec![of, u32::from(all)]).put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let (addr, wanted, found) = (u64::take(from)?, u64::take(from)?, u64::take(from)?);
        let (bytes, cmp, signed) = (u8::take(from)?, u8::take(from)?, bool::take(from)?);
        let set = match <Option<Vec<u32>> as Field>::take(from)?.as_deref() {
            Some(&[of, all]) => Some((of, all != 0)),
            Some(_) => return None,
            None => None,
        };
        Some(Self { addr, bytes, signed, cmp, wanted, found, set })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pes_do_survives_the_way() {
        let op = CurrentOp {
            thread: 7,
            routine: op::get(3).unwrap().name(),
            op: 3,
            phase: Phase::Entered,
            peer: Some(9),
            site: Some(("a.out".into(), 0x1234)),
            team: Some((3, 1, -2, 4)),
            condition: Some(Condition {
                addr: 9,
                bytes: 4,
                signed: true,
                cmp: 2,
                wanted: 7,
                found: u64::MAX,
                set: Some((5, true)),
            }),
            addr: Some(1),
            bytes: Some(2),
            start_ns: None,
            elapsed_ns: Some(4),
        };
        let now = PeNow {
            pe: 5,
            pid: 77,
            state: State::Finalized,
            recorded: true,
            threads: vec![op.clone()],
            locks: vec![8],
            memory: [1, 2, 3, 4],
            heap: (5, 6),
            program: Some(("a.out".into(), 64)),
            quiet_ns: Some(3),
            at_least: true,
            asleep: true,
            place: Some("main".into()),
        };
        let mut bytes = Vec::new();
        now.put(&mut bytes);
        let back = PeNow::take(&mut bytes.as_slice()).unwrap();
        assert_eq!((back.pe, back.pid, back.state, &back.threads), (5, 77, State::Finalized, &vec![op]));
        assert_eq!((back.locks, back.memory, back.heap), (vec![8], [1, 2, 3, 4], (5, 6)));
        assert_eq!((back.program, back.quiet_ns, back.at_least, back.asleep), (now.program, Some(3), true, true));
    }
}
