//! Transfers that another thread hands to the provider.
//!
//! A provider without hardware moves a transfer's bytes in the call that begins it: over TCP most of a large put's time
//! is spent there. What the program begins with a handle, and where there is a core for it, is left to the progress
//! thread. Whoever posts something else to the same PE, or waits, does it before, so that the order stays.
#![allow(unsafe_code)]

use super::endpoint_state::EndpointState;
use super::op::{Kind, Op};
use crate::base::Fault;
use crate::transport::{Completion, RemoteAddress};
use libfabric_sys as fi;
use std::ffi::c_void;
use std::time::Instant;

/// A write or read as the provider is to get it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transfer {
    /// The place at the other PE.
    pub there: RemoteAddress,
    pub here: *mut u8,
    pub bytes: usize,
    pub descriptor: *mut c_void,
    pub flags: u64,
}

impl EndpointState {
    /// Hands a transfer to the provider; its answer.
    pub fn call(&mut self, op: *mut Op, transfer: &Transfer, is_read: bool) -> isize {
        let Some((addr, there, key)) = self.remote_address(transfer.there) else { return -(fi::FI_EINVAL as isize) };
        let iov = fi::iovec { iov_base: transfer.here.cast(), iov_len: transfer.bytes };
        let rma = fi::fi_rma_iov { addr: there, len: transfer.bytes, key };
        let mut descriptor = transfer.descriptor;
        let message = fi::fi_msg_rma {
            msg_iov: &raw const iov,
            desc: &raw mut descriptor,
            iov_count: 1,
            addr,
            rma_iov: &raw const rma,
            rma_iov_count: 1,
            context: op.cast(),
            data: 0,
        };
        // SAFETY: the local memory is the caller's until the operation is complete, or a buffer of the record; the
        // provider copies the vectors.
        unsafe {
            if is_read {
                fi::fi_readmsg(self.domain.ep, &raw const message, transfer.flags)
            } else {
                fi::fi_writemsg(self.domain.ep, &raw const message, transfer.flags)
            }
        }
    }

    /// Whether what is begun so is left to the progress thread.
    pub fn is_left(&self, when: Completion) -> bool {
        self.posts_beside && matches!(when, Completion::Event(_))
    }

    /// Leaves a transfer to the progress thread.
    ///
    /// Fault: its PE is lost; the record is gone.
    pub fn leave(&mut self, op: *mut Op, transfer: Transfer) -> Result<(), Fault> {
        // SAFETY: a record of the calling thread's, which is filled.
        let pe = unsafe {
            (*op).transfer = Some(transfer);
            (*op).since = Some(Instant::now());
            (*op).pe
        };
        if self.is_lost(pe) {
            return Err(self.refuse(op));
        }
        self.later.push_back(op);
        self.wake();
        Ok(())
    }

    /// Hands over what was left, that of each PE in its order. Gives whether something went.
    pub fn post_later(&mut self) -> bool {
        let (mut refused, mut something): (Vec<u32>, bool) = (Vec::new(), false);
        for _ in 0..self.later.len() {
            let Some(op) = self.later.pop_front() else { break };
            // SAFETY: records in this list are this endpoint's, filled and not posted.
            let (kind, pe, bytes, since, transfer) =
                unsafe { ((*op).kind, (*op).pe, (*op).bytes, (*op).since, (*op).transfer) };
            let Some(transfer) = transfer else { continue };
            let is_read = kind == Kind::Read;
            let result = if refused.contains(&pe) { fi::EAGAIN } else { self.call(op, &transfer, is_read) };
            if result == 0 {
                // SAFETY: as above.
                unsafe { (*op).posted = true };
                self.note_posted(pe, if is_read { 0 } else { bytes });
                something = true;
                continue;
            }
            if result != fi::EAGAIN && !self.survives {
                let why = self.domain.library.strerror(result as i64);
                let fault = self.fault(pe, &format!("{} to", kind.text()), &why);
                self.fail(fault);
                continue;
            }
            if result != fi::EAGAIN {
                self.suspect_error(kind, pe, result);
            }
            if result == fi::EAGAIN && !refused.contains(&pe) {
                self.note_no_room(op);
            }
            if !refused.contains(&pe) {
                refused.push(pe);
                since.inspect(|since| self.fail_if_unreachable(pe, *since));
            }
            self.later.push_back(op);
        }
        something
    }

    /// Whether something to a PE has to wait for what was left, which goes first.
    pub fn is_behind(&mut self, pe: u32) -> bool {
        if self.later.is_empty() {
            return false;
        }
        self.post_later();
        // SAFETY: as above.
        self.later.iter().any(|op| unsafe { (**op).pe == pe })
    }
}
