//! Traces from the writer to the reader. A process has one trace, so each test runs its part in a process of its own.
#![allow(unsafe_code)]

mod damage;

use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pellucid_profile::op;
use pellucid_profile::output::{Claim, OutputDir};
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

/// The directory that a scene has taken and left as a killed PE does.
fn taken(directory: &Path) -> OutputDir {
    let claim = std::fs::read_to_string(directory.join(".pellucid-job")).expect("a claim");
    let token = u64::from_str_radix(claim.trim(), 16).expect("a number");
    OutputDir::join(directory, Claim { number: 1, token }).expect("the directory of the scene")
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
    let directory = OutputDir::take(&directory).expect("a directory that is ours");
    let memory = Memory { heap: (0x1000, 0x1000), data: (0, 0) };
    trace::attach(segment.as_raw_fd(), 3, Config { directory, bytes, on: true, full }, memory).expect("a trace");
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
        Ok("teams") => {
            start(1 << 20);
            let broadcast = op::find("shmem_long_broadcast").expect("a routine");
            timed(barrier, -1, 0, 0, || ());
            // More events than a chunk has room for: each chunk names the team again.
            for i in 0..20_000_usize {
                let team = recorder::team(5, 1, 2, 3);
                recorder::rooted(broadcast, (i % 3) as i32);
                timed(broadcast, team, 0x1000, 8 * i, || ());
            }
            timed(op::find("shmem_long_collect").expect("a routine"), recorder::team(6, 3, 1, 2), 0, 16, || ());
            timed(barrier, -1, 0, 0, || ());
        }
        Ok("places") => {
            start(16 << 20);
            let synced = op::find("shmem_team_sync").expect("a routine");
            let put = op::find("shmem_ctx_putmem").expect("a routine");
            recorder::context_made(0x21, 5, (1, 2, 3));
            recorder::context_made(0x22, 6, (3, 1, 2));
            for i in 0..PLACES {
                let (id, (start, stride, size), context, site) = place(i);
                recorder::set_site(site);
                timed(synced, recorder::team(id, start, stride, size), 0, i, || ());
                recorder::set_site(place(i + 1).3);
                recorder::context(recorder::context_column(put), context, i);
                sized(put, 1, 0x1000, i, || ());
            }
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
        Ok("closed") => {
            start(8 << 20);
            (0..30_000).for_each(|i| sampled(amo, 1, i, 8, || ()));
            std::thread::spawn(move || sampled(amo, 5, 64, 8, || ())).join().expect("a thread");
            let (to_end, end) = std::sync::mpsc::channel::<()>();
            let (to_begin, begun) = std::sync::mpsc::channel::<()>();
            let running = std::thread::spawn(move || {
                sampled(amo, 6, 64, 8, || ());
                to_begin.send(()).and_then(|()| end.recv().map_err(|_| std::sync::mpsc::SendError(()))).is_ok()
            });
            begun.recv().expect("the thread runs");
            trace::close();
            sampled(amo, 7, 64, 8, || ());
            to_end.send(()).expect("the thread still runs");
            assert!(running.join().expect("a thread"));
        }
        Ok("cut") => {
            start(8 << 20);
            (0..30_000).for_each(|i| sampled(amo, 1, i, 8, || ()));
            let directory = PathBuf::from(std::env::var_os(DIRECTORY).expect("a directory"));
            let file = std::fs::OpenOptions::new().write(true).open(directory.join("pe-00003-000.trace"));
            file.and_then(|file| file.set_len(4096 + 64 * 1024 + 1000)).expect("the file can be cut");
            (0..30_000).for_each(|i| sampled(amo, 2, i, 8, || ()));
            trace::close();
        }
        Ok("bus error elsewhere") => {
            start(8 << 20);
            sampled(amo, 1, 0, 8, || ());
            let directory = PathBuf::from(std::env::var_os(DIRECTORY).expect("a directory"));
            let file = std::fs::File::options().read(true).write(true).create_new(true).open(directory.join("own"));
            let file = file.expect("a file");
            file.set_len(4096).expect("a page");
            let (null, both) = (std::ptr::null_mut(), libc::PROT_READ | libc::PROT_WRITE);
            // SAFETY: a mapping of its own, which loses its ground on purpose: the store ends the process.
            unsafe {
                let page = libc::mmap(null, 4096, both, libc::MAP_SHARED, file.as_raw_fd(), 0).cast::<u8>();
                file.set_len(0).expect("no page");
                page.write_volatile(1);
            }
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
        Ok(other) => panic!("no scene {other}"),
    }
}

/// Turns of the scene `places`.
const PLACES: usize = 20_000;

/// A turn: team (number, first PE, stride, size), context, and where a call returns to, in two files in turn.
fn place(turn: usize) -> (usize, (i32, i32, i32), usize, u64) {
    let sites = [place as fn(usize) -> _ as usize as u64, libc::getpid as unsafe extern "C" fn() -> _ as usize as u64];
    // Turns of one kind last for a while, so that a chunk's end comes at every of the notes.
    let (site, other) = (sites[turn % 2], turn / 7 % 2 == 1);
    if other { (6, (3, 1, 2), 0x22, site) } else { (5, (1, 2, 3), 0x21, site) }
}

/// Calls of each kind in [`folded_scene`]: atomics, puts, their bytes, signals, barriers.
const FOLDED: (u64, u64, u64, u64, u64) = (20_000, 10_000, 10_000 / 5 * (8 + 1024 + 1025 + 100_000), 2000, 20);

/// Short calls in a row, with a barrier now and then.
fn folded_scene(peer: i32) {
    let (amo, put, barrier) = ids();
    let signal = op::find("shmem_signal_set").expect("a routine");
    let on_context = op::find("shmem_ctx_long_p").expect("a routine");
    recorder::context_made(0x21, 3, (1, 2, 3));
    recorder::context(recorder::context_column(on_context), 0x21, 8);
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
    let summary = keep::finish(&taken(&scratch.0), None, |_, _| None).0;
    assert_eq!(summary.calls, events.iter().map(|event| event.what.calls()).sum::<u64>());
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
    let (summary, problems) = keep::finish(&taken(&scratch.0), None, |_, _| None);
    assert!(problems.is_empty() && summary.losses.error.is_none());
    assert_eq!((summary.calls, summary.losses.phrases().len()), (3005, 0), "without the note of a thread");
    let after: u64 = trace.files.iter().map(|file| std::fs::metadata(&file.path).unwrap().len()).sum();
    assert!(after < bytes, "room that was not used is given back: {after} of {bytes}");
}

#[test]
fn collectives_have_team_and_root() {
    let scratch = Scratch::new("teams");
    finish(play("teams", &scratch.0));
    let (events, trace) = events(&scratch.0);
    assert_eq!((events.len(), trace.dropped()), (20_003, 0), "notes are no events");
    let call = |at: usize| match &events[at].what {
        What::Call(call) => (call.team, call.root, call.peer, call.bytes),
        other => panic!("{other:?}"),
    };
    let world = Some((0, 0, 1, 8));
    assert_eq!((call(0), call(20_002)), ((world, None, None, 0), (world, None, None, 0)));
    for i in 0..20_000 {
        // PEs 1, 3 and 5.
        assert_eq!(call(1 + i), (Some((5, 1, 2, 3)), Some(1 + 2 * (i as u32 % 3)), None, 8 * i as u64));
    }
    assert_eq!(call(20_001), (Some((6, 3, 1, 2)), None, None, 16));
    let (summary, problems) = keep::finish(&taken(&scratch.0), None, |_, _| None);
    assert!(problems.is_empty());
    assert_eq!((summary.calls, summary.losses.phrases().len()), (20_003, 0));
}

/// A chunk may end before each of the notes that say this.
#[test]
fn team_context_and_site_are_right_in_every_chunk() {
    let scratch = Scratch::new("places");
    finish(play("places", &scratch.0));
    let (events, trace) = events(&scratch.0);
    assert_eq!((events.len(), trace.dropped()), (2 * PLACES, 0));
    let mut sites = std::collections::BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        let What::Call(call) = &event.what else { panic!("{event:?}") };
        let turn = at / 2;
        let (id, (start, stride, size), context, _) = place(turn);
        assert_eq!(call.bytes, turn as u64);
        if at % 2 == 0 {
            assert_eq!(call.team, Some((id as u32, start, stride, size)), "{turn}");
        } else {
            assert_eq!(call.context.as_ref().map(|context| context.number), Some(context as u64), "{turn}");
        }
        let site = call.site.as_ref().expect("a known file");
        let known = sites.entry((turn + at % 2) % 2).or_insert(site);
        assert_eq!(known, &site, "{turn}");
    }
    assert!(sites[&0].path != sites[&1].path, "{sites:?}");
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
    let other = Scratch(scratch.0.with_added_extension("2"));
    let What::Call(last) = events(&other.0).0.pop().expect("events").what else { panic!() };
    assert_eq!(last.addr, 199_999, "the newer job's");
    let What::Call(first) = events(&scratch.0).0.swap_remove(0).what else { panic!() };
    assert_eq!((first.addr, first.bytes), (0, 8), "the older job's");
}

#[test]
fn without_room_the_program_runs_on_and_the_loss_is_told_once() {
    let scratch = Scratch::new("limit");
    let said = finish(play("limit", &scratch.0));
    assert_eq!(said.matches("pellucid: PE 3: trace: ").count(), 1, "{said}");
    assert!(said.contains("cannot grow: the limit on file size is reached (ulimit -f)"), "{said}");
    let (events, trace) = events(&scratch.0);
    assert!(!events.is_empty() && trace.files[0].facts.error != 0);
    assert_eq!(events.len() as u64 + trace.dropped(), 100_000);
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
    assert_eq!(said.matches("the disk is full: No space left on device").count(), 1, "{said}");
}

/// What was in it when it was cut is lost, and counted.
#[test]
fn a_file_that_is_cut_is_no_bus_error() {
    let scratch = Scratch::new("cut");
    let said = finish(play("cut", &scratch.0));
    assert!(said.contains("pe-00003-000.trace was cut by somebody while it was written to"), "{said}");
    let trace = Trace::open(&scratch.0).unwrap();
    assert!(trace.dropped() > 0, "the loss is counted");
    let (mut problems, mut count) = (Vec::new(), 0);
    trace.for_each(&mut problems, |_, _| count += 1);
    assert!(count > 1000 && problems.len() == 1, "{count} {problems:?}");
    assert!(problems[0].to_string().contains("truncated at offset"), "{}", problems[0]);

    let scratch = Scratch::new("bus");
    let output = play("bus error elsewhere", &scratch.0).wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(libc::SIGBUS), "{output:?}");
}
