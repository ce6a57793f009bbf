//! PEs in an order.

use std::sync::Arc;

/// World numbers of some PEs, none of them twice. Copies share a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeList {
    /// `start + stride * i`.
    Strided {
        /// World number of the first.
        start: i32,
        /// Distance; not 0 where there are several.
        stride: i32,
        /// How many.
        size: usize,
    },
    /// One after the other.
    Listed(Arc<[i32]>),
}

impl PeList {
    /// The shortest form of a list that is not empty.
    pub fn of(list: &[i32]) -> Self {
        let (start, size) = (list[0], list.len());
        let stride = if size > 1 { list[1].wrapping_sub(start) } else { 1 };
        let is_strided = list.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == stride);
        if is_strided && stride != 0 { Self::Strided { start, stride, size } } else { Self::Listed(list.into()) }
    }

    /// How many.
    #[inline]
    pub fn size(&self) -> usize {
        match self {
            Self::Strided { size, .. } => *size,
            Self::Listed(list) => list.len(),
        }
    }

    /// World number of a member, whose index is in range.
    #[inline(always)]
    pub fn world(&self, index: usize) -> i32 {
        match self {
            Self::Strided { start, stride, .. } => start + stride * index as i32,
            Self::Listed(list) => list[index],
        }
    }

    /// World number of a member; `None` where the index is out of range.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<i32> {
        (index < self.size()).then(|| self.world(index))
    }

    /// A member's index; `None` for a PE that is none.
    pub fn index_of(&self, pe: i32) -> Option<usize> {
        match self {
            Self::Strided { start, size: 1, .. } => (pe == *start).then_some(0),
            Self::Strided { start, stride, size } => {
                let offset = i64::from(pe) - i64::from(*start);
                let index = offset / i64::from(*stride);
                (offset % i64::from(*stride) == 0 && (0..*size as i64).contains(&index)).then_some(index as usize)
            }
            Self::Listed(list) => list.iter().position(|member| *member == pe),
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = i32> + '_ {
        (0..self.size()).map(|index| self.world(index))
    }

    /// Names the list among all others of a job: equal lists have equal names on all PEs, however they were made.
    pub fn hash(&self) -> u128 {
        let mix = |hash: u64, pe: i32, factor: u64| (hash ^ u64::from(pe as u32)).wrapping_mul(factor).rotate_left(29);
        let start = (self.size() as u64, !(self.size() as u64));
        let (high, low) = self
            .iter()
            .fold(start, |(high, low), pe| (mix(high, pe, 0x9e37_79b9_7f4a_7c15), mix(low, pe, 0xff51_afd7_ed55_8ccd)));
        u128::from(high) << 64 | u128::from(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_what_they_were_made_of() {
        for list in [&[5][..], &[0, 1, 2], &[9, 6, 3, 0], &[3, 4, 7, 12], &[4, 1], &[2, 0, 1]] {
            let pes = PeList::of(list);
            assert_eq!(pes.iter().collect::<Vec<_>>(), list);
            assert_eq!((0..=list.len()).map_while(|index| pes.get(index)).collect::<Vec<_>>(), list);
            for pe in -1..20 {
                assert_eq!(pes.index_of(pe), list.iter().position(|member| *member == pe), "{pe} in {list:?}");
            }
        }
        assert!(matches!(PeList::of(&[9, 6, 3, 0]), PeList::Strided { start: 9, stride: -3, size: 4 }));
    }

    #[test]
    fn names_depend_on_members_and_their_order_only() {
        let strided = PeList::of(&[1, 3, 5]);
        assert_eq!(strided.hash(), PeList::Listed([1, 3, 5].into()).hash());
        assert_ne!(strided.hash(), PeList::of(&[5, 3, 1]).hash());
        assert_ne!(PeList::of(&[0]).hash(), PeList::of(&[0, 1]).hash());
    }
}
