//! What is written is read again, whatever else is in the file.

use std::collections::BTreeMap;

use super::table::{counts, groups, side};
use super::*;
use crate::compare::place::Place;
use crate::compare::run::{Shape, SiteKey};
use crate::compare::side::Site;
use crate::compare::{Amount, Range};

fn entry(commit: &str, time: u64) -> Entry {
    Entry {
        suite: "a np 2".into(),
        commit: commit.into(),
        time,
        shape: Shape { npes: 2, hosts: vec![2], arguments: "-x".into(), level: 1 },
        runs: 2,
        counts: hash(b"x"),
        id: hash(commit.as_bytes()),
        metrics: BTreeMap::from([("run".to_owned(), 1.5e9)]),
        ..Entry::default()
    }
}

/// An empty folder of this test, removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("oshprof-store-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_line_that_was_cut_off_costs_itself_only() {
    let scratch = Scratch::new("cut");
    let store = Store::make(&scratch.0).unwrap();
    store.append(&entry("first", 1)).unwrap();
    let path = store.file("a np 2");
    let line = fs::read(&path).unwrap();
    for cut in [1, line.len() / 2, line.len() - 1] {
        let mut bytes = line.clone();
        bytes.extend(&format!("{}\n", entry("killed", 2).to_json()).as_bytes()[..cut]);
        fs::write(&path, &bytes).unwrap();
        store.append(&entry("third", 3)).unwrap();
        let commits: Vec<String> = store.entries("a np 2").unwrap().into_iter().map(|e| e.commit).collect();
        let (first, last) = (commits.first().cloned(), commits.last().cloned());
        assert_eq!((first.as_deref(), last.as_deref()), (Some("first"), Some("third")), "cut at {cut}: {commits:?}");
    }
}

#[test]
fn two_versions_merge_by_their_lines() {
    let scratch = Scratch::new("merge");
    let store = Store::make(&scratch.0).unwrap();
    for (commit, time) in [("c", 3), ("a", 1), ("b", 2), ("a", 1)] {
        store.append(&entry(commit, time)).unwrap();
    }
    let commits: Vec<String> = store.entries("a np 2").unwrap().into_iter().map(|e| e.commit).collect();
    assert_eq!(commits, ["a", "b", "c"], "by time, each once");
    assert_eq!(fs::read_to_string(scratch.0.join(".gitattributes")).unwrap(), ATTRIBUTES);
}

#[test]
fn the_same_runs_are_added_once_in_whatever_order() {
    let scratch = Scratch::new("order");
    let store = Store::make(&scratch.0).unwrap();
    let run = |started: u64, region: &str| {
        let mut run = Run { regions: BTreeMap::from([(region.to_owned(), started)]), ..Run::default() };
        run.job.start_realtime_ns = started;
        run
    };
    let (first, second) = (run(9, "a"), run(10, "b"));
    let facts = RunMetadata { commit: "c".to_owned(), ..RunMetadata::default() };
    assert!(store.add(&[&first, &second], &facts).unwrap().1);
    assert!(!store.add(&[&second, &first], &facts).unwrap().1);
    let entries = store.all(None).unwrap();
    let [entry] = &entries[..] else { panic!("{entries:?}") };
    assert!(["region:a", "region:b"].iter().all(|name| entry.metrics.contains_key(*name)), "{entry:?}");
    assert!(store.all(Some("main")).unwrap_err().contains("no run of branch main"));
}

#[test]
fn what_a_full_disk_has_left_empty_is_made_again() {
    let scratch = Scratch::new("full");
    Store::make(&scratch.0).unwrap();
    let file = scratch.0.join(".gitattributes");
    for (before, after) in [("", ATTRIBUTES), ("*.jsonl text\n", "*.jsonl text\n")] {
        fs::write(&file, before).unwrap();
        Store::make(&scratch.0).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), after, "of the user's own nothing is changed");
    }
}

#[test]
fn counts_come_back_as_they_were() {
    let place = Place { function: "f".into(), address: 1, ..Place::default() };
    let key = SiteKey { op: "shmem_quiet".into(), place, region: "r".into() };
    let range = Range { min: Amount { calls: 1, bytes: 2 }, max: Amount { calls: 3, bytes: u64::MAX } };
    let known = Side {
        sites: vec![Site { key, ordinal: 1, range, is_dealt: true }],
        sizes: BTreeMap::from([(("shmem_p".to_owned(), 2, 4), range)]),
        errors: BTreeMap::from([("shmem_p".to_owned(), range)]),
        pairs: BTreeMap::from([((1, 0, 7), range)]),
        totals: BTreeMap::from([("shmem_quiet".to_owned(), range)]),
        ..Side::default()
    };
    let hashes = groups(&known);
    assert_eq!(hashes.keys().collect::<Vec<_>>(), ["errors", "order", "pairs", "sizes"]);
    let mut other = known.clone();
    other.sites[0].range.max.calls += 1;
    let changed: Vec<String> =
        groups(&other).into_iter().filter(|(name, hash)| hashes[name] != *hash).map(|g| g.0).collect();
    assert_eq!(changed, ["order"]);
    let text = counts(&known).to_string();
    let read = side(&serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(
        (&read.sites, &read.sizes, &read.errors, &read.pairs, &read.totals),
        (&known.sites, &known.sizes, &known.errors, &known.pairs, &known.totals)
    );
    // Single PEs that differ are no other counts.
    let mut even = known.clone();
    even.sites[0].is_dealt = false;
    assert_eq!(groups(&even), hashes);
    // Where no site varies, they say it all.
    let mut stable = known.clone();
    stable.sites[0].range.max = stable.sites[0].range.min;
    stable.totals.clear();
    let text = counts(&stable).to_string();
    assert!(!text.contains("totals"), "{text}");
    let read = side(&serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(read.totals["shmem_quiet"], stable.sites[0].range);
}

#[test]
fn no_bytes_make_the_reader_fail_badly() {
    let scratch = Scratch::new("fuzz");
    let store = Store::make(&scratch.0).unwrap();
    let good = format!("{}\n", entry("a", 1).to_json());
    let mut random = fastrand::Rng::with_seed(9);
    for _ in 0..2000 {
        let mut bytes = good.repeat(3).into_bytes();
        for _ in 0..random.usize(1..9) {
            let at = random.usize(0..bytes.len());
            bytes[at] = random.u8(..);
        }
        bytes.truncate(random.usize(0..=bytes.len()));
        let text = String::from_utf8_lossy(&bytes);
        let _ = text.lines().filter_map(Entry::parse).count();
        if let Ok(value) = serde_json::from_str::<Value>(text.lines().next().unwrap_or_default()) {
            let _ = side(&value);
        }
    }
    fs::write(store.file("a np 2"), [0xff, 0xfe, b'\n', b'{']).unwrap();
    assert_eq!(store.entries("a np 2").unwrap(), []);
}

#[test]
fn names_of_series_are_safe_files() {
    let store = Store { path: PathBuf::from("s") };
    let name = |suite: &str| store.file(suite).to_string_lossy().into_owned();
    assert!(!name("../../etc/passwd np 2")["s/".len()..].contains('/'));
    assert_ne!(name("a b"), name("a_b"));
    assert_eq!(hash(b"a"), "af63dc4c8601ec8c");
}

#[test]
fn links_in_a_store_are_not_followed() {
    let scratch = Scratch::new("links");
    let store = Store::make(&scratch.0).unwrap();
    let elsewhere = scratch.0.join("elsewhere");
    fs::write(&elsewhere, "precious").unwrap();
    let link = |name: PathBuf| std::os::unix::fs::symlink(&elsewhere, name).unwrap();
    link(store.file("a np 2"));
    assert!(store.append(&entry("first", 1)).is_err());
    fs::remove_file(scratch.0.join(".gitattributes")).unwrap();
    link(scratch.0.join(".gitattributes"));
    Store::make(&scratch.0).unwrap();
    store.write_counts("abc", "{}").unwrap();
    assert_eq!(fs::read_to_string(scratch.0.join("counts/abc.json")).unwrap(), "{}");
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
}

#[test]
fn where_there_is_no_history_the_way_to_one_is_told() {
    let scratch = Scratch::new("none");
    let message = Store::open(&scratch.0).unwrap_err();
    assert!(message.contains("oshprof history add") && message.contains("--store"), "{message}");
}

#[test]
fn a_table_that_is_not_what_was_written_is_none() {
    let scratch = Scratch::new("damaged");
    let store = Store::make(&scratch.0).unwrap();
    let text = format!("{:#}\n", counts(&Side::default()));
    let entry = Entry { counts: hash(text.as_bytes()), ..entry("first", 1) };
    store.write_counts(&entry.counts, &text).unwrap();
    assert!(store.side(&entry).is_ok());
    let path = scratch.0.join(format!("counts/{}.json", entry.counts));
    fs::write(&path, text.replace("\"pairs\"", "\"pairs\" ")).unwrap();
    let message = store.side(&entry).unwrap_err();
    assert!(message.contains("is not what was written there"), "{message}");
    store.write_counts(&entry.counts, &text).unwrap();
    assert!(store.side(&entry).is_ok(), "added again, it is there again");
}
