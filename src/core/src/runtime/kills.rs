//! PEs that are killed under a launcher that kills the others as soon as a connection is closed: there is no time to
//! wait for the end of a process. The kernel tells of it a moment before it closes connections ([`crate::os::alive`]).

use super::death::{self, Words};
use super::{Process, exit};
use crate::bootstrap::job::{ExitKind, ExitRequest, PeState};
use crate::os::oom::Kills;
use crate::os::other::{Ended, Other};
use crate::os::thread;
use std::time::Duration;

/// Where a PE is not there yet: how often it is looked for.
const ASK: Duration = Duration::from_millis(250);

/// The PE behind this one on its host, whose lock this one waits for; `None`: it is alone.
pub(super) fn next(process: &Process) -> Option<u32> {
    let (pes, me) = (process.job.pes(), process.pe);
    Some(if me + 1 < pes.end { me + 1 } else { pes.start }).filter(|next| *next != me)
}

/// Has a thread wait for the end of that PE, for good.
pub(super) fn install(words: &'static Words) {
    if let Some(next) = next(words.process) {
        let _ = thread::spawn(c"pellucid-kills", move || wait(words, next));
    }
}

fn wait(words: &Words, pe: u32) {
    let job = &words.process.job;
    let slot = job.pe(pe);
    while !slot.alive().is_held(ASK) {}
    // In a container of its own, it is another process that has this number here: the thread that watches waits.
    if !slot.is_visible() {
        return;
    }
    let (other, memory) = (Other::new(slot.pid()), Kills::of(slot.pid()));
    if !slot.alive().outlive() || !other.is_killed() {
        return;
    }
    let memory = memory.as_ref().and_then(Kills::since);
    let ended = |pe| job.pe(pe).is_placed() && Other::new(job.pe(pe).pid()).ended().is_some();
    let is_final = |pe| job.pe(pe).state() == PeState::Finalized;
    if is_final(pe) || is_final(words.process.pe) {
        return;
    }
    // Where another one has ended before, this is only what the launcher made of it.
    let mut others = job.pes().filter(|other| ![pe, words.process.pe].contains(other));
    if others.any(ended) {
        return;
    }
    let killed = Ended::Killed(libc::SIGKILL);
    let text = words.of(pe, killed, memory, Duration::ZERO);
    // The thread that watches sees the end of the process, too, and does what is left to do.
    let request = ExitRequest { pe: pe as i32, status: death::status(killed), kind: ExitKind::Failed };
    if job.request_exit(request) {
        exit::announce(&text);
    }
}
