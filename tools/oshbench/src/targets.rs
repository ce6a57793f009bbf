//! The numbers to reach, as a table of rules over rows of the results.

use crate::results::Row;

/// How long something may take.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// Nanoseconds.
    Ns(f64),
    /// So many times the limit of its row, plus nanoseconds.
    Limit { times: f64, plus: f64 },
    /// The limit of its row, two reads of the time stamp counter, plus nanoseconds.
    LimitAndStamps { plus: f64 },
    /// So many times OSHMEM's.
    Peer(f64),
    /// So many times what the same takes on the heap.
    Heap(f64),
    /// So many times another row of the same memory, size and PEs.
    Other { bench: &'static str, times: f64 },
}

/// Which rows a bound is for: the first rule that fits a row counts.
struct Rule {
    /// Names; one that begins with `/` stands for every name that ends so.
    benches: &'static [&'static str],
    memory: Option<&'static str>,
    bytes: Option<(u64, u64)>,
    pes: Option<u32>,
    bound: Bound,
}

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

const SHORT: &[&str] = &["p", "g", "put", "get", "put+quiet", "put_nbi", "putmem"];
const ATOMICS: &[&str] = &["fetch_add", "fetch_inc", "add", "compare_swap", "swap", "fetch", "set"];
const TRANSFERS: &[&str] = &["putmem-bw", "getmem-bw"];
const SYNCHRONISING: &[&str] = &["barrier", "sync", "sum", "broadcast+sync"];
const ALL_TOGETHER: &[&str] =
    &["barrier", "sync", "sum", "broadcast+sync", "ring-hop", "fcollect", "alltoall", "lock-free", "lock-contended"];

const fn rule(benches: &'static [&'static str], bound: Bound) -> Rule {
    Rule { benches, memory: None, bytes: None, pes: None, bound }
}

const RULES: &[Rule] = &[
    // On static objects everything costs what it costs on the heap.
    Rule { memory: Some("static"), ..rule(SHORT, Bound::Heap(1.1)) },
    Rule { memory: Some("static"), ..rule(&["iput", "iget", "add+quiet"], Bound::Heap(1.1)) },
    Rule { memory: Some("static"), ..rule(ATOMICS, Bound::Heap(1.1)) },
    rule(&["p"], Bound::Ns(5.0)),
    rule(&["put+quiet"], Bound::Ns(10.0)),
    rule(&["get", "g"], Bound::Ns(8.0)),
    rule(&["iput"], Bound::Ns(1000.0)),
    rule(ATOMICS, Bound::Limit { times: 1.5, plus: 3.0 }),
    // 97 % of the best copy the machine has.
    Rule { bytes: Some((MIB, u64::MAX)), ..rule(TRANSFERS, Bound::Limit { times: 1.0 / 0.97, plus: 0.0 }) },
    Rule { memory: Some("static"), ..rule(TRANSFERS, Bound::Heap(1.1)) },
    Rule { bytes: Some((0, 8)), pes: Some(2), ..rule(SYNCHRONISING, Bound::Peer(0.5)) },
    Rule { bytes: Some((0, 8)), pes: Some(2), ..rule(&["fcollect", "alltoall", "lock-free"], Bound::Peer(0.5)) },
    Rule { pes: Some(2), ..rule(&["lock-contended"], Bound::Peer(1.0)) },
    Rule { pes: Some(2), ..rule(&["put+fence+flag", "malloc+free"], Bound::Peer(0.8)) },
    Rule { bytes: Some((64 * KIB, MIB)), pes: Some(2), ..rule(&["sum"], Bound::Peer(0.6)) },
    Rule { bytes: Some((64 * KIB, 64 * KIB)), pes: Some(2), ..rule(&["broadcast+sync"], Bound::Peer(0.76)) },
    Rule { bytes: Some((0, 64 * KIB)), pes: Some(4), ..rule(ALL_TOGETHER, Bound::Peer(1.0)) },
    Rule { bytes: Some((0, 64 * KIB)), pes: Some(8), ..rule(ALL_TOGETHER, Bound::Peer(1.0)) },
    Rule { pes: Some(4), ..rule(&["malloc+free"], Bound::Peer(1.0)) },
    Rule { pes: Some(8), ..rule(&["malloc+free"], Bound::Peer(1.0)) },
    // 90 % of what dd reaches.
    rule(&["file-write", "file-read"], Bound::Limit { times: 1.0 / 0.9, plus: 0.0 }),
    rule(&["set-barrier", "set-sync", "set-sum", "set-fcollect"], Bound::Limit { times: 1.05, plus: 0.0 }),
    // 86 % of the time is the program's.
    rule(
        &[
            "overlap-put",
            "overlap-fadd",
            "overlap-bcast-root",
            "overlap-bcast",
            "pww-put",
            "pww-fadd",
            "pww-bcast-root",
            "pww-bcast",
        ],
        Bound::Limit { times: 0.14, plus: 0.0 },
    ),
    rule(&["message-round-trip", "gex-round-trip"], Bound::Limit { times: 2.2, plus: 0.0 }),
    Rule { bytes: Some((0, 8)), ..rule(&["message-stream", "gex-stream"], Bound::Ns(200.0)) },
    // 80 % of the rate of memcpy to the other PE.
    rule(&["gex-stream"], Bound::Limit { times: 1.25, plus: 0.0 }),
    rule(&["gex-put", "gex-get", "gex-fetch_add"], Bound::Limit { times: 1.0, plus: 5.0 }),
    // Far below the time the target computes, and above what an interrupt takes.
    rule(&["busy-put+quiet", "busy-get", "busy-fetch_add"], Bound::Ns(50e3)),
    Rule { pes: Some(2), ..rule(&["empty-job"], Bound::Ns(50e6)) },
    Rule { pes: Some(8), ..rule(&["empty-job"], Bound::Ns(150e6)) },
    // Of `tcp`, the provider of this benchmark; where one is made for it, 1.1 x.
    rule(&["net-put", "net-get", "net-fetch_add"], Bound::Limit { times: 1.5, plus: 0.0 }),
    rule(&["net-put-bw"], Bound::Limit { times: 1.1, plus: 0.0 }),
    rule(&["net-put_nbi-rate"], Bound::Other { bench: "net-put-rate", times: 1.0 / 3.0 }),
    // Whole programs: what counts is the median of the pairs, below the table.
    rule(&["gups/level1", "isort/level1"], Bound::Limit { times: 1.01, plus: 0.0 }),
    rule(&["gups/trace", "isort/trace"], Bound::Limit { times: 1.05, plus: 0.0 }),
    rule(&["pcontrol-same"], Bound::Ns(20.0)),
    rule(&["pcontrol-switch"], Bound::Ns(300.0)),
    rule(&["region-of-1", "region-of-63"], Bound::Ns(100.0)),
    rule(&["ping-pong/level1"], Bound::Limit { times: 1.0, plus: 8.0 }),
    rule(&["barrier/level1", "sum/level1", "fcollect/level1"], Bound::Limit { times: 1.15, plus: 0.0 }),
    rule(&["n_pes/level1", "my_pe/level1", "n_pes/kept", "my_pe/kept"], Bound::Limit { times: 1.0, plus: 1.0 }),
    rule(&["p/kept", "g/kept", "fetch_add/kept"], Bound::Limit { times: 1.0, plus: 2.0 }),
    rule(&["first-call/level1"], Bound::Ns(10e3)),
    rule(&["calls-2-to-500/level1"], Bound::Limit { times: 1.0, plus: 10.0 }),
    rule(&["small-update/level1"], Bound::Limit { times: 1.10, plus: 0.0 }),
    rule(&["large-update/level1"], Bound::Limit { times: 1.05, plus: 0.0 }),
    rule(&["/off"], Bound::Limit { times: 1.0, plus: 1.0 }),
    rule(&["/level1"], Bound::Limit { times: 1.0, plus: 5.0 }),
    rule(&["/timed"], Bound::LimitAndStamps { plus: 10.0 }),
];

/// A target for one row, as far as this run can tell it.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// For people: `<= 0.5 x OSHMEM`.
    pub text: String,
    /// Nanoseconds; `None` where what it is relative to was not measured.
    pub ns: Option<f64>,
    /// Whether it is met; `None` where either side was not measured.
    pub met: Option<bool>,
}

impl Rule {
    fn fits(&self, row: &Row) -> bool {
        let key = &row.key;
        let named = |name: &&str| {
            if name.starts_with('/') { key.bench.ends_with(*name) } else { key.bench == **name }
        };
        self.benches.iter().any(named)
            && self.memory.is_none_or(|m| m == key.memory)
            && self.bytes.is_none_or(|(low, high)| (low..=high).contains(&key.bytes))
            && self.pes.is_none_or(|p| p == key.pes)
    }
}

/// The target of a row, given all rows of the run.
pub fn target(row: &Row, rows: &[Row]) -> Option<Target> {
    // Instructions alone: targets are of times.
    if row.instructions.is_some() && row.ours.is_none() {
        return None;
    }
    let bound = RULES.iter().find(|rule| rule.fits(row))?.bound;
    let limit = row.limit.as_ref().map(|(_, ns)| *ns);
    let other = |bench: &str, memory: &str, bytes: u64| {
        let found = rows.iter().find(|r| {
            r.key.bench == bench && r.key.memory == memory && r.key.bytes == bytes && r.key.pes == row.key.pes
        });
        found.and_then(|r| r.ours).map(|s| s.median)
    };
    let (text, ns) = match bound {
        Bound::Ns(ns) => (format!("<= {}", crate::table::time(ns)), Some(ns)),
        Bound::Limit { times, plus } => {
            let factor = if times == 1.0 { "limit".to_owned() } else { format!("{} x limit", trimmed(times)) };
            let constant = if plus == 0.0 { String::new() } else { format!(" + {} ns", trimmed(plus)) };
            (format!("<= {factor}{constant}"), limit.map(|ns| times * ns + plus))
        }
        Bound::LimitAndStamps { plus } => (
            format!("<= limit + 2 tsc + {} ns", trimmed(plus)),
            limit.zip(other("two_time_stamps", "none", 0)).map(|(ns, stamps)| ns + stamps + plus),
        ),
        Bound::Other { bench, times } => (
            format!("<= {} x {bench}", trimmed(times)),
            other(bench, &row.key.memory, row.key.bytes).map(|ns| times * ns),
        ),
        Bound::Peer(times) => (format!("<= {} x OSHMEM", trimmed(times)), row.peer("oshmem").map(|ns| times * ns)),
        Bound::Heap(times) => {
            (format!("<= {} x heap", trimmed(times)), other(&row.key.bench, "heap", row.key.bytes).map(|ns| times * ns))
        }
    };
    let ours = row.ours.map(|s| s.median);
    let met = ours.zip(ns).map(|(ours, ns)| ours <= ns);
    Some(Target { text, ns, met })
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::OURS;
    use crate::results::Results;
    use crate::results::tests::measured;

    fn met(rows: &[Row], bench: &str, memory: &str) -> Option<bool> {
        let row = rows.iter().find(|r| r.key.bench == bench && r.key.memory == memory);
        target(row.unwrap(), rows).and_then(|t| t.met)
    }

    #[test]
    fn absolute_and_relative_bounds() {
        let mut results = Results::default();
        results.add("rma", OURS, measured("p", "heap", 8, 2, 4.0));
        results.add("rma", OURS, measured("p", "static", 8, 2, 4.3));
        results.add("rma", OURS, measured("get", "heap", 8, 2, 8.5));
        results.add("rma", OURS, measured("get", "static", 8, 2, 9.5));
        results.add("amo", OURS, measured("fetch_add", "heap", 8, 2, 5.9));
        results.add("collectives", OURS, measured("barrier", "none", 0, 2, 100.0));
        results.add("collectives", "oshmem", measured("barrier", "none", 0, 2, 190.0));
        results.add("rma", OURS, measured("put_nbi", "heap", 8, 2, 99.0));
        let rows = results.rows();
        assert_eq!(met(&rows, "p", "heap"), Some(true));
        assert_eq!(met(&rows, "p", "static"), Some(true));
        assert_eq!(met(&rows, "get", "heap"), Some(false));
        assert_eq!(met(&rows, "get", "static"), Some(false));
        assert_eq!(met(&rows, "fetch_add", "heap"), Some(true), "1.5 x 2 + 3");
        assert_eq!(met(&rows, "barrier", "none"), Some(false), "0.5 x 190");
        assert_eq!(met(&rows, "put_nbi", "heap"), None, "no rule");
    }

    #[test]
    fn a_target_without_its_reference_is_neither_met_nor_missed() {
        let mut results = Results::default();
        results.add("collectives", OURS, measured("barrier", "none", 0, 8, 9e3));
        let rows = results.rows();
        let found = target(&rows[0], &rows).unwrap();
        assert_eq!(found.text, "<= 1 x OSHMEM");
        assert_eq!((found.ns, found.met), (None, None));
    }

    #[test]
    fn interception_is_bound_to_pshmem() {
        let mut results = Results::default();
        results.add("interception", OURS, measured("p/off", "heap", 8, 2, 2.9));
        results.add("interception", OURS, measured("p/level1", "heap", 8, 2, 7.1));
        results.add("interception", OURS, measured("free/timed", "heap", 0, 2, 31.0));
        results.add("interception", OURS, measured("two_time_stamps", "none", 0, 2, 20.0));
        let rows = results.rows();
        assert_eq!(met(&rows, "p/off", "heap"), Some(true), "2 + 1");
        assert_eq!(met(&rows, "p/level1", "heap"), Some(false), "2 + 5");
        assert_eq!(met(&rows, "free/timed", "heap"), Some(true), "2 + 20 + 10");
    }
}
