//! Which PEs share a host, as launchers describe it.

use std::ops::Range;

/// Where the PEs of a job run. A host is a run of consecutive PEs: a machine whose PEs are not consecutive is several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// PEs of this host.
    pub local: Range<u32>,
    /// First PEs of all hosts, ascending.
    pub hosts: Option<Vec<u32>>,
}

impl Placement {
    /// From the value of `PMI_process_mapping` and `PMIX_ANL_MAP`, `(vector,(NODE,NODES,PES),...)`: for each block,
    /// `PES` consecutive PEs on each of `NODES` nodes from `NODE` on. Where PEs are left, it begins again. `None`: it
    /// is not that.
    pub fn from_mapping(text: &str, pe: u32, npes: u32) -> Option<Self> {
        let blocks = blocks(text)?;
        let mut hosts = Vec::new();
        let (mut next, mut last) = (0, None);
        while next < npes {
            for &(node, nodes, pes) in &blocks {
                for node in node..node.checked_add(nodes)? {
                    if next >= npes {
                        break;
                    }
                    if last != Some(node) {
                        hosts.push(next);
                    }
                    last = Some(node);
                    next = next.saturating_add(pes);
                }
            }
        }
        Some(Self { local: run(&hosts, pe, npes), hosts: Some(hosts) })
    }

    /// From a list of the PEs on this machine, `0,1,2` or `0-2,5`, in any order. `None`: it is not that, or this PE is
    /// not among them.
    pub fn from_peers(text: &str, pe: u32, npes: u32) -> Option<Self> {
        let mut peers = Vec::new();
        for part in text.split(',') {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let (from, to) = (from.trim().parse::<u32>().ok()?, to.trim().parse::<u32>().ok()?);
            if from > to || to >= npes {
                return None;
            }
            peers.extend(from..=to);
        }
        peers.sort_unstable();
        let at = peers.binary_search(&pe).ok()? as u32;
        // Where PEs are consecutive, number and place grow together.
        let same = |(place, other): (usize, &u32)| (place as u32).wrapping_sub(*other) == at.wrapping_sub(pe);
        let place = |(place, _): (usize, &u32)| place;
        let first = peers.iter().enumerate().find(|entry| same(*entry)).map(place)?;
        let last = peers.iter().enumerate().rev().find(|entry| same(*entry)).map(place)?;
        Some(Self { local: peers[first]..peers[last] + 1, hosts: None })
    }
}

/// The run of a PE among those that begin at `hosts`.
fn run(hosts: &[u32], pe: u32, npes: u32) -> Range<u32> {
    let next = hosts.partition_point(|first| *first <= pe);
    let first = next.checked_sub(1).and_then(|at| hosts.get(at)).copied().unwrap_or(0);
    first..hosts.get(next).copied().unwrap_or(npes)
}

/// `(node, nodes, pes)` of each block; none of the numbers of nodes and PEs is 0.
fn blocks(text: &str) -> Option<Vec<(u32, u32, u32)>> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let list = text.strip_prefix("(vector,(")?.strip_suffix("))")?;
    list.split("),(")
        .map(|block| {
            let numbers: Vec<u32> = block.split(',').map(|n| n.parse().ok()).collect::<Option<_>>()?;
            match numbers[..] {
                [node, nodes, pes] if nodes > 0 && pes > 0 => Some((node, nodes, pes)),
                _ => None,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_give_runs() {
        for (text, pe, npes, local, hosts) in [
            ("(vector,(0,1,4))", 2, 4, 0..4, &[0][..]),
            ("(vector,(0,2,2))", 1, 4, 0..2, &[0, 2]),
            ("(vector,(0,2,2))", 3, 4, 2..4, &[0, 2]),
            // Cyclic, and again from the first node.
            ("(vector,(0,2,1))", 1, 4, 1..2, &[0, 1, 2, 3]),
            ("(vector,(0,2,2))", 5, 8, 4..6, &[0, 2, 4, 6]),
            // Two blocks on one node are one host.
            ("(vector,(0,1,2),(0,1,3),(1,1,1))", 0, 6, 0..5, &[0, 5]),
            ("(vector,(0,1,1))", 2, 3, 0..3, &[0]),
            (" (vector, (7,1,3), (2,2,1)) ", 4, 5, 4..5, &[0, 3, 4]),
            // The last node is not full.
            ("(vector,(0,2,4))", 5, 6, 4..6, &[0, 4]),
        ] {
            let expected = Placement { local, hosts: Some(hosts.to_vec()) };
            assert_eq!(Placement::from_mapping(text, pe, npes), Some(expected), "{text}");
        }
        for text in
            ["", "(vector)", "(vector,)", "(vector,(0,1))", "(vector,(0,0,1))", "(vector,(0,1,0))", "(matrix,(0,1,1))"]
        {
            assert_eq!(Placement::from_mapping(text, 0, 1), None, "{text}");
        }
    }

    #[test]
    fn lists_of_peers_give_the_run_around_this_pe() {
        for (text, pe, npes, local) in [
            ("0,1,2,3", 2, 4, 0..4),
            ("3,2,1,0", 2, 4, 0..4),
            ("0-3", 3, 4, 0..4),
            ("0,2,4", 2, 6, 2..3),
            ("0,1,4,5", 1, 6, 0..2),
            ("0,1,4-5", 5, 6, 4..6),
            ("7", 7, 8, 7..8),
        ] {
            assert_eq!(Placement::from_peers(text, pe, npes), Some(Placement { local, hosts: None }), "{text}");
        }
        for text in ["", "1,x", "1-", "3-1", "0,4", "1,2"] {
            assert_eq!(Placement::from_peers(text, 0, 4), None, "{text}");
        }
    }
}
