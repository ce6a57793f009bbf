//! A thread in the archive, and the records of its calls.
#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::ffi::c_void;

use pellucid_profile::trace::read::Call;

use super::super::rows;
use super::collectives::Kind;
use super::library::Library;
use super::rma::{self, Transfer};
use super::{Failure, NO_ATTRIBUTES, WINDOW};

/// A thread, as the archive has it.
pub(super) struct Location {
    pub(super) writer: *mut c_void,
    pub(super) pe: u32,
    pub(super) thread: u32,
    pub(super) events: u64,
    /// Regions that are open.
    pub(super) open: Vec<u32>,
    pub(super) last_ns: u64,
    /// Whether it stands for its PE in windows, and in which it has said so.
    pub(super) is_first: bool,
    pub(super) in_windows: BTreeSet<u32>,
    /// Nonblocking operations that are not complete: number and context.
    pub(super) pending: Vec<(u64, u64)>,
    pub(super) operations: u64,
}

/// A collective of one PE: its window, kind, the root's number in the window, and bytes sent and received.
pub(super) struct Meeting {
    pub(super) window: u32,
    pub(super) kind: Kind,
    pub(super) root: u32,
    pub(super) moved: (u64, u64),
}

impl Location {
    pub(super) fn enter(
        &mut self,
        library: &Library,
        attributes: *mut c_void,
        ns: u64,
        region: u32,
    ) -> Result<(), Failure> {
        self.open.push(region);
        self.events += 1;
        // SAFETY: the writer is open; the list is null or ours.
        library.check("an event", unsafe { (library.enter)(self.writer, attributes, ns, region) })
    }

    /// Says that the PE takes part in a window, once.
    pub(super) fn open_window(&mut self, library: &Library, window: u32, ns: u64) -> Result<(), Failure> {
        if !self.is_first || !self.in_windows.insert(window) {
            return Ok(());
        }
        self.events += 1;
        // SAFETY: the writer is open.
        library.check("an event", unsafe { (library.window_created)(self.writer, NO_ATTRIBUTES, ns, window) })
    }

    pub(super) fn close_windows(&mut self, library: &Library) -> Result<(), Failure> {
        let ns = self.last_ns;
        self.open_window(library, WINDOW, ns)?;
        self.complete(library, None, ns)?;
        for window in std::mem::take(&mut self.in_windows) {
            self.events += 1;
            // SAFETY: the writer is open.
            let code = unsafe { (library.window_destroyed)(self.writer, NO_ATTRIBUTES, ns, window) };
            library.check("an event", code)?;
        }
        Ok(())
    }

    /// The records of a collective from `start` to `end`.
    pub(super) fn collective(
        &mut self,
        library: &Library,
        meeting: &Meeting,
        (start, end): (u64, u64),
    ) -> Result<(), Failure> {
        let &Meeting { window, kind, root, moved: (sent, received) } = meeting;
        self.open_window(library, window, start)?;
        self.events += 2;
        let (writer, none) = (self.writer, NO_ATTRIBUTES);
        // SAFETY: the writer is open.
        library.check("an event", unsafe { (library.collective_begin)(writer, none, start) })?;
        let (number, level) = (kind.number(), kind.level());
        // SAFETY: as above; the window will be defined.
        let code = unsafe { (library.collective_end)(writer, none, end, number, level, window, root, sent, received) };
        library.check("an event", code)
    }

    /// The records of a call from `start` to `end`, whose peer has a number in the window.
    pub(super) fn communicate(
        &mut self,
        library: &Library,
        call: &Call,
        rank: Option<u32>,
        (start, end): (u64, u64),
    ) -> Result<(), Failure> {
        let op = rows::routine(call);
        if let Some(context) = rma::completes(call) {
            self.complete(library, Some(context), end)?;
        }
        let (Some(transfer), Some(rank)) = (rma::transfer(op), rank) else { return Ok(()) };
        self.events += 1;
        self.operations += 1;
        let (writer, none, number, bytes) = (self.writer, NO_ATTRIBUTES, self.operations, call.bytes);
        // SAFETY: the writer is open, the window and the number in it are defined.
        library.check("an event", unsafe {
            match transfer {
                Transfer::Put => (library.put)(writer, none, start, WINDOW, rank, bytes, number),
                Transfer::Get => (library.get)(writer, none, start, WINDOW, rank, bytes, number),
                Transfer::Atomic { kind, sends, receives } => {
                    let (sent, received) = (if sends { bytes } else { 0 }, if receives { bytes } else { 0 });
                    (library.atomic)(writer, none, start, WINDOW, rank, kind, sent, received, number)
                }
            }
        })?;
        if rma::is_nonblocking(call.op) {
            self.pending.push((number, rma::context(call)));
            return Ok(());
        }
        self.events += 1;
        // SAFETY: the writer is open.
        library.check("an event", unsafe { (library.completed)(writer, none, end, WINDOW, number) })
    }

    /// Ends the nonblocking operations of a context, or of all.
    pub(super) fn complete(&mut self, library: &Library, context: Option<u64>, ns: u64) -> Result<(), Failure> {
        let writer = self.writer;
        let is_done = |&mut (_, of): &mut (u64, u64)| context.is_none_or(|context| context == of);
        for (number, _) in self.pending.extract_if(.., is_done) {
            self.events += 1;
            // SAFETY: the writer is open.
            let code = unsafe { (library.completed_later)(writer, NO_ATTRIBUTES, ns, WINDOW, number) };
            library.check("an event", code)?;
        }
        Ok(())
    }

    pub(super) fn leave(&mut self, library: &Library, ns: u64) -> Result<(), Failure> {
        let Some(region) = self.open.pop() else { return Ok(()) };
        self.events += 1;
        // SAFETY: the writer is open.
        library.check("an event", unsafe { (library.leave)(self.writer, std::ptr::null_mut(), ns, region) })
    }
}
