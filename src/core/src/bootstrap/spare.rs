//! Parts of the job's file that this process has taken for spaces and has given back: it takes them again before the
//! file grows.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::os::mmap;

/// None of them touches another one.
#[derive(Debug, Default)]
pub(super) struct Spare(Mutex<Vec<Range<usize>>>);

impl Spare {
    /// The begin of as many bytes at a multiple of `align`, which are no longer spare.
    pub(super) fn take(&self, bytes: usize, align: usize) -> Option<usize> {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |part: &Range<usize>| {
            let begin = mmap::round_up(part.start, align);
            begin.checked_add(bytes).is_some_and(|end| end <= part.end).then_some(begin)
        };
        let (at, begin) = parts.iter().enumerate().find_map(|(at, part)| Some((at, fits(part)?)))?;
        let whole = parts.swap_remove(at);
        let rest = [whole.start..begin, begin + bytes..whole.end];
        parts.extend(rest.into_iter().filter(|part| !part.is_empty()));
        Some(begin)
    }

    pub(super) fn give(&self, part: Range<usize>) {
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let touches = |other: &Range<usize>| other.end == part.start || other.start == part.end;
        let joined = parts
            .extract_if(.., |other| touches(other))
            .fold(part.clone(), |all, other| all.start.min(other.start)..all.end.max(other.end));
        parts.push(joined);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_taken_again() {
        let spare = Spare::default();
        assert_eq!(spare.take(1, 1), None);
        spare.give(100..200);
        spare.give(300..400);
        assert_eq!(spare.take(150, 1), None, "they do not touch");
        spare.give(200..300);
        assert_eq!(spare.take(150, 64), Some(128));
        assert_eq!((spare.take(122, 1), spare.take(28, 4), spare.take(1, 1)), (Some(278), Some(100), None));
        spare.give(0..10);
        assert_eq!((spare.take(usize::MAX, 1), spare.take(11, 1), spare.take(10, 16)), (None, None, Some(0)));
    }
}
