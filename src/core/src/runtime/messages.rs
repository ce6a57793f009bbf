//! The process's active messages ([`crate::am`]): who takes part, and how waits come to look for them.
#![allow(unsafe_code)]

use super::spaces::TOLD_AT;
use super::{NETWORK, fail, helper, map, world};
use crate::am::{Handler, MessagePaths, Messages};
use crate::base::Fault;
use crate::collectives;
use crate::memory::Map;
use crate::memory::segments::INTERNAL;
use crate::os::wait;
use crate::request;
use crate::team::sync_block::{SYNC_BLOCK, TEAMS};
use crate::transport::{Atomics, Directory, LaneMemory, OpenRequest, SegmentId, registry};
use std::sync::OnceLock;

static MESSAGES: Messages = Messages::new();

/// What moves a front end's own schedules on.
static SCHEDULES: OnceLock<fn()> = OnceLock::new();

/// The active messages of this PE.
pub fn messages() -> &'static Messages {
    &MESSAGES
}

/// As [`Messages::register`], which is for tests: has every wait of the library look for messages from now on.
pub fn register_handler(number: u16, handler: Handler) -> Result<(), Fault> {
    MESSAGES.register(number, handler)?;
    wait::set_hook(progress);
    Ok(())
}

/// Has every wait of the library move a front end's schedules on, too, once a process: other PEs may need this one's
/// part of them. All PEs of the job do so. `advance` is called wherever handlers may run, in a call of its own, too; it
/// returns at once where nothing is under way, and where [`Messages::may_request`] says that it can send nothing.
pub fn advance_in_waits(advance: fn()) {
    _ = SCHEDULES.set(advance);
}

/// Before the last meeting: a PE that is there sends nothing of a front end's any more, so where schedules of one may
/// need it the PEs meet twice. Those that wait for what others have to do come to the first meeting once it is done.
pub(super) fn synchronize_schedules() -> Result<(), Fault> {
    if SCHEDULES.get().is_some() { collectives::finalize(world()) } else { Ok(()) }
}

/// What whoever waits does at every turn, where there is a network or a handler: moves the network on, and runs
/// handlers.
pub(super) fn progress() {
    let w = world();
    let polled = if MESSAGES.is_enabled() { MESSAGES.poll().map(drop) } else { MESSAGES.poll_unexpected() };
    if let Err(fault) = polled {
        fail("active message", fault);
    }
    if let Err(fault) = w.common.mail.flush().and_then(|()| request::advance()) {
        fail("nonblocking collective", fault);
    }
    if let Some(advance) = SCHEDULES.get() {
        advance();
    }
}

/// Begins; `internal` is the internal area of the first of the PEs that are reached through memory.
pub(super) fn open(m: &'static Map, internal: *mut u8) {
    const BEHIND_TEAMS: usize = SYNC_BLOCK * TEAMS;
    const { assert!(BEHIND_TEAMS + registry::LANES <= TOLD_AT) };
    let segments = vec![(SegmentId::HEAP, m.heap_base, m.heap_len), (SegmentId::DATA, m.data_base, m.data_len)];
    let lanes = LaneMemory {
        base: internal.wrapping_add(BEHIND_TEAMS),
        stride: INTERNAL,
        first: m.first_pe,
        count: m.local_pes,
    };
    let request = OpenRequest {
        pe: m.me as u32,
        npes: m.npes as u32,
        segments: segments.clone(),
        atomics: Atomics::Cpu,
        one_host: true,
        oversubscribed: m.oversubscribed,
        posts_beside: false,
        directory: Directory::nobody(),
        mapping: Box::new(|pe, segment| local_segment(map(), pe, segment)),
        lanes: Some(lanes),
    };
    // SAFETY: segments and internal areas stay mapped, and others write there at any time already.
    let local = unsafe { registry::within_host(request) };
    let remote = NETWORK.get().map(|network| network.transport);
    MESSAGES.open(MessagePaths {
        me: m.me,
        npes: m.npes,
        oversubscribed: m.oversubscribed,
        local: Some(Box::leak(Box::new(local))),
        remote,
        data: MessagePaths::channel_for_data(remote),
        segments,
        losses: m.losses,
    });
    world().common.mail.open(&MESSAGES, progress, helper::first);
    helper::open();
}

/// Where a segment of a PE of this host is mapped.
fn local_segment(m: &Map, pe: i32, segment: SegmentId) -> Option<(usize, usize)> {
    let (base, len) = match segment {
        SegmentId::HEAP => (m.heap_base, m.heap_len),
        SegmentId::DATA => (m.data_base, m.data_len),
        _ => return None,
    };
    let at = m.local_mapping(base as *const u8, len, pe)?;
    Some((at as usize, len))
}

/// All requests of all PEs are handled, and their replies, between these two, if all PEs meet in between.
pub(super) fn drain() -> Result<(), Fault> {
    if MESSAGES.is_enabled() { MESSAGES.drain() } else { Ok(()) }
}

/// See [`drain`].
pub(super) fn close() -> Result<(), Fault> {
    if MESSAGES.is_enabled() { MESSAGES.close() } else { Ok(()) }
}
