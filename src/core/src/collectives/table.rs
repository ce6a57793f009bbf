//! The algorithms of the collectives: a row each, with its name in `SHMEM_COLLECTIVES`, when it serves, and its
//! function. What is forced, `docs/environment.md`, the tests of algorithms and the names in profiles follow from the
//! rows.

use super::alltoall::inter_host as alltoall;
use super::broadcast::inter_host as broadcast;
use super::gather::inter_host as gather;
use super::reduce::inter_host as reduce;
use crate::base::{Cause, Fault, env};
use crate::inter_host::messages_passing;
use crate::team::algorithm::{ANY, Algorithm, COLLECTIVES, Collective, Forced, Shape};
use crate::team::sync_block::INLINE;

pub use crate::team::algorithm::BARRIER;

/// Reductions of this many bytes and more are cut into slices, one a member.
const SLICED_REDUCE: usize = 4096;
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

/// Whether the data fits into a mailbox slot.
const INLINED: fn(&Shape) -> bool = |shape| shape.bytes <= INLINE;
const LARGE_TEAM: fn(&Shape) -> bool = Shape::is_large_team;

/// Broadcasts among members on one host.
pub const BROADCAST: Collective<super::broadcast::Broadcast> = Collective {
    name: "broadcast",
    place: BARRIER.next(),
    rows: &[
        Algorithm {
            name: "tree",
            help: "members pass small data on; larger ones as flat",
            fits: INLINED,
            pays: LARGE_TEAM,
            run: super::broadcast::tree,
        },
        Algorithm { name: "flat", help: "all read from the root", fits: ANY, pays: ANY, run: super::broadcast::flat },
    ],
};

/// Reductions among members on one host.
pub const REDUCE: Collective<super::reduce::Reduce> = Collective {
    name: "reduce",
    place: BROADCAST.next(),
    rows: &[
        Algorithm {
            name: "flat",
            help: "small: all read all contributions; larger as whole",
            fits: INLINED,
            pays: |shape| !shape.is_large_team(),
            run: super::reduce::flat,
        },
        Algorithm {
            name: "whole",
            help: "every member reads and combines all sources",
            fits: ANY,
            pays: |shape| shape.bytes > INLINE && shape.bytes < SLICED_REDUCE,
            run: super::reduce::whole,
        },
        Algorithm {
            name: "tree",
            help: "small: contributions go up a tree and the result down; larger as sliced",
            fits: INLINED,
            pays: ANY,
            run: super::reduce::tree,
        },
        Algorithm {
            name: "sliced",
            help: "every member combines one slice and writes it to all",
            fits: ANY,
            pays: ANY,
            run: super::reduce::sliced,
        },
    ],
};

/// Fcollects among members on one host.
pub const FCOLLECT: Collective<super::gather::Fcollect> = Collective {
    name: "fcollect",
    place: REDUCE.next(),
    rows: &[Algorithm { name: "flat", help: "all read from all", fits: ANY, pays: ANY, run: super::gather::flat }],
};

/// Scans among members on one host.
pub const SCAN: Collective<super::scan::Scan> = Collective {
    name: "scan",
    place: FCOLLECT.next(),
    rows: &[
        Algorithm {
            name: "doubling",
            help: "small: rounds of partial results from PEs 1, 2, 4 ... before; larger as flat",
            fits: INLINED,
            pays: LARGE_TEAM,
            run: super::scan::doubling,
        },
        Algorithm {
            name: "flat",
            help: "every member reads and combines all before it",
            fits: ANY,
            pays: ANY,
            run: super::scan::flat,
        },
    ],
};

/// Broadcasts between hosts.
pub const HOSTS_BROADCAST: Collective<broadcast::InterHostBroadcast> = Collective {
    name: "hosts-broadcast",
    place: SCAN.next(),
    rows: &[
        Algorithm {
            name: "scatter",
            help: "between hosts: each host gets a part, then all gather the parts",
            fits: ANY,
            pays: |shape| shape.bytes >= SCATTERED && shape.members > SCATTERED_HOSTS,
            run: broadcast::scatter,
        },
        Algorithm {
            name: "messages",
            help: "between hosts: small data goes down a binomial tree in messages; larger as binomial",
            fits: |shape| shape.bytes <= BY_MESSAGES,
            pays: ANY,
            run: broadcast::messages,
        },
        Algorithm {
            name: "binomial",
            help: "between hosts: puts down a binomial tree, in segments",
            fits: ANY,
            pays: ANY,
            run: broadcast::binomial,
        },
    ],
};

/// Reductions between hosts.
pub const HOSTS_REDUCE: Collective<reduce::InterHostReduce> = Collective {
    name: "hosts-reduce",
    place: HOSTS_BROADCAST.next(),
    rows: &[
        Algorithm {
            name: "doubling",
            help: "between hosts: in each round a host swaps all data with another, in messages",
            fits: ANY,
            pays: |shape| shape.bytes <= DOUBLED,
            run: reduce::doubling,
        },
        Algorithm {
            name: "halving",
            help: "between hosts: each host combines a share, by gets; shares are passed around by puts",
            fits: ANY,
            pays: ANY,
            run: reduce::halving,
        },
    ],
};

/// Fcollects and collects between hosts; the size is that of the result.
pub const HOSTS_FCOLLECT: Collective<gather::InterHostGather> = Collective {
    name: "hosts-fcollect",
    place: HOSTS_REDUCE.next(),
    rows: &[
        Algorithm {
            name: "messages",
            help: "between hosts: small results are gathered in messages; larger ones by puts",
            fits: |shape| shape.bytes <= BY_MESSAGES,
            pays: ANY,
            run: gather::messages,
        },
        Algorithm {
            name: "puts",
            help: "between hosts: blocks are put where they belong, twice as many in each round",
            fits: ANY,
            pays: ANY,
            run: gather::puts,
        },
    ],
};

/// Alltoalls between hosts; the size is that of a block.
pub const HOSTS_ALLTOALL: Collective<alltoall::InterHostAlltoall> = Collective {
    name: "hosts-alltoall",
    place: HOSTS_FCOLLECT.next(),
    rows: &[
        Algorithm {
            name: "passing",
            help: "between hosts: small blocks are passed on in rounds; larger ones as messages",
            fits: |shape| shape.bytes.saturating_mul(shape.members) <= PASSED,
            // Half of all blocks move in each round; what is passed on is sent several times.
            pays: |shape| 2 * messages_passing(shape.members, shape.bytes) <= shape.remote,
            run: alltoall::PASSING,
        },
        Algorithm {
            name: "messages",
            help: "between hosts: a block is sent in messages",
            fits: ANY,
            pays: |shape| shape.bytes <= DOUBLED,
            run: alltoall::MESSAGES,
        },
        Algorithm {
            name: "puts",
            help: "between hosts: a block is put where it belongs; between two meetings",
            fits: ANY,
            pays: ANY,
            run: alltoall::PUTS,
        },
    ],
};

const _: () = assert!(HOSTS_ALLTOALL.next().collective == COLLECTIVES);

/// A row, for whoever lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// Collective.
    pub collective: &'static str,
    /// Name in `SHMEM_COLLECTIVES`.
    pub name: &'static str,
    /// What it does, and to which sizes it is limited.
    pub help: &'static str,
}

/// Every algorithm there is to choose from, at the place by which it is told.
pub fn rows() -> Vec<Listed> {
    fn of<F>(collective: &Collective<F>) -> impl Iterator<Item = Listed> {
        let listed = |row: &Algorithm<F>, collective| Listed { collective, name: row.name, help: row.help };
        collective.rows.iter().map(move |row| listed(row, collective.name))
    }
    let intra_host = of(&BARRIER).chain(of(&BROADCAST)).chain(of(&REDUCE)).chain(of(&FCOLLECT)).chain(of(&SCAN));
    let inter_host = of(&HOSTS_BROADCAST).chain(of(&HOSTS_REDUCE)).chain(of(&HOSTS_FCOLLECT));
    intra_host.chain(inter_host).chain(of(&HOSTS_ALLTOALL)).collect()
}

/// Reads `SHMEM_COLLECTIVES`.
pub fn from_env() -> Result<Forced, Fault> {
    let Some((name, value)) = env::lookup("COLLECTIVES") else { return Ok(Forced::AUTO) };
    parse(&value).map_err(|reason| Fault::from(Cause::Environment { name, value, reason: reason.into() }))
}

/// Reads `barrier:counter,reduce:tree` or `auto`.
pub fn parse(text: &str) -> Result<Forced, &'static str> {
    const EXPECTED: &str = "expected auto, or names such as barrier:counter, broadcast:tree, reduce:sliced, \
                            fcollect:flat, scan:doubling (docs/environment.md lists all)";
    let (rows, mut forced) = (rows(), Forced::AUTO);
    let mut collectives: Vec<&str> = rows.iter().map(|row| row.collective).collect();
    collectives.dedup();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty() && *part != "auto") {
        let (collective, name) = part.split_once(':').ok_or(EXPECTED)?;
        let place = collectives.iter().position(|known| *known == collective).ok_or(EXPECTED)?;
        let row = rows.iter().filter(|row| row.collective == collective).position(|row| row.name == name);
        forced.0[place] = row.ok_or(EXPECTED)? as u8 + 1;
    }
    Ok(forced)
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
