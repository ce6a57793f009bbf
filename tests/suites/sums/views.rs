//! What the views say of a profile, beside each other and beside what is known.

use std::collections::BTreeMap;
use std::path::Path;

use harness::run::Job;
use harness::tree;
use serde_json::Value;

use super::known::Known;

/// Calls and bytes by name.
type Counts = BTreeMap<String, [f64; 2]>;

/// Numbers of a profile as JSON, every view.
pub struct Views {
    report: Value,
    /// Of which run, for messages.
    what: String,
    /// Calls that a PE was killed in while it recorded them: they are in some tables and not in others.
    torn: f64,
}

/// Largest payload of a call of the program in bytes, and more.
const PAYLOAD: f64 = 65536.0;

fn number(of: &Value, name: &str) -> f64 {
    of[name].as_f64().unwrap_or_else(|| panic!("no number {name} in {of}"))
}

fn text<'a>(of: &'a Value, name: &str) -> &'a str {
    of[name].as_str().unwrap_or_else(|| panic!("no text {name} in {of}"))
}

/// Adds up calls and bytes over rows, by what `name` makes of a row.
fn counts<'a>(rows: impl IntoIterator<Item = &'a Value>, name: impl Fn(&Value) -> String) -> Counts {
    let mut sums = Counts::new();
    for row in rows {
        let sum = sums.entry(name(row)).or_default();
        *sum = [sum[0] + number(row, "calls"), sum[1] + number(row, "bytes")];
    }
    sums
}

impl Views {
    /// Reads the profile in a directory.
    pub fn read(directory: &Path, what: String) -> Views {
        let job = Job::new(tree::tool("oshprof")).arg("report").arg(directory);
        let outcome = job.args(["--view", "all", "--json"]).run().expect_code(0);
        let report: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        assert_eq!(report["problems"], Value::Array(Vec::new()), "{what}");
        Views { report, what, torn: 0.0 }
    }

    /// The same of a run in which so many PEs were killed at any moment.
    pub fn with_killed(self, pes: usize) -> Views {
        Views { torn: pes as f64, ..self }
    }

    /// Sums of two views are the same, but for calls that are torn.
    fn are_same(&self, of: &str, found: &Counts, wanted: &Counts) {
        assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>(), "{}: {of}", self.what);
        let apart = |at: usize| found.values().zip(wanted.values()).map(|(a, b)| (a[at] - b[at]).abs()).sum::<f64>();
        let is_same = apart(0) <= self.torn && apart(1) <= self.torn * PAYLOAD;
        assert!(is_same, "{}: {of}: {found:?}\nand {wanted:?}", self.what);
    }

    /// The rows of a view.
    pub fn rows(&self, name: &str) -> &[Value] {
        self.report[name].as_array().map(Vec::as_slice).unwrap_or_else(|| panic!("{}: no {name}", self.what))
    }

    fn by(&self, view: &str, name: &'static str) -> Counts {
        counts(self.rows(view), |row| text(row, name).to_owned())
    }

    fn sum(&self, view: &str, member: &str) -> f64 {
        self.rows(view).iter().map(|row| number(row, member)).sum()
    }

    fn class(&self, routine: &str) -> &str {
        let row = self.rows("routines").iter().find(|row| text(row, "name") == routine);
        row.map_or("", |row| text(row, "class"))
    }

    /// Every view adds up to the routine table: calls and bytes exactly, times but for rounding.
    pub fn agree(&self) {
        let what = &self.what;
        let all = self.by("routines", "name");
        let pes = || self.rows("per_pe").iter().flat_map(|pe| pe["routines"].as_array().expect("routines"));
        assert_eq!(counts(pes(), |row| text(row, "name").to_owned()), all, "{what}: by PE");
        self.are_same("by call site", &self.by("callsites", "routine"), &all);
        self.are_same("by distance", &self.by("per_peer", "name"), &all);
        let with_bytes = |(name, of): (&String, &[f64; 2])| (of[1] > 0.0).then(|| (name.clone(), *of));
        let sized: Counts = self.by("per_size", "name").iter().filter_map(with_bytes).collect();
        // An allocation is no message.
        let allocate = |name: &String| self.class(name) == "memory";
        let messages = all.iter().filter(|(name, _)| !allocate(name)).filter_map(with_bytes).collect();
        self.are_same("by size", &sized, &messages);
        let traffic: Counts = self
            .rows("routines")
            .iter()
            .filter(|row| ["put", "get", "amo", "signal"].contains(&text(row, "class")))
            .map(|row| (text(row, "name").to_owned(), all[text(row, "name")]))
            .collect();
        // What moves nothing, and of what nothing was timed, has no rate.
        for (name, [calls, bytes]) in self.by("rates", "routine") {
            let [most, of] = traffic[&name];
            assert!(bytes <= of && calls <= most, "{what}: {name} at rates: {calls} calls, {bytes} bytes");
        }
        let total = |at: usize| traffic.values().map(|of| of[at]).sum::<f64>();
        let sums = |calls: f64, bytes: f64| Counts::from([(String::new(), [calls, bytes])]);
        let of_distances = sums(self.sum("by_distance", "calls"), self.sum("by_distance", "bytes"));
        self.are_same("distances", &of_distances, &sums(total(0), total(1)));
        let [calls, bytes] = ["calls", "bytes"].map(|of| {
            let rows = self.report["matrix"][of].as_array().expect("rows");
            let cells = rows.iter().flat_map(|row| row.as_array().into_iter().flatten()).filter_map(Value::as_f64);
            [cells.sum::<f64>(), self.sum("regions", of)]
        });
        self.are_same("the matrix", &sums(calls[0], bytes[0]), &sums(total(0), total(1)));
        let of_all = |at: usize| all.values().map(|counts| counts[at]).sum::<f64>();
        self.are_same("by region", &sums(calls[1], bytes[1]), &sums(of_all(0), of_all(1)));
        self.times_add_up();
        self.shares_are_of_the_run();
    }

    /// Times by PE are those of the routine; those by call site and by region but for rounding.
    fn times_add_up(&self) {
        let what = &self.what;
        let of = |row: &Value| row.pointer("/time_ns/total").and_then(Value::as_f64).unwrap_or_default();
        let parts = (self.rows("callsites").len() + 4) as f64 * self.rows("per_pe").len() as f64;
        let mut main = 0.0;
        for row in self.rows("routines") {
            let (name, total) = (text(row, "name"), of(row));
            let pes = self.rows("per_pe").iter().flat_map(|pe| pe["routines"].as_array().expect("routines"));
            assert_eq!(pes.filter(|row| text(row, "name") == name).map(of).sum::<f64>(), total, "{what}: {name} by PE");
            let sites = self.rows("callsites").iter().filter(|row| text(row, "routine") == name);
            let by_site: f64 = sites.map(|row| number(row, "total_ns")).sum();
            // Rounded site by site and PE by PE.
            assert!((by_site - total).abs() <= 0.5 * parts, "{what}: {name} takes {total} ns, by call site {by_site}");
            // A PE that was killed inside of a call has been there until then.
            main += if row["share"].is_null() { 0.0 } else { total };
        }
        let by_pe: f64 = self.rows("per_pe").iter().map(|pe| number(pe, "library_ns")).sum();
        assert!((by_pe - main).abs() <= 0.5 * parts, "{what}: {main} ns in the library, by PE {by_pe}");
        // Regions add up samples region by region, whose totals are estimated as a whole.
        let estimated: f64 =
            self.rows("routines").iter().filter(|row| row["estimated"] == true).map(|row| 0.5 * of(row)).sum();
        let by_region = self.sum("regions", "library_ns");
        // Regions have no part of what begins and ends the program.
        let is_main = |row: &&Value| !row["share"].is_null();
        let all: f64 = self.rows("routines").iter().filter(is_main).map(of).sum();
        assert!((by_region - all).abs() <= estimated + 1e5, "{what}: {all} ns in the library, by region {by_region}");
    }

    /// No thread is in the library for longer than it runs; no part of a slice of time is more than the slice.
    fn shares_are_of_the_run(&self) {
        let what = &self.what;
        for pe in self.rows("per_pe") {
            let (library, run) = (number(pe, "library_ns"), number(pe, "main_ns") * number(pe, "threads"));
            assert!(library <= 1.001 * run + 1e4, "{what}: {library} ns in the library of {run} ns: {}", pe["pe"]);
            let shares_are_of = number(pe, "run_ns");
            assert!(library <= shares_are_of && shares_are_of <= 1.001 * run + 1e4, "{what}: {pe}");
        }
        let mut ends: BTreeMap<u64, f64> = BTreeMap::new();
        for slice in self.rows("timeline") {
            let parts = ["outside", "data", "waits", "meetings", "setup"].map(|part| number(slice, part));
            let is_share = parts.iter().all(|part| (0.0..=1.0).contains(part)) && parts.iter().sum::<f64>() < 1.02;
            let (begin, end) = (number(slice, "begin_ns"), number(slice, "end_ns"));
            let before = ends.insert(number(slice, "pe") as u64, end);
            assert!(is_share && begin < end && before.is_none_or(|before| before == begin), "{what}: {slice}");
        }
    }

    /// What is known of a run to its end is what every view says: calls and bytes exactly.
    pub fn are(&self, known: &Known, pes: usize) {
        let what = &self.what;
        let all = self.by("routines", "name");
        for (name, count) in known.of("count") {
            assert_eq!(all.get(name).map(|of| &of[..]), Some(count), "{what}: {name}");
        }
        let sizes = counts(self.rows("per_size"), |row| format!("{} {}", text(row, "name"), number(row, "min_bytes")));
        for (of, count) in
            known.of("size").filter(|(of, count)| all[of.split(' ').next().unwrap_or("")][1] > 0.0 && count[1] > 0.0)
        {
            assert_eq!(sizes.get(of).map(|of| &of[..]), Some(count), "{what}: size {of}");
        }
        let cell = |from: usize, to: usize, of: &str| self.report["matrix"][of][from][to].as_f64().unwrap_or(0.0);
        for (of, count) in known.of("cell") {
            let (from, to) = of.split_once('-').expect("a pair");
            let (from, to) = (from.parse().expect("a PE"), to.parse().expect("a PE"));
            assert_eq!([cell(from, to, "calls"), cell(from, to, "bytes")], count, "{what}: PE {from} to PE {to}");
        }
        // The call that begins a region is outside, the one that ends it inside.
        for (name, count) in known.of("region") {
            let row = self.rows("regions").iter().find(|row| row["region"] == name).expect("the region");
            let found = ["entries", "calls", "bytes"].map(|member| number(row, member));
            assert_eq!(found, [count[0], count[0] + count[1], count[2]], "{what}: region {name}");
        }
        self.kept_apart_are(known);
        // What begins and ends the program is there, once a PE.
        let calls = |name: &str| all.get(name).map_or(0.0, |of| of[0]);
        assert_eq!([calls("shmem_init_thread"), calls("shmem_finalize")], [pes as f64; 2], "{what}: {all:?}");
    }

    /// Contexts, nonblocking operations, locks, teams and algorithms.
    fn kept_apart_are(&self, known: &Known) {
        let what = &self.what;
        let of = |names: &[&str], at: usize| names.iter().map(|name| known.count(name)[at]).sum::<f64>();
        let contexts = ["put_calls", "put_bytes"].map(|member| self.sum("contexts", member));
        assert_eq!(contexts, known.count("shmem_ctx_putmem"), "{what}: contexts");
        let nbi = ["shmem_putmem_nbi", "shmem_getmem_nbi"];
        assert_eq!([self.sum("nbi", "issued"), self.sum("nbi", "bytes")], [of(&nbi, 0), of(&nbi, 1)], "{what}: nbi");
        assert_eq!(self.sum("locks", "taken"), known.count("shmem_set_lock")[0], "{what}: locks");
        let data = ["shmem_long_sum_reduce", "shmem_broadcastmem", "shmem_fcollectmem", "shmem_alltoallmem"];
        let barriers = known.count("shmem_barrier_all")[0];
        // Each PE allocates once, together with the others.
        let pes = self.rows("per_pe").len() as f64;
        let teams = [self.sum("teams", "calls"), self.sum("teams", "bytes")];
        assert_eq!(teams, [of(&data, 0) + barriers + pes, of(&data, 1)], "{what}: teams");
        let met: f64 = self
            .rows("imbalance")
            .iter()
            .filter(|row| text(row, "routine") == "shmem_barrier_all")
            .map(|row| number(row, "calls"))
            .sum();
        assert!(pes < 2.0 || met == barriers / pes, "{what}: {met} meetings of {barriers} barriers");
    }

    /// What was waited, by the program's own clock, is what the profile says. Else: what differs.
    pub fn times_are(&self, known: &Known) -> Result<(), String> {
        // The first call from a line finds out where it comes from before its time begins.
        let is_near = |found: f64, own: f64, calls: f64| (found - own).abs() <= 0.02 * own + 1e5 * calls;
        for (name, own) in known.of("time") {
            let row = self.rows("routines").iter().find(|row| text(row, "name") == name).expect("the routine");
            let total = row.pointer("/time_ns/total").and_then(Value::as_f64).expect("a total");
            if !is_near(total, own[0], number(row, "calls")) {
                return Err(format!("{}: {name} took {} ns by the program's clock: {row}", self.what, own[0]));
            }
        }
        let meetings = self.rows("imbalance").iter().filter(|row| text(row, "site").starts_with("meet at "));
        let lost: f64 =
            meetings.filter(|row| text(row, "routine") == "shmem_barrier_all").map(|row| number(row, "lost_ns")).sum();
        let own = known.lost_ns();
        if self.rows("per_pe").len() > 1 && !is_near(lost, own, known.arrivals() as f64) {
            return Err(format!("{}: {lost} ns lost in meetings, {own} by the program's clock", self.what));
        }
        Ok(())
    }
}
