//! Puts and gets of memory that only its owner reaches: a segment that the client has made of memory of its own. Its
//! owner copies, when it looks for messages.
#![allow(unsafe_code)]

use crate::am::{limits, number};
use crate::event::{self, Counted};
use crate::fail::{need, refuse};
use crate::segment;
use pellucid_core::am::Message;
use pellucid_core::runtime;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// A get whose data has not come.
struct Pending {
    dest: usize,
    bytes: usize,
    counted: &'static Counted,
}

/// All of this process's gets, by number.
#[derive(Default)]
struct Gets {
    next: u64,
    pending: HashMap<u64, Pending>,
}

static GETS: LazyLock<Mutex<Gets>> = LazyLock::new(Mutex::default);

fn gets() -> MutexGuard<'static, Gets> {
    GETS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn halves(word: u64) -> [i32; 2] {
    [word as u32 as i32, (word >> 32) as u32 as i32]
}

fn whole(low: i32, high: i32) -> u64 {
    u64::from(low as u32) | u64::from(high as u32) << 32
}

/// Puts data; the source may be changed at the return.
pub fn put(routine: &'static str, pe: i32, addr: usize, data: &[u8], counted: &'static Counted) {
    let mut at = addr as u64;
    for part in data.chunks(limits::medium(routine, pe)) {
        counted.slot().begin();
        let [low, high] = halves(at);
        let args = [low, high, counted.number() as i32];
        need(routine, runtime::messages().request_medium(pe, number::PUT, &args, part));
        at += part.len() as u64;
    }
}

/// As [`put`], complete at the return.
pub fn put_blocking(routine: &'static str, pe: i32, addr: usize, data: &[u8]) {
    let slot = event::take();
    put(routine, pe, addr, data, slot.counted);
    slot.finish(routine, (pe, addr));
}

/// Gets data.
pub fn get(routine: &'static str, pe: i32, addr: usize, dest: *mut u8, bytes: usize, counted: &'static Counted) {
    let most = limits::medium(routine, pe);
    for from in (0..bytes).step_by(most) {
        let part = most.min(bytes - from);
        counted.slot().begin();
        let id = {
            let mut gets = gets();
            gets.next += 1;
            let id = gets.next;
            gets.pending.insert(id, Pending { dest: dest as usize + from, bytes: part, counted });
            id
        };
        let ([low, high], [id_low, id_high]) = (halves((addr + from) as u64), halves(id));
        let args = [low, high, part as i32, id_low, id_high];
        need(routine, runtime::messages().request_short(pe, number::GET, &args));
    }
}

fn check(message: &Message<'_>, addr: usize, bytes: usize) {
    if !segment::contains(addr, bytes) {
        refuse(
            "remote memory access",
            format!("rank {} names {bytes} bytes at {addr:#x}: they are in no segment here", message.source()),
        )
    }
}

fn damaged(message: &Message<'_>) -> ! {
    refuse("remote memory access", format!("a message of rank {} is damaged", message.source()))
}

/// A put has come.
pub fn put_arrives(message: &mut Message<'_>, _: usize) {
    let &[low, high, id] = message.args() else { damaged(message) };
    let addr = whole(low, high) as usize;
    let data = message.payload();
    check(message, addr, data.len());
    // SAFETY: in a segment of this process, as was just checked.
    unsafe { std::ptr::copy(data.as_ptr(), addr as *mut u8, data.len()) };
    need("remote memory access", message.reply_short(number::PUT_DONE, &[id]));
}

/// A put of this process is complete.
pub fn done_arrives(message: &mut Message<'_>, _: usize) {
    let Some(counted) = message.args().first().and_then(|number| Counted::find(*number as u32)) else {
        damaged(message)
    };
    counted.slot().end();
}

/// A get has come.
pub fn get_arrives(message: &mut Message<'_>, _: usize) {
    let &[low, high, bytes, id_low, id_high] = message.args() else { damaged(message) };
    let (addr, bytes) = (whole(low, high) as usize, bytes as u32 as usize);
    check(message, addr, bytes);
    // SAFETY: in a segment of this process, as was just checked; its owner expects others to look there.
    let data = unsafe { std::slice::from_raw_parts(addr as *const u8, bytes) };
    need("remote memory access", message.reply_medium(number::GET_DATA, &[id_low, id_high], data));
}

/// Data of a get of this process has come.
pub fn data_arrives(message: &mut Message<'_>, _: usize) {
    let &[low, high] = message.args() else { damaged(message) };
    let Some(pending) = gets().pending.remove(&whole(low, high)) else { damaged(message) };
    let data = message.payload();
    if data.len() != pending.bytes {
        damaged(message)
    }
    // SAFETY: the destination of a get under way, which its caller keeps until it is complete.
    unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), pending.dest as *mut u8, pending.bytes) };
    pending.counted.slot().end();
}
