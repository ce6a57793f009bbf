//! Sorting of what is sorted now and then, by one function for lists of everything: each type that the standard library
//! sorts takes 5 KB of the library.

use std::cmp::Ordering;

/// Sorts as [`slice::sort_by`] does: what compares equal stays in its order.
pub fn sort_by<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut places = places(list.len(), &|a, b| compare(&list[a], &list[b]));
    for at in 0..list.len() {
        while places[at] != at {
            let to = places[at];
            list.swap(at, to);
            places.swap(at, to);
        }
    }
}

/// Sorts as [`slice::sort_by_key`] does.
pub fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(list, |a, b| key(a).cmp(&key(b)));
}

/// Sorts by a key, and puts together what has the same: `add` adds the second to the first.
pub fn merge_by_key<T, K: Ord>(list: &mut Vec<T>, key: impl Fn(&T) -> K, mut add: impl FnMut(&mut T, &T)) {
    sort_by_key(list, &key);
    list.dedup_by(|next, kept| {
        let is_same = key(next) == key(kept);
        if is_same {
            add(kept, next);
        }
        is_same
    });
}

/// Where each of so many goes.
#[inline(never)]
fn places(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|a, b| compare(*a, *b));
    let mut places = vec![0; len];
    for (place, from) in order.into_iter().enumerate() {
        places[from] = place;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::{merge_by_key, sort_by_key};

    #[test]
    fn what_has_the_same_key_is_one() {
        let mut list = vec![(2, 1), (1, 10), (2, 100), (3, 0), (1, 1000)];
        merge_by_key(&mut list, |(key, _)| *key, |sum, (_, more)| sum.1 += more);
        assert_eq!(list, [(1, 1010), (2, 101), (3, 0)]);
        list.clear();
        merge_by_key(&mut list, |(key, _)| *key, |_, _| ());
        assert!(list.is_empty());
    }

    #[test]
    fn it_sorts_as_the_standard_library_does() {
        for len in 0..200_u32 {
            for spread in [1, 7, 1000] {
                let mut list: Vec<(u32, u32)> =
                    (0..len).map(|at| (at.wrapping_mul(2_654_435_761) >> 7) % spread).zip(0..).collect();
                let mut expected = list.clone();
                expected.sort_by_key(|item| item.0);
                sort_by_key(&mut list, |item| item.0);
                assert_eq!(list, expected);
            }
        }
    }
}
