//! Queries, locks and reductions.
#![allow(non_snake_case)]

use std::ffi::{c_char, c_int, c_long, c_void};

use pellucid_core::base::{Cause, Fault};
use pellucid_core::collectives::active;
use pellucid_core::runtime;

use super::entry;
use crate::dispatcher::{self, Call};
use crate::errors::Answer;
use crate::generated::constants::SHMEM_VENDOR_STRING;
use crate::routine::or_end;
use crate::seen::of_set;
use crate::types::Real16;
use crate::{locking, shim, thread};

/// A PE or a number of PEs, in the register of `INTEGER` results and in that of `REAL` ones, for programs that forget
/// to declare the function: its name begins with S, so that Fortran takes it for a `REAL`. (Two registers on x86-64
/// only.)
#[derive(Clone, Copy)]
#[repr(C)]
struct Both {
    integer: c_long,
    real: f32,
}

impl Answer for Both {
    fn of(_: c_int, _: u16) -> Self {
        Self::of(-1)
    }
}

impl Both {
    fn of(number: c_int) -> Both {
        Both { integer: number.into(), real: number as f32 }
    }
}

entry!("pellucid_fortran_my_pe", my_pe, "shmem_my_pe", () -> Both, |_m| [-1, 0, 0] runtime::my_pe().map(Both::of));
entry!("pellucid_fortran_n_pes", n_pes, "shmem_n_pes", () -> Both, |_m| [-1, 0, 0] runtime::n_pes().map(Both::of));

entry!("pellucid_fortran_info_get_name", info_get_name, "shmem_info_get_name", (name: *mut c_char, length: c_int),
    |_m| [-1, 0, 0] padded(name, length));

/// The vendor string in a `CHARACTER` variable: blanks behind it, and no null.
fn padded(name: *mut c_char, length: c_int) -> Result<(), Fault> {
    if name.is_null() {
        return Err(Fault::from(Cause::Null { arg: "NAME", bytes: 1 }));
    }
    let text = SHMEM_VENDOR_STRING.to_bytes().iter().copied().chain(std::iter::repeat(b' '));
    for (at, byte) in text.take(usize::try_from(length).unwrap_or(0)).enumerate() {
        // SAFETY: the compiler gives the variable's length with it.
        unsafe { name.add(at).write(byte as c_char) };
    }
    Ok(())
}

entry!("pellucid_fortran_set_lock", set_lock, "shmem_set_lock", (lock: *mut u32),
    |m| [-1, lock.addr(), 0] locking::set(m, lock));
entry!("pellucid_fortran_clear_lock", clear_lock, "shmem_clear_lock", (lock: *mut u32),
    |m| [-1, lock.addr(), 0] locking::clear(m, lock));
entry!("pellucid_fortran_test_lock", test_lock, "shmem_test_lock", (lock: *mut u32) -> c_int,
    |m| [-1, lock.addr(), 0] locking::test(m, lock));

macro_rules! reductions {
    ($($symbol:literal, $through:ident, $op:literal, $kernel:ident;)*) => { $(
        entry!($symbol, $through, $op,
            (dest: *mut Real16, source: *const Real16, nreduce: c_int, PE_start: c_int, logPE_stride: c_int,
             PE_size: c_int, _pWrk: *mut c_void, pSync: *mut c_long),
            |m| [of_set(PE_start, logPE_stride, PE_size), dest.addr(), (nreduce.max(0) as usize).wrapping_mul(16)]
            active::reduce(m, active::set(PE_start, logPE_stride, PE_size, pSync), dest.cast(), source.cast(), nreduce,
                shim::$kernel()));
    )* };
}

// C's type of this size stands for REAL*16 in the profile.
reductions! {
    "pellucid_fortran_real16_max_to_all", real16_max, "shmem_longdouble_max_to_all", real16_max;
    "pellucid_fortran_real16_min_to_all", real16_min, "shmem_longdouble_min_to_all", real16_min;
    "pellucid_fortran_real16_sum_to_all", real16_sum, "shmem_longdouble_sum_to_all", real16_sum;
    "pellucid_fortran_real16_prod_to_all", real16_prod, "shmem_longdouble_prod_to_all", real16_prod;
}
