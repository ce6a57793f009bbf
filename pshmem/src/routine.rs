//! What is behind an entry: the implementation, and the probe around it.

use pellucid_core::base::Fault;
use pellucid_profile::op::OPS;

/// `routine!(imp, probe, op, timing, (parameters) -> result, |m| [peer, addr, bytes] expression, failed |r| condition)`
///
/// makes two functions: `imp` evaluates the expression, `probe` does the same under the recorder. `m`, where named, is
/// the map of this process's symmetric memory. `failed` tells which results count as errors of the call.
///
/// `exported` functions have symbols of their own: the C shim calls them. `never` functions do not return.
macro_rules! routine {
    (exported $imp:ident, $($rest:tt)*) => {
        routine!(@split [#[unsafe(no_mangle)] pub] $imp, $($rest)*);
    };
    (never $imp:ident, $probe:ident, $op:literal, $timing:ident, ($($arg:ident: $type:ty),*) -> !,
     [$peer:expr, $addr:expr, $bytes:expr] $call:expr) => {
        unsafe extern "C" fn $imp($($arg: $type),*) -> ! {
            $call
        }
        unsafe extern "C" fn $probe($($arg: $type),*) -> ! {
            // Counted, and shown as the last operation of the thread.
            recorder::$timing($op, $peer, $addr, $bytes, || ());
            $call
        }
    };
    (@split [$($head:tt)*] $imp:ident, $probe:ident, $op:literal, $timing:ident,
     ($($arg:ident: $type:ty),*) $(-> $ret:ty)?, $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr] $call:expr
     $(, failed |$r:ident| $failed:expr)?) => {
        $($head)* unsafe extern "C" fn $imp($($arg: $type),*) $(-> $ret)? {
            $(let $m = map();)?
            or_end($op, unsafe { $call })
        }
        $($head)* unsafe extern "C" fn $probe($($arg: $type),*) $(-> $ret)? {
            $(let $m = map();)?
            let result = recorder::$timing($op, $peer, $addr, $bytes, || or_end($op, unsafe { $call }));
            $(
                let $r = result;
                if $failed {
                    recorder::error($op);
                }
            )?
            result
        }
    };
    ($imp:ident, $($rest:tt)*) => {
        routine!(@split [] $imp, $($rest)*);
    };
}

/// The one place where an implementation's result becomes what C sees: a value, or the end of the job.
#[inline(always)]
pub fn or_end<R>(op: u16, result: Result<R, Fault>) -> R {
    match result {
        Ok(value) => value,
        Err(fault) => end(op, fault),
    }
}

#[cold]
#[inline(never)]
fn end(op: u16, fault: Fault) -> ! {
    pellucid_core::runtime::fail(OPS[usize::from(op)].name, fault)
}

/// What the generated files use.
pub mod prelude {
    pub use std::ffi::{
        c_char, c_int, c_long, c_longlong, c_schar, c_short, c_uchar, c_uint, c_ulong, c_ulonglong, c_ushort, c_void,
    };

    pub use pellucid_core::context::{Ctx, bytes, world_pe};
    pub use pellucid_core::runtime::world as map;
    pub use pellucid_profile::recorder;

    pub use super::or_end;
    pub use crate::seen::{of_set, of_team, on};
    pub use crate::shim::by_value::*;
    pub use crate::types::{ComplexDouble, ComplexFloat, LongDouble, SessionConfig, Team, TeamConfig, W128, word};
}
