//! The operations of [`super::rma`] and [`super::amo`] out of line: what an entry does whose object [`super::near`] has
//! not found. They look once more, and know the other ways and what to say.

use super::amo::{Amo, AmoInt};
use super::{Ctx, amo, rma};
use crate::base::Fault;
use crate::memory::Map;

macro_rules! out_of_line {
    ($($path:ident::$name:ident [$($of:ident: $bound:ident)?] ($($arg:ident: $type:ty),*) $(-> $ret:ty)?;)*) => { $(
        #[doc = concat!("See [`", stringify!($path), "::", stringify!($name), "`].")]
        #[cold]
        #[inline(never)]
        pub fn $name$(<$of: $bound>)?(m: &Map, ctx: Ctx, $($arg: $type),*) -> Result<out_of_line!(@ $($ret)?), Fault> {
            $path::$name(m, ctx, $($arg),*)
        }
    )* };
    (@) => { () };
    (@ $ret:ty) => { $ret };
}

out_of_line! {
    rma::put [] (dest: *mut u8, source: *const u8, bytes: usize, pe: i32);
    rma::get [] (dest: *mut u8, source: *const u8, bytes: usize, pe: i32);
    rma::put_nbi [] (dest: *mut u8, source: *const u8, bytes: usize, pe: i32);
    rma::get_nbi [] (dest: *mut u8, source: *const u8, bytes: usize, pe: i32);
    rma::p [T: Copy] (dest: *mut T, value: T, pe: i32);
    rma::g [T: Copy] (source: *const T, pe: i32) -> T;
    amo::fetch [T: Amo] (source: *const T, pe: i32) -> T;
    amo::set [T: Amo] (dest: *mut T, value: T, pe: i32);
    amo::swap [T: Amo] (dest: *mut T, value: T, pe: i32) -> T;
    amo::compare_swap [T: AmoInt] (dest: *mut T, cond: T, value: T, pe: i32) -> T;
    amo::fetch_inc [T: AmoInt] (dest: *mut T, pe: i32) -> T;
    amo::inc [T: AmoInt] (dest: *mut T, pe: i32);
    amo::fetch_add [T: AmoInt] (dest: *mut T, value: T, pe: i32) -> T;
    amo::fetch_and [T: AmoInt] (dest: *mut T, value: T, pe: i32) -> T;
    amo::fetch_or [T: AmoInt] (dest: *mut T, value: T, pe: i32) -> T;
    amo::fetch_xor [T: AmoInt] (dest: *mut T, value: T, pe: i32) -> T;
    amo::add [T: AmoInt] (dest: *mut T, value: T, pe: i32);
    amo::and [T: AmoInt] (dest: *mut T, value: T, pe: i32);
    amo::or [T: AmoInt] (dest: *mut T, value: T, pe: i32);
    amo::xor [T: AmoInt] (dest: *mut T, value: T, pe: i32);
}
