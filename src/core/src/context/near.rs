//! Updates of one element in memory that is mapped here. `None`: it is not, or something is wrong, and nothing has been
//! done; [`super::rma`] and [`super::amo`] know the other ways and what to say.
#![allow(unsafe_code)]

use super::Ctx;
use super::amo::{Amo, AmoInt};
use crate::memory::Map;

/// Writes one element.
#[inline(always)]
pub fn p<T: Copy>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Option<()> {
    let to = m.local_mapping_one(dest, ctx.world_pe(pe).ok()?)?;
    // SAFETY: mapped for the size of T; users may give any alignment.
    unsafe { to.write_unaligned(value) };
    Some(())
}

/// Writes a value.
#[inline(always)]
pub fn set<T: Amo>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Option<()> {
    let at = m.local_mapping_atomic(dest, ctx.world_pe(pe).ok()?)?;
    // SAFETY: mapped and aligned; so in every function here.
    unsafe { T::store(at, value) };
    Some(())
}

/// Adds one.
#[inline(always)]
pub fn inc<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, pe: i32) -> Option<()> {
    add(m, ctx, dest, T::ONE, pe)
}

macro_rules! combine {
    ($($what:literal, $name:ident;)*) => { $(
        #[doc = $what]
        #[inline(always)]
        pub fn $name<T: AmoInt>(m: &Map, ctx: Ctx, dest: *mut T, value: T, pe: i32) -> Option<()> {
            let at = m.local_mapping_atomic(dest, ctx.world_pe(pe).ok()?)?;
            // SAFETY: see set.
            let _ = unsafe { T::$name(at, value) };
            Some(())
        }
    )* };
}

combine! {
    "Adds.", add;
    "Ands.", and;
    "Ors.", or;
    "Exclusive-ors.", xor;
}
