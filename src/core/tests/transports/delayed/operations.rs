//! Operations under way: each is carried out as late as its sender allows.
#![allow(unsafe_code)]

use super::Random;
use pellucid_core::transport::shm::amo;
use pellucid_core::transport::{Atomic, Channel, EventSlot};
use std::collections::HashMap;
use std::sync::atomic::{Ordering, fence};

/// The data of a put.
pub enum Source {
    Copied(Vec<u8>),
    /// Where they stay until then: address and bytes.
    There(usize, usize),
}

impl Source {
    /// # Safety
    /// Readable, now or until the operation is complete.
    pub unsafe fn new(from: *const u8, bytes: usize, is_copied: bool) -> Self {
        if !is_copied {
            return Self::There(from as usize, bytes);
        }
        // SAFETY: the caller's.
        Self::Copied(unsafe { std::slice::from_raw_parts(from, bytes) }.to_vec())
    }

    fn write(&self, to: usize) {
        let (from, bytes) = match self {
            Self::Copied(data) => (data.as_ptr(), data.len()),
            Self::There(from, bytes) => (*from as *const u8, *bytes),
        };
        // SAFETY: tests stay in their segments, and keep what they put.
        unsafe { std::ptr::copy(from, to as *mut u8, bytes) };
    }
}

/// What is done. Addresses are numbers, since any thread of the sender may do it.
pub enum Act {
    Put { to: usize, source: Source },
    Get { dest: usize, from: usize, bytes: usize },
    Atomic { at: usize, atomic: Atomic, result: usize },
    PutSignal { to: usize, source: Source, update: Box<Act> },
}

// SAFETY: see `Act`; the pointer in an atomic operation is not used.
unsafe impl Send for Act {}

impl Act {
    pub fn atomic(at: usize, atomic: Atomic) -> Self {
        Self::Atomic { at, atomic, result: atomic.result as usize }
    }

    fn perform(&self) {
        match self {
            Self::Put { to, source } => source.write(*to),
            // SAFETY: as in `write`.
            Self::Get { dest, from, bytes } => unsafe { std::ptr::copy(*from as *const u8, *dest as *mut u8, *bytes) },
            Self::Atomic { at, atomic, result } => {
                // SAFETY: aligned words in segments, and results that their callers keep.
                unsafe {
                    let before = amo::apply(*at as *mut u8, atomic.op, atomic.width, atomic.operand, atomic.compare);
                    if *result != 0 {
                        let width = atomic.width.into();
                        std::ptr::copy(before.to_ne_bytes().as_ptr(), *result as *mut u8, width);
                    }
                }
            }
            Self::PutSignal { to, source, update } => {
                source.write(*to);
                fence(Ordering::SeqCst);
                update.perform();
            }
        }
    }
}

/// An operation.
pub struct Operation {
    pub channel: Channel,
    pub pe: i32,
    /// Fences of its channel before it.
    pub epoch: u64,
    pub act: Act,
    pub event: Option<EventSlot>,
}

impl Operation {
    pub fn carry_out(&self) {
        self.act.perform();
        fence(Ordering::SeqCst);
        self.event.inspect(|slot| slot.end());
    }

    /// Whether fences order it.
    fn is_ordered(&self) -> bool {
        !matches!(self.act, Act::Get { .. })
    }

    /// Whether a fence holds this one back until `other` is carried out.
    fn is_behind(&self, other: &Operation) -> bool {
        let same = (self.channel, self.pe) == (other.channel, other.pe);
        same && other.epoch < self.epoch && self.is_ordered() && other.is_ordered()
    }
}

/// All of a PE.
#[derive(Default)]
pub struct Operations {
    pub under_way: Vec<Operation>,
    epochs: HashMap<u32, u64>,
    /// Numbers of channels that were opened and are free again.
    closed: Vec<u32>,
    opened: u32,
}

impl Operations {
    pub fn epoch(&self, channel: Channel) -> u64 {
        self.epochs.get(&channel.0).copied().unwrap_or_default()
    }

    pub fn fence(&mut self, channel: Channel) {
        *self.epochs.entry(channel.0).or_default() += 1;
    }

    pub fn open_channel(&mut self) -> Channel {
        Channel(self.closed.pop().unwrap_or_else(|| {
            self.opened += 1;
            self.opened
        }))
    }

    pub fn close_channel(&mut self, channel: Channel) {
        assert!(self.under_way.iter().all(|operation| operation.channel != channel), "{channel:?} is not quiet");
        if channel != Channel::DEFAULT {
            self.closed.push(channel.0);
        }
    }

    /// Carries out any one of some that no fence holds back; false where there are none.
    pub fn carry_out_one(&mut self, random: &mut Random, is_of: impl Fn(&Operation) -> bool) -> bool {
        let mut first: HashMap<(u32, i32), u64> = HashMap::new();
        for one in self.under_way.iter().filter(|one| one.is_ordered()) {
            let epoch = first.entry((one.channel.0, one.pe)).or_insert(one.epoch);
            *epoch = one.epoch.min(*epoch);
        }
        let is_free = |one: &Operation| !one.is_ordered() || first.get(&(one.channel.0, one.pe)) == Some(&one.epoch);
        let all = self.under_way.iter().enumerate();
        let ready: Vec<usize> = all.filter(|(_, one)| is_of(one) && is_free(one)).map(|(at, _)| at).collect();
        if ready.is_empty() {
            return false;
        }
        self.under_way.swap_remove(ready[random.below(ready.len())]).carry_out();
        true
    }

    /// Carries out what a fence puts before an operation.
    pub fn carry_out_before(&mut self, operation: &Operation) {
        let mut before: Vec<Operation> = Vec::new();
        let mut at = 0;
        while at < self.under_way.len() {
            if operation.is_behind(&self.under_way[at]) {
                before.push(self.under_way.swap_remove(at));
            } else {
                at += 1;
            }
        }
        before.sort_by_key(|operation| operation.epoch);
        before.iter().for_each(Operation::carry_out);
    }
}
