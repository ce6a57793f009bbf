//! Who moves nonblocking collectives on while the program computes (`SHMEM_PROGRESS`).
//!
//! Between hosts the thread that serves the network does ([`crate::os::beside`]). Within a host nobody has to be
//! there: where cores are left over, a thread is made at the first nonblocking collective. It sleeps on a word of this
//! PE's rings until another PE sends it a message, and looks on while the program itself waits.
//!
//! Neither runs handlers of a front end, which are for the program's threads: what has come behind a message to one
//! stays there, and since such messages wake nobody, the thread looks again before long. Neither reports faults, which
//! are for the program's next call, or looks for PEs that are gone.

use super::exit::fail;
use super::messages::messages;
use super::world;
use crate::am::Sleeper;
use crate::base::Fault;
use crate::base::env::{self, ProgressMode};
use crate::memory::Map;
use crate::os::{beside, thread, wait};
use crate::request;
use std::sync::Once;
use std::time::Duration;

/// Naps while the program itself looks: the first and the longest.
const NAP: (Duration, Duration) = (Duration::from_micros(50), Duration::from_micros(250));
/// Sleeps where a message waits for room, where something is under way, and where nothing is.
const SLEEP: [Duration; 3] = [Duration::from_millis(1), Duration::from_millis(10), Duration::from_secs(3600)];
/// Looks of the program between two of this thread's that mean that it waits.
const FEW: u32 = 2;

/// Begins, before the program goes on: the network's thread looks after schedules from now on, unless the user does not
/// want that.
pub(super) fn open() {
    if env::progress().is_ok_and(|progress| progress != ProgressMode::Calls) {
        beside::set_hook(advance);
    }
}

/// Whether threads of the library's have a core, or are to take one.
pub(super) fn has_core(m: &Map) -> bool {
    match env::progress() {
        Ok(ProgressMode::Auto) => m.spare_cores,
        Ok(ProgressMode::Thread) => true,
        Ok(ProgressMode::Calls) | Err(_) => false,
    }
}

/// This PE begins its first nonblocking collective.
pub(super) fn first() {
    static ONCE: Once = Once::new();
    let m = &world().map;
    // A PE that is lost leaves messages behind that the program's calls pass over.
    if has_core(m) && m.local_pes > 1 && m.losses.is_none() {
        ONCE.call_once(|| {
            beside::serve();
            // Without the thread, calls move everything on.
            _ = thread::spawn(c"pellucid-helper", serve);
        });
    }
}

/// Ends this process with a fault that nobody else would hear of.
fn settled(result: Result<usize, Fault>) -> usize {
    result.unwrap_or_else(|fault| fail("nonblocking collective", fault))
}

/// Moves on what is under way; gives whether anything is.
fn advance() -> bool {
    let mail = &world().common.mail;
    settled(mail.flush().map(|()| 0));
    request::advance_beside();
    request::are_running() || !mail.is_sent()
}

fn serve() {
    wait::leave_alone();
    let (mut looks, mut nap) = (request::looks(), NAP.0);
    loop {
        let now = request::looks();
        if now.wrapping_sub(std::mem::replace(&mut looks, now)) > FEW {
            std::thread::sleep(nap);
            nap = (nap * 2).min(NAP.1);
            continue;
        }
        nap = NAP.0;
        let found = settled(messages().poll_beside());
        let is_busy = advance();
        if found == 0 {
            let mail = &world().common.mail;
            let is_sent = mail.is_sent();
            let limit = match (is_busy, is_sent) {
                (_, false) => SLEEP[0],
                (true, true) => SLEEP[1],
                (false, true) => SLEEP[2],
            };
            // What has come behind a front end's message is left to the program, or to a later look.
            let limit = if messages().has_others() { limit.min(SLEEP[1]) } else { limit };
            if !messages().sleep(Sleeper::Helper, limit, || is_sent && !mail.is_sent()) {
                std::thread::sleep(limit);
            }
        }
    }
}
