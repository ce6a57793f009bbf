//! Ending: finalize, global exit, faults, and what happens when a program just leaves (Sections 9.1.4, 9.1.6).

use super::{Process, map, state, world};
use crate::base::{Cause, Fault};
use crate::bootstrap::job::{ExitKind, ExitRequest, PeState};
use crate::collectives;
use crate::os::process;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set when exit handlers run: exit must not be called again.
static LEAVING: AtomicBool = AtomicBool::new(false);

/// Ends one initialization; collective, and completes everything. Gives whether it was the last one. A call too many does
/// nothing.
///
/// Symmetric memory stays usable until the process ends: tools communicate from exit handlers.
pub fn finalize() -> Result<bool, Fault> {
    let mut state = state();
    if state.nesting == 0 {
        return if state.process.is_some() { Ok(false) } else { Err(Fault::from(Cause::NotInitialized)) };
    }
    state.nesting -= 1;
    let last = state.nesting == 0;
    let process = state.process;
    drop(state);
    collectives::barrier_all(world())?;
    if last && let Some(process) = process {
        process.job.pe(process.pe).set_state(PeState::Finalized);
    }
    Ok(last)
}

/// Runs when the process ends by `exit` or a return from `main`: a program may leave without finalize, as those that begin
/// with `start_pes` do. One that leaves with an error does not wait for the others.
pub(super) extern "C" fn at_exit(status: i32, _: *mut std::ffi::c_void) {
    LEAVING.store(true, Ordering::Relaxed);
    let open = {
        let mut state = state();
        std::mem::take(&mut state.nesting) > 0
    };
    if open && status == 0 && process_of().is_none_or(|p| p.job.exit_request().is_none()) {
        let _ = collectives::barrier_all(world());
        if let Some(process) = process_of() {
            process.job.pe(process.pe).set_state(PeState::Finalized);
        }
    }
}

fn process_of() -> Option<&'static Process> {
    state().process
}

/// Ends the whole job with a status, from any PE in any state of the others.
pub fn global_exit(status: i32) -> ! {
    if let Some(process) = process_of() {
        process.job.request_exit(ExitRequest { pe: map().me, status, kind: ExitKind::GlobalExit });
    }
    process::flush_streams();
    if LEAVING.load(Ordering::Relaxed) { process::exit_now(status) } else { process::exit(status) }
}

/// Ends the job because a call cannot be carried out: the one place where a fault becomes a message.
#[cold]
#[inline(never)]
pub fn fail(routine: &str, fault: Fault) -> ! {
    let process = super::STATE.try_lock().ok().and_then(|state| state.process);
    let who = match process {
        Some(process) => format!("PE {}", process.pe),
        // Before init is complete the launcher's variable tells.
        None => {
            std::env::var("PELLUCID_PE").map_or_else(|_| format!("process {}", process::id()), |pe| format!("PE {pe}"))
        }
    };
    let text = format!("pellucid: {who}: {routine}: {fault}\n");
    process::flush_streams();
    let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
    if let Some(process) = process {
        process.job.pe(process.pe).set_state(PeState::Failed);
        process.job.request_exit(ExitRequest { pe: process.pe as i32, status: 1, kind: ExitKind::Failed });
    }
    process::exit_now(1)
}
