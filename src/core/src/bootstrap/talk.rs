//! What a PE and the `oshrun` of its host say to each other: messages of [`crate::os::packet`], over the descriptor
//! `PELLUCID_WIREUP_FD`.

use super::agreement::{Agreement, Proposal};
use std::ops::Range;

/// Bytes of a value at most.
pub const VALUE_BYTES: usize = 400;
/// Bytes of a value's key at most.
pub const KEY_BYTES: usize = 32;

/// From a PE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeRequest {
    /// A value, for all after the next fence.
    Publish {
        /// Its name.
        key: String,
        /// The value.
        value: Vec<u8>,
    },
    /// This PE has come to its next fence. The answer is [`Reply::Fenced`], when all have.
    Fence,
    /// A value of a PE is wanted. The answer is [`Reply::Value`].
    Lookup {
        /// Names the answer.
        id: u32,
        /// Whose.
        pe: u32,
        /// Which.
        key: String,
    },
    /// The hosts of the job are wanted. The answer is [`Reply::Hosts`].
    Hosts,
    /// The job is to end.
    Abort {
        /// Its exit status.
        status: i32,
        /// Why; empty where that has been said.
        message: String,
    },
    /// This PE ends in good order.
    Finish,
    /// A word of this PE in an agreement. The answer is [`Reply::Agreed`].
    Agree {
        /// Names the answer.
        id: u32,
        /// The word.
        proposal: Proposal,
    },
    /// This PE has not reached another one for long, in a job that goes on without PEs that are lost.
    Unreached {
        /// Which.
        pe: u32,
        /// What the network says of it.
        why: String,
    },
}

/// To a PE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// All have come to the fence.
    Fenced,
    /// A value; `None`: there is none of that name.
    Value {
        /// Of the request.
        id: u32,
        /// The value.
        value: Option<Vec<u8>>,
    },
    /// The hosts in the order of their PEs: so many hosts with so many PEs each, and so on.
    Hosts(Vec<(u32, u32)>),
    /// All members have agreed, or are lost.
    Agreed {
        /// Of the request.
        id: u32,
        /// On what.
        outcome: Agreement,
    },
}

impl PeRequest {
    /// As a message.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Publish { key, value } => {
                let mut out = vec![1, key.len() as u8];
                out.extend(key.as_bytes());
                out.extend(value);
                out
            }
            Self::Fence => vec![2],
            Self::Lookup { id, pe, key } => {
                let mut out = vec![3];
                out.extend(id.to_le_bytes());
                out.extend(pe.to_le_bytes());
                out.extend(key.as_bytes());
                out
            }
            Self::Hosts => vec![4],
            Self::Abort { status, message } => {
                let mut out = vec![5];
                out.extend(status.to_le_bytes());
                out.extend(message.as_bytes());
                out
            }
            Self::Finish => vec![6],
            Self::Agree { id, proposal } => {
                let mut out = vec![7];
                out.extend(id.to_le_bytes());
                out.extend(proposal.encode());
                out
            }
            Self::Unreached { pe, why } => {
                let mut out = vec![8];
                out.extend(pe.to_le_bytes());
                out.extend(why.as_bytes());
                out
            }
        }
    }

    /// From a message; `None`: it is none of these.
    pub fn decode(message: &[u8]) -> Option<Self> {
        let (kind, mut rest) = message.split_first()?;
        Some(match kind {
            1 => {
                let length = take::<1>(&mut rest)?[0] as usize;
                let (key, value) = rest.split_at_checked(length)?;
                Self::Publish { key: text(key)?, value: value.to_vec() }
            }
            2 => Self::Fence,
            3 => {
                let (id, pe) = (u32::from_le_bytes(take(&mut rest)?), u32::from_le_bytes(take(&mut rest)?));
                Self::Lookup { id, pe, key: text(rest)? }
            }
            4 => Self::Hosts,
            5 => {
                let status = i32::from_le_bytes(take(&mut rest)?);
                Self::Abort { status, message: String::from_utf8_lossy(rest).into_owned() }
            }
            6 => Self::Finish,
            7 => {
                let id = u32::from_le_bytes(take(&mut rest)?);
                Self::Agree { id, proposal: Proposal::decode(rest)? }
            }
            8 => {
                let pe = u32::from_le_bytes(take(&mut rest)?);
                Self::Unreached { pe, why: String::from_utf8_lossy(rest).into_owned() }
            }
            _ => return None,
        })
    }
}

impl Reply {
    /// As a message.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Fenced => vec![1],
            Self::Value { id, value } => {
                let mut out = vec![2];
                out.extend(id.to_le_bytes());
                out.push(u8::from(value.is_some()));
                out.extend(value.iter().flatten());
                out
            }
            Self::Hosts(runs) => {
                let mut out = vec![3];
                for (hosts, pes) in runs {
                    out.extend(hosts.to_le_bytes());
                    out.extend(pes.to_le_bytes());
                }
                out
            }
            Self::Agreed { id, outcome } => {
                let mut out = vec![4];
                out.extend(id.to_le_bytes());
                out.extend(outcome.encode());
                out
            }
        }
    }

    /// From a message; `None`: it is none of these.
    pub fn decode(message: &[u8]) -> Option<Self> {
        let (kind, mut rest) = message.split_first()?;
        Some(match kind {
            1 => Self::Fenced,
            2 => {
                let id = u32::from_le_bytes(take(&mut rest)?);
                let there = take::<1>(&mut rest)?[0] != 0;
                Self::Value { id, value: there.then(|| rest.to_vec()) }
            }
            3 => {
                let mut runs = Vec::new();
                while !rest.is_empty() {
                    runs.push((u32::from_le_bytes(take(&mut rest)?), u32::from_le_bytes(take(&mut rest)?)));
                }
                Self::Hosts(runs)
            }
            4 => {
                let id = u32::from_le_bytes(take(&mut rest)?);
                Self::Agreed { id, outcome: Agreement::decode(rest)? }
            }
            _ => return None,
        })
    }
}

/// Hosts of so many PEs each, told as [`Reply::Hosts`] tells them.
pub fn runs(pes: impl IntoIterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for pes in pes {
        match runs.last_mut() {
            Some((hosts, same)) if *same == pes => *hosts += 1,
            _ => runs.push((1, pes)),
        }
    }
    runs
}

/// The PEs of each host.
pub fn ranges(runs: &[(u32, u32)]) -> Vec<Range<u32>> {
    let mut first = 0_u32;
    let mut ranges = Vec::new();
    for (hosts, pes) in runs {
        for _ in 0..*hosts {
            ranges.push(first..first.saturating_add(*pes));
            first = first.saturating_add(*pes);
        }
    }
    ranges
}

fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = from.split_first_chunk()?;
    *from = tail;
    Some(*head)
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_way() {
        let requests = [
            PeRequest::Publish { key: "fabric".into(), value: vec![0, 1, 255] },
            PeRequest::Publish { key: String::new(), value: vec![] },
            PeRequest::Fence,
            PeRequest::Unreached { pe: 5, why: "no route".into() },
            PeRequest::Lookup { id: 7, pe: 1 << 30, key: "host".into() },
            PeRequest::Hosts,
            PeRequest::Abort { status: -3, message: "why".into() },
            PeRequest::Finish,
        ];
        for request in requests {
            assert_eq!(PeRequest::decode(&request.encode()), Some(request));
        }
        let replies = [
            Reply::Fenced,
            Reply::Value { id: 1, value: None },
            Reply::Value { id: 2, value: Some(vec![]) },
            Reply::Value { id: 3, value: Some(vec![9; VALUE_BYTES]) },
            Reply::Hosts(vec![(3, 8), (1, 2)]),
        ];
        for reply in replies {
            assert_eq!(Reply::decode(&reply.encode()), Some(reply));
        }
    }

    #[test]
    fn damaged_messages_are_refused() {
        for message in [&[][..], &[9], &[1], &[1, 5, b'a'], &[1, 1, 255], &[3, 0, 0], &[5, 1]] {
            assert_eq!(PeRequest::decode(message), None, "{message:?}");
        }
        for message in [&[][..], &[9], &[2, 1], &[2, 1, 0, 0, 0], &[3, 1, 0, 0, 0, 1]] {
            assert_eq!(Reply::decode(message), None, "{message:?}");
        }
    }

    #[test]
    fn hosts_alike_are_told_once() {
        let told = runs([4, 4, 4, 1, 4]);
        assert_eq!(told, [(3, 4), (1, 1), (1, 4)]);
        assert_eq!(ranges(&told), [0..4, 4..8, 8..12, 12..13, 13..17]);
    }
}
