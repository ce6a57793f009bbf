//! Traces that are damaged, cut, of other versions or of other jobs.

use std::path::Path;

use pellucid_profile::file::ReadError;
use pellucid_profile::op;
use pellucid_profile::trace::read::{Event, Trace, What};
use pellucid_profile::trace::{self, keep};

use super::{Scratch, events, finish, play, taken};

/// By the PE itself, as far as it may, and by the launcher after it.
#[test]
fn every_damaged_byte_of_a_closed_file_is_told() {
    let scratch = Scratch::new("closed");
    finish(play("closed", &scratch.0));
    let states = |directory: &Path| {
        let trace = Trace::open(directory).unwrap();
        trace.files.iter().map(|file| u32_at(&std::fs::read(&file.path).unwrap(), STATE)).collect::<Vec<_>>()
    };
    let open_ended = |directory: &Path| Trace::open(directory).unwrap().open_ended();
    let found = states(&scratch.0);
    let closed = found.iter().filter(|state| **state != 0).count();
    assert_eq!((found.len(), closed), (2, 1), "that of the thread that runs is left open");
    let (before, _) = events(&scratch.0);
    assert_eq!(before.len(), 30_002, "nothing after the end");
    keep::finish(&taken(&scratch.0), None, |_, _| None);
    let mut after = states(&scratch.0);
    after.sort_unstable();
    assert_eq!(after, [trace::format::CLOSED, trace::format::LEFT], "what the launcher closes");
    assert_eq!(open_ended(&scratch.0), [3], "which is not forgotten");
    keep::finish(&taken(&scratch.0), None, |_, _| None);
    assert_eq!(open_ended(&scratch.0), [3]);
    assert_eq!(events(&scratch.0).0, before);

    let path = Trace::open(&scratch.0).unwrap().files[0].path.clone();
    let whole = std::fs::read(&path).unwrap();
    assert!(whole.len() > 3 * (64 << 10));
    let step = if std::env::var_os("PELLUCID_TEST_LONG").is_some() { 7 } else { 997 };
    let heads = (0..4096).step_by(61).chain(4096..4096 + 64).chain(4096 + (64 << 10)..4096 + (64 << 10) + 64);
    for at in heads.chain((4096..whole.len()).step_by(step)) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        assert!(tells_damage(&path, &bytes, at), "a bit of byte {at}");
    }
    let chunk = |number: usize| 4096 + number * (64 << 10);
    for (begin, end) in [(chunk(0), chunk(0) + 512), (chunk(1), chunk(2)), (0, 512), (chunk(2) + 48, chunk(2) + 56)] {
        let mut bytes = whole.clone();
        bytes[begin..end].fill(0);
        assert!(tells_damage(&path, &bytes, begin), "zeros from {begin} to {end}");
    }
    for length in [chunk(2), chunk(1) + 99] {
        assert!(tells_damage(&path, &whole[..length], length), "cut at {length}");
    }
    let longer = [&whole[..], &whole[chunk(0)..chunk(1)]].concat();
    assert!(tells_damage(&path, &longer, whole.len()), "a chunk more");
}

/// [`trace::format::TraceHead::state`]
const STATE: usize = std::mem::offset_of!(trace::format::TraceHead, state);

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

/// Whether reading a file with these contents names a place near `at`.
fn tells_damage(path: &Path, bytes: &[u8], at: usize) -> bool {
    std::fs::write(path, bytes).unwrap();
    let mut problems = match Trace::open(path.parent().unwrap()) {
        Ok(mut trace) => {
            let mut problems = std::mem::take(&mut trace.problems);
            trace.for_each(&mut problems, |_, _| {});
            problems
        }
        Err(problem) => vec![problem],
    };
    problems.retain(|problem| problem.to_string().contains(&*path.to_string_lossy()));
    problems.iter().any(|problem| match problem {
        ReadError::Damaged { range, .. } => range.contains(&(at as u64)),
        ReadError::Truncated { offset, .. } => *offset == at as u64,
        // Of the first bytes of a head, that which makes the file unreadable is named itself.
        ReadError::Corrupt { .. } | ReadError::Version { .. } => at < 4096,
        _ => false,
    })
}

/// Version 2 had no checksums. `old-trace` is one of a library with fewer routines: 3 turns of `shmem_long_p`,
/// `shmem_putmem` and `shmem_barrier_all`, one reduction.
#[test]
fn an_old_trace_is_read() {
    let scratch = Scratch::new("old");
    let name = "pe-00000-000.trace";
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old-trace").join(name);
    std::fs::create_dir_all(&scratch.0).unwrap();
    std::fs::copy(old, scratch.0.join(name)).unwrap();
    let (events, trace) = events(&scratch.0);
    assert_eq!((trace.files.len(), trace.dropped()), (1, 0));
    let calls = |name: &str| -> u64 {
        let of =
            |event: &&Event| matches!(&event.what, What::Call(call) if op::OPS[usize::from(call.op)].name() == name);
        events.iter().filter(of).map(|event| event.what.calls()).sum()
    };
    for (name, wanted) in [
        ("shmem_long_p", 3),
        ("shmem_putmem", 3),
        ("shmem_barrier_all", 3),
        ("shmem_long_sum_reduce", 1),
        ("shmem_finalize", 1),
    ] {
        assert_eq!(calls(name), wanted, "{name}");
    }
}

/// A chunk in use has no checksum when its PE is killed; that is no damage. Any other without one is.
#[test]
fn what_was_never_closed_is_no_damage() {
    let scratch = Scratch::new("open");
    finish(play("many", &scratch.0));
    let (before, _) = events(&scratch.0);
    let path = Trace::open(&scratch.0).unwrap().files[0].path.clone();
    let mut bytes = std::fs::read(&path).unwrap();
    assert_eq!(u32_at(&bytes, STATE), 0);
    let sequence = |bytes: &[u8], chunk: usize| u32_at(bytes, 4096 + chunk * (64 << 10) + 8);
    let chunks = (bytes.len() - 4096) >> 16;
    let newest = (0..chunks).max_by_key(|&chunk| sequence(&bytes, chunk)).unwrap();
    let other = (newest + 1) % chunks;
    let closed = 4096 + other * (64 << 10) + std::mem::offset_of!(trace::format::ChunkHead, closed);
    bytes[closed..closed + 8].fill(0);
    assert!(tells_damage(&path, &bytes, closed), "a chunk that lost its checksum");
    // Killed while the oldest chunk was written anew.
    bytes[4096 + other * (64 << 10) + 8..][..8].fill(0);
    std::fs::write(&path, &bytes).unwrap();
    assert!(events(&scratch.0).0.len() < before.len());
    keep::finish(&taken(&scratch.0), None, |_, _| None);
    assert!(events(&scratch.0).0.len() < before.len(), "it stays readable, and has checksums all over");
}

#[test]
fn damaged_files_are_read_as_far_as_they_go() {
    // Between them they have every kind of record.
    damaged("calls");
    damaged("folded");
}

fn damaged(scene: &str) {
    let scratch = Scratch::new(&format!("damaged-{scene}"));
    finish(play(scene, &scratch.0));
    let output = taken(&scratch.0);
    keep::finish(&output, None, |_, _| None);
    let trace = Trace::open(&scratch.0).unwrap();
    let path = trace.files[0].path.clone();
    let whole = std::fs::read(&path).unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for round in 0..600 {
        let mut bytes = whole.clone();
        match round % 4 {
            0 => bytes.truncate(random(whole.len())),
            1 => {
                for _ in 0..1 + random(8) {
                    bytes[random(whole.len())] ^= 1 << random(8);
                }
            }
            2 => {
                let begin = 4096 + random(20_000);
                bytes[begin..begin + 64].fill(random(256) as u8);
            }
            _ => bytes[random(4096 + 64)] = random(256) as u8,
        }
        // Whatever the bytes are: an answer, or an error that names the file and the place.
        let mut problems = Vec::new();
        let mut count = 0_u64;
        trace.files[0].decode(&bytes, &mut problems, |event| count += u64::from(event.start_ns <= event.end_ns));
        for problem in problems {
            let text = problem.to_string();
            assert!(text.contains(".trace: ") && text.contains(" offset "), "{text}");
        }
        if round % 20 == 0 {
            std::fs::write(&path, &bytes).unwrap();
            match Trace::open(&scratch.0) {
                Ok(trace) => trace.for_each(&mut Vec::new(), |_, _| {}),
                Err(error) => assert!(error.to_string().contains("trace"), "{error}"),
            }
            keep::finish(&output, None, |_, _| None);
        }
    }
    // A file that ends in the middle of a chunk.
    let read = |bytes: &[u8]| {
        let (mut problems, mut count) = (Vec::new(), 0);
        trace.files[0].decode(bytes, &mut problems, |_| count += 1);
        (problems, count)
    };
    let (none, all) = read(&whole);
    let (problems, count) = read(&whole[..whole.len() - 40_000]);
    assert!(none.is_empty() && count > 100, "{none:?} {count}");
    // How far the last chunk is filled depends on the time that the scene took: what is cut off may be empty.
    if count < all {
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].to_string().contains("truncated at offset"), "{}", problems[0]);
    }
    let (problems, count) = read(&whole[..4096 + 64 + 500]);
    assert!(problems.len() == 1 && count < all, "{problems:?} {count} of {all}");
}

#[test]
fn other_versions_and_other_jobs_are_named() {
    let scratch = Scratch::new("versions");
    finish(play("calls", &scratch.0));
    let path = Trace::open(&scratch.0).unwrap().files[0].path.clone();
    let whole = std::fs::read(&path).unwrap();
    let mut bytes = whole.clone();
    bytes[8] = 9;
    std::fs::write(&path, &bytes).unwrap();
    let trace = Trace::open(&scratch.0).unwrap();
    assert_eq!((trace.files.len(), trace.problems.len()), (1, 1), "the other file is read");
    let error = trace.problems[0].to_string();
    assert!(error.contains("written by version 9"), "{error}");
    std::fs::write(&path, &whole).unwrap();
    // The same file, as of an older job.
    let mut older = whole;
    older[64..72].copy_from_slice(&1_u64.to_le_bytes());
    std::fs::write(scratch.0.join("pe-00007-000.trace"), older).unwrap();
    let trace = Trace::open(&scratch.0).unwrap();
    assert_eq!((trace.files.len(), trace.problems.len()), (2, 2));
    assert!(trace.problems[0].to_string().contains("the checksum of the head differs"), "{}", trace.problems[0]);
    assert!(trace.problems[1].to_string().contains("another job"), "{}", trace.problems[1]);
    let empty = Scratch::new("empty");
    assert!(Trace::open(&empty.0).unwrap_err().to_string().contains("no such directory"));
    std::fs::create_dir_all(&empty.0).unwrap();
    assert!(Trace::open(&empty.0).unwrap_err().to_string().contains("not a trace"));
}
