//! Ordering and completion, and the operations that need them to be exact.
//!
//! What a fence has to do here: it begins a new epoch of its channel, and costs nothing else. The operation that comes
//! after it waits, if it has to, for those to the same PE that are from earlier epochs:
//!
//! - a request after requests: nothing to wait for. The target carries the requests of a PE out in the order of their
//!   numbers, and the entries of one in their order.
//! - a write after writes: nothing where the provider processes writes in their order (`FI_ORDER_WAW`, for transfers of
//!   every size that is posted).
//! - a request after writes: nothing where the provider processes messages after writes that were posted before
//!   (`FI_ORDER_SAW`): the target sees the request only when the data are in its memory.
//! - a write after requests: no order of a provider covers it, since it is the target's CPU that carries a request out.
//!   A small one becomes a request too; a large one waits for the replies. A signal that is sent once its write is
//!   complete counts as a request from the epoch of that write, and is waited for before it is one.
//!
//! Where the provider lacks the order, the operation waits for the earlier ones to be complete.
//!
//! Complete means visible to all at the target. The reply to a request says so. The completion of a write says so where
//! the provider has `FI_DELIVERY_COMPLETE`; where it has not, a request without entries is sent behind the writes:
//! behind them in the provider's order where it has `FI_ORDER_SAW`, and after their completions otherwise, which a
//! reliable endpoint gives when the target's adapter has taken the data (`FI_TRANSMIT_COMPLETE`).
#![allow(unsafe_code)]

use super::channel::What;
use super::endpoint::{Endpoint, Guard};
use super::message::{AMO_BYTES, put_bytes};
use super::op::Then;
use super::rma::IN_MESSAGE;
use crate::base::Fault;
use crate::transport::{Atomic, Completion, RemoteAddress, SignalOp};
use std::time::{Duration, Instant};

impl Endpoint {
    /// Waits until a write may be posted; gives whether it has to be a request instead.
    pub fn before_write<'a>(
        &'a self,
        mut state: Guard<'a>,
        channel: u32,
        pe: u32,
        bytes: usize,
    ) -> Result<(Guard<'a>, bool), Fault> {
        let epoch = state.channel(channel).epoch;
        let signals_fenced = state.channel(channel).to(pe).signals_fenced(epoch);
        if signals_fenced || state.channel(channel).to(pe).requests_fenced(epoch) {
            if bytes <= IN_MESSAGE {
                return Ok((self.before_request(state, channel, pe)?, true));
            }
            if signals_fenced {
                // With the last write, they are requests.
                state = self.await_begun(state, channel, Some(pe), What::Writes)?;
            }
            state.flush(channel, pe);
            state = self.await_begun(state, channel, Some(pe), What::Requests)?;
        }
        if state.channel(channel).to(pe).writes_fenced(epoch) && !state.domain.write_after_write {
            state = self.await_writes(state, channel, pe)?;
        }
        Ok((state, false))
    }

    /// Waits until a request may be added to those to a PE.
    pub fn before_request<'a>(&'a self, mut state: Guard<'a>, channel: u32, pe: u32) -> Result<Guard<'a>, Fault> {
        let epoch = state.channel(channel).epoch;
        if state.channel(channel).to(pe).writes_fenced(epoch) && !state.domain.send_after_write {
            // A completion without delivery is enough: the request itself is what is sent behind the writes.
            state = self.await_begun(state, channel, Some(pe), What::Writes)?;
        }
        Ok(state)
    }

    /// Waits for what is outstanding now, to a PE or to all: what other threads begin meanwhile may have no end.
    fn await_begun<'a>(
        &'a self,
        mut state: Guard<'a>,
        channel: u32,
        pe: Option<u32>,
        what: What,
    ) -> Result<Guard<'a>, Fault> {
        if let Some(wait) = state.channel(channel).wait_for(pe, what) {
            (state, ()) = self.wait(state, |e| Ok(e.channel(channel).is_over(wait).then_some(())))?;
        }
        Ok(state)
    }

    /// Waits until the writes to a PE have arrived.
    fn await_writes<'a>(&'a self, state: Guard<'a>, channel: u32, pe: u32) -> Result<Guard<'a>, Fault> {
        let mut state = self.await_begun(state, channel, Some(pe), What::Writes)?;
        if !state.domain.delivery {
            state.flush_writes(channel, pe)?;
            // One that another thread has begun says the same.
            state.flush(channel, pe);
            state = self.await_begun(state, channel, Some(pe), What::Requests)?;
        }
        Ok(state)
    }

    /// See [`crate::transport::Transport::fence`].
    pub fn fence(&self, channel: u32) -> Result<(), Fault> {
        let mut state = self.lock()?;
        state.check()?;
        let channel = state.channel(channel);
        channel.epoch = channel.epoch.wrapping_add(1);
        Ok(())
    }

    /// See [`crate::transport::Transport::quiet`].
    pub fn quiet(&self, channel: u32) -> Result<(), Fault> {
        let mut state = self.lock()?;
        state.check()?;
        state.flush_all(channel);
        for pe in state.channel(channel).dirty.clone().into_iter().rev() {
            state = self.send_flush(state, channel, pe)?;
        }
        state = self.await_begun(state, channel, None, What::All)?;
        state.tell_of_losses(channel, None)
    }

    /// As `flush_writes` of the state, once a request can be behind the writes.
    fn send_flush<'a>(&'a self, mut state: Guard<'a>, channel: u32, pe: u32) -> Result<Guard<'a>, Fault> {
        if state.channel(channel).is_dirty(pe) && !state.domain.send_after_write {
            state = self.await_begun(state, channel, Some(pe), What::Writes)?;
        }
        state.flush_writes(channel, pe)?;
        Ok(state)
    }

    /// See [`crate::transport::Transport::quiet_pes`].
    pub fn quiet_pes(&self, channel: u32, pes: &mut dyn Iterator<Item = i32>) -> Result<(), Fault> {
        let mut state = self.lock()?;
        state.check()?;
        let pes: Vec<u32> = pes.map(|pe| pe as u32).collect();
        for pe in &pes {
            state.flush(channel, *pe);
            state = self.send_flush(state, channel, *pe)?;
        }
        for pe in &pes {
            // Others may have begun to fill one meanwhile, which the wait would count.
            state.flush(channel, *pe);
            state = self.await_begun(state, channel, Some(*pe), What::All)?;
        }
        state.tell_of_losses(channel, Some(&pes))
    }

    /// Waits until the messages that this PE has sent are with their receivers, but no longer than `limit`: what is
    /// still on its way when a process ends is lost with it. A receiver that is gone itself needs none.
    pub fn drain_messages(&self, limit: Duration) {
        let since = Instant::now();
        let late = || since.elapsed() > limit;
        let Ok(state) = self.lock() else { return };
        let sent = self.wait(state, |e| Ok((e.outgoing.is_empty() || late()).then_some(())));
        let Ok((mut state, ())) = sent else { return };
        if state.unconfirmed.is_empty() {
            return;
        }
        // A channel of its own, which stays: what a receiver that is gone does not answer must not be waited for by
        // what the program still does, as in destructors of static objects.
        state.channels.push(None);
        let channel = state.channels.len() as u32 - 1;
        for pe in state.take_unconfirmed() {
            if state.add_nothing(channel, pe).is_err() {
                return;
            }
        }
        // A fault now is that of a peer that has ended.
        let _ = self.wait(state, |e| Ok((e.channel(channel).outstanding == 0 || late()).then_some(())));
    }

    /// An atomic operation that the target's CPU carries out.
    ///
    /// # Safety
    /// `atomic.result` is null or writable for the width, until the time that `when` says.
    pub unsafe fn amo(&self, channel: u32, at: RemoteAddress, atomic: Atomic, when: Completion) -> Result<(), Fault> {
        let pe = at.pe as u32;
        let state = self.enter_at(at)?;
        let mut state = self.before_request(state, channel, pe)?;
        let op = state.add_amo(channel, at, &atomic)?;
        // SAFETY: the record is being filled.
        unsafe { (*op).count_for(when) };
        if when == Completion::Local && !atomic.result.is_null() {
            state.ops.await_it(op);
            state.flush(channel, pe);
            drop(self.finish(state, op)?);
        } else {
            state.flush_or_leave(channel, pe, when);
            drop(state);
            self.progress_beside_of(when);
        }
        Ok(())
    }

    /// See [`crate::transport::Transport::ask`].
    pub fn ask(&self, channel: u32, pe: i32, question: [u64; 3]) -> Result<u64, Fault> {
        let mut answer = 0;
        let mut state = self.enter(pe)?;
        let op = state.add_question(channel, pe as u32, question, &raw mut answer)?;
        state.ops.await_it(op);
        state.flush(channel, pe as u32);
        drop(self.finish(state, op)?);
        Ok(answer)
    }

    /// See [`crate::transport::Transport::put_signal`].
    ///
    /// # Safety
    /// As there.
    #[allow(clippy::too_many_arguments)]
    pub unsafe fn put_signal(
        &self,
        channel: u32,
        to: RemoteAddress,
        source: *const u8,
        bytes: usize,
        at: RemoteAddress,
        value: u64,
        op: SignalOp,
        when: Completion,
    ) -> Result<(), Fault> {
        let pe = to.pe as u32;
        if bytes <= IN_MESSAGE {
            // Data and signal in one message, whose entries are carried out in their order.
            let state = self.enter_at(to)?;
            let mut state = self.before_request(state, channel, pe)?;
            if bytes > 0 {
                // SAFETY: the caller's.
                unsafe { state.add_put(channel, to, source, bytes, AMO_BYTES)? };
            }
            let request = state.add_amo(channel, at, &Atomic::of_signal(op, value))?;
            // SAFETY: the record is being filled.
            unsafe { (*request).count_for(when) };
            match when {
                Completion::Local => state.flush(channel, pe),
                Completion::Deferred | Completion::Event(_) => state.flush_if_idle(channel, pe),
            }
            return Ok(());
        }
        let state = self.enter_at(to)?;
        let (largest, behind) = (state.domain.largest, state.domain.send_after_write);
        drop(state);
        let last = bytes.saturating_sub(1) / largest * largest;
        let end = RemoteAddress { offset: to.offset + last, ..to };
        if behind {
            // The provider processes the message after the writes that were posted before it.
            // SAFETY: the caller's.
            unsafe { self.put_large(channel, to, source, bytes, when)? };
            let mut state = self.enter_at(to)?;
            let request = state.add_amo(channel, at, &Atomic::of_signal(op, value))?;
            // SAFETY: the record is being filled.
            unsafe { (*request).count_for(when) };
            state.flush(channel, pe);
            return Ok(());
        }
        // Otherwise all writes but the last are complete before the last is posted, and the signal is sent when that
        // is.
        if last > 0 {
            // SAFETY: the caller's.
            unsafe { self.put_large(channel, to, source, last, Completion::Local)? };
        }
        let state = self.enter_at(to)?;
        let (mut state, _) = self.before_write(state, channel, pe, usize::MAX)?;
        let then = Then { signal: at, value, op, epoch: state.channel(channel).epoch, when };
        // SAFETY: the last part of what the caller vouches for.
        unsafe { self.write(state, channel, end, source.wrapping_add(last), bytes - last, when, Some(then)) }
    }

    /// A put that is no message, whatever its size.
    ///
    /// # Safety
    /// As [`Self::put`].
    unsafe fn put_large(
        &self,
        channel: u32,
        to: RemoteAddress,
        source: *const u8,
        bytes: usize,
        when: Completion,
    ) -> Result<(), Fault> {
        debug_assert!(put_bytes(bytes) > IN_MESSAGE);
        // SAFETY: the caller's.
        unsafe { self.put(channel, to, source, bytes, when) }
    }
}
