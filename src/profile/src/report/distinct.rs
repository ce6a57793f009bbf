//! Names that are to be told apart in few columns.

use std::collections::BTreeSet;

/// What stands for what is left out, where `mark` is as long as it is.
type Cut = fn(name: &[char], same: usize, room: usize, mark: &str) -> String;

/// Ways to cut a name that is too long: each keeps another part of it. `same`: so many characters all names begin with.
const CUTS: [Cut; 4] = [
    |name, _, room, mark| format!("{}{mark}", text(&name[..room])),
    // The end, where most hosts have their number.
    |name, _, room, mark| format!("{mark}{}", text(&name[name.len() - room..])),
    // From where names begin to differ.
    |name, same, room, mark| {
        let begin = same.min(name.len() - room);
        format!("{}{}", if begin > 0 { mark } else { "" }, text(&name[begin..begin + room]))
    },
    // Both ends.
    |name, _, room, mark| {
        let begin = room / 2;
        format!("{}{mark}{}", text(&name[..begin]), text(&name[name.len() - (room - begin)..]))
    },
];

/// The names in at most `width` columns each. Of those that are too long a part is left out, for which `mark` stands:
/// a domain that all have, and what else does not tell one from the others.
pub fn distinct_names(names: &[String], width: usize, mark: &str) -> Vec<String> {
    if names.iter().all(|name| name.chars().count() <= width) {
        return names.to_vec();
    }
    let domain = domain(names);
    let names: Vec<Vec<char>> = names.iter().map(|name| name[..name.len() - domain].chars().collect()).collect();
    let same = names.iter().skip(1).fold(names[0].len(), |same, name| {
        let alike = names[0].iter().zip(name).take_while(|(a, b)| a == b).count();
        same.min(alike)
    });
    let room = width.saturating_sub(mark.chars().count()).max(1);
    let cut = |cut: &Cut| -> Vec<String> {
        let short = |name: &Vec<char>| if name.len() <= width { text(name) } else { cut(name, same, room, mark) };
        names.iter().map(short).collect()
    };
    let different = names.iter().collect::<BTreeSet<_>>().len();
    let mut all = CUTS.iter().map(cut);
    let best = all.find(|cut| cut.iter().collect::<BTreeSet<_>>().len() == different);
    best.unwrap_or_else(|| cut(&CUTS[1]))
}

/// Bytes of the domain at the end of all names, with its dot; 0: they have not the same.
fn domain(names: &[String]) -> usize {
    let of = |name: &str| name.find('.').map(|at| name[at..].to_owned());
    let first = names.first().and_then(|name| of(name));
    let is_same = names.iter().all(|name| of(name) == first && !name.starts_with('.'));
    first.filter(|_| is_same).map_or(0, |domain| domain.len())
}

fn text(name: &[char]) -> String {
    name.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(names: &[&str], width: usize) -> Vec<String> {
        distinct_names(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), width, "...")
    }

    #[test]
    fn names_that_fit_are_whole() {
        assert_eq!(short(&["node1", "node2"], 7), ["node1", "node2"]);
        assert_eq!(short(&[], 7), [""; 0]);
        assert_eq!(short(&["compute-000", "compute-001"], 11), ["compute-000", "compute-001"]);
    }

    #[test]
    fn what_tells_names_apart_is_kept() {
        assert_eq!(short(&["compute-000", "compute-001", "compute-013"], 7), ["...-000", "...-001", "...-013"]);
        let domain = ["compute-000.cluster.example.org", "compute-001.cluster.example.org"];
        assert_eq!(short(&domain, 11), ["compute-000", "compute-001"]);
        assert_eq!(short(&domain, 9), ["...te-000", "...te-001"]);
        assert_eq!(short(&["cluster-node-a-of-the-lab", "cluster-node-b-of-the-lab"], 9), ["...a-of-t", "...b-of-t"]);
        assert_eq!(short(&["alpha.example.org", "beta.example.com"], 9), ["alpha....", "beta.e..."]);
        let both = ["r1-compute-blade-001", "r1-compute-blade-002", "r2-compute-blade-001"];
        assert_eq!(short(&both, 9), ["r1-...001", "r1-...002", "r2-...001"]);
        assert_eq!(short(&["n1", "a-host-of-another-name"], 9), ["n1", "a-host..."]);
    }

    #[test]
    fn equal_names_stay_equal() {
        assert_eq!(short(&["compute-000", "compute-000"], 7), ["comp...", "comp..."]);
        assert_eq!(short(&["ünïcödé-ñame-1", "ünïcödé-ñame-2"], 7), ["...me-1", "...me-2"]);
    }
}
