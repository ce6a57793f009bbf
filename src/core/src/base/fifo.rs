//! A queue of numbered places that is threaded through them.
//!
//! It is all zeros while it is empty: a large static that has one takes no room in the library's file.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The queue; its owner keeps for each place the number of the one behind it, and guards them all with one lock.
#[derive(Debug)]
pub struct Fifo {
    /// Number of the place plus 1; 0: empty.
    first: u32,
    /// As `first`; means nothing while the queue is empty.
    last: u32,
}

impl Fifo {
    /// A queue of nothing.
    pub const EMPTY: Fifo = Fifo { first: 0, last: 0 };

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.first == 0
    }

    /// Puts a place at the end. `next` gives the word of a place.
    pub fn push<'a>(&mut self, place: u32, next: impl Fn(u32) -> &'a AtomicU32) {
        next(place).store(0, Relaxed);
        if self.first == 0 {
            self.first = place + 1;
        } else {
            next(self.last - 1).store(place + 1, Relaxed);
        }
        self.last = place + 1;
    }

    /// Takes the place that was put in first.
    pub fn pop<'a>(&mut self, next: impl Fn(u32) -> &'a AtomicU32) -> Option<u32> {
        let place = self.first.checked_sub(1)?;
        self.first = next(place).load(Relaxed);
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_in_is_first_out() {
        let words = [const { AtomicU32::new(0) }; 4];
        let next = |place: u32| &words[place as usize];
        let mut queue = Fifo::EMPTY;
        assert_eq!(queue.pop(next), None);
        for round in 0..3 {
            [2, 0, 3].into_iter().for_each(|place| queue.push(place, next));
            assert_eq!(queue.pop(next), Some(2), "round {round}");
            queue.push(1, next);
            let rest: Vec<u32> = std::iter::from_fn(|| queue.pop(next)).collect();
            assert_eq!(rest, [0, 3, 1], "round {round}");
        }
    }
}
