//! Schedules beside each other, and those that end before what they have asked for.

use super::{RequestState, advance, complete_detached, detach, release, start, state};
use crate::base::{Cause, Fault};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

/// There is one list of schedules: the tests take turns.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn each_thread_waits_for_what_nobody_holds_a_request_of() {
    static MAY_END: AtomicBool = AtomicBool::new(false);
    static FIRST: AtomicBool = AtomicBool::new(false);
    static SECOND: AtomicBool = AtomicBool::new(false);
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let steps = || poll_fn(|_| if MAY_END.load(SeqCst) { Poll::Ready(Ok(())) } else { Poll::Pending });
    detach(start(|_, _| steps()).unwrap());
    std::thread::scope(|scope| {
        for over in [&FIRST, &SECOND] {
            scope.spawn(|| {
                complete_detached(true).unwrap();
                over.store(true, SeqCst);
            });
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(!FIRST.load(SeqCst) && !SECOND.load(SeqCst), "it is under way");
        MAY_END.store(true, SeqCst);
    });
    assert!(FIRST.load(SeqCst) && SECOND.load(SeqCst) && !super::has_detached());
}

/// Set when the memory of a schedule is given back.
struct Memory(&'static AtomicBool);

impl Drop for Memory {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

#[test]
fn a_schedule_that_fails_keeps_its_memory_while_the_network_has_it() {
    static IS_GONE: AtomicBool = AtomicBool::new(false);
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut transfer = None;
    let request = start(|event, _| {
        let slot = event.slot();
        slot.begin();
        transfer = Some(slot);
        let (memory, mut looks) = (Memory(&IS_GONE), 0);
        poll_fn(move |_| {
            let _here = &memory;
            looks += 1;
            let lost = || Fault::from(Cause::Lost { pe: 1, how: "killed".into() });
            if looks > 2 { Poll::Ready(Err(lost())) } else { Poll::Pending }
        })
    });
    let request = request.unwrap();
    for _ in 0..10 {
        assert!(!advance().unwrap(), "none has come to its end");
    }
    assert!(!IS_GONE.load(SeqCst) && state(request) == RequestState::Pending);
    transfer.unwrap().end();
    assert!(advance().unwrap());
    assert!(IS_GONE.load(SeqCst) && state(request) == RequestState::Complete);
    release(request);
}
