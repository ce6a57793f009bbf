//! What a trace event costs: time, and bytes on disk.
//!
//! `cargo run --release -p pellucid-profile --example trace_cost [DIR]`
//!
//! The same calls with tracing off and on take turns; the figure is the median of the differences of pairs of batches.
//! The pattern is that of a random-access program: other addresses, other PEs.

use std::hint::black_box;
use std::os::fd::AsRawFd;
use std::time::Instant;

use pellucid_profile::output::OutputDir;
use pellucid_profile::recorder::{self, sampled, timed};
use pellucid_profile::trace::{self, Config, Memory};

const CALLS: u64 = 20_000;
const PAIRS: usize = 61;

#[inline(never)]
fn amo(word: &mut u64, random: u64) {
    sampled(1, (random >> 60) as i32, 0x2a00_0000_0000 + (random & 0x3fff_fff8) as usize, 8, || *word ^= random);
}

#[inline(never)]
fn put(word: &mut u64, random: u64) {
    recorder::sized(
        3,
        (random >> 60) as i32,
        0x2a00_0000_0000 + (random & 0x3fff_ffc0) as usize,
        black_box(256),
        || {
            *word ^= random;
        },
    );
}

#[inline(never)]
fn barrier(word: &mut u64, random: u64) {
    timed(4, -1, 0, 0, || *word ^= random);
}

type Call = fn(&mut u64, u64);

fn batch(call: Call, on: bool) -> f64 {
    trace::set(on);
    let (mut word, mut random) = (0, 88_172_645_463_325_252_u64);
    let begin = Instant::now();
    for _ in 0..CALLS {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        call(&mut word, random);
    }
    let ns = begin.elapsed().as_nanos() as f64 / CALLS as f64;
    trace::set(false);
    black_box(word);
    ns
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn used(directory: &std::path::Path) -> (u64, u64) {
    let mut total = (0, 0);
    for entry in std::fs::read_dir(directory).expect("the trace directory").flatten() {
        let bytes = std::fs::read(entry.path()).expect("a trace file");
        for chunk in bytes[4096..].chunks(64 << 10) {
            let progress = u64::from_le_bytes(chunk[24..32].try_into().expect("8 bytes"));
            if progress != 0 {
                total.0 += progress >> 32;
                total.1 += 64 + (progress & 0xffff_ffff);
            }
        }
    }
    total
}

fn main() {
    let directory = std::env::args_os().nth(1).map_or_else(
        || std::env::temp_dir().join(format!("pellucid-trace-cost-{}", std::process::id())),
        std::path::PathBuf::from,
    );
    let segment = recorder::attach_private(0, 16, true).expect("a private segment needs memfd_create");
    let output = OutputDir::take(&directory).expect("a directory for the trace");
    let config = Config { directory: output, bytes: 1 << 30, on: false, full: true };
    trace::attach(segment.as_raw_fd(), 0, config, Memory::default()).expect("a trace");
    recorder::set_level(1);
    println!("{:<28} {:>8} {:>8} {:>12} {:>14}", "", "off, ns", "on, ns", "an event, ns", "bytes on disk");
    let calls: [(&str, Call); 3] = [
        ("AMO, random address and PE", amo),
        ("put of 256 bytes, random", put),
        ("barrier (timed at level 1)", barrier),
    ];
    for (name, call) in calls {
        let before = used(&directory);
        let pairs: Vec<(f64, f64)> = (0..PAIRS).map(|_| (batch(call, false), batch(call, true))).collect();
        let after = used(&directory);
        let bytes = (after.1 - before.1) as f64 / (after.0 - before.0) as f64;
        let (off, on) = (pairs.iter().map(|p| p.0).collect(), pairs.iter().map(|p| p.1).collect());
        let difference = median(pairs.iter().map(|p| p.1 - p.0).collect());
        println!("{name:<28} {:>8.2} {:>8.2} {difference:>12.2} {bytes:>14.2}", median(off), median(on));
    }
    if std::env::args_os().len() == 1 {
        std::fs::remove_dir_all(&directory).expect("the trace directory is ours");
    }
}
