//! What an active message costs, beside the ping-pong of a flag in symmetric memory, in one run of two PEs. Prints the
//! lines of oshbench.
//!
//! ```text
//! oshrun -n 2 message_bench [--quick] [--best]
//! ```
//! `--best`: the fastest batch of each measurement instead of the median, for a machine that others use, too.
#![allow(unsafe_code)]

use pellucid_core::am::{Handler, Message};
use pellucid_core::base::Fault;
use pellucid_core::bootstrap::Profiles;
use pellucid_core::context::{Ctx, rma, wait};
use pellucid_core::{collectives, runtime};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const PING: u16 = 1;
const PONG: u16 = 2;
const TAKE: u16 = 3;
/// Batches of a measurement, of which the median counts.
const BATCHES: usize = 101;
/// `SHMEM_CMP_GE` of the library's header.
const GE: i32 = 5;

static PINGS: AtomicU64 = AtomicU64::new(0);
static PONGS: AtomicU64 = AtomicU64::new(0);
static TAKEN: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

fn add(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Ordering::Relaxed) + n, Ordering::Relaxed);
}

fn pong(message: &mut Message<'_>, _: usize) {
    let args = [message.args()[0]];
    add(&PINGS, 1);
    message.reply_short(PONG, &args).expect("a reply");
}

fn take(message: &mut Message<'_>, _: usize) {
    add(&BYTES, black_box(message.payload()).len() as u64);
    add(&TAKEN, 1);
}

fn has(option: &str) -> bool {
    std::env::args().any(|argument| argument == option)
}

fn chosen(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    if has("--best") { of[0] } else { of[of.len() / 2] }
}

/// Nanoseconds of one of `n`, by the median of some batches that all PEs begin together.
fn measure(n: u64, mut batch: impl FnMut(u64) -> Result<(), Fault>) -> Result<f64, Fault> {
    let mut of = Vec::new();
    for _ in 0..BATCHES {
        collectives::barrier_all(runtime::world())?;
        let begin = Instant::now();
        batch(n)?;
        of.push(begin.elapsed().as_secs_f64() * 1e9 / n as f64);
    }
    Ok(chosen(of))
}

fn report(bench: &str, bytes: usize, ns: f64, limit: Option<f64>) {
    let limit = limit.map_or(String::new(), |ns| format!(" limit=flag_ping_pong limit_ns={ns:.1}"));
    println!("oshbench bench={bench} memory=heap bytes={bytes} pes=2 ns={ns:.1}{limit}");
}

/// A flag there and one back, by the library's own put and wait.
fn flags(me: i32, n: u64) -> Result<f64, Fault> {
    let flag = runtime::memory::malloc(4096)?.cast::<i64>();
    // SAFETY: just allocated; nobody writes there yet.
    unsafe { flag.write(0) };
    let (map, mut round) = (runtime::map(), 0);
    measure(n, |n| {
        for _ in 0..n {
            round += 1;
            if me == 0 {
                rma::p(map, Ctx::DEFAULT, flag, round, 1)?;
                wait::wait_until(map, flag, GE, round)?;
            } else {
                wait::wait_until(map, flag, GE, round)?;
                rma::p(map, Ctx::DEFAULT, flag, round, 0)?;
            }
        }
        Ok(())
    })
}

/// A request there and its reply back.
fn round_trips(me: i32, n: u64, args: &[i32]) -> Result<f64, Fault> {
    let messages = runtime::messages();
    let counter = if me == 0 { &PONGS } else { &PINGS };
    let mut rounds = counter.load(Ordering::Relaxed);
    measure(n, |n| {
        for _ in 0..n {
            rounds += 1;
            if me == 0 {
                messages.request_short(1, PING, args)?;
            }
            while counter.load(Ordering::Relaxed) < rounds {
                messages.poll()?;
            }
        }
        Ok(())
    })
}

/// Messages one way, until the last one has been handled.
fn stream(me: i32, n: u64, payload: Option<&[u8]>) -> Result<f64, Fault> {
    let messages = runtime::messages();
    let mut taken = TAKEN.load(Ordering::Relaxed);
    let mut pongs = PONGS.load(Ordering::Relaxed);
    measure(n, |n| {
        taken += n;
        pongs += 1;
        if me == 1 {
            while TAKEN.load(Ordering::Relaxed) < taken {
                messages.poll()?;
            }
            return Ok(());
        }
        for i in 0..n as i32 {
            match payload {
                None => messages.request_short(1, TAKE, &[i, 0])?,
                Some(payload) => messages.request_medium(1, TAKE, &[i, 0], payload)?,
            }
        }
        // The receiver handles in the order in which they were sent.
        messages.request_short(1, PING, &[0])?;
        while PONGS.load(Ordering::Relaxed) < pongs {
            messages.poll()?;
        }
        Ok(())
    })
}

fn run() -> Result<(), Fault> {
    let profiles =
        Profiles { make: |_, _| None, origin: |_| Vec::new(), follow: |_, _| (), place: |_, _, _, _| String::new() };
    runtime::init_thread(0, profiles)?;
    let me = runtime::my_pe()?;
    let scale = if has("--quick") { 1 } else { 4 };
    // Before there is a handler: a wait for a flag then looks at nothing else.
    let flag = flags(me, 1000 * scale)?;
    let handler = |name, run| Handler { name, run, context: 0 };
    runtime::register_handler(PING, handler("ping", pong))?;
    runtime::register_handler(PONG, handler("pong", |_, _| add(&PONGS, 1)))?;
    runtime::register_handler(TAKE, handler("take", take))?;
    collectives::barrier_all(runtime::world())?;
    let short = round_trips(me, 1000 * scale, &[1])?;
    let full = round_trips(me, 1000 * scale, &[1; 16])?;
    let rate = stream(me, 10_000 * scale, None)?;
    let small = stream(me, 5000 * scale, Some(&[1; 64]))?;
    let medium = stream(me, 1000 * scale, Some(&[1; 4096]))?;
    if me == 0 {
        report("flag-round-trip", 8, flag, None);
        report("message-round-trip", 4, short, Some(flag));
        report("message-round-trip", 64, full, Some(flag));
        report("message-stream", 8, rate, None);
        report("message-stream", 64, small, None);
        report("message-stream", 4096, medium, None);
    }
    runtime::finalize().map(drop)
}

fn main() {
    if let Err(fault) = run() {
        runtime::fail("message_bench", fault);
    }
}
