//! The order of the entries of a series. Times alone are no order of commits: clocks of several machines differ, one
//! is set, a commit is measured again later.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::Entry;

/// The same entries, a commit before those that name it as their parent, else by time. Where commits go round in a
/// circle, which no history does, the earliest of those that are left comes first.
pub fn by_commit(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort_by_key(|entry| entry.time);
    let mut children: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut of_commit: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        *of_commit.entry(&entry.commit).or_default() += 1;
        if !entry.parent.is_empty() && entry.parent != entry.commit {
            children.entry(&entry.parent).or_default().push(at);
        }
    }
    // For how many entries of its parent each one waits; all of a commit's come before its children.
    let mut waits: Vec<usize> = vec![0; entries.len()];
    for (parent, children) in &children {
        children.iter().for_each(|&at| waits[at] = of_commit.get(parent).copied().unwrap_or(0));
    }
    let mut ready: BinaryHeap<Reverse<usize>> = (0..entries.len()).filter(|&at| waits[at] == 0).map(Reverse).collect();
    let (mut order, mut is_out, mut first) = (Vec::new(), vec![false; entries.len()], 0);
    while order.len() < entries.len() {
        while is_out[first] {
            first += 1;
        }
        let at = ready.pop().map_or(first, |Reverse(at)| at);
        if std::mem::replace(&mut is_out[at], true) {
            continue;
        }
        order.push(at);
        for &child in children.get(entries[at].commit.as_str()).into_iter().flatten() {
            waits[child] = waits[child].saturating_sub(1);
            if waits[child] == 0 && !is_out[child] {
                ready.push(Reverse(child));
            }
        }
    }
    let mut entries: Vec<Option<Entry>> = entries.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| entries[at].take()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commits in their order, of entries that are written `commit<parent@time`.
    fn order(entries: &[&str]) -> String {
        let parse = |text: &&str| {
            let (names, time) = text.split_once('@').unwrap();
            let (commit, parent) = names.split_once('<').unwrap_or((names, ""));
            let (commit, parent) = (commit.to_owned(), parent.to_owned());
            Entry { commit, parent, time: time.parse().unwrap(), ..Entry::default() }
        };
        let sorted = by_commit(entries.iter().map(parse).collect());
        sorted.iter().map(|entry| format!("{}{}", entry.commit, entry.time)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_parent_comes_before_its_children_whatever_the_times_say() {
        assert_eq!(order(&["b@2", "a@1", "c@3"]), "a1 b2 c3");
        assert_eq!(order(&["c<a@100", "a@3000"]), "a3000 c100");
        // A chain of which the clock was set back in the middle, and a commit of which no parent is known.
        assert_eq!(order(&["d<c@60", "c<b@50", "b<a@900", "a@800", "x@850"]), "a800 x850 b900 c50 d60");
        assert_eq!(order(&["a@1", "b<a@5", "a@9"]), "a1 a9 b5", "measured again");
        assert_eq!(order(&["b<gone@2", "a<gone@1"]), "a1 b2");
        assert_eq!(order(&["c<a@3", "b<a@2", "a@9", "d<c@1"]), "a9 b2 c3 d1", "two branches");
    }

    #[test]
    fn what_goes_round_in_a_circle_comes_by_time() {
        assert_eq!(order(&["a<a@2", "b@1"]), "b1 a2");
        assert_eq!(order(&["c<b@3", "b<a@2", "a<c@1", "d<c@9"]), "a1 b2 c3 d9");
        assert_eq!(order(&[]), "");
    }
}
