//! Puts and gets.
#![allow(unsafe_code)]

use super::counters::Counter;
use super::domain::{ACCESS, SOURCE};
use super::endpoint::{Endpoint, Guard};
use super::later::Transfer;
use super::message::{AMO_BYTES, BUFFER, ENTRIES, RESULTS};
use super::op::{Kind, Op, Then};
use crate::base::Fault;
use crate::transport::{Blocks, Completion, RemoteAddress};
use libfabric_sys as fi;
use std::ffi::c_void;
use std::ptr;

/// Puts that end with a quiet and are not larger than this share messages.
const SMALL: usize = 64;
/// So do blocks of strided transfers up to this size, and gets that end with a quiet.
const BLOCK: usize = 512;
/// At least so many of them where reads and writes need no CPU of the target's: together these take about as long as it
/// takes to have its attention.
const MANY_BLOCKS: usize = 64;
/// Requests under way to one PE beyond which a get of blocks waits: each is followed by a message of 8 KiB.
const ASKED: u32 = 16;
/// Blocking puts up to this size are copied, and the program goes on; blocking gets are copied at their end.
const COPIED: usize = 8192;
/// Puts up to this size go in a message where that saves waiting for earlier ones.
pub(super) const IN_MESSAGE: usize = 4096;

/// Which completion a write asks for, and whether the provider copies its data.
fn write_flags(delivery: bool, inject: bool) -> u64 {
    let complete = if delivery { fi::FI_DELIVERY_COMPLETE } else { fi::FI_TRANSMIT_COMPLETE };
    fi::FI_COMPLETION | complete | if inject { fi::FI_INJECT } else { 0 }
}

impl Endpoint {
    /// See [`crate::transport::Transport::put`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn put(
        &self,
        channel: u32,
        to: RemoteAddress,
        source: *const u8,
        bytes: usize,
        when: Completion,
    ) -> Result<(), Fault> {
        if matches!(when, Completion::Event(_)) && bytes > IN_MESSAGE && !self.lock()?.domain.delivery {
            // No completion of the provider's says that the data have arrived.
            // SAFETY: the caller's.
            unsafe { self.put(channel, to, source, bytes, Completion::Local)? };
            return self.quiet_pes(channel, &mut std::iter::once(to.pe));
        }
        let (mut to, mut source, mut left) = (to, source, bytes);
        while left > 0 {
            let state = self.enter_at(to)?;
            let n = left.min(state.domain.largest);
            // SAFETY: a part of what the caller vouches for.
            unsafe { self.put_part(state, channel, to, source, n, when)? };
            to.offset += n;
            source = source.wrapping_add(n);
            left -= n;
        }
        self.progress_beside_of(when);
        Ok(())
    }

    /// # Safety
    /// As [`Self::put`]; `bytes` is one transfer at most.
    unsafe fn put_part<'a>(
        &'a self,
        state: Guard<'a>,
        channel: u32,
        to: RemoteAddress,
        source: *const u8,
        bytes: usize,
        when: Completion,
    ) -> Result<(), Fault> {
        let pe = to.pe as u32;
        // What has an event goes in a message where only a message's reply says that the data have arrived.
        let small = if matches!(when, Completion::Event(_)) && !state.domain.delivery { IN_MESSAGE } else { SMALL };
        if when != Completion::Local && bytes <= small {
            let mut state = self.before_request(state, channel, pe)?;
            // SAFETY: the caller's; the record is being filled.
            unsafe { (*state.add_put(channel, to, source, bytes, 0)?).count_for(when) };
            state.flush_or_leave(channel, pe, when);
            return Ok(());
        }
        let (mut state, in_message) = self.before_write(state, channel, pe, bytes)?;
        if in_message {
            // SAFETY: the caller's.
            unsafe { (*state.add_put(channel, to, source, bytes, 0)?).count_for(when) };
            state.flush(channel, pe);
            return Ok(());
        }
        // SAFETY: the caller's.
        unsafe { self.write(state, channel, to, source, bytes, when, None) }
    }

    /// Posts a write, with a signal behind it where there is one.
    ///
    /// # Safety
    /// As [`Self::put`]; `bytes` is one transfer at most.
    #[allow(clippy::too_many_arguments)]
    pub unsafe fn write<'a>(
        &'a self,
        mut state: Guard<'a>,
        channel: u32,
        to: RemoteAddress,
        source: *const u8,
        bytes: usize,
        when: Completion,
        then: Option<Then>,
    ) -> Result<(), Fault> {
        let pe = to.pe as u32;
        let op = state.ops.take(Kind::Write, channel, pe);
        // SAFETY: a fresh record.
        let record = unsafe { &mut *op };
        record.bytes = bytes;
        record.then = then;
        record.count_for(when);
        let inject = bytes <= state.domain.inject;
        let (mut from, mut descriptor) = (source, ptr::null_mut());
        let registered = state.domain.descriptor(source, bytes);
        if !inject && (when == Completion::Local || registered.is_none()) && bytes <= COPIED {
            let buffer = state.buffer()?;
            // SAFETY: a buffer holds as many bytes, and the caller vouches for the source.
            unsafe { ptr::copy_nonoverlapping(source, buffer.start, bytes) };
            record.buffer = Some(buffer);
            (from, descriptor) = (buffer.start.cast_const(), buffer.descriptor);
        } else if !inject {
            record.waited = when == Completion::Local;
            descriptor = self.local(&mut state, op, registered, (source, bytes), SOURCE)?;
        }
        let (waited, delivery) = (record.waited, state.domain.delivery);
        record.begun = state.channel(channel).add_write(pe);
        if then.is_some() {
            state.channel(channel).to(pe).signals += 1;
        }
        let flags = write_flags(delivery, inject);
        let transfer = Transfer { there: to, here: from.cast_mut(), bytes, descriptor, flags };
        if bytes > COPIED && !waited && state.is_left(when) {
            state.leave(op, transfer)?;
        } else {
            state = self.post(state, op, |state| state.call(op, &transfer, false))?;
        }
        if !delivery {
            state.channel(channel).soil(pe);
        }
        state.counters.add(Counter::writes, 1);
        state.counters.add(Counter::bytes_out, bytes as u64);
        state.counters.add(Counter::injects, inject.into());
        if waited {
            drop(self.finish(state, op)?);
        }
        Ok(())
    }

    /// See [`crate::transport::Transport::get`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn get(
        &self,
        channel: u32,
        dest: *mut u8,
        from: RemoteAddress,
        bytes: usize,
        when: Completion,
    ) -> Result<(), Fault> {
        let (mut from, mut dest, mut left) = (from, dest, bytes);
        while left > 0 {
            let state = self.enter_at(from)?;
            let n = left.min(state.domain.largest);
            // SAFETY: a part of what the caller vouches for.
            unsafe {
                if when != Completion::Local && n <= BLOCK && state.domain.by_cpu {
                    // As a read it would have two messages of its own.
                    let one = Blocks { bytes: n, count: 1, here: 0, there: 0 };
                    self.ask_for(state, channel, dest, from, one, when)?;
                } else {
                    self.read(state, channel, dest, from, n, when)?;
                }
            }
            from.offset += n;
            dest = dest.wrapping_add(n);
            left -= n;
        }
        self.progress_beside_of(when);
        Ok(())
    }

    /// See [`crate::transport::Transport::put_blocks`]: of small blocks, one entry of a request has many.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn put_blocks(
        &self,
        channel: u32,
        to: RemoteAddress,
        source: *const u8,
        blocks: Blocks,
    ) -> Result<(), Fault> {
        let small = blocks.bytes <= SMALL;
        for (part, there, here) in blocks.parts(self.at_once(blocks, SMALL, ENTRIES - AMO_BYTES)?) {
            let (to, source) = (to.after(there), source.wrapping_offset(here));
            if part.count == 1 {
                let when = if small { Completion::Deferred } else { Completion::Local };
                // SAFETY: a part of what the caller vouches for.
                unsafe { self.put(channel, to, source, part.bytes, when)? };
                continue;
            }
            let pe = to.pe as u32;
            let state = self.enter_at(to)?;
            let mut state = self.before_request(state, channel, pe)?;
            // SAFETY: as above.
            unsafe { state.add_put_blocks(channel, to, source, part)? };
            state.flush_if_idle(channel, pe);
        }
        Ok(())
    }

    /// See [`crate::transport::Transport::get_blocks`]: of small blocks, one request brings many.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn get_blocks(
        &self,
        channel: u32,
        dest: *mut u8,
        from: RemoteAddress,
        blocks: Blocks,
    ) -> Result<(), Fault> {
        for (part, there, here) in blocks.parts(self.at_once(blocks, 0, RESULTS)?) {
            let (to, from) = (dest.wrapping_offset(here), from.after(there));
            if part.count == 1 {
                // SAFETY: a part of what the caller vouches for.
                unsafe { self.get(channel, to, from, part.bytes, Completion::Deferred)? };
                continue;
            }
            let state = self.enter_at(from)?;
            // SAFETY: as above.
            unsafe { self.ask_for(state, channel, to, from, part, Completion::Deferred)? };
        }
        Ok(())
    }

    /// Asks for blocks that fit into a reply, with others where that is possible.
    ///
    /// # Safety
    /// As [`Self::get_blocks`].
    unsafe fn ask_for<'a>(
        &'a self,
        mut state: Guard<'a>,
        channel: u32,
        dest: *mut u8,
        from: RemoteAddress,
        blocks: Blocks,
        when: Completion,
    ) -> Result<(), Fault> {
        let pe = from.pe as u32;
        if state.channel(channel).to(pe).requests >= ASKED {
            (state, ()) = self.wait(state, |e| Ok((e.channel(channel).to(pe).requests < ASKED).then_some(())))?;
            if state.is_lost(pe) {
                return Err(state.lost_fault(pe));
            }
        }
        // SAFETY: the record is being filled.
        unsafe { (*state.add_get(channel, dest, from, blocks)?).count_for(when) };
        state.flush_or_leave(channel, pe, when);
        Ok(())
    }

    /// How many blocks share a message with so much room for them: one where each travels by itself. Those of up to
    /// `small` bytes always share.
    fn at_once(&self, blocks: Blocks, small: usize, room: usize) -> Result<usize, Fault> {
        let share = blocks.bytes <= small
            || blocks.bytes <= BLOCK && (blocks.count >= MANY_BLOCKS || self.lock()?.domain.by_cpu);
        Ok(if share { room / blocks.bytes.max(1) } else { 1 })
    }

    /// # Safety
    /// As [`Self::get`]; `bytes` is one transfer at most.
    unsafe fn read<'a>(
        &'a self,
        mut state: Guard<'a>,
        channel: u32,
        dest: *mut u8,
        from: RemoteAddress,
        bytes: usize,
        when: Completion,
    ) -> Result<(), Fault> {
        let pe = from.pe as u32;
        let op = state.ops.take(Kind::Read, channel, pe);
        // SAFETY: a fresh record.
        let record = unsafe { &mut *op };
        record.bytes = bytes;
        record.waited = when == Completion::Local;
        record.count_for(when);
        let waited = record.waited;
        let registered = state.domain.descriptor(dest, bytes);
        // A caller that has to give up has its memory to itself again.
        let is_copied = bytes <= if waited { COPIED } else { BUFFER };
        let (to, descriptor) = if (waited || registered.is_none()) && is_copied {
            let buffer = state.buffer()?;
            record.buffer = Some(buffer);
            record.copy = (0, dest, bytes);
            (buffer.start, buffer.descriptor)
        } else {
            (dest, self.local(&mut state, op, registered, (dest, bytes), ACCESS)?)
        };
        record.begun = state.channel(channel).add_fetch(pe);
        let transfer = Transfer { there: from, here: to, bytes, descriptor, flags: fi::FI_COMPLETION };
        if !waited && state.is_left(when) {
            state.leave(op, transfer)?;
        } else {
            state = self.post(state, op, |state| state.call(op, &transfer, true))?;
        }
        state.counters.add(Counter::reads, 1);
        if waited {
            drop(self.finish(state, op)?);
        }
        Ok(())
    }

    /// Descriptor of the local memory of a transfer, which is registered for it where it lies in no segment.
    fn local(
        &self,
        state: &mut Guard,
        op: *mut Op,
        registered: Option<*mut c_void>,
        (start, bytes): (*const u8, usize),
        access: u64,
    ) -> Result<*mut c_void, Fault> {
        if let Some(descriptor) = registered {
            return Ok(descriptor);
        }
        let mr = state.domain.register(start, bytes, access)?;
        // SAFETY: the record is the caller's; the region was just registered.
        unsafe {
            (*op).mr = mr;
            Ok(state.domain.descriptor_of(mr))
        }
    }
}
