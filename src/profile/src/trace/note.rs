//! Records that are no calls: regions, markers, and what the calls from here on have in common.
#![allow(unsafe_code)]

use std::sync::atomic::Ordering::Relaxed;

use super::format::*;
use super::switch;
use super::writer::{Hold, Writer, hold, missed};
use crate::segment::layout::Slot;
use crate::segment::meetings::TEAMS;

/// The row of the slot with the team of a collective that was recorded with this `peer`.
pub(super) fn team(peer: i32) -> usize {
    if peer < -1 { ((-2 - peer) as usize).min(TEAMS - 1) } else { 0 }
}

/// World number of the root of a collective on this team; -1: it has none.
pub(super) fn root(slot: &Slot, op: u16, team: usize) -> i32 {
    let root = slot.tables.root.load(Relaxed);
    if root >> 32 != u64::from(op) + 1 || team == TEAMS - 1 {
        return -1;
    }
    let row = &slot.tables.teams[team];
    let from_first = row.stride.load(Relaxed).wrapping_mul(root as u32 as i32);
    row.start.load(Relaxed).wrapping_add(from_first).max(-1)
}

/// Adds a note to the calling thread's file.
pub(super) fn note(kind: u16, text: &str, value: i64) {
    let Some((slot, now)) = crate::recorder::own_slot() else { return };
    let mut writer = match hold(slot) {
        Hold::Writer(writer) => writer,
        Hold::Busy => return missed(slot),
        Hold::Missing => return switch::lost(),
    };
    let thread = slot.head.owner.load(Relaxed);
    if !switch::is_full() {
        writer.fold.begin(slot, None);
        writer.flush(slot, now);
    }
    if (writer.at > writer.last || writer.thread != thread) && !writer.prepare(thread, now) {
        writer.drop_one();
    } else {
        writer.note(kind, text, value, now);
    }
}

impl Writer {
    /// Says what the file does not know of the call at hand: its team, where it has one, its context, where it is on
    /// one, and where it returns to. False: there is no room.
    #[inline(always)]
    pub(super) fn introduce(&mut self, slot: &Slot, call: (Option<usize>, bool, u64), now: u64) -> bool {
        let (team, on_context, site) = call;
        // Each of these may begin a chunk, which knows nothing of what the ones before it have said. A chunk has room
        // for all that they say, so that they are not repeated for ever.
        loop {
            let begun = self.sequence;
            let is_said = team.is_none_or(|team| self.on_team(slot, team, now))
                && (!on_context || self.on(slot, now))
                && self.at_site(site, now);
            if !is_said || self.sequence == begun {
                return is_said;
            }
        }
    }

    /// Says which context the call at hand is on. False: there is no room.
    #[inline]
    fn on(&mut self, slot: &Slot, now: u64) -> bool {
        let context = slot.tables.context.load(Relaxed);
        if context != self.context {
            self.note_context(context, now);
        }
        self.at <= self.last || self.next_chunk(self.thread, now)
    }

    /// Says which team the collective at hand is on. False: there is no room.
    #[inline]
    fn on_team(&mut self, slot: &Slot, team: usize, now: u64) -> bool {
        if team != self.team {
            self.note_team(slot, team, now);
        }
        self.at <= self.last || self.next_chunk(self.thread, now)
    }

    #[cold]
    fn note_team(&mut self, slot: &Slot, team: usize, now: u64) {
        let row = &slot.tables.teams[team];
        let [start, stride, size] = [&row.start, &row.stride, &row.size].map(|word| word.load(Relaxed));
        // The last row stands for teams beyond the others.
        let text = if team == TEAMS - 1 { String::new() } else { format!("{start} {stride} {size}") };
        self.note(KIND_TEAM, &text, i64::from(row.id.load(Relaxed)), now);
        self.team = team;
    }

    #[cold]
    fn note_context(&mut self, context: u64, now: u64) {
        self.note(KIND_CONTEXT, &crate::recorder::team_of(context), context as i64, now);
        self.context = context;
    }

    /// Appends a note, in the next chunk where this one is full.
    #[cold]
    pub(super) fn note(&mut self, kind: u16, text: &str, value: i64, now: u64) {
        let mut length = text.len().min(TEXT_BYTES);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        // SAFETY: only addresses are compared: the chunk ends CALL_BYTES behind `last`.
        let fits = !self.chunk.is_null() && self.at.addr() + 20 + length <= self.last.addr() + CALL_BYTES;
        if !fits && !self.next_chunk(self.thread, now) {
            return self.drop_one();
        }
        let mut record = [0; NOTE_BYTES];
        record[..2].copy_from_slice(&(kind << OP_BITS).to_le_bytes());
        record[2..4].copy_from_slice(&(length as u16).to_le_bytes());
        record[4..12].copy_from_slice(&now.to_le_bytes());
        record[12..20].copy_from_slice(&value.to_le_bytes());
        record[20..20 + length].copy_from_slice(&text.as_bytes()[..length]);
        if matches!(kind, KIND_THREAD | KIND_CONTEXT | KIND_TEAM | KIND_SITE | KIND_MODULE) {
            self.stands_for(0);
        }
        // SAFETY: the record fits between `at` and the end of the chunk, and the end is within the chunk.
        unsafe {
            std::ptr::copy_nonoverlapping(record.as_ptr(), self.at, 20 + length);
            self.advance(self.at.add(20 + length));
        }
    }
}
