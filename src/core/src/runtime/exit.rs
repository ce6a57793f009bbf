//! Ending: finalize, global exit, faults, and what happens when a program just leaves (Sections 9.1.4, 9.1.6).

use super::network::Network;
use super::{NESTING, NETWORK, Process, WIREUP, liveness, map, messages, process, world};
use crate::base::env::Abort;
use crate::base::observer::{self, Callers};
use crate::base::text::visible_lines;
use crate::base::{Cause, Fault};
use crate::bootstrap::job::{ExitKind, ExitRequest, PeState};
use crate::bootstrap::ring::Stage;
use crate::bootstrap::{
    self,
    last_words::{self, CALLED_FROM, Statement},
};
use crate::collectives;
use crate::os::{process as os, remains, stack, streams, streams::Flushing, thread};
use crate::request::uses;
use crate::transport::registry;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Set when exit handlers run: exit must not be called again.
static LEAVING: AtomicBool = AtomicBool::new(false);

/// Ends one initialization; collective. Gives whether it was the last one, which completes everything; the others are
/// barriers. A call too many does nothing.
///
/// Symmetric memory stays usable until the process ends: tools communicate from exit handlers.
///
/// A forked child has no part in the job's end: for it, this ends its copy of all initializations, and meets nobody.
/// Exit handlers that the program has registered run in its children as well.
pub fn finalize() -> Result<bool, Fault> {
    let Some(process) = process() else { return Err(Fault::from(Cause::NotInitialized)) };
    if is_forked(process) {
        NESTING.store(0, Ordering::Release);
        return Ok(false);
    }
    let Ok(before) = NESTING.fetch_update(Ordering::AcqRel, Ordering::Acquire, |nesting| nesting.checked_sub(1)) else {
        return Ok(false);
    };
    if before > 1 {
        collectives::finalize_nested(world())?;
        return Ok(false);
    }
    finish(process)?;
    // The heap stays until the process ends: tools communicate from exit handlers, in memory that they have there.
    Ok(true)
}

/// Whether this is a forked child of the process that has initialized the library.
pub(super) fn is_forked(process: &Process) -> bool {
    process.id != os::id()
}

/// Meets all PEs for the last time.
fn finish(process: &Process) -> Result<(), Fault> {
    let slot = process.job.pe(process.pe);
    slot.set_state(PeState::Finalizing);
    for forgotten in uses::forgotten() {
        crate::say!("pellucid: PE {}: shmem_finalize: {forgotten}", process.pe);
    }
    collectives::requests::complete_all(world())?;
    messages::synchronize_schedules()?;
    messages::drain()?;
    collectives::finalize(world())?;
    messages::close()?;
    NETWORK.get().map_or(Ok(()), Network::settle)?;
    slot.set_state(PeState::Finalized);
    liveness::tell(Stage::Finalized);
    Ok(())
}

/// As [`finish`], at the end of the process.
fn finish_observed(process: &Process) -> Result<(), Fault> {
    let mut result = Ok(());
    let mut finish = || result = finish(process);
    match observer::get() {
        Some(observer) => (observer.finish)(&mut finish),
        None => finish(),
    }
    result
}

/// Runs when the process ends by `exit` or a return from `main`: a program may leave without finalize, as those that
/// begin with `start_pes` do. One that leaves with an error does not wait for the others.
pub(super) extern "C" fn at_exit(status: i32, _: *mut std::ffi::c_void) {
    LEAVING.store(true, Ordering::Relaxed);
    // A forked child has no part in the job's end.
    let Some(process) = process().filter(|process| !is_forked(process)) else { return };
    let open = NESTING.swap(0, Ordering::AcqRel) > 0;
    if open {
        process.job.pe(process.pe).set_unasked();
    }
    if open
        && status == 0
        && process.job.exit_request().is_none()
        && let Err(fault) = finish_observed(process)
    {
        fail("exit", fault);
    }
    if process.job.exit_request().is_some() {
        messages::messages().run_none_here();
    }
    if let Some(network) = NETWORK.get() {
        network.transport.drain();
    }
    // Our launcher sees a bad end by itself; not all others do.
    let (word, status) = match process.job.exit_request() {
        Some(ExitRequest { pe, status, .. }) if pe == process.pe as i32 => (Word::GlobalExit, status),
        None if open && status != 0 => {
            process.job.pe(process.pe).set_left(status);
            (Word::Bad, status)
        }
        _ => (Word::Good, 0),
    };
    STATUS.store(status, Ordering::Relaxed);
    WORD.store(word as u8, Ordering::Release);
}

/// What another's launcher is told of how this process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Word {
    Nothing,
    Good,
    Bad,
    GlobalExit,
}

/// The [`Word`] that [`at_exit`] found, and the status that belongs to it.
static WORD: AtomicU8 = AtomicU8::new(Word::Nothing as u8);
static STATUS: AtomicI32 = AtomicI32::new(0);

/// The last that this library does in a process that ends by `exit`, after all exit handlers: they may communicate
/// still, and a launcher that hears of an abort ends them.
pub fn left() {
    registry::leave();
    remains::remove();
    let Some(wireup) = WIREUP.get() else { return };
    let (pe, status) = (wireup.pe(), STATUS.load(Ordering::Relaxed));
    let word = WORD.swap(Word::Nothing as u8, Ordering::AcqRel);
    let bad = if word == Word::Bad as u8 { liveness::words(status) } else { None };
    if let (Some(text), Some(process)) = (&bad, process())
        && process.job.request_exit(ExitRequest { pe: pe as i32, status, kind: ExitKind::Failed })
    {
        announce(text);
    }
    if word == Word::Bad as u8 || word == Word::GlobalExit as u8 {
        // A launcher that is told to end the job may not look any more at what PEs have written before.
        std::thread::sleep(LAST_WORDS);
    }
    match word {
        word if word == Word::Good as u8 => wireup.finish(),
        word if word == Word::Bad as u8 => {
            wireup.abort(status, &bad.unwrap_or_default());
        }
        word if word == Word::GlobalExit as u8 => wireup.abort(status, &global_exit_of(pe, status)),
        _ => {}
    }
}

fn global_exit_of(pe: u32, status: i32) -> String {
    format!("PE {pe} called shmem_global_exit({status})")
}

/// Time for a launcher to take in what a PE has written, before it hears of the end of the job.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(100);
/// Exit handlers may take this long before another's launcher is asked to end the job without them; ours asks for no
/// leave.
const HANDLERS: Duration = Duration::from_secs(3);

/// Ends the whole job with a status, from any PE in any state of the others.
pub fn global_exit(status: i32) -> ! {
    if let Some(process) = process() {
        process.job.request_exit(ExitRequest { pe: map().me, status, kind: ExitKind::GlobalExit });
        if let Some(wireup) = WIREUP.get().cloned() {
            // Where there can be no thread, the handlers are trusted.
            let _ = std::thread::Builder::new().name("global exit".into()).spawn(move || {
                std::thread::sleep(HANDLERS);
                wireup.abort(status, &global_exit_of(wireup.pe(), status));
                os::exit_now(status)
            });
        }
    }
    // All that can be flushed without a wait for another thread, since exit handlers may take their time; the rest
    // follows at the end of `exit`.
    streams::flush_free_standard();
    if !LEAVING.load(Ordering::Relaxed) {
        os::exit(status)
    }
    // From an exit handler: no other runs.
    Flushing::begin().wait(FLUSH);
    if let Some(wireup) = WIREUP.get() {
        wireup.abort(status, &global_exit_of(wireup.pe(), status));
    }
    os::exit_now(status)
}

/// How this process ends, once its exit handlers run: the job's status where it is this process that ends the job, else
/// `None`.
pub fn status_at_exit() -> Option<i32> {
    let word = WORD.load(Ordering::Acquire);
    let ends = word == Word::Bad as u8 || word == Word::GlobalExit as u8;
    ends.then(|| STATUS.load(Ordering::Relaxed))
}

/// What a thread does before it ends the job because of a fault: it may wait for another one that ends the process.
static BEFORE: OnceLock<fn(&Fault)> = OnceLock::new();

/// Registers what a thread of a PE does before it ends the job because of a fault. The first caller wins.
pub fn before_faults(what: fn(&Fault)) {
    let _ = BEFORE.set(what);
}

/// Ends the job because a call cannot be carried out.
#[cold]
#[inline(never)]
pub fn fail(routine: &str, fault: Fault) -> ! {
    if let Some(what) = BEFORE.get()
        && process().is_some_and(|process| !is_forked(process))
    {
        what(&fault);
    }
    let flushing = flush();
    let quietly = |status| {
        flushing.wait(FLUSH);
        end_job(status);
        leave(status, "")
    };
    if let Some(status) = process().filter(|_| matches!(fault.cause(), Cause::Network(_))).and_then(ended_by_another) {
        quietly(status)
    }
    if let Some(signal) = interrupted(&fault) {
        quietly(128 + signal)
    }
    let site = callers().and_then(|callers| (callers.site)());
    let text = say(routine, &fault, site, &flushing);
    if WIREUP.get().is_some() {
        // One PE has said it for all of its host.
        std::thread::sleep(LAST_WORDS);
    }
    leave(1, &text)
}

/// Has the launcher end the job, and ends this process.
fn leave(status: i32, text: &str) -> ! {
    if let Some(wireup) = WIREUP.get() {
        wireup.abort(status, text);
    }
    os::exit_now(status)
}

/// Ends the job with a status because a PE wants it, from any thread in any state of the others. No exit handler runs,
/// and nobody is waited for. `place` finds words for where it was called, which takes a while.
#[cold]
pub fn abort(status: i32, text: &str, place: impl FnOnce() -> Option<String>) -> ! {
    let flushing = flush();
    let place = place().map(|place| format!(", called in {place}")).unwrap_or_default();
    let text = visible_lines(&format!("pellucid: {}: {text}{place}", who()));
    if let (false, Some(process)) = (os::write_error(&text), process()) {
        last_words::leave(&process.job, process.pe, &text);
    }
    flushing.wait(FLUSH);
    show();
    end_job(status);
    if WIREUP.get().is_some() {
        std::thread::sleep(LAST_WORDS);
    }
    leave(status, &text)
}

/// How long whoever ends the job, because a PE asks for it or has died, may take until this process is ended, too.
const OTHERS: Duration = Duration::from_secs(3);
const NAP: Duration = Duration::from_millis(5);

/// The status with which the job ends already, where the network fails since another PE, or another thread of this one,
/// ends it: what fails then is nobody's news. A PE of this host that crashes, or leaves with an error, has noted that
/// before its connections are closed; what comes of it is waited for. The end of a PE of another host is known to the
/// launcher about when its connections are closed: it has a while to end this process.
fn ended_by_another(process: &Process) -> Option<i32> {
    let (job, begin) = (&process.job, Instant::now());
    let leaves = |pe: u32| pe != process.pe && job.pe(pe).ended().is_some();
    // Others than ours may take two seconds for PEs of another host.
    let has_hosts = NETWORK.get().is_some();
    loop {
        let request = job.exit_request();
        let waits = match request {
            // That thread has exit handlers to run, and another's launcher hears of the end from that PE.
            Some(request) => request.pe == process.pe as i32 || WIREUP.get().is_some(),
            None => has_hosts || job.pes().any(leaves),
        };
        if !waits || begin.elapsed() >= OTHERS {
            return request.map(|request| request.status);
        }
        std::thread::sleep(NAP);
    }
}

/// The signal by which the user has ended the job, where a fault is only what comes of it: some PEs leave, as Python
/// programs do at Ctrl-C, while others are in the middle of a call.
fn interrupted(fault: &Fault) -> Option<i32> {
    let expected = matches!(fault.cause(), Cause::Finalizing { .. } | Cause::Mismatch { .. });
    process().filter(|_| expected)?.job.interrupted()
}

/// Has the launcher end the job.
fn end_job(status: i32) {
    if let Some(process) = process() {
        process.job.pe(process.pe).set_state(PeState::Failed);
        process.job.request_exit(ExitRequest { pe: process.pe as i32, status, kind: ExitKind::Failed });
    }
    if let Some(observer) = observer::get() {
        (observer.failing)();
    }
}

/// How faults end this process: an [`Abort`].
static ABORT: AtomicU8 = AtomicU8::new(Abort::Exit as u8);

/// Sets how faults end this process.
pub(super) fn end_faults_by(abort: Abort) {
    ABORT.store(abort as u8, Ordering::Relaxed);
}

/// Has faults of this process show its stack, unless `SHMEM_ABORT` asks for a core dump: for a front end's own
/// variable.
pub fn show_stack_at_faults() {
    let (by_default, now) = (Abort::Exit as u8, Abort::Trace as u8);
    _ = ABORT.compare_exchange(by_default, now, Ordering::Relaxed, Ordering::Relaxed);
}

/// What is left for people to look at, before the launcher hears of the fault and ends the job: a stack, or a core
/// dump.
fn show() {
    let how = ABORT.load(Ordering::Relaxed);
    if how == Abort::Trace as u8 {
        stack::print(&|calls| callers().map_or_else(Vec::new, |callers| (callers.lines)(calls)));
    } else if how == Abort::Signal as u8 {
        if let Some(observer) = observer::get() {
            (observer.failing)();
        }
        os::abort();
    }
}

/// Ends the job because a host is lost, from a thread that is not the program's. A PE that has finalized needs no host
/// any more.
#[cold]
pub(super) fn lost(fault: Fault) {
    let finalized = |process: &Process| process.job.pe(process.pe).state() == PeState::Finalized;
    if process().is_some_and(finalized) {
        return;
    }
    let flushing = flush();
    // No call of the program has led here.
    let text = say("network", &fault, None, &flushing);
    std::thread::sleep(LAST_WORDS);
    tell_launcher(1, text);
    std::thread::sleep(Duration::from_secs(1));
    // The launcher may be on the other side of the cut: the PEs here cannot rely on it.
    end_host(1)
}

/// Says in one line why the job ends, from a thread that is not the program's.
pub(super) fn announce(text: &str) {
    os::write_error(&format!("pellucid: {text}"));
}

/// What a process does that ends the job.
pub(super) fn before_failure() {
    drop(flush());
    if let Some(observer) = observer::get() {
        (observer.failing)();
    }
}

/// How long what the program has written may take before its process is ended without it: another thread may hold a
/// stream's lock for as long as it reads, and whoever reads at the other end may have stopped.
const FLUSH: Duration = Duration::from_secs(1);

/// Flushes what the program has written, so that it comes before what is said next, unless that takes a while.
fn flush() -> Flushing {
    let flushing = Flushing::begin();
    flushing.wait(LAST_WORDS);
    flushing
}

/// As [`flush`], without a wait, once another PE ends the job by `shmem_global_exit`: the launcher is about to end this
/// one, which waits. One that computes is not asked.
pub(super) fn flush_before_end() {
    static DONE: AtomicBool = AtomicBool::new(false);
    let Some(process) = process() else { return };
    let is_other = |request: ExitRequest| request.kind == ExitKind::GlobalExit && request.pe != process.pe as i32;
    if process.job.exit_request().is_some_and(is_other) && !is_forked(process) && !DONE.swap(true, Ordering::Relaxed) {
        drop(Flushing::begin());
    }
}

/// Asks another's launcher to end the job, which may not answer.
pub(super) fn tell_launcher(status: i32, text: String) {
    let Some(wireup) = WIREUP.get().cloned() else { return };
    let _ = thread::spawn(c"pellucid-abort", move || wireup.abort(status, &text));
}

/// Ends the PEs of this host without a launcher.
pub(super) fn end_host(status: i32) -> ! {
    if let Some(process) = process() {
        let others = process.job.pes().filter(|pe| *pe != process.pe).map(|pe| process.job.pe(pe));
        let needed = |state| matches!(state, PeState::NotStarted | PeState::Initialized | PeState::Finalizing);
        others.filter(|other| needed(other.state()) && other.is_visible()).for_each(|other| os::kill(other.pid()));
    }
    os::exit_now(status)
}

/// Whether the job ends already, or this process has no part in its end, as a forked child has none.
pub fn is_ending() -> bool {
    process().is_none_or(|process| is_forked(process) || process.job.exit_request().is_some())
}

/// Whether exit handlers run.
pub(super) fn is_leaving() -> bool {
    LEAVING.load(Ordering::Relaxed)
}

fn callers() -> Option<&'static Callers> {
    observer::get().map(|observer| &observer.callers)
}

/// The one place where a fault becomes a message. `site`: where the program has made the call; `flushing`: what comes
/// to its end before the job does.
fn say(routine: &str, fault: &Fault, site: Option<String>, flushing: &Flushing) -> String {
    let mut words = format!("{routine}: {}", reason(fault));
    if let Some(site) = site {
        words.push(CALLED_FROM);
        words += &site;
    }
    let early = if process().is_none() { bootstrap::before_joining() } else { None };
    let job = process().map(|process| (&process.job, process.pe)).or(early.as_ref().map(|(job, pe)| (job, *pe)));
    let (mut own, mut unheard) = (String::new(), String::new());
    let groups = match job {
        Some((job, pe)) => last_words::collect(job, pe, &words),
        None => vec![Statement { pes: Vec::new(), elsewhere: Vec::new(), text: words }],
    };
    for Statement { pes, elsewhere, text: words } in groups {
        let mut who = named(&pes);
        if !elsewhere.is_empty() {
            who += &format!(", and with other addresses {}", named(&elsewhere));
        }
        let (fault, site) = words.split_once(CALLED_FROM).unwrap_or((&words, ""));
        let place = callers().filter(|_| !site.is_empty()).map(|callers| (callers.place)(site));
        let place = place.map(|place| format!(", called from {place}")).unwrap_or_default();
        let text = visible_lines(&format!("pellucid: {who}: {fault}{place}"));
        if !os::write_error(&text) {
            unheard += &format!("{text}\n");
        }
        own = text;
    }
    if let (false, Some((job, pe))) = (unheard.is_empty(), job) {
        last_words::leave(job, pe, &unheard);
    }
    if let Some((job, pe)) = job {
        last_words::said(job, pe);
    }
    flushing.wait(FLUSH);
    show();
    end_job(1);
    if let Some((job, pe)) = &early {
        job.request_exit(ExitRequest { pe: *pe as i32, status: 1, kind: ExitKind::Failed });
    }
    own
}

/// PEs, in words.
fn named(pes: &[u32]) -> String {
    match (pes, callers()) {
        ([], _) => nobody(),
        ([pe], _) => format!("PE {pe}"),
        (pes, Some(callers)) => (callers.pes)(pes),
        (pes, None) => format!("PEs {}", pes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// A PE that has no number yet.
fn nobody() -> String {
    WIREUP.get().map_or_else(|| format!("process {}", os::id()), |wireup| format!("PE {}", wireup.pe()))
}

/// What is wrong, and of a PE that will not come what it does instead, where that can be seen.
fn reason(fault: &Fault) -> String {
    let (Cause::Finalizing { pe }, Some(process)) = (fault.cause(), process()) else { return fault.to_string() };
    let slot = u32::try_from(*pe).ok().filter(|pe| process.job.pes().contains(pe)).map(|pe| process.job.pe(pe));
    let what = match slot {
        None => return fault.to_string(),
        Some(slot) if slot.is_unasked() => "its main has returned, or it has called exit, without shmem_finalize",
        Some(_) => "it is in shmem_finalize",
    };
    format!("PE {pe} takes no part in it: {what}; all PEs must make the same calls in the same order")
}

/// This process, in words.
fn who() -> String {
    let early = || bootstrap::before_joining().map(|(_, pe)| pe as usize);
    match process().map(|process| process.pe as usize).or_else(early) {
        Some(pe) => format!("PE {pe}"),
        None => nobody(),
    }
}
