//! Traces from the writer to the reader. A process has one trace, so each test runs its part in a process of its own.
#![allow(unsafe_code)]

use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pellucid_profile::op;
use pellucid_profile::recorder::{self, sampled, sized, timed};
use pellucid_profile::trace::read::{Event, Trace, What};
use pellucid_profile::trace::{self, Config, Memory, keep};

const SCENE: &str = "PELLUCID_TRACE_TEST";
const DIRECTORY: &str = "PELLUCID_TRACE_TEST_DIRECTORY";

/// A directory of one test, gone with the value.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("pellucid-trace-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs this test program again, to play one scene.
fn play(scene: &str, directory: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "a_process_of_its_own", "--nocapture", "--test-threads=1"])
        .env(SCENE, scene)
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this program starts")
}

fn finish(child: Child) -> String {
    let output = child.wait_with_output().expect("the child ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{:?}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr));
    text(&output.stderr)
}

/// Operation ids of these classes of timing; any will do.
fn ids() -> (u16, u16, u16) {
    let of = |name: &str| op::find(name).expect("a routine");
    (of("shmem_long_atomic_add"), of("shmem_long_put"), of("shmem_barrier_all"))
}

fn start(bytes: u64) {
    start_with(bytes, true);
}

fn start_with(bytes: u64, full: bool) {
    let segment = recorder::attach_private(3, 8, true).expect("a segment");
    let directory = PathBuf::from(std::env::var_os(DIRECTORY).expect("a directory"));
    let memory = Memory { heap: (0x1000, 0x1000), data: (0, 0) };
    trace::attach(segment.as_raw_fd(), 3, &Config { directory, bytes, on: true, full }, memory).expect("a trace");
    recorder::set_level(1);
}

#[test]
fn a_process_of_its_own() {
    let (amo, put, barrier) = ids();
    match std::env::var(SCENE).as_deref() {
        Err(_) => {}
        Ok("calls") => {
            start(8 << 20);
            trace::region_begin("solve");
            for i in 0..1000_i32 {
                sampled(amo, i % 8, 0x1000 + 8 * i as usize, 8, || ());
                sized(put, (i + 1) % 8, usize::MAX - i as usize, 1 << (i % 40), || ());
                timed(barrier, -1, 0, 0, || ());
            }
            trace::marker("step", -7);
            trace::region_end("solve");
            assert!(!trace::set(false) && !trace::is_on());
            sampled(amo, 0, 0, 8, || ());
            assert!(trace::set(true));
            std::thread::spawn(move || sampled(amo, 5, 64, 8, || ())).join().expect("a thread");
            std::thread::spawn(move || sampled(amo, 6, 64, 8, || ())).join().expect("a thread");
        }
        Ok("many") => {
            start(1 << 20);
            for i in 0..200_000_usize {
                sampled(amo, (i % 8) as i32, i, 8, || ());
            }
        }
        Ok("folded") => {
            start_with(8 << 20, false);
            folded_scene(1);
            assert!(!trace::set(false));
            (0..1000).for_each(|i| sampled(amo, 0, i, 8, || ()));
            assert!(trace::set(true));
            folded_scene(1);
            std::thread::spawn(|| folded_scene(1)).join().expect("a thread");
            std::thread::spawn(|| folded_scene(1)).join().expect("a thread");
            timed(barrier, -1, 0, 0, || ());
        }
        Ok("folded many") => {
            start_with(1 << 20, false);
            (0..400).for_each(|_| folded_scene(1));
            timed(barrier, -1, 0, 0, || ());
        }
        Ok("endless") => {
            start(64 << 20);
            for i in 0_usize.. {
                sampled(amo, 1, i, 8, || ());
                if i.is_multiple_of(1000) {
                    println!("\nrecorded {}", i + 1);
                }
            }
        }
        Ok("limit") => {
            start(64 << 20);
            let limit = libc::rlimit { rlim_cur: 300 << 10, rlim_max: 300 << 10 };
            // SAFETY: a valid limit.
            unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) };
            for i in 0..100_000_usize {
                sampled(amo, 1, i, 8, || ());
            }
        }
        Ok("nowhere") => {
            start(64 << 20);
            for i in 0..1000_usize {
                sampled(amo, 1, i, 8, || ());
            }
            std::thread::spawn(move || timed(barrier, -1, 0, 0, || ())).join().expect("a thread");
        }
        Ok(other) => panic!("no scene {other}"),
    }
}

/// Calls of each kind in [`folded_scene`]: atomics, puts, their bytes, signals, barriers.
const FOLDED: (u64, u64, u64, u64, u64) = (20_000, 10_000, 10_000 / 5 * (8 + 1024 + 1025 + 100_000), 2000, 20);

/// Short calls in a row, with a barrier now and then.
fn folded_scene(peer: i32) {
    let (amo, put, barrier) = ids();
    let signal = op::find("shmem_signal_set").expect("a routine");
    let on_context = op::find("shmem_ctx_long_p").expect("a routine");
    recorder::context_made(0x21, 3, (1, 2, 3));
    recorder::context(on_context, 0x21, 8);
    sampled(on_context, peer, 8, 8, || ());
    for i in 0..20_000_usize {
        sampled(amo, peer, 8 * i, 8, || ());
        if i % 2 == 0 {
            sized(put, peer, i, [0, 8, 1024, 1025, 100_000][i / 2 % 5], || ());
        }
        if i % 10 == 0 {
            sampled(signal, peer, i, 8, || ());
        }
        if i % 1000 == 999 {
            timed(barrier, -1, 0, 0, || ());
        }
    }
}

/// Calls, bytes and calls with an event of their own.
fn count(events: &[Event], of: u16) -> (u64, u64, u64) {
    events.iter().fold((0, 0, 0), |(calls, bytes, own), event| match &event.what {
        What::Call(call) if call.op == of => (calls + 1, bytes + call.bytes, own + 1),
        What::Calls(folded) if folded.op == of => (calls + folded.count, bytes + folded.bytes, own),
        _ => (calls, bytes, own),
    })
}

#[test]
fn folded_calls_are_all_there() {
    let scratch = Scratch::new("folded");
    finish(play("folded", &scratch.0));
    let (amo, put, barrier) = ids();
    let (events, trace) = events(&scratch.0);
    assert_eq!(trace.dropped(), 0);
    let amos = count(&events, amo);
    assert_eq!((amos.0, amos.1), (4 * FOLDED.0, 4 * 8 * FOLDED.0));
    assert!(amos.2 > 0 && events.iter().any(|event| matches!(event.what, What::Calls(_))));
    let puts = count(&events, put);
    assert_eq!((puts.0, puts.1), (4 * FOLDED.1, 4 * FOLDED.2));
    let signals = count(&events, op::find("shmem_signal_set").unwrap());
    assert_eq!((signals.0, signals.2), (4 * FOLDED.3, 4 * FOLDED.3), "each signal has an event");
    assert_eq!(count(&events, barrier), (4 * FOLDED.4 + 1, 0, 4 * FOLDED.4 + 1));
    let contexts = events.iter().filter_map(|event| match &event.what {
        What::Call(call) => call.context.as_ref(),
        _ => None,
    });
    let contexts: Vec<(u64, &str)> = contexts.map(|context| (context.number, context.team.as_str())).collect();
    assert!(!contexts.is_empty() && contexts.iter().all(|c| *c == (0x21, "team 3: 3 PEs from PE 1 on, every 2")));
    // In the order of time; folded calls lie between the events of their thread.
    let mut end = std::collections::BTreeMap::new();
    for event in &events {
        let last = end.entry(event.thread).or_insert(0);
        assert!(event.start_ns >= *last && event.end_ns >= event.start_ns, "{event:?} after {last}");
        if matches!(event.what, What::Call(_)) {
            *last = event.end_ns;
        }
    }
    let summary = keep::finish(&scratch.0).0;
    assert_eq!(summary.events, events.iter().map(|event| event.what.calls()).sum::<u64>());
}

#[test]
fn overwritten_chunks_count_their_folded_calls() {
    let scratch = Scratch::new("folded-many");
    finish(play("folded many", &scratch.0));
    let (events, trace) = events(&scratch.0);
    let kept: u64 = events.iter().map(|event| event.what.calls()).sum();
    let made = 400 * (FOLDED.0 + FOLDED.1 + FOLDED.3 + FOLDED.4 + 1) + 1;
    assert!(trace.dropped() > 0);
    assert_eq!(kept + trace.dropped(), made);
}

fn events(directory: &Path) -> (Vec<Event>, Trace) {
    let trace = Trace::open(directory).expect("a trace");
    assert!(trace.problems.is_empty(), "{:?}", trace.problems);
    let (mut events, mut problems) = (Vec::new(), Vec::new());
    trace.for_each(&mut problems, |_, event| events.push(event.clone()));
    assert!(problems.is_empty(), "{problems:?}");
    (events, trace)
}

#[test]
fn what_was_called_is_read_back() {
    let scratch = Scratch::new("calls");
    finish(play("calls", &scratch.0));
    let (amo, put, barrier) = ids();
    let (events, trace) = events(&scratch.0);
    assert_eq!((trace.dropped(), trace.files[0].facts.pe, trace.files[0].facts.npes), (0, 3, 8));
    assert_eq!(trace.files[0].facts.symmetric(0x1010), Some((0, 0x10)));
    let calls: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.what {
            What::Call(call) => Some((call.op, call.peer, call.addr, call.bytes)),
            _ => None,
        })
        .collect();
    let mut expected = Vec::new();
    for i in 0..1000_u32 {
        expected.push((amo, Some(i % 8), 0x1000 + 8 * u64::from(i), 8));
        expected.push((put, Some((i + 1) % 8), u64::MAX - u64::from(i), 1 << (i % 40)));
        expected.push((barrier, None, 0, 0));
    }
    expected.push((amo, Some(5), 64, 8));
    expected.push((amo, Some(6), 64, 8));
    assert_eq!(calls, expected);
    assert!(events.iter().all(|event| event.start_ns <= event.end_ns));
    let own = events[0].thread;
    let times: Vec<u64> = events.iter().filter(|event| event.thread == own).map(|event| event.start_ns).collect();
    assert!(times.is_sorted());
    assert_eq!(events[0].what, What::RegionBegin("solve".into()));
    assert_eq!(events[3001].what, What::Marker("step".into(), -7));
    assert_eq!(events[3002].what, What::RegionEnd("solve".into()));
    let threads: std::collections::BTreeSet<u32> = events.iter().map(|event| event.thread).collect();
    assert_eq!(threads.len(), 3, "two threads after another in one slot are told apart");
    // 16 bytes an event at most; this pattern has long addresses.
    let bytes: u64 = trace.files.iter().map(|file| std::fs::metadata(&file.path).unwrap().len()).sum();
    let (summary, problems) = keep::finish(&scratch.0);
    assert!(problems.is_empty());
    assert_eq!(summary, keep::Summary { events: 3005, dropped: 0 }, "without the note of a thread");
    let after: u64 = trace.files.iter().map(|file| std::fs::metadata(&file.path).unwrap().len()).sum();
    assert!(after < bytes, "room that was not used is given back: {after} of {bytes}");
}

#[test]
fn a_full_file_keeps_the_newest_and_counts_the_rest() {
    let scratch = Scratch::new("many");
    finish(play("many", &scratch.0));
    let (events, trace) = events(&scratch.0);
    assert!(trace.dropped() > 0);
    assert_eq!(events.len() as u64 + trace.dropped(), 200_000);
    let What::Call(last) = &events[events.len() - 1].what else { panic!() };
    assert_eq!(last.addr, 199_999);
    assert!(std::fs::metadata(&trace.files[0].path).unwrap().len() <= 1 << 20);
}

#[test]
fn what_was_recorded_outlives_sigkill() {
    let scratch = Scratch::new("endless");
    let mut child = play("endless", &scratch.0);
    let mut recorded = 0;
    for line in BufReader::new(child.stdout.take().expect("its output")).lines() {
        if let Some(count) = line.expect("text").strip_prefix("recorded ") {
            recorded = count.parse::<u64>().expect("a number");
            if recorded > 50_000 {
                child.kill().expect("it can be killed");
                break;
            }
        }
    }
    child.wait().expect("it ends");
    let (events, trace) = events(&scratch.0);
    assert!(events.len() as u64 + trace.dropped() >= recorded, "{} of {recorded}", events.len());
    let addresses = events.iter().map(|event| match &event.what {
        What::Call(call) => call.addr,
        _ => u64::MAX,
    });
    assert!(addresses.eq(0..events.len() as u64), "without a gap");
}

#[test]
fn another_job_with_the_same_directory_disturbs_nobody() {
    let scratch = Scratch::new("same");
    let mut child = play("endless", &scratch.0);
    let mut output = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut recorded = || output.by_ref().any(|line| line.is_ok_and(|line| line.starts_with("recorded ")));
    assert!(recorded());
    finish(play("many", &scratch.0));
    assert!((0..3).all(|_| recorded()), "it still runs");
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let What::Call(last) = events(&scratch.0).0.pop().expect("events").what else { panic!() };
    assert_eq!(last.addr, 199_999, "the newer job's");
}

#[test]
fn without_room_the_program_runs_on_and_the_loss_is_told_once() {
    let scratch = Scratch::new("limit");
    let said = finish(play("limit", &scratch.0));
    assert_eq!(said.matches("pellucid: PE 3: trace: ").count(), 1, "{said}");
    assert!(said.contains("cannot grow: File too large"), "{said}");
    let (events, trace) = events(&scratch.0);
    assert!(!events.is_empty() && trace.files[0].facts.error != 0);
    assert_eq!(events.len() as u64 + trace.dropped(), 100_000);

    let scratch = Scratch::new("nowhere");
    std::fs::write(&scratch.0, "a file where the directory should be").unwrap();
    let said = finish(play("nowhere", &scratch.0));
    assert_eq!(said.matches("pellucid: PE 3: trace: ").count(), 1, "{said}");
    std::fs::remove_file(&scratch.0).unwrap();
}

/// A full disk, where this process may have one.
#[test]
fn a_full_disk_is_no_bus_error() {
    let scratch = Scratch::new("disk");
    std::fs::create_dir_all(&scratch.0).unwrap();
    let script = format!("mount -t tmpfs -o size=600k none {0} && exec \"$@\" && :", scratch.0.display());
    let own = std::env::current_exe().expect("this program");
    let output = Command::new("unshare")
        .args(["-Urm", "sh", "-c", &(script + "; true"), "sh"])
        .arg(own)
        .args(["--exact", "a_process_of_its_own", "--nocapture"])
        .env(SCENE, "many")
        .env(DIRECTORY, scratch.0.join("trace"))
        .output();
    let Ok(output) = output else { return eprintln!("no unshare here: not tested") };
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && !said.contains("pellucid:") {
        return eprintln!("no mount in a namespace here: not tested: {said}");
    }
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("No space left on device").count(), 1, "{said}");
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
    keep::finish(&scratch.0);
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
            assert!(text.contains(".trace: ") && text.contains(" at offset "), "{text}");
        }
        if round % 20 == 0 {
            std::fs::write(&path, &bytes).unwrap();
            match Trace::open(&scratch.0) {
                Ok(trace) => trace.for_each(&mut Vec::new(), |_, _| {}),
                Err(error) => assert!(error.to_string().contains("trace"), "{error}"),
            }
            keep::finish(&scratch.0);
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
    assert_eq!((trace.files.len(), trace.problems.len()), (2, 1));
    assert!(trace.problems[0].to_string().contains("another job"), "{}", trace.problems[0]);
    let empty = Scratch::new("empty");
    assert!(Trace::open(&empty.0).unwrap_err().to_string().contains("no such directory"));
    std::fs::create_dir_all(&empty.0).unwrap();
    assert!(Trace::open(&empty.0).unwrap_err().to_string().contains("not a trace"));
}
