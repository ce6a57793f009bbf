//! Which of a pair comes first. Two pairs make a block of base, new, new, base or the other way round, so that what
//! drifts evenly cancels; which way, a seeded lot says, so that nothing periodic can keep step.

/// The order of pairs.
pub struct Order {
    random: fastrand::Rng,
    pending: Option<bool>,
}

impl Order {
    /// Always the same for a seed.
    pub fn new(seed: u64) -> Order {
        Order { random: fastrand::Rng::with_seed(seed), pending: None }
    }

    /// Whether the new version comes first in the next pair.
    pub fn new_is_first(&mut self) -> bool {
        match self.pending.take() {
            Some(second) => second,
            None => {
                let first = self.random.bool();
                self.pending = Some(!first);
                first
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_both_orders() {
        let mut order = Order::new(1);
        let drawn: Vec<bool> = (0..200).map(|_| order.new_is_first()).collect();
        assert!(drawn.chunks(2).all(|block| block[0] != block[1]));
        let first = drawn.iter().step_by(2).filter(|first| **first).count();
        assert!((20..80).contains(&first), "{first} of 100 blocks begin with the new one");
        let mut again = Order::new(1);
        assert!(drawn.into_iter().all(|first| first == again.new_is_first()));
    }
}
