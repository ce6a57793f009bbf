//! Which call sites of two programs correspond: lines move, calls are added in between and taken out.

/// Pairs of places in the two lists, in order; `None`: there is none on that side.
pub type Pairs = Vec<(Option<usize>, Option<usize>)>;

/// The alignment of two lists that changes least. `equal` says whether two entries are the same. An entry that changed
/// costs as much as one that came or went, so a call that is added in front of another is one change and not two.
pub fn align(base: usize, new: usize, equal: impl Fn(usize, usize) -> bool) -> Pairs {
    // cost[i][j]: of what is behind the first i and j.
    let mut cost = vec![vec![0_usize; new + 1]; base + 1];
    for i in (0..=base).rev() {
        for j in (0..=new).rev() {
            cost[i][j] = match (i < base, j < new) {
                (false, _) => new - j,
                (true, false) => base - i,
                (true, true) => {
                    let both = cost[i + 1][j + 1] + usize::from(!equal(i, j));
                    both.min(1 + cost[i + 1][j]).min(1 + cost[i][j + 1])
                }
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Pairs::new());
    while i < base || j < new {
        if i < base && j < new && cost[i][j] == cost[i + 1][j + 1] + usize::from(!equal(i, j)) {
            pairs.push((Some(i), Some(j)));
            (i, j) = (i + 1, j + 1);
        } else if i < base && cost[i][j] == 1 + cost[i + 1][j] {
            pairs.push((Some(i), None));
            i += 1;
        } else {
            pairs.push((None, Some(j)));
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(base: &[u64], new: &[u64]) -> Pairs {
        align(base.len(), new.len(), |i, j| base[i] == new[j])
    }

    #[test]
    fn what_was_added_is_found() {
        assert_eq!(of(&[100], &[1, 100]), [(None, Some(0)), (Some(0), Some(1))]);
        assert_eq!(of(&[7, 100, 8], &[7, 8]), [(Some(0), Some(0)), (Some(1), None), (Some(2), Some(1))]);
    }

    #[test]
    fn what_changed_is_one_change() {
        assert_eq!(of(&[1, 64, 3], &[1, 8, 3]), [(Some(0), Some(0)), (Some(1), Some(1)), (Some(2), Some(2))]);
        assert_eq!(of(&[], &[1]), [(None, Some(0))]);
        assert_eq!(of(&[], &[]), []);
    }
}
