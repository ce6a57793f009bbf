//! Memory that is not in one piece, as strided routines use it.

/// Blocks of the same size, each as far from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StridedRange {
    /// Where the first block begins.
    pub addr: usize,
    /// Bytes of a block.
    pub block: usize,
    /// Bytes from the begin of a block to that of the next.
    pub stride: usize,
    /// How many blocks.
    pub count: usize,
}

impl StridedRange {
    /// Memory in one piece.
    pub fn piece(addr: usize, bytes: usize) -> Self {
        Self { addr, block: bytes, stride: bytes, count: 1 }
    }

    /// Bytes from the first to the last one, with those in between.
    pub fn bytes(&self) -> usize {
        match self.count.checked_sub(1) {
            None => 0,
            Some(_) if self.block == 0 => 0,
            Some(steps) => self.stride.saturating_mul(steps).saturating_add(self.block),
        }
    }

    /// Whether a byte belongs to both.
    pub fn overlaps(&self, other: &Self) -> bool {
        if self.bytes() == 0 || !other.touches(self.addr, self.addr.saturating_add(self.bytes())) {
            return false;
        }
        let (few, many) = if self.count <= other.count { (self, other) } else { (other, self) };
        (0..few.count).any(|index| {
            let from = few.addr.saturating_add(few.stride.saturating_mul(index));
            many.touches(from, from.saturating_add(few.block))
        })
    }

    /// Whether a byte of these addresses belongs to it.
    fn touches(&self, from: usize, to: usize) -> bool {
        if self.bytes() == 0 || to <= self.addr {
            return false;
        }
        // Of the blocks that begin before the end, the last one ends last.
        let steps = (to - 1 - self.addr).checked_div(self.stride).unwrap_or(0).min(self.count - 1);
        self.addr.saturating_add(self.stride.saturating_mul(steps)).saturating_add(self.block) > from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided(addr: usize, block: usize, stride: usize, count: usize) -> StridedRange {
        StridedRange { addr, block, stride, count }
    }

    /// Whether two shapes share memory, by looking at each byte.
    fn share(a: &StridedRange, b: &StridedRange) -> bool {
        let bytes = |shape: &StridedRange| -> Vec<usize> {
            let StridedRange { addr, block, stride, count } = *shape;
            (0..count).flat_map(|at| (0..block).map(move |byte| addr + at * stride + byte)).collect()
        };
        let (a, b) = (bytes(a), bytes(b));
        a.iter().any(|byte| b.contains(byte))
    }

    #[test]
    fn shapes_that_share_a_byte_are_found() {
        let mut shapes = Vec::new();
        for addr in 8..16 {
            for block in 0..4 {
                for stride in block.max(1)..7 {
                    shapes.extend((0..4).map(|count| strided(addr, block, stride, count)));
                }
            }
        }
        for a in &shapes {
            for b in shapes.iter().step_by(3) {
                assert_eq!(a.overlaps(b), share(a, b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_shape_reaches_from_its_first_to_its_last_byte() {
        assert_eq!(strided(8, 2, 5, 3).bytes(), 12);
        assert_eq!(strided(8, 2, 5, 0).bytes() + strided(8, 0, 5, 3).bytes(), 0);
        assert_eq!(strided(8, 8, usize::MAX, 3).bytes(), usize::MAX);
        assert_eq!(StridedRange::piece(8, 64).bytes(), 64);
        assert!(strided(8, 8, usize::MAX, 3).overlaps(&StridedRange::piece(8, 1)));
    }
}
