//! What can be symmetric, and what can be done to it.
#![allow(unsafe_code)]

use std::ffi::c_int;

use crate::atomic::{AtomicCalls, IntCalls};
use crate::collective::{ArithmeticCalls, BitsCalls, OrderedCalls};
use crate::ffi::{CtxHandle, TeamHandle};
use crate::wait::WaitCalls;

/// Plain data: any pattern of bits is a value, since other PEs may send any, and there is no padding.
///
/// # Safety
/// It is as the line above says, and aligned to at most 16 bytes.
pub unsafe trait Element: Copy + Send + Sync + 'static {}

macro_rules! elements {
    ($($type:ty)*) => { $(
        // SAFETY: a number.
        unsafe impl Element for $type {}
    )* };
}

elements! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64 }

// SAFETY: elements one after the other.
unsafe impl<T: Element, const N: usize> Element for [T; N] {}

/// Types that are read, set and swapped atomically.
pub trait Atomic: Element {
    #[doc(hidden)]
    const ATOMIC: AtomicCalls<Self>;
}

/// Types that are computed on atomically.
pub trait AtomicInt: Atomic {
    #[doc(hidden)]
    const INT: IntCalls<Self>;
}

/// Types that can be waited on.
pub trait Waitable: Element {
    #[doc(hidden)]
    const WAIT: WaitCalls<Self>;
}

/// Types of sums, products and scans.
pub trait Number: Element {
    #[doc(hidden)]
    const ARITHMETIC: ArithmeticCalls<Self>;
}

/// Types of minima and maxima.
pub trait Ordered: Element {
    #[doc(hidden)]
    const ORDERED: OrderedCalls<Self>;
}

/// Types whose bits are combined.
pub trait Bits: Element {
    #[doc(hidden)]
    const BITS: BitsCalls<Self>;
}

/// `calls!(type, "name in C", table { field: "function" (parameters) -> result, ... })`: a table of C functions.
macro_rules! calls {
    ($c:literal, $table:ident { $($field:ident: $function:literal ($($arg:ident: $type:ty),*) $(-> $ret:ty)?;)* }) => {{
        unsafe extern "C" {
            $(
                #[link_name = concat!("shmem_", $c, $function)]
                fn $field($($arg: $type),*) $(-> $ret)?;
            )*
        }
        $table { $($field),* }
    }};
    (ctx $c:literal, $table:ident {
        $($field:ident: $function:literal ($($arg:ident: $type:ty),*) $(-> $ret:ty)?;)*
    }) => {{
        unsafe extern "C" {
            $(
                #[link_name = concat!("shmem_ctx_", $c, $function)]
                fn $field($($arg: $type),*) $(-> $ret)?;
            )*
        }
        $table { $($field),* }
    }};
}

macro_rules! atomics {
    ($($type:ident $c:literal)*) => { $(
        impl Atomic for $type {
            const ATOMIC: AtomicCalls<$type> = calls!(ctx $c, AtomicCalls {
                fetch: "_atomic_fetch" (ctx: CtxHandle, source: *const $type, pe: c_int) -> $type;
                set: "_atomic_set" (ctx: CtxHandle, dest: *mut $type, value: $type, pe: c_int);
                swap: "_atomic_swap" (ctx: CtxHandle, dest: *mut $type, value: $type, pe: c_int) -> $type;
                fetch_nbi: "_atomic_fetch_nbi" (ctx: CtxHandle, fetch: *mut $type, source: *const $type, pe: c_int);
            });
        }
    )* };
}

macro_rules! integers {
    ($($type:ident $c:literal)*) => { $(
        impl AtomicInt for $type {
            const INT: IntCalls<$type> = calls!(ctx $c, IntCalls {
                compare_swap: "_atomic_compare_swap" (
                    ctx: CtxHandle, dest: *mut $type, cond: $type, value: $type, pe: c_int
                ) -> $type;
                add: "_atomic_add" (ctx: CtxHandle, dest: *mut $type, value: $type, pe: c_int);
                fetch_add: "_atomic_fetch_add" (ctx: CtxHandle, dest: *mut $type, value: $type, pe: c_int) -> $type;
                fetch_add_nbi: "_atomic_fetch_add_nbi" (
                    ctx: CtxHandle, fetch: *mut $type, dest: *mut $type, value: $type, pe: c_int
                );
            });
        }

        impl Waitable for $type {
            const WAIT: WaitCalls<$type> = calls!($c, WaitCalls {
                until: "_wait_until" (ivar: *mut $type, cmp: c_int, value: $type);
                until_all: "_wait_until_all" (
                    ivars: *mut $type, count: usize, status: *const c_int, cmp: c_int, value: $type
                );
                until_any: "_wait_until_any" (
                    ivars: *mut $type, count: usize, status: *const c_int, cmp: c_int, value: $type
                ) -> usize;
                test: "_test" (ivar: *mut $type, cmp: c_int, value: $type) -> c_int;
            });
        }
    )* };
}

macro_rules! numbers {
    ($($type:ident $c:literal)*) => { $(
        impl Number for $type {
            const ARITHMETIC: ArithmeticCalls<$type> = calls!($c, ArithmeticCalls {
                sum: "_sum_reduce" (team: TeamHandle, dest: *mut $type, source: *const $type, count: usize) -> c_int;
                product: "_prod_reduce" (
                    team: TeamHandle, dest: *mut $type, source: *const $type, count: usize
                ) -> c_int;
                inclusive: "_sum_inscan" (
                    team: TeamHandle, dest: *mut $type, source: *const $type, count: usize
                ) -> c_int;
                exclusive: "_sum_exscan" (
                    team: TeamHandle, dest: *mut $type, source: *const $type, count: usize
                ) -> c_int;
            });
        }

        impl Ordered for $type {
            const ORDERED: OrderedCalls<$type> = calls!($c, OrderedCalls {
                min: "_min_reduce" (team: TeamHandle, dest: *mut $type, source: *const $type, count: usize) -> c_int;
                max: "_max_reduce" (team: TeamHandle, dest: *mut $type, source: *const $type, count: usize) -> c_int;
            });
        }
    )* };
}

macro_rules! bits {
    ($($type:ident $c:literal)*) => { $(
        impl Bits for $type {
            const BITS: BitsCalls<$type> = calls!($c, BitsCalls {
                and: "_and_reduce" (team: TeamHandle, dest: *mut $type, source: *const $type, count: usize) -> c_int;
                or: "_or_reduce" (team: TeamHandle, dest: *mut $type, source: *const $type, count: usize) -> c_int;
                xor: "_xor_reduce" (team: TeamHandle, dest: *mut $type, source: *const $type, count: usize) -> c_int;
            });
        }
    )* };
}

atomics! { i32 "int32" i64 "int64" u32 "uint32" u64 "uint64" usize "size" isize "ptrdiff" f32 "float" f64 "double" }
integers! { i32 "int32" i64 "int64" u32 "uint32" u64 "uint64" usize "size" isize "ptrdiff" }
numbers! {
    i8 "int8" i16 "int16" i32 "int32" i64 "int64" isize "ptrdiff"
    u8 "uint8" u16 "uint16" u32 "uint32" u64 "uint64" usize "size" f32 "float" f64 "double"
}
bits! { i8 "int8" i16 "int16" i32 "int32" i64 "int64" u8 "uint8" u16 "uint16" u32 "uint32" u64 "uint64" usize "size" }
