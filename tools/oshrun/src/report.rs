//! What is said of PEs that die, hang or leave.

use crate::source::Oshprof;
use crate::sys::process::Ended;
use pellucid_core::bootstrap::job::PeState;
use pellucid_core::os::signal;
use pellucid_profile::live::{For, PeNow, Wait, Waits, last_operation};
use pellucid_profile::segment::{CurrentOp, Phase};
use pellucid_profile::text::{ADVICE, has_line};

/// A PE, as messages name it.
pub struct Who {
    /// Its number.
    pub pe: u32,
    /// PEs of the job.
    pub pes: u32,
    /// Its process.
    pub pid: i32,
    /// Its host, where there are several.
    pub host: Option<String>,
}

impl std::fmt::Display for Who {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { pe, pes, pid, host } = self;
        match host {
            Some(host) => write!(f, "PE {pe} of {pes} on host {host} (pid {pid})"),
            None => write!(f, "PE {pe} of {pes} (pid {pid})"),
        }
    }
}

/// Where a PE was when it ended, or is.
pub struct Place {
    /// How far it has come.
    pub state: PeState,
    /// Whether it has called `shmem_init`, be it unfinished.
    pub joined: bool,
    /// Whether it ends without having called `shmem_finalize`, which is then done for it.
    pub unasked: bool,
    /// What its threads do or did last, the most telling first; `None` where nothing is recorded.
    pub now: Option<PeNow>,
}

impl Place {
    /// What its threads do or did last, the most telling first.
    pub fn threads(&self) -> &[CurrentOp] {
        self.now.as_ref().map(|now| now.threads.as_slice()).unwrap_or_default()
    }

    /// A phrase for a PE that has ended: `in shmem_barrier_all`.
    pub fn at_end(&self) -> String {
        match (self.state, self.now.as_ref().and_then(|now| Some((now, now.threads.first()?)))) {
            (PeState::NotStarted, _) if !self.joined => "before shmem_init".into(),
            (PeState::Finalized, _) if self.unasked => {
                "after its main had returned, or it had called exit, without shmem_finalize".into()
            }
            (PeState::Finalized, _) => "after shmem_finalize".into(),
            (PeState::NotStarted, None) => "in shmem_init".into(),
            (PeState::Finalizing, None) => "in shmem_finalize".into(),
            (_, None) => "after shmem_init".into(),
            (_, Some((now, current))) => last_operation(now, current, &Oshprof),
        }
    }

    /// What is said of a PE that runs where its calls say nothing: it is not in the library, or has made none.
    pub fn outside(&self) -> Option<&'static str> {
        match (self.state, self.threads().first()) {
            (PeState::NotStarted, _) if !self.joined => Some("not in the library: shmem_init was not called"),
            // Exit handlers may call the library after finalize.
            (PeState::Finalized, current) if current.is_none_or(|current| current.phase != Phase::Inside) => {
                Some(if self.unasked {
                    "not in the library: after main"
                } else {
                    "not in the library: after shmem_finalize"
                })
            }
            _ => None,
        }
    }
}

/// `PE 2 of 4 (pid 71) was killed by signal 11 (segmentation fault) in shmem_long_put (to PE 3, address 0x10)`
/// `memory`: that it was killed for want of memory; `crashed`: where it was, as it said itself.
pub fn death(who: &Who, ended: Ended, memory: Option<String>, crashed: Option<String>, place: &Place) -> String {
    let place = crashed.unwrap_or_else(|| place.at_end());
    match ended {
        Ended::Killed { signal, core } => {
            let core = if core { ", core dumped," } else { "" };
            let memory = memory.map(|memory| format!(", {memory},")).unwrap_or_default();
            format!("{who} was killed by {}{memory}{core} {place}", signal::describe(signal))
        }
        Ended::Exited(status) => {
            let hint = match status {
                126 => " (what a script says of a program that cannot be run)".into(),
                127 => " (what a script says of a program, and the loader of a library, that is not found)".into(),
                129..=160 => format!(" (what a script says of a program ended by {})", signal::describe(status - 128)),
                _ => String::new(),
            };
            format!("{who} exited with status {status}{hint} {place}")
        }
    }
}

/// Lines that are listed one by one.
const LISTED: usize = 64;

/// Lines below the one that says what they are about.
pub fn listed(lines: &[String]) -> String {
    let mut text: String = lines.iter().take(LISTED).map(|line| format!("\n  {line}")).collect();
    if lines.len() > LISTED {
        text += &format!("\n  and {} more lines", lines.len() - LISTED);
    }
    if lines.iter().any(|line| line.contains("called from") && !has_line(line)) {
        text += &format!("\n  ({ADVICE})");
    }
    text
}

/// Who waits for whom, as lines that follow others.
pub fn waits(pes: &[PeNow]) -> String {
    Waits::find_at(pes, &Oshprof).text().lines().map(|line| format!("\n  {line}")).collect()
}

/// Whether one of these PEs waits for another one in a collective call.
pub fn is_waited_for(pe: u32, pes: &[PeNow]) -> bool {
    let misses = |wait: &Wait| matches!(&wait.what, For::Members { missing, perhaps: false } if missing.contains(&pe));
    Waits::find(pes).waits.iter().any(misses)
}

/// A PE that ended, with 0 or after finalize, while the others wait for it.
pub fn lost(who: &str, place: &str, seconds: u64) -> String {
    format!("{who} ended {place}; {seconds} s later others are still inside the library and may wait for it for ever:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn current(phase: Phase) -> CurrentOp {
        CurrentOp {
            thread: 7,
            routine: "shmem_long_put",
            op: u16::MAX,
            phase,
            peer: Some(3),
            addr: Some(0x1000),
            bytes: Some(64),
            start_ns: Some(0),
            elapsed_ns: Some(2_500_000_000),
            site: None,
            team: None,
            condition: None,
        }
    }

    fn place(state: PeState, threads: Vec<CurrentOp>) -> Place {
        let now = (!threads.is_empty()).then(|| PeNow { threads, ..PeNow::default() });
        Place { state, joined: state != PeState::NotStarted, unasked: false, now }
    }

    #[test]
    fn a_death_names_the_pe_the_cause_and_the_routine() {
        let who = Who { pe: 2, pes: 4, pid: 71, host: None };
        let there = Who { host: Some("b".into()), ..Who { pe: 2, pes: 4, pid: 71, host: None } };
        assert_eq!(there.to_string(), "PE 2 of 4 on host b (pid 71)");
        let inside = place(PeState::Initialized, vec![current(Phase::Inside)]);
        assert_eq!(
            death(&who, Ended::Killed { signal: 11, core: false }, None, None, &inside),
            "PE 2 of 4 (pid 71) was killed by signal 11 (segmentation fault) in shmem_long_put (PE 3, address 0x1000, \
             64 bytes)"
        );
        let returned = place(PeState::Initialized, vec![current(Phase::Returned)]);
        assert_eq!(
            death(&who, Ended::Killed { signal: 9, core: false }, Some("out of memory".into()), None, &returned),
            "PE 2 of 4 (pid 71) was killed by signal 9 (kill), out of memory, after its last routine shmem_long_put"
        );
        assert_eq!(
            death(&who, Ended::Exited(3), None, None, &returned),
            "PE 2 of 4 (pid 71) exited with status 3 after its last routine shmem_long_put"
        );
    }

    #[test]
    fn states_without_operations() {
        for (state, threads, text) in [
            (PeState::NotStarted, vec![], "before shmem_init"),
            (PeState::Initialized, vec![], "after shmem_init"),
            (PeState::Finalized, vec![current(Phase::Inside)], "after shmem_finalize"),
        ] {
            assert_eq!(place(state, threads).at_end(), text);
        }
        assert_eq!(Place { joined: true, ..place(PeState::NotStarted, vec![]) }.at_end(), "in shmem_init");
    }

    #[test]
    fn what_a_pe_says_of_its_crash_comes_first() {
        let who = Who { pe: 2, pes: 4, pid: 71, host: None };
        let crashed = Some("in inner at crash.c:6, address 0x0".to_owned());
        let ended = Ended::Killed { signal: 11, core: true };
        assert_eq!(
            death(&who, ended, None, crashed, &place(PeState::Initialized, vec![current(Phase::Returned)])),
            "PE 2 of 4 (pid 71) was killed by signal 11 (segmentation fault), core dumped, in inner at crash.c:6, \
             address 0x0"
        );
    }

    #[test]
    fn who_leaves_without_finalize_is_told_from_who_does_not() {
        let mut left = place(PeState::Finalized, vec![]);
        assert_eq!(
            (left.at_end().as_str(), left.outside()),
            ("after shmem_finalize", Some("not in the library: after shmem_finalize"))
        );
        left.unasked = true;
        assert_eq!(left.outside(), Some("not in the library: after main"));
        assert!(left.at_end().ends_with("without shmem_finalize"));
        assert_eq!(place(PeState::Initialized, vec![]).outside(), None);
    }
}
