//! Combining operands of reductions.
#![allow(unsafe_code)]

use crate::fail::{Section, refuse};
use crate::types::{Dt, Op};
use std::ffi::c_void;

/// `gex_Coll_ReduceFn_t`
pub type ReduceFn = unsafe extern "C" fn(*const c_void, *mut c_void, usize, *const c_void);

/// What a reduction does with two vectors of operands.
#[derive(Debug, Clone, Copy)]
pub enum Operation {
    /// One of the library's.
    BuiltIn(Dt, Op),
    /// The client's: the function, its data, bytes of an element.
    User(ReduceFn, usize, usize),
}

const USER_TYPE: Dt = 1 << 6;
const USER: Op = 1 << 12;
/// `GEX_OP_USER_NC`
pub const USER_NC: Op = 1 << 13;

/// Bytes of a built-in type.
fn bytes_of(dt: Dt) -> Option<usize> {
    match dt {
        1 | 2 | 0x10 => Some(4),
        4 | 8 | 0x20 => Some(8),
        _ => None,
    }
}

impl Operation {
    /// From the arguments of a call, which it checks.
    pub fn of(routine: &'static str, dt: Dt, bytes: usize, op: Op, user: Option<ReduceFn>, cdata: *mut c_void) -> Self {
        if op == USER || op == USER_NC {
            let Some(user) = user else { refuse(routine, "user_op is NULL") };
            if bytes == 0 || bytes_of(dt).is_some_and(|expected| expected != bytes) {
                refuse(routine, format!("dt_sz = {bytes} does not fit dt = {dt:#x}"))
            }
            return Self::User(user, cdata as usize, bytes);
        }
        if dt == USER_TYPE {
            refuse(routine, "dt = GEX_DT_USER needs op = GEX_OP_USER")
        }
        if bytes_of(dt) != Some(bytes) {
            refuse(routine, format!("dt_sz = {bytes} does not fit dt = {dt:#x}"))
        }
        let (is_bits, is_float) = (matches!(op, 1 | 2 | 4), matches!(dt, 0x10 | 0x20));
        if !(matches!(op, 8 | 0x20 | 0x40 | 0x80) || (is_bits && !is_float)) {
            refuse(routine, format!("op = {op:#x} is no operation of reductions on dt = {dt:#x}"))
        }
        Self::BuiltIn(dt, op)
    }

    /// `left` becomes `left` combined with `right`, which is as long.
    pub fn combine(&self, left: &mut Vec<u8>, right: &[u8]) {
        if left.len() != right.len() {
            refuse("reduction", "members give operands of different sizes")
        }
        match *self {
            Self::User(function, cdata, bytes) => combine_user(function, cdata, bytes, left, right),
            Self::BuiltIn(dt, op) => match dt {
                1 => integers::<4>(left, right, |a, b| {
                    i32_op(op, i32::from_ne_bytes(a), i32::from_ne_bytes(b)).to_ne_bytes()
                }),
                2 => integers::<4>(left, right, |a, b| {
                    u32_op(op, u32::from_ne_bytes(a), u32::from_ne_bytes(b)).to_ne_bytes()
                }),
                4 => integers::<8>(left, right, |a, b| {
                    i64_op(op, i64::from_ne_bytes(a), i64::from_ne_bytes(b)).to_ne_bytes()
                }),
                8 => integers::<8>(left, right, |a, b| {
                    u64_op(op, u64::from_ne_bytes(a), u64::from_ne_bytes(b)).to_ne_bytes()
                }),
                0x10 => integers::<4>(left, right, |a, b| {
                    f32_op(op, f32::from_ne_bytes(a), f32::from_ne_bytes(b)).to_ne_bytes()
                }),
                _ => integers::<8>(left, right, |a, b| {
                    f64_op(op, f64::from_ne_bytes(a), f64::from_ne_bytes(b)).to_ne_bytes()
                }),
            },
        }
    }
}

/// Element by element.
fn integers<const N: usize>(left: &mut [u8], right: &[u8], combine: impl Fn([u8; N], [u8; N]) -> [u8; N]) {
    let (left, _) = left.as_chunks_mut::<N>();
    let (right, _) = right.as_chunks::<N>();
    for (a, b) in left.iter_mut().zip(right) {
        *a = combine(*a, *b);
    }
}

macro_rules! integer_op {
    ($($name:ident, $t:ty;)*) => { $(
        fn $name(op: Op, a: $t, b: $t) -> $t {
            match op {
                1 => a & b,
                2 => a | b,
                4 => a ^ b,
                8 => a.wrapping_add(b),
                0x20 => a.wrapping_mul(b),
                0x40 => if a < b { a } else { b },
                _ => if a > b { a } else { b },
            }
        }
    )* };
}

integer_op! { i32_op, i32; u32_op, u32; i64_op, i64; u64_op, u64; }

macro_rules! float_op {
    ($($name:ident, $t:ty;)*) => { $(
        fn $name(op: Op, a: $t, b: $t) -> $t {
            match op {
                8 => a + b,
                0x20 => a * b,
                0x40 => if a < b { a } else { b },
                _ => if a > b { a } else { b },
            }
        }
    )* };
}

float_op! { f32_op, f32; f64_op, f64; }

/// The client's function wants its operands aligned for any type, and writes into the second.
fn combine_user(function: ReduceFn, cdata: usize, bytes: usize, left: &mut Vec<u8>, right: &[u8]) {
    let words = left.len().div_ceil(16);
    let (mut a, mut b) = (vec![0u128; words], vec![0u128; words]);
    // SAFETY: each has room for as many bytes; the function keeps to what the specification says.
    unsafe {
        std::ptr::copy_nonoverlapping(left.as_ptr(), a.as_mut_ptr().cast::<u8>(), left.len());
        std::ptr::copy_nonoverlapping(right.as_ptr(), b.as_mut_ptr().cast::<u8>(), right.len());
        Section::Reduction.run(|| {
            function(a.as_ptr().cast(), b.as_mut_ptr().cast(), left.len() / bytes, cdata as *const c_void);
        });
        std::ptr::copy_nonoverlapping(b.as_ptr().cast::<u8>(), left.as_mut_ptr(), left.len());
    }
}
