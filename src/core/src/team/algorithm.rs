//! Which algorithm the collectives of a team use: a table of names, what the environment forces, and what is chosen
//! otherwise.

use super::sync_block::INLINE;
use crate::base::{Cause, Fault, env};
use crate::inter_host::messages_passing;

/// Reductions of this many bytes and more are cut into slices, one a member.
const SLICED_REDUCE: usize = 4096;
/// Bytes of a slice that are combined at a time: source, partial result and copies stay in the first-level cache.
pub const BLOCK: usize = 8192;
/// Up to this many members, reading everyone's contribution beats the rounds of a tree. Where PEs share cores it always
/// does: a round of messages costs every PE a turn on its core, however little it does in it.
const FLAT_MEMBERS: i32 = 8;
/// Members that a member of a tree passes results to.
pub const FAN: i32 = 4;

/// Data that goes in messages between hosts may wait for its receiver in the receiver's memory: this many bytes at
/// most.
const BY_MESSAGES: usize = 64 << 10;
/// Broadcasts between hosts are cut into a part a host from this many bytes on, and more hosts than this: two copies of
/// the data leave a host then, not the logarithm of the hosts.
const SCATTERED: usize = 512 << 10;
const SCATTERED_HOSTS: usize = 4;
/// Reductions of up to this many bytes take few messages rather than few bytes.
const DOUBLED: usize = 16 << 10;

/// An alltoall of up to this many bytes in all may be passed on: a member keeps two copies of them meanwhile.
const PASSED: usize = 16 << 20;

/// One algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Algorithm {
    /// Collective.
    pub collective: &'static str,
    /// Name in `SHMEM_COLLECTIVES`.
    pub name: &'static str,
    /// What it does, and to which sizes it is limited.
    pub help: &'static str,
}

const fn row(collective: &'static str, name: &'static str, help: &'static str) -> Algorithm {
    Algorithm { collective, name, help }
}

/// Every algorithm there is to choose from.
pub const TABLE: &[Algorithm] = &[
    row("barrier", "dissemination", "rounds of messages to PEs 1, 2, 4 ... further on"),
    row("barrier", "counter", "all count themselves in on one PE, the last lets all go"),
    row("broadcast", "flat", "all read from the root"),
    row("broadcast", "tree", "members pass small data on; larger ones as flat"),
    row("reduce", "flat", "small: all read all contributions; larger as whole"),
    row("reduce", "tree", "small: contributions go up a tree and the result down; larger as sliced"),
    row("reduce", "whole", "every member reads and combines all sources"),
    row("reduce", "sliced", "every member combines one slice and writes it to all"),
    row("fcollect", "flat", "all read from all"),
    row("fcollect", "leader", "all write to member 0, then read the whole from there"),
    row("scan", "flat", "every member reads and combines all before it"),
    row("scan", "doubling", "small: rounds of partial results from PEs 1, 2, 4 ... before; larger as flat"),
    row(
        "hosts-broadcast",
        "messages",
        "between hosts: small data goes down a binomial tree in messages; larger as binomial",
    ),
    row("hosts-broadcast", "binomial", "between hosts: puts down a binomial tree, in segments"),
    row("hosts-broadcast", "scatter", "between hosts: each host gets a part, then all gather the parts"),
    row("hosts-reduce", "doubling", "between hosts: in each round a host swaps all data with another, in messages"),
    row(
        "hosts-reduce",
        "halving",
        "between hosts: each host combines a share, by gets; shares are passed around by puts",
    ),
    row("hosts-fcollect", "messages", "between hosts: small results are gathered in messages; larger ones by puts"),
    row("hosts-fcollect", "puts", "between hosts: blocks are put where they belong, twice as many in each round"),
    row("hosts-alltoall", "passing", "between hosts: small blocks are passed on in rounds; larger ones as messages"),
    row("hosts-alltoall", "messages", "between hosts: a block is sent in messages"),
    row("hosts-alltoall", "puts", "between hosts: a block is put where it belongs; between two meetings"),
];

/// How barriers meet. Numbers are those of [`TABLE`]'s rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the table describes them; so for the next ones
pub enum Barrier {
    Dissemination = 0,
    Counter = 1,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Broadcast {
    Flat = 2,
    Tree = 3,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Reduce {
    Flat = 4,
    Tree = 5,
    Whole = 6,
    Sliced = 7,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Fcollect {
    Flat = 8,
    Leader = 9,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Scan {
    Flat = 10,
    Doubling = 11,
}

/// As [`Broadcast`], between hosts; so for the next ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum HostsBroadcast {
    Messages = 12,
    Binomial = 13,
    Scatter = 14,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum HostsReduce {
    Doubling = 15,
    Halving = 16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum HostsAlltoall {
    Passing = 19,
    Messages = 20,
    Puts = 21,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Carry {
    Messages = 17,
    Puts = 18,
}

/// An algorithm's place in [`TABLE`].
pub trait InTable: Copy {
    /// It.
    fn number(self) -> u8;
}

macro_rules! numbers {
    ($($of:ty)*) => { $(
        impl InTable for $of {
            #[inline(always)]
            fn number(self) -> u8 {
                self as u8
            }
        }
    )* };
}

numbers! { Barrier Broadcast Reduce Fcollect Scan HostsBroadcast HostsReduce Carry HostsAlltoall }

/// What the environment forces; `None` leaves the choice to size and members.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Choice {
    pub barrier: Option<Barrier>,
    pub broadcast: Option<Broadcast>,
    pub reduce: Option<Reduce>,
    pub fcollect: Option<Fcollect>,
    pub scan: Option<Scan>,
    pub hosts_broadcast: Option<HostsBroadcast>,
    pub hosts_reduce: Option<HostsReduce>,
    pub hosts_fcollect: Option<Carry>,
    pub hosts_alltoall: Option<HostsAlltoall>,
}

impl Choice {
    /// Nothing is forced.
    pub const AUTO: Self = Self {
        barrier: None,
        broadcast: None,
        reduce: None,
        fcollect: None,
        scan: None,
        hosts_broadcast: None,
        hosts_reduce: None,
        hosts_fcollect: None,
        hosts_alltoall: None,
    };

    /// Reads `SHMEM_COLLECTIVES`.
    pub fn from_env() -> Result<Self, Fault> {
        let Some((name, value)) = env::lookup("COLLECTIVES") else { return Ok(Self::AUTO) };
        Self::parse(&value).map_err(|reason| Fault::from(Cause::Environment { name, value, reason }))
    }

    /// Reads `barrier:counter,reduce:tree` or `auto`.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let mut choice = Self::AUTO;
        for part in text.split(',').map(str::trim).filter(|p| !p.is_empty() && *p != "auto") {
            match part {
                "barrier:dissemination" => choice.barrier = Some(Barrier::Dissemination),
                "barrier:counter" => choice.barrier = Some(Barrier::Counter),
                "broadcast:flat" => choice.broadcast = Some(Broadcast::Flat),
                "broadcast:tree" => choice.broadcast = Some(Broadcast::Tree),
                "reduce:flat" => choice.reduce = Some(Reduce::Flat),
                "reduce:tree" => choice.reduce = Some(Reduce::Tree),
                "reduce:whole" => choice.reduce = Some(Reduce::Whole),
                "reduce:sliced" => choice.reduce = Some(Reduce::Sliced),
                "fcollect:flat" => choice.fcollect = Some(Fcollect::Flat),
                "fcollect:leader" => choice.fcollect = Some(Fcollect::Leader),
                "scan:flat" => choice.scan = Some(Scan::Flat),
                "scan:doubling" => choice.scan = Some(Scan::Doubling),
                "hosts-broadcast:messages" => choice.hosts_broadcast = Some(HostsBroadcast::Messages),
                "hosts-broadcast:binomial" => choice.hosts_broadcast = Some(HostsBroadcast::Binomial),
                "hosts-broadcast:scatter" => choice.hosts_broadcast = Some(HostsBroadcast::Scatter),
                "hosts-reduce:doubling" => choice.hosts_reduce = Some(HostsReduce::Doubling),
                "hosts-reduce:halving" => choice.hosts_reduce = Some(HostsReduce::Halving),
                "hosts-fcollect:messages" => choice.hosts_fcollect = Some(Carry::Messages),
                "hosts-fcollect:puts" => choice.hosts_fcollect = Some(Carry::Puts),
                "hosts-alltoall:passing" => choice.hosts_alltoall = Some(HostsAlltoall::Passing),
                "hosts-alltoall:messages" => choice.hosts_alltoall = Some(HostsAlltoall::Messages),
                "hosts-alltoall:puts" => choice.hosts_alltoall = Some(HostsAlltoall::Puts),
                _ => {
                    return Err("expected auto, or names such as barrier:counter, broadcast:tree, reduce:sliced, \
                                fcollect:leader, scan:doubling (docs/environment.md lists all)");
                }
            }
        }
        Ok(choice)
    }

    /// For a barrier.
    #[inline]
    pub fn barrier(&self, oversubscribed: bool) -> Barrier {
        self.barrier.unwrap_or(if oversubscribed { Barrier::Counter } else { Barrier::Dissemination })
    }

    /// For a broadcast.
    #[inline]
    pub fn broadcast(&self, bytes: usize, members: i32, oversubscribed: bool) -> Broadcast {
        match self.broadcast.unwrap_or(if many(members, oversubscribed) { Broadcast::Tree } else { Broadcast::Flat }) {
            Broadcast::Tree if bytes <= INLINE => Broadcast::Tree,
            _ => Broadcast::Flat,
        }
    }

    /// For a reduction.
    #[inline]
    pub fn reduce(&self, bytes: usize, members: i32, oversubscribed: bool) -> Reduce {
        let small = bytes <= INLINE;
        match self.reduce {
            None if small && !many(members, oversubscribed) => Reduce::Flat,
            None if small => Reduce::Tree,
            None if bytes < SLICED_REDUCE => Reduce::Whole,
            Some(Reduce::Flat) if !small => Reduce::Whole,
            None | Some(Reduce::Tree) if !small => Reduce::Sliced,
            Some(forced) => forced,
            None => Reduce::Sliced,
        }
    }

    /// For an fcollect.
    #[inline]
    pub fn fcollect(&self, bytes: usize, members: i32, oversubscribed: bool) -> Fcollect {
        let many_small = many(members, oversubscribed) && bytes <= INLINE;
        self.fcollect.unwrap_or(if many_small { Fcollect::Leader } else { Fcollect::Flat })
    }

    /// For a scan.
    #[inline]
    pub fn scan(&self, bytes: usize, members: i32, oversubscribed: bool) -> Scan {
        match self.scan.unwrap_or(if many(members, oversubscribed) { Scan::Doubling } else { Scan::Flat }) {
            Scan::Doubling if bytes <= INLINE => Scan::Doubling,
            _ => Scan::Flat,
        }
    }
}

impl Choice {
    /// For a broadcast between hosts.
    pub fn hosts_broadcast(&self, bytes: usize, hosts: usize) -> HostsBroadcast {
        match self.hosts_broadcast {
            Some(HostsBroadcast::Messages) | None if bytes <= BY_MESSAGES => HostsBroadcast::Messages,
            Some(HostsBroadcast::Scatter) => HostsBroadcast::Scatter,
            None if bytes >= SCATTERED && hosts > SCATTERED_HOSTS => HostsBroadcast::Scatter,
            _ => HostsBroadcast::Binomial,
        }
    }

    /// For a reduction between hosts.
    pub fn hosts_reduce(&self, bytes: usize) -> HostsReduce {
        self.hosts_reduce.unwrap_or(if bytes <= DOUBLED { HostsReduce::Doubling } else { HostsReduce::Halving })
    }

    /// For an fcollect or collect between hosts whose result has `total` bytes.
    pub fn hosts_fcollect(&self, total: usize) -> Carry {
        match self.hosts_fcollect {
            Some(Carry::Messages) | None if total <= BY_MESSAGES => Carry::Messages,
            _ => Carry::Puts,
        }
    }

    /// For an alltoall between hosts with `bytes` bytes for each of `members` members, of which each has up to `far` on
    /// other hosts.
    pub fn hosts_alltoall(&self, bytes: usize, members: usize, far: usize) -> HostsAlltoall {
        // Half of all blocks move in each round; what is passed on is sent several times.
        let passing = bytes.saturating_mul(members) <= PASSED && 2 * messages_passing(members, bytes) <= far;
        match self.hosts_alltoall {
            Some(HostsAlltoall::Passing) if bytes.saturating_mul(members) <= PASSED => HostsAlltoall::Passing,
            Some(HostsAlltoall::Passing) => HostsAlltoall::Messages,
            Some(forced) => forced,
            None if passing => HostsAlltoall::Passing,
            None if bytes <= DOUBLED => HostsAlltoall::Messages,
            None => HostsAlltoall::Puts,
        }
    }
}

/// Whether rounds of messages pay.
#[inline]
fn many(members: i32, oversubscribed: bool) -> bool {
    members > FLAT_MEMBERS && !oversubscribed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_rows() {
        for (number, row) in TABLE.iter().enumerate() {
            let Choice {
                barrier,
                broadcast,
                reduce,
                fcollect,
                scan,
                hosts_broadcast,
                hosts_reduce,
                hosts_fcollect,
                hosts_alltoall,
            } = Choice::parse(&format!("{}:{}", row.collective, row.name)).unwrap();
            let near = [barrier.map(InTable::number), broadcast.map(InTable::number), reduce.map(InTable::number)];
            let more = [fcollect.map(InTable::number), scan.map(InTable::number), hosts_broadcast.map(InTable::number)];
            let far = [hosts_reduce.map(InTable::number), hosts_fcollect.map(InTable::number)];
            let all = near.into_iter().chain(more).chain(far).chain([hosts_alltoall.map(InTable::number)]);
            assert_eq!(all.flatten().map(usize::from).collect::<Vec<_>>(), [number], "{row:?}");
        }
    }

    #[test]
    fn every_row_can_be_forced() {
        for row in TABLE {
            let choice = Choice::parse(&format!("{}:{}", row.collective, row.name)).unwrap();
            assert_ne!(choice, Choice::AUTO, "{row:?}");
        }
        assert_eq!(Choice::parse("auto"), Ok(Choice::AUTO));
        assert!(Choice::parse("reduce:magic").is_err());
        let both = Choice::parse("barrier:counter, reduce:tree").unwrap();
        assert_eq!((both.barrier, both.reduce), (Some(Barrier::Counter), Some(Reduce::Tree)));
    }

    #[test]
    fn sizes_that_an_algorithm_cannot_take_go_to_another() {
        let forced = |text| Choice::parse(text).unwrap();
        assert_eq!(forced("reduce:tree").reduce(INLINE, 2, false), Reduce::Tree);
        assert_eq!(forced("reduce:tree").reduce(INLINE + 1, 2, false), Reduce::Sliced);
        assert_eq!(forced("reduce:flat").reduce(1 << 20, 2, false), Reduce::Whole);
        assert_eq!(forced("broadcast:tree").broadcast(1 << 20, 99, false), Broadcast::Flat);
        assert_eq!(forced("scan:doubling").scan(1 << 20, 99, false), Scan::Flat);
        assert_eq!(Choice::AUTO.reduce(8, 2, false), Reduce::Flat);
        assert_eq!(Choice::AUTO.reduce(8, 64, false), Reduce::Tree);
        assert_eq!(Choice::AUTO.reduce(8, 64, true), Reduce::Flat);
        assert_eq!(Choice::AUTO.reduce(1 << 20, 2, false), Reduce::Sliced);
        assert_eq!(forced("hosts-broadcast:messages").hosts_broadcast(1 << 20, 9), HostsBroadcast::Binomial);
        assert_eq!(forced("hosts-fcollect:messages").hosts_fcollect(1 << 20), Carry::Puts);
        assert_eq!(Choice::AUTO.hosts_broadcast(8, 99), HostsBroadcast::Messages);
        assert_eq!(Choice::AUTO.hosts_broadcast(1 << 20, 2), HostsBroadcast::Binomial);
        assert_eq!(Choice::AUTO.hosts_broadcast(1 << 20, 9), HostsBroadcast::Scatter);
        assert_eq!(Choice::AUTO.hosts_reduce(8), HostsReduce::Doubling);
        assert_eq!(Choice::AUTO.hosts_alltoall(8, 4, 2), HostsAlltoall::Messages);
        assert_eq!(Choice::AUTO.hosts_alltoall(8, 64, 60), HostsAlltoall::Passing);
        assert_eq!(Choice::AUTO.hosts_alltoall(8192, 64, 60), HostsAlltoall::Messages);
        assert_eq!(Choice::AUTO.hosts_alltoall(1 << 20, 64, 60), HostsAlltoall::Puts);
        assert_eq!(forced("hosts-alltoall:passing").hosts_alltoall(1 << 20, 64, 60), HostsAlltoall::Messages);
        assert_eq!(Choice::AUTO.hosts_reduce(1 << 20), HostsReduce::Halving);
    }
}
