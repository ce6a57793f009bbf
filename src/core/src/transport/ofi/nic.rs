//! Atomics that the provider carries out.
//!
//! They count as writes. No order of a provider is relied upon between them and other operations: after a fence the
//! next operation to the same PE waits for them to be complete.
#![allow(unsafe_code)]

use super::counters::Counter;
use super::domain::Domain;
use super::endpoint::Endpoint;
use super::endpoint_state::EndpointState;
use super::op::{Buffer, Kind, Op};
use crate::base::{Cause, Fault};
use crate::transport::{AmoOp, Atomic, Completion, RemoteAddress};
use libfabric_sys as fi;
use std::ptr;

/// How an operation is asked of a provider.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `fi_atomicmsg`: nothing comes back.
    Plain,
    /// `fi_fetch_atomicmsg`.
    Fetch,
    /// `fi_compare_atomicmsg`.
    Compare,
}

/// The provider's name of an operation, and its form where the value before is wanted or not.
fn translate(op: AmoOp, wanted: bool) -> (fi::fi_op, Form) {
    let form = if wanted { Form::Fetch } else { Form::Plain };
    match op {
        AmoOp::Fetch => (fi::FI_ATOMIC_READ, Form::Fetch),
        AmoOp::Set => (fi::FI_ATOMIC_WRITE, Form::Plain),
        AmoOp::Swap => (fi::FI_ATOMIC_WRITE, Form::Fetch),
        AmoOp::CompareSwap => (fi::FI_CSWAP, Form::Compare),
        AmoOp::Add => (fi::FI_SUM, form),
        AmoOp::And => (fi::FI_BAND, form),
        AmoOp::Or => (fi::FI_BOR, form),
        AmoOp::Xor => (fi::FI_BXOR, form),
    }
}

fn datatype(width: u8) -> fi::fi_datatype {
    if width == 4 { fi::FI_UINT32 } else { fi::FI_UINT64 }
}

/// Whether the provider has every operation on words of both widths.
pub(super) fn check(domain: &Domain) -> Result<(), Fault> {
    let all =
        [AmoOp::Fetch, AmoOp::Set, AmoOp::Swap, AmoOp::CompareSwap, AmoOp::Add, AmoOp::And, AmoOp::Or, AmoOp::Xor];
    for width in [4, 8] {
        for (op, wanted) in all.into_iter().flat_map(|op| [(op, false), (op, true)]) {
            let (name, form) = translate(op, wanted);
            let flags = match form {
                Form::Plain => 0,
                Form::Fetch => fi::FI_FETCH_ATOMIC,
                Form::Compare => fi::FI_COMPARE_ATOMIC,
            };
            // SAFETY: the domain is open; a zeroed attribute is valid.
            let error = unsafe {
                let mut attr: fi::fi_atomic_attr = std::mem::zeroed();
                fi::fi_query_atomic(domain.domain, datatype(width), name, &raw mut attr, flags)
            };
            if error != 0 {
                return Err(Fault::from(Cause::Network(format!(
                    "SHMEM_ATOMICS=nic: provider {} has no atomic {op:?} on words of {width} bytes: {}",
                    domain.provider,
                    domain.library.strerror(i64::from(error))
                ))));
            }
        }
    }
    Ok(())
}

impl Endpoint {
    /// An atomic operation of the provider's.
    ///
    /// # Safety
    /// `atomic.result` is null or writable for the width, until the time that `when` says.
    pub unsafe fn nic_amo(
        &self,
        channel: u32,
        at: RemoteAddress,
        atomic: Atomic,
        when: Completion,
    ) -> Result<(), Fault> {
        let pe = at.pe as u32;
        let state = self.enter_at(at)?;
        let (mut state, _) = self.before_write(state, channel, pe, usize::MAX)?;
        let wanted = !atomic.result.is_null();
        let (name, form) = translate(atomic.op, wanted);
        let op = state.ops.take(Kind::Atomic, channel, pe);
        // Operand, comparand and result, a word each.
        let buffer = state.buffer()?;
        let width = usize::from(atomic.width);
        let exact = wanted || state.domain.delivery;
        let waited = wanted && when == Completion::Local;
        // SAFETY: a fresh record and buffer; values are their low bytes.
        unsafe {
            buffer.write(0, &word(atomic.operand, width));
            buffer.write(8, &word(atomic.compare, width));
            let record = &mut *op;
            record.bytes = width;
            record.buffer = Some(buffer);
            record.waited = waited;
            record.count_for(if exact { when } else { Completion::Deferred });
            record.copy = if wanted { (16, atomic.result, width) } else { (0, ptr::null_mut(), 0) };
        }
        let delivery = state.domain.delivery;
        let begun = state.channel(channel).add_write(pe);
        // SAFETY: as above.
        unsafe { (*op).begun = begun };
        let flags = fi::FI_COMPLETION | if form == Form::Plain && delivery { fi::FI_DELIVERY_COMPLETE } else { 0 };
        // SAFETY: the buffer is the record's until the operation is complete.
        state = self.post(state, op, |state| unsafe { post(state, at, atomic, (name, form), buffer, op, flags) })?;
        if !exact {
            state.channel(channel).soil(pe);
        }
        state.counters.add(Counter::nic_atomics, 1);
        if waited {
            drop(self.finish(state, op)?);
        } else if !exact && matches!(when, Completion::Event(_)) {
            drop(state);
            return self.quiet_pes(channel, &mut std::iter::once(at.pe));
        }
        Ok(())
    }
}

/// Hands an operation to the provider; gives what that says. `buffer` has the operand, the comparand and room for the
/// result.
///
/// # Safety
/// The buffer is nobody else's until the operation is complete.
unsafe fn post(
    state: &mut EndpointState,
    at: RemoteAddress,
    atomic: Atomic,
    (name, form): (fi::fi_op, Form),
    buffer: Buffer,
    op: *mut Op,
    flags: u64,
) -> isize {
    let Some((address, there, key)) = state.remote_address(at) else { return -(fi::FI_EINVAL as isize) };
    let part = |i: usize| fi::fi_ioc { addr: buffer.start.wrapping_add(8 * i).cast(), count: 1 };
    let (operand, compare, mut result) = (part(0), part(1), part(2));
    let (mut one, mut two, mut three) = (buffer.descriptor, buffer.descriptor, buffer.descriptor);
    let rma = fi::fi_rma_ioc { addr: there, count: 1, key };
    // Where only a value is read, too: some providers take its size from here.
    let message = fi::fi_msg_atomic {
        msg_iov: &raw const operand,
        desc: &raw mut one,
        iov_count: 1,
        addr: address,
        rma_iov: &raw const rma,
        rma_iov_count: 1,
        datatype: datatype(atomic.width),
        op: name,
        context: op.cast(),
        data: 0,
    };
    let (ep, message) = (state.domain.ep, &raw const message);
    let (compare, result) = (&raw const compare, &raw mut result);
    let (two, three) = (&raw mut two, &raw mut three);
    // SAFETY: the buffer is the caller's for the operation; the provider copies the vectors.
    unsafe {
        match form {
            Form::Plain => fi::fi_atomicmsg(ep, message, flags),
            Form::Fetch => fi::fi_fetch_atomicmsg(ep, message, result, three, 1, flags),
            Form::Compare => fi::fi_compare_atomicmsg(ep, message, compare, two, 1, result, three, 1, flags),
        }
    }
}

/// The bytes of a value of some width, at the front of a word.
fn word(value: u64, width: usize) -> [u8; 8] {
    let mut out = [0; 8];
    match width {
        4 => out[..4].copy_from_slice(&(value as u32).to_ne_bytes()),
        _ => out = value.to_ne_bytes(),
    }
    out
}
