//! Active messages of the core in jobs under `oshrun`: over shared memory, over libfabric, and over both between two
//! hosts. This program is the PEs' as well: `active_messages pe PART`. What does not need processes is in
//! `src/core/tests/messages`.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use harness::hosts::Hosts;
use harness::run::{Job, Outcome};
use harness::system;
use libtest_mimic::{Arguments, Trial};
use pellucid_core::am::{Handler, Message};
use pellucid_core::base::Fault;
use pellucid_core::bootstrap::Profiles;
use pellucid_core::transport::{RemoteAddress, SegmentId};
use pellucid_core::{collectives, runtime};

/// A job of these may take this long where the machine is busy; nothing is timed.
const LIMIT: u64 = 60;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|word| word == "pe") {
        if let Err(fault) = pe(&arguments[2]) {
            runtime::fail("active_messages", fault);
        }
        return ExitCode::SUCCESS;
    }
    tests()
}

fn tests() -> ExitCode {
    let arguments = Arguments::from_args();
    let has_libfabric = system::library("libfabric.so.1").is_some();
    let mut trials = Vec::new();
    for part in ["traffic", "threads", "flood"] {
        for pes in [1, 2, 5, 16] {
            let job = move || passes(Job::oshrun(pes), part, pes);
            trials.push(Trial::test(format!("shm/{part} of {pes}"), job));
        }
        for pes in [2, 3] {
            let job = move || passes(Job::oshrun(pes).env("SHMEM_TRANSPORT", "ofi"), part, pes);
            trials.push(Trial::test(format!("ofi/{part} of {pes}"), job).with_ignored_flag(!has_libfabric));
        }
    }
    let hosts = if arguments.list || !has_libfabric { None } else { Hosts::new(2).map(Arc::new) };
    if let Some(hosts) = hosts {
        for part in ["traffic", "threads", "flood"] {
            let hosts = hosts.clone();
            let job = move || passes(hosts.oshrun_with(&["--hosts", &hosts.list(2), "-n", "4"]), part, 4);
            trials.push(Trial::test(format!("two hosts/{part} of 4"), job));
        }
    }
    for (name, transport) in [("shm", "auto"), ("ofi", "ofi")] {
        let missing = transport == "ofi" && !has_libfabric;
        for (part, words) in [("killed", "PE 1"), ("unknown", "none is registered"), ("nobody", "registered")] {
            let job = move || ends(Job::oshrun(3).env("SHMEM_TRANSPORT", transport), part, words);
            trials.push(Trial::test(format!("{name}/{part}"), job).with_ignored_flag(missing));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn run(job: Job, part: &str) -> Outcome {
    let this = std::env::current_exe().expect("the path of this program");
    job.arg(this).args(["pe", part]).limit(LIMIT).run()
}

fn passes(job: Job, part: &str, pes: usize) -> Result<(), libtest_mimic::Failed> {
    let outcome = run(job, part);
    let good = outcome.code() == 0 && outcome.stdout.matches("all is well").count() == pes;
    if good { Ok(()) } else { Err(outcome.describe().into()) }
}

/// The job ends by itself, with a failure that says why.
fn ends(job: Job, part: &str, words: &str) -> Result<(), libtest_mimic::Failed> {
    let outcome = run(job, part);
    let good = outcome.code() > 0 && outcome.elapsed < Duration::from_secs(20) && outcome.stderr.contains(words);
    if good { Ok(()) } else { Err(outcome.describe().into()) }
}

// ---- the PEs' part -------------------------------------------------------------------------------------------------

const ASK: u16 = 300;
const ANSWER: u16 = 301;
const DATA: u16 = 302;
const LONG: u16 = 303;
const LONG_ANSWER: u16 = 304;

static ANSWERS: AtomicUsize = AtomicUsize::new(0);
static SUM: AtomicU64 = AtomicU64::new(0);
static WRONG: AtomicUsize = AtomicUsize::new(0);
static HANDLED: AtomicUsize = AtomicUsize::new(0);
static ME: AtomicI32 = AtomicI32::new(0);

/// Bytes that two PEs agree on by a number.
fn data(seed: i32, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i as i32).wrapping_mul(31).wrapping_add(seed) as u8).collect()
}

/// A peer has died, which over the network whoever sends to it may find out before the launcher says so.
fn ended(fault: Fault) {
    runtime::fail("a reply", fault)
}

fn ask(message: &mut Message<'_>, _: usize) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    let sum = message.args().iter().sum::<i32>();
    message.reply_short(ANSWER, &[sum]).unwrap_or_else(ended);
}

fn answer(message: &mut Message<'_>, _: usize) {
    SUM.fetch_add(message.args()[0] as u64, Ordering::Relaxed);
    ANSWERS.fetch_add(1, Ordering::Release);
}

fn check(message: &Message<'_>) {
    let [seed, bytes] = [message.args()[0], message.args()[1]];
    WRONG.fetch_add(usize::from(message.payload() != data(seed, bytes as usize)), Ordering::Relaxed);
}

/// Data is sent back as it came.
fn echo(message: &mut Message<'_>, _: usize) {
    check(message);
    let (args, payload) = (message.args().to_vec(), message.payload().to_vec());
    if message.is_request() {
        HANDLED.fetch_add(1, Ordering::Relaxed);
        message.reply_medium(DATA, &args, &payload).unwrap_or_else(ended);
    } else {
        ANSWERS.fetch_add(1, Ordering::Release);
    }
}

/// Data in the segment is sent back to a place behind.
fn long(message: &mut Message<'_>, _: usize) {
    check(message);
    HANDLED.fetch_add(1, Ordering::Relaxed);
    let (args, payload) = (message.args().to_vec(), message.payload().to_vec());
    let to = RemoteAddress { pe: 0, segment: SegmentId::HEAP, offset: args[2] as usize };
    message.reply_long(LONG_ANSWER, &args, &payload, to).unwrap_or_else(ended);
}

fn long_answer(message: &mut Message<'_>, _: usize) {
    check(message);
    ANSWERS.fetch_add(1, Ordering::Release);
}

fn await_answers(number: usize) -> Result<(), Fault> {
    while ANSWERS.load(Ordering::Acquire) < number {
        if runtime::messages().poll()? == 0 {
            std::thread::yield_now();
        }
    }
    Ok(())
}

fn pe(part: &str) -> Result<(), Fault> {
    let profiles =
        Profiles { make: |_, _| None, origin: |_| Vec::new(), follow: |_, _| (), place: |_, _, _, _| String::new() };
    runtime::init_thread(3, profiles)?;
    let (me, npes) = (runtime::my_pe()?, runtime::n_pes()?);
    ME.store(me, Ordering::Relaxed);
    type Run = fn(&mut Message<'_>, usize);
    let handlers: [(u16, &'static str, Run); 5] = [
        (ASK, "ask", ask),
        (ANSWER, "answer", answer),
        (DATA, "data", echo),
        (LONG, "long", long),
        (LONG_ANSWER, "long answer", long_answer),
    ];
    if part != "nobody" || me == 0 {
        for (number, name, run) in handlers {
            runtime::register_handler(number, Handler { name, run, context: 0 })?;
        }
    }
    collectives::barrier_all(runtime::world())?;
    match part {
        "traffic" => traffic(me, npes)?,
        "threads" => threads(npes)?,
        "flood" => flood(me, npes)?,
        "killed" => killed(me, npes)?,
        "unknown" | "nobody" if me == 0 => runtime::messages().request_short(1, 77, &[])?,
        _ => {}
    }
    runtime::finalize()?;
    assert_eq!(WRONG.load(Ordering::Relaxed), 0, "PE {me}: payloads");
    println!("PE {me}: all is well");
    Ok(())
}

/// Everyone sends everything to everyone.
fn traffic(me: i32, npes: i32) -> Result<(), Fault> {
    let messages = runtime::messages();
    let mut expected = 0;
    for to in 0..npes {
        let most = messages.limits(to)?.medium;
        for n in 0..=16 {
            messages.request_short(to, ASK, &vec![1; n])?;
            expected += 1;
        }
        for bytes in [0, 1, 63, 64, 65, 4000, most] {
            messages.request_medium(to, DATA, &[me, bytes as i32], &data(me, bytes))?;
            expected += 1;
        }
        let refused = messages.request_medium(to, DATA, &[0, 0], &vec![0; most + 1]);
        assert!(refused.is_err_and(|fault| fault.to_string().contains("at most")));
        // Some large ones: sockets have no room for all of them, and answers are sent while others wait for room.
        for (i, bytes) in [0, 100, 10_000, 300_000, 300_000, 300_000, 300_000].into_iter().enumerate() {
            // Of its own in the segment of the receiver, and one for the answer here. What is equal may share one.
            let place = i.min(3);
            let offset = (me as usize * 4 + place) * 320_000;
            let back = (16 * 4 + to as usize * 4 + place) * 320_000;
            let there = RemoteAddress { pe: to, segment: SegmentId::HEAP, offset };
            messages.request_long(LONG, &[me, bytes as i32, back as i32], &data(me, bytes), there)?;
            expected += 1;
        }
    }
    await_answers(expected)?;
    assert_eq!(SUM.load(Ordering::Relaxed), 136 * npes as u64);
    Ok(())
}

fn threads(npes: i32) -> Result<(), Fault> {
    const THREADS: usize = 4;
    const EACH: usize = 200;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for i in 0..EACH {
                    let bytes = (i * 7 + thread) % 2000;
                    let args = [thread as i32, bytes as i32];
                    let to = (i % npes as usize) as i32;
                    runtime::messages()
                        .request_medium(to, DATA, &args, &data(thread as i32, bytes))
                        .expect("a request");
                }
                await_answers(THREADS * EACH).expect("answers");
            });
        }
    });
    Ok(())
}

/// All others send to PE 0, which computes at first, more than there is room for; then it waits in a barrier, whose
/// waiting serves them.
fn flood(me: i32, npes: i32) -> Result<(), Fault> {
    let each = 60_000 / npes as usize;
    if me == 0 {
        std::thread::sleep(Duration::from_millis(100));
    } else {
        for i in 0..each {
            runtime::messages().request_short(0, ASK, &[(i & 1) as i32, 1])?;
        }
    }
    collectives::barrier_all(runtime::world())?;
    if me != 0 {
        await_answers(each)?;
    }
    collectives::barrier_all(runtime::world())?;
    let expected = if me == 0 { each * (npes as usize - 1) } else { 0 };
    assert_eq!(HANDLED.load(Ordering::Relaxed), expected);
    Ok(())
}

/// PE 1 is killed while all flood all.
fn killed(me: i32, npes: i32) -> Result<(), Fault> {
    for i in 0.. {
        runtime::messages().request_medium(i % npes, DATA, &[me, 500], &data(me, 500))?;
        if me == 1 && i == 5000 {
            // SAFETY: the end of this process.
            #[allow(unsafe_code)]
            unsafe {
                libc::kill(libc::getpid(), libc::SIGKILL);
            }
        }
    }
    Ok(())
}
