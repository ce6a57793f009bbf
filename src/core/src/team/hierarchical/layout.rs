//! Where the members of a team are.

use crate::team::pe_list::PeList;
use std::ops::Range;

/// The hosts of a team, in the order in which its members are on them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// First member on each host.
    pub heads: Vec<u32>,
    /// Members.
    pub size: u32,
    /// This PE's host.
    pub host: usize,
    /// Members on the host that has the fewest.
    pub fewest: u32,
}

impl Layout {
    /// Of PEs in ascending or descending order, for member `me`. `hosts`: first PEs of all hosts, ascending.
    pub fn of(hosts: &[u32], pes: &PeList, me: i32) -> Self {
        let size = pes.size() as i32;
        let host_of = |rank: i32| {
            let pe = i64::from(pes.world(rank as usize));
            hosts.partition_point(|first| i64::from(*first) <= pe)
        };
        let mut heads = vec![0];
        let mut rank = 0;
        // From one host to the next: members in between are on the same one.
        loop {
            let here = host_of(rank);
            let mut step = 1;
            while rank + step < size && host_of(rank + step) == here {
                step = (step * 2).min(size);
            }
            // The first that is elsewhere, or the end, is in (rank + step / 2, rank + step].
            let (mut low, mut high) = (rank + step / 2, (rank + step).min(size));
            while low + 1 < high {
                let middle = low + (high - low) / 2;
                if host_of(middle) == here { low = middle } else { high = middle }
            }
            if high >= size {
                break;
            }
            heads.push(high as u32);
            rank = high;
        }
        let host = heads.partition_point(|head| *head <= me as u32) - 1;
        let mut layout = Self { heads, size: size as u32, host, fewest: 0 };
        layout.fewest = (0..layout.heads.len()).map(|host| layout.ranks(host).len() as u32).min().unwrap_or(0);
        layout
    }

    /// Members on a host.
    pub fn ranks(&self, host: usize) -> Range<u32> {
        self.heads[host]..self.heads.get(host + 1).copied().unwrap_or(self.size)
    }

    /// The host of a member.
    pub fn host_of(&self, rank: i32) -> usize {
        self.heads.partition_point(|head| *head <= rank as u32) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided((start, stride, size): (i32, i32, i32)) -> PeList {
        PeList::Strided { start, stride, size: size as usize }
    }

    /// By looking at every member.
    fn plain(hosts: &[u32], (start, stride, size): (i32, i32, i32)) -> Vec<u32> {
        let host = |rank: i32| hosts.iter().filter(|first| **first as i32 <= start + stride * rank).count();
        (0..size).filter(|rank| *rank == 0 || host(*rank) != host(*rank - 1)).map(|rank| rank as u32).collect()
    }

    #[test]
    fn heads_are_where_the_host_changes() {
        let tables: &[&[u32]] = &[&[0], &[0, 1, 2, 3, 4, 5, 6, 7], &[0, 3, 4, 9], &[0, 10], &[0, 1, 2, 16, 17]];
        for hosts in tables {
            for npes in 1..20 {
                let hosts: Vec<u32> = hosts.iter().copied().filter(|first| *first < npes as u32).collect();
                for start in 0..npes {
                    for stride in -5..6 {
                        let range = |size| (start, stride, size);
                        let inside = |size: &i32| (0..npes).contains(&(start + stride * (size - 1)));
                        for size in (1..=npes).take_while(inside).filter(|size| stride != 0 || *size == 1) {
                            for me in 0..size {
                                let layout = Layout::of(&hosts, &strided(range(size)), me);
                                assert_eq!(layout.heads, plain(&hosts, range(size)), "{hosts:?} {:?}", range(size));
                                assert!(layout.ranks(layout.host).contains(&(me as u32)));
                                assert_eq!(layout.host_of(me), layout.host);
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn lists_are_on_hosts_as_ranges_are() {
        let layout = Layout::of(&[0, 3, 5], &PeList::of(&[1, 2, 4, 7, 8]), 3);
        assert_eq!((layout.heads.as_slice(), layout.host, layout.fewest), ([0, 2, 3].as_slice(), 2, 1));
    }

    #[test]
    fn the_smallest_host_is_known() {
        assert_eq!(Layout::of(&[0, 3, 5], &strided((0, 1, 9)), 0).fewest, 2);
        assert_eq!(Layout::of(&[0, 3, 5], &strided((8, -1, 9)), 8).heads, [0, 4, 6]);
    }
}
