//! Reading and merging the profile of a large job: seconds, memory, and that the order of the files changes nothing.
//!
//! `cargo run --release -p pellucid-profile --features report --example merge [PES]`

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use pellucid_profile::file::{self, Directory};
use pellucid_profile::merge::Merged;
use pellucid_profile::model::{Job, Pe, Profile, Progress, Routine, SizeCount};
use pellucid_profile::op::{self, OPS};
use pellucid_profile::output::OutputDir;
use pellucid_profile::report::{self, NoSymbols, Options};
use pellucid_profile::tables::{Module, PeTables, Peer, Region, Site, Sync, Team, Traffic};

/// Routines, peers, call sites and meetings of a PE.
const ROUTINES: usize = 40;
const PEERS: u32 = 64;
const SITES: u64 = 200;
const MEETINGS: u64 = 4000;

fn routine(id: usize, pe: u32) -> Routine {
    let row = &OPS[id];
    let mut routine = Routine::new(row.name(), row.class);
    let calls = 1000 + u64::from(pe) % 17;
    (routine.calls[3], routine.bytes[3], routine.timed_calls) = (calls, 64 * calls, calls);
    for k in 0..calls {
        routine.latency.record(50 + (k * 0x9e37 + u64::from(pe)) % 100_000, 1);
        routine.total_ns += 50;
    }
    (0..6).for_each(|class| routine.add_size(SizeCount { class, distance: 3, calls, bytes: 64 * calls }));
    routine
}

fn pe(number: u32, npes: u32) -> Pe {
    let traffic = Traffic { calls: 10, bytes: 640 };
    let peer = |k: u32| Peer { pe: Some((number + k * 61) % npes), put: traffic, ..Peer::default() };
    let base = 0x5555_0000_0000 + 0x1000 * u64::from(number);
    let site = |k: u64| Site {
        address: base + 0x1000 + 16 * k,
        routine: OPS[k as usize % ROUTINES].name().into(),
        calls: 5,
        bytes: 320,
        timed_calls: 5,
        total_ns: Some(5000 + k),
        ..Site::default()
    };
    let barrier = op::find("shmem_barrier_all").unwrap_or(0);
    let sync = |k: u64| Sync {
        op: barrier,
        address: base + 0x1000,
        number: k,
        arrived_ns: k * 1_000_000 + u64::from(number) * 7 % 1000,
        left_ns: k * 1_000_000 + 2000,
        ..Sync::default()
    };
    let tables = PeTables {
        peers: (0..PEERS).map(peer).collect(),
        sites: (0..SITES).map(site).collect(),
        modules: vec![Module {
            base,
            start: base + 0x1000,
            end: base + 0x9000,
            path: "/no/such/program".into(),
            ..Module::default()
        }],
        regions: vec![Region::default()],
        teams: vec![Team { stride: 1, size: npes as i32, calls: MEETINGS, ..Team::default() }],
        syncs: (0..MEETINGS).map(sync).collect(),
        sync_every: 1,
        ..PeTables::default()
    };
    Pe {
        pe: number,
        host: format!("node{:04}", number / 64),
        progress: Progress::Finalized,
        end_ns: 10_000_000_000,
        level: 1,
        threads: 1,
        routines: (0..ROUTINES).map(|id| routine(id * 7, number)).collect(),
        tables,
        ..Pe::default()
    }
}

/// Writes the directory; in parts, each of them a profile of some PEs, so that not all are in memory.
fn generate(directory: &Path, npes: u32) {
    let all: Vec<serde_json::Value> =
        (0..npes).map(|pe| serde_json::json!({ "pe": pe, "file": format!("pe-{pe:05}.prof") })).collect();
    let part = directory.join("part");
    for first in (0..npes).step_by(64) {
        let job = Job { program: "generated".into(), npes, exit_status: Some(0), ..Job::default() };
        let pes = (first..npes.min(first + 64)).map(|number| pe(number, npes)).collect();
        let output = OutputDir::take(&part).expect("the directory can be made");
        file::write(&Profile { job, pes }, &output).expect("the directory can be written");
        drop(output);
        for entry in fs::read_dir(&part).expect("the part").flatten() {
            fs::rename(entry.path(), directory.join(entry.file_name())).expect("a file moves up");
        }
        fs::remove_dir(&part).expect("the part is empty");
    }
    list(directory, &all);
}

/// Names the files in `job.json`.
fn list(directory: &Path, files: &[serde_json::Value]) {
    let path = directory.join("job.json");
    let mut job: serde_json::Value =
        serde_json::from_slice(&fs::read(&path).expect("job.json")).expect("what was written is JSON");
    job["files"] = files.into();
    fs::write(path, job.to_string()).expect("job.json can be written");
}

fn peak_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or(0) >> 10
}

/// A hash of what is written.
#[derive(Default)]
struct Digest(DefaultHasher, usize);

impl io::Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Byte by byte: where the text is cut into writes does not matter.
        bytes.iter().for_each(|&byte| self.0.write_u8(byte));
        self.1 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads and makes every view. A hash of them, and seconds of reading and of the views.
fn report(directory: &Path) -> (u64, f64, f64) {
    let begin = Instant::now();
    let files = Directory::open(directory).expect("the profile");
    let merged = Merged::new(&files, |_, _| ());
    assert_eq!(files.problems(), [""; 0]);
    let read = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let mut digest = Digest::default();
    for view in report::whole_views() {
        // All routines of each PE would be read once more.
        if view.name != "pe" {
            let options = Options { view, top: Some(50), ..Options::default() };
            report::json((&merged, &files), &options, &[], &NoSymbols, &mut digest).expect("it takes all");
        }
    }
    (digest.0.finish(), read, begin.elapsed().as_secs_f64())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let npes = arguments.get(1).and_then(|text| text.parse().ok()).unwrap_or(4096);
    if let Some(directory) = arguments.get(2) {
        return generate(Path::new(directory), npes);
    }
    let directory: PathBuf = std::env::temp_dir().join(format!("pellucid-merge-{}", std::process::id()));
    let program = std::env::current_exe().expect("this program");
    // In a process of its own: its memory is not ours.
    let made = Command::new(program).arg(npes.to_string()).arg(&directory).status().expect("this program starts");
    assert!(made.success());
    let bytes: u64 =
        fs::read_dir(&directory).expect("the directory").flatten().map(|e| e.metadata().map_or(0, |m| m.len())).sum();
    let (hash, read, views) = report(&directory);
    println!(
        "{npes} PEs, {} MiB in files: read in {read:.2} s, all views in {views:.2} s, {} MiB of memory at most",
        bytes >> 20,
        peak_mib()
    );
    let reversed: Vec<serde_json::Value> =
        (0..npes).rev().map(|pe| serde_json::json!({ "pe": pe, "file": format!("pe-{pe:05}.prof") })).collect();
    list(&directory, &reversed);
    let same = report(&directory).0 == hash;
    println!("the same in the opposite order: {}", if same { "yes" } else { "NO" });
    fs::remove_dir_all(&directory).expect("the directory is ours");
    assert!(same);
}
