//! Who sends how much to whom.

use crate::detail::Traffic;
use crate::model::Profile;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::merge;

/// PEs up to which each has a row of its own.
pub const LARGEST: usize = 256;
/// Rows of a matrix as text.
const LARGEST_TEXT: usize = 8;

/// Traffic from each origin (row) to each target (column).
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    /// What a row or column stands for: a PE, a host, or a range of PEs.
    pub labels: Vec<String>,
    /// Whether rows stand for PEs one by one.
    pub by_pe: bool,
    /// Bytes.
    pub bytes: Vec<Vec<u64>>,
    /// Calls.
    pub calls: Vec<Vec<u64>>,
    /// Traffic to PEs that found no room in a thread's table.
    pub elsewhere: Traffic,
}

/// The matrix of a job, with at most `largest` rows: by PE where that many fit, else by host, else by ranges of PEs.
pub fn matrix(profile: &Profile, largest: usize) -> Matrix {
    let npes = (profile.job.npes as usize).max(profile.pes.iter().map(|pe| pe.pe as usize + 1).max().unwrap_or(0));
    let hosts = merge::hosts(profile);
    let (labels, group, by_pe): (Vec<String>, Vec<usize>, bool) = if npes <= largest {
        ((0..npes).map(|pe| pe.to_string()).collect(), (0..npes).collect(), true)
    } else if (2..=largest).contains(&hosts.len()) {
        let mut group = vec![0; npes];
        for pe in &profile.pes {
            group[pe.pe as usize] = hosts.iter().position(|host| *host == pe.host).unwrap_or(0);
        }
        (hosts.iter().map(|host| (*host).to_owned()).collect(), group, false)
    } else {
        let step = npes.div_ceil(largest.max(1));
        let label = |first: usize| format!("{first}-{}", (first + step).min(npes) - 1);
        ((0..npes).step_by(step).map(label).collect(), (0..npes).map(|pe| pe / step).collect(), false)
    };
    let empty = vec![vec![0_u64; labels.len()]; labels.len()];
    let mut m = Matrix { labels, by_pe, bytes: empty.clone(), calls: empty, elsewhere: Traffic::default() };
    for pe in &profile.pes {
        for peer in &pe.detail.peers {
            let all = peer.all();
            match peer.pe.and_then(|to| group.get(to as usize)) {
                Some(&to) => {
                    let from = group[pe.pe as usize];
                    m.bytes[from][to] = m.bytes[from][to].saturating_add(all.bytes);
                    m.calls[from][to] = m.calls[from][to].saturating_add(all.calls);
                }
                None => m.elsewhere.add(all),
            }
        }
    }
    m
}

const COLUMNS: [Column; 9] = [
    column("from", "from", Kind::Text),
    column("to", "to", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
    column("put_calls", "puts", Kind::Count),
    column("put_bytes", "put bytes", Kind::Bytes),
    column("get_calls", "gets", Kind::Count),
    column("get_bytes", "get bytes", Kind::Bytes),
    column("amo_calls", "atomics", Kind::Count),
];

/// Pairs of PEs that have traffic, most bytes first.
pub(super) fn grids(profile: &Profile) -> Vec<Grid> {
    let mut grid = Grid::new("pairs", "Pairs of PEs", &COLUMNS, "no PE sent anything to another");
    let mut pairs: Vec<_> =
        profile.pes.iter().flat_map(|pe| pe.detail.peers.iter().map(move |to| (pe.pe, *to))).collect();
    pairs.sort_by_key(|(from, to)| (std::cmp::Reverse((to.all().bytes, to.all().calls)), *from, to.pe));
    for (from, to) in pairs {
        let all = to.all();
        grid.row([
            Cell::Text(from.to_string()),
            Cell::Text(to.pe.map_or("(others)".to_owned(), |pe| pe.to_string())),
            all.calls.into(),
            all.bytes.into(),
            to.put.calls.into(),
            to.put.bytes.into(),
            to.get.calls.into(),
            to.get.bytes.into(),
            to.amo.calls.into(),
        ]);
    }
    vec![grid]
}

/// The matrix for people: bytes above calls.
pub(crate) fn text(profile: &Profile) -> String {
    let m = matrix(profile, LARGEST_TEXT);
    let mut out = String::new();
    for (title, rows, kind) in [("bytes", &m.bytes, Kind::Bytes), ("calls", &m.calls, Kind::Count)] {
        out.push_str(&format!("{title} from (row) to (column)\n"));
        let label = |at: usize| if m.by_pe { format!("PE {}", m.labels[at]) } else { m.labels[at].clone() };
        let names = (0..m.labels.len()).map(|at| format!("{:>10}", cut(&label(at)))).collect::<String>();
        out.push_str(&format!("{:<12}{names}{:>10}\n", "", "all"));
        for (at, row) in rows.iter().enumerate() {
            let sum: u64 = row.iter().sum();
            let cells: String = row
                .iter()
                .chain([&sum])
                .map(|&n| format!("{:>10}", if n == 0 { "-".to_owned() } else { Cell::Whole(n).shown(kind) }))
                .collect();
            out.push_str(&format!("{:<12}{cells}\n", cut(&label(at))));
        }
        out.push('\n');
    }
    if !m.by_pe {
        out.push_str("Rows and columns stand for several PEs each; --json and --csv have them one by one.\n");
    }
    if m.elsewhere.calls > 0 {
        out.push_str(&format!("{} calls went to PEs that are not kept one by one.\n", m.elsewhere.calls));
    }
    out
}

fn cut(label: &str) -> String {
    label.chars().take(9).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detail::{Detail, Peer};
    use crate::model::{Job, Pe};

    fn profile(npes: u32, hosts: u32) -> Profile {
        let pe = |pe: u32| {
            let to = Peer { pe: Some((pe + 1) % npes), put: Traffic { calls: 1, bytes: 10 }, ..Peer::default() };
            Pe {
                pe,
                host: format!("h{}", pe % hosts),
                detail: Detail { peers: vec![to], ..Detail::default() },
                ..Pe::default()
            }
        };
        Profile { job: Job { npes, ..Job::default() }, pes: (0..npes).map(pe).collect() }
    }

    #[test]
    fn a_large_matrix_is_folded_and_loses_nothing() {
        let m = matrix(&profile(4, 1), 8);
        assert!(m.by_pe && m.bytes[3][0] == 10 && m.bytes[0][1] == 10 && m.bytes[0][0] == 0);
        for (npes, hosts, rows) in [(100, 4, 4), (100, 1, 8), (9, 9, 5), (4096, 64, 8)] {
            let m = matrix(&profile(npes, hosts), 8);
            assert_eq!(m.labels.len(), rows, "{npes} PEs on {hosts} hosts");
            assert!(!m.by_pe);
            assert_eq!(m.bytes.iter().flatten().sum::<u64>(), 10 * u64::from(npes));
            assert_eq!(m.calls.iter().flatten().sum::<u64>(), u64::from(npes));
        }
    }
}
