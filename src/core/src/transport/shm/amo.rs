//! Atomic memory operations with the CPU's own instructions.
//!
//! Every one acquires and releases: that is what the locked instructions of x86 do anyway, and it lets an AMO hand over
//! data that plain stores prepared.
#![allow(unsafe_code)]

use crate::transport::AmoOp;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A type that can be read, written and swapped atomically.
pub trait Amo: Copy {
    /// # Safety
    /// `at` is valid and aligned; the same for all functions here.
    unsafe fn load(at: *const Self) -> Self;
    /// # Safety
    /// See [`Amo::load`].
    unsafe fn store(at: *mut Self, value: Self);
    /// # Safety
    /// See [`Amo::load`].
    unsafe fn swap(at: *mut Self, value: Self) -> Self;
    /// The value as bits, the high ones 0.
    fn bits(self) -> u64;
}

/// An integer that can be computed on atomically. All functions give the value before.
pub trait AmoInt: Amo {
    /// The number one.
    const ONE: Self;
    /// # Safety
    /// See [`Amo::load`].
    unsafe fn compare_swap(at: *mut Self, cond: Self, value: Self) -> Self;
    /// # Safety
    /// See [`Amo::load`].
    unsafe fn add(at: *mut Self, value: Self) -> Self;
    /// # Safety
    /// See [`Amo::load`].
    unsafe fn and(at: *mut Self, value: Self) -> Self;
    /// # Safety
    /// See [`Amo::load`].
    unsafe fn or(at: *mut Self, value: Self) -> Self;
    /// # Safety
    /// See [`Amo::load`].
    unsafe fn xor(at: *mut Self, value: Self) -> Self;
}

macro_rules! amo {
    ($($t:ty, $atomic:ty, $to:expr, $from:expr;)*) => { $(
        impl Amo for $t {
            #[inline(always)]
            unsafe fn load(at: *const Self) -> Self {
                // SAFETY: valid and aligned, says the caller.
                $from(unsafe { <$atomic>::from_ptr(at.cast_mut().cast()) }.load(Ordering::Acquire))
            }
            #[inline(always)]
            unsafe fn store(at: *mut Self, value: Self) {
                // SAFETY: as above.
                unsafe { <$atomic>::from_ptr(at.cast()) }.store($to(value), Ordering::Release);
            }
            #[inline(always)]
            unsafe fn swap(at: *mut Self, value: Self) -> Self {
                // SAFETY: as above.
                $from(unsafe { <$atomic>::from_ptr(at.cast()) }.swap($to(value), Ordering::AcqRel))
            }
            #[inline(always)]
            #[allow(trivial_numeric_casts)]
            fn bits(self) -> u64 {
                <$atomic>::new($to(self)).into_inner().into()
            }
        }
    )* };
}

macro_rules! amo_int {
    ($($t:ty, $atomic:ty;)*) => {
        amo! { $($t, $atomic, |v: $t| v as _, |v| v as $t;)* }
        $(
            impl AmoInt for $t {
                const ONE: Self = 1;
                #[inline(always)]
                unsafe fn compare_swap(at: *mut Self, cond: Self, value: Self) -> Self {
                    // SAFETY: valid and aligned, says the caller.
                    let cell = unsafe { <$atomic>::from_ptr(at.cast()) };
                    match cell.compare_exchange(cond as _, value as _, Ordering::AcqRel, Ordering::Acquire) {
                        Ok(old) | Err(old) => old as $t,
                    }
                }
                #[inline(always)]
                unsafe fn add(at: *mut Self, value: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { <$atomic>::from_ptr(at.cast()) }.fetch_add(value as _, Ordering::AcqRel) as $t
                }
                #[inline(always)]
                unsafe fn and(at: *mut Self, value: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { <$atomic>::from_ptr(at.cast()) }.fetch_and(value as _, Ordering::AcqRel) as $t
                }
                #[inline(always)]
                unsafe fn or(at: *mut Self, value: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { <$atomic>::from_ptr(at.cast()) }.fetch_or(value as _, Ordering::AcqRel) as $t
                }
                #[inline(always)]
                unsafe fn xor(at: *mut Self, value: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { <$atomic>::from_ptr(at.cast()) }.fetch_xor(value as _, Ordering::AcqRel) as $t
                }
            }
        )*
    };
}

amo_int! {
    i32, AtomicU32;
    u32, AtomicU32;
    i64, AtomicU64;
    u64, AtomicU64;
}
amo! {
    f32, AtomicU32, f32::to_bits, f32::from_bits;
    f64, AtomicU64, f64::to_bits, f64::from_bits;
}

/// Carries an atomic operation out on a word of 4 or 8 bytes; gives the value before.
///
/// # Safety
/// `at` is valid, and aligned for the width.
pub unsafe fn apply(at: *mut u8, op: AmoOp, width: u8, operand: u64, compare: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        match width {
            4 => u64::from(apply_to(at.cast::<u32>(), op, operand as u32, compare as u32)),
            _ => apply_to(at.cast::<u64>(), op, operand, compare),
        }
    }
}

/// # Safety
/// `at` is valid and aligned.
unsafe fn apply_to<T: Amo + AmoInt>(at: *mut T, op: AmoOp, operand: T, compare: T) -> T {
    // SAFETY: the caller's.
    unsafe {
        match op {
            AmoOp::Fetch => T::load(at),
            // The value before a store is wanted by nobody.
            AmoOp::Set => {
                T::store(at, operand);
                operand
            }
            AmoOp::Swap => T::swap(at, operand),
            AmoOp::CompareSwap => T::compare_swap(at, compare, operand),
            AmoOp::Add => T::add(at, operand),
            AmoOp::And => T::and(at, operand),
            AmoOp::Or => T::or(at, operand),
            AmoOp::Xor => T::xor(at, operand),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_before_are_returned() {
        let mut x = -5i32;
        let at = &raw mut x;
        // SAFETY: x lives here.
        unsafe {
            assert_eq!(i32::add(at, 7), -5);
            assert_eq!(i32::compare_swap(at, 2, 12), 2);
            assert_eq!(i32::compare_swap(at, 2, 99), 12);
            assert_eq!(i32::and(at, 6), 12);
            assert_eq!(i32::xor(at, -1), 4);
            assert_eq!(i32::load(at), -5);
        }
        let mut y = 1.5f64;
        // SAFETY: y lives here.
        assert_eq!(unsafe { f64::swap(&raw mut y, -0.0) }, 1.5);
        assert!(y.is_sign_negative());
    }
}
