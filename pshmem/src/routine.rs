//! What is behind an entry: the implementation, and the probe around it.

use pellucid_core::base::Fault;
use pellucid_profile::op::OPS;

/// `routine!(imp, probe, intercepted, op, timing, (parameters) -> result, |m| [peer, addr, bytes] expression,
/// args [dest, source, ctx, team], failed |r| condition)`
///
/// makes three functions: `imp` evaluates the expression, `probe` does the same under the recorder, `intercepted` takes the call
/// past stacked tools and callbacks ([`crate::dispatcher`]). `m`, where named, is the map of this process's symmetric memory.
/// `failed` tells which results count as errors of the call.
///
/// `brief` functions have two more in front of the probe, which most calls need not go beyond: where the profile is brief,
/// and where it is kept.
///
/// `exported` functions have symbols of their own: the C shim calls them, and `through` is its way to a tool. `never`
/// functions do not return.
macro_rules! routine {
    (exported $through:ident, $imp:ident, $($rest:tt)*) => {
        routine!(@all [#[unsafe(no_mangle)]] [$through] $imp, $($rest)*);
    };
    (never $imp:ident, $probe:ident, $intercepted:ident, $op:literal, $timing:ident, ($($arg:ident: $type:ty),*) -> !,
     [$peer:expr, $addr:expr, $bytes:expr] $call:expr,
     args [$dest:expr, $source:expr, $ctx:expr, $team:expr]) => {
        pub(crate) unsafe extern "C" fn $imp($($arg: $type),*) -> ! {
            $call
        }
        unsafe extern "C" fn $probe($($arg: $type),*) -> ! {
            // Counted, and shown as the last operation of the thread.
            recorder::$timing($op, $peer, $addr, $bytes, || ());
            $call
        }
        pub(crate) unsafe extern "C" fn $intercepted($($arg: $type),*) -> ! {
            let call = Call::new($op, ($peer, $addr, $bytes), ($dest, $source, $ctx, $team));
            dispatcher::pass(&call, &mut |tool| routine!(@go [] tool, $imp, ($($arg: $type),*) -> !));
            // SAFETY: as the caller's own call. It comes here should a tool have returned.
            unsafe { $imp($($arg),*) }
        }
    };
    (@go [] $tool:ident, $imp:ident, ($($arg:ident: $type:ty),*) $(-> $ret:ty)?) => {
        match $tool {
            // SAFETY: a tool's function of this name has this signature; the arguments are the caller's.
            Some(tool) => unsafe {
                std::mem::transmute::<Tool, unsafe extern "C" fn($($type),*) $(-> $ret)?>(tool)($($arg),*)
            },
            // SAFETY: the arguments are the caller's.
            None => unsafe { $imp($($arg),*) },
        }
    };
    (@go [$through:ident] $tool:ident, $imp:ident, ($($arg:ident: $type:ty),*) $(-> $ret:ty)?) => {
        match $tool {
            // SAFETY: the shim passes the caller's arguments to a function of this signature.
            Some(tool) => unsafe { $through(tool, $($arg),*) },
            // SAFETY: the arguments are the caller's.
            None => unsafe { $imp($($arg),*) },
        }
    };
    (@all [$($head:tt)*] [$($through:ident)?] $imp:ident, $probe:ident, $intercepted:ident, $op:literal, $timing:ident,
     ($($arg:ident: $type:ty),*) $(-> $ret:ty)?, $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr] $call:expr,
     args [$dest:expr, $source:expr, $ctx:expr, $team:expr] $(, failed |$r:ident| $failed:expr)?) => {
        // Not once more in the intercepted, which is on nobody's hot path.
        #[inline(never)]
        $($head)* pub(crate) unsafe extern "C" fn $imp($($arg: $type),*) $(-> $ret)? {
            $(let $m = map();)?
            // SAFETY: the caller vouches for the pointers that it gives, as the specification asks.
            or_end($op, unsafe { within!($timing, $op, [$peer, $addr, $bytes], $call) })
        }
        $($head)* unsafe extern "C" fn $probe($($arg: $type),*) $(-> $ret)? {
            $(let $m = map();)?
            // SAFETY: as in the implementation.
            let result = recorder::$timing($op, $peer, $addr, $bytes, || or_end($op, unsafe { within!($timing, $op, [$peer, $addr, $bytes], $call) }));
            $(
                let $r = result;
                if $failed {
                    recorder::error($op);
                }
            )?
            result
        }
        $($head)* pub(crate) unsafe extern "C" fn $intercepted($($arg: $type),*) $(-> $ret)? {
            $(let $m = map();)?
            let call = Call::new($op, ($peer, $addr, $bytes), ($dest, $source, $ctx, $team));
            let mut result = std::mem::MaybeUninit::uninit();
            dispatcher::pass(&call, &mut |tool| {
                let value = routine!(@go [$($through)?] tool, $imp, ($($arg: $type),*) $(-> $ret)?);
                result.write(value);
                false $(|| { let $r = value; $failed })?
            });
            // SAFETY: the dispatcher calls the closure, which writes the result, once.
            unsafe { result.assume_init() }
        }
    };
    (brief $brief:ident, $kept:ident, $imp:ident, $probe:ident, $intercepted:ident, $op:literal, $timing:ident,
     ($($arg:ident: $type:ty),*) $(-> $ret:ty)?, $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr] $call:expr,
     args [$($args:tt)*]) => {
        unsafe extern "C" fn $brief($($arg: $type),*) $(-> $ret)? {
            if recorder::brief::$timing::<$op, false>($peer, $addr, $bytes) {
                $(let $m = map();)?
                // SAFETY: as in the implementation.
                return or_end($op, unsafe { $call });
            }
            // SAFETY: the arguments are the caller's.
            unsafe { $probe($($arg),*) }
        }
        unsafe extern "C" fn $kept($($arg: $type),*) $(-> $ret)? {
            if recorder::brief::$timing::<$op, true>($peer, $addr, $bytes) {
                $(let $m = map();)?
                // SAFETY: as in the implementation.
                return or_end($op, unsafe { $call });
            }
            // SAFETY: the arguments are the caller's.
            unsafe { $probe($($arg),*) }
        }
        routine!($imp, $probe, $intercepted, $op, $timing, ($($arg: $type),*) $(-> $ret)?,
                 $(|$m|)? [$peer, $addr, $bytes] $call, args [$($args)*]);
    };
    ($imp:ident, $($rest:tt)*) => {
        routine!(@all [] [] $imp, $($rest)*);
    };
}

/// `within!(timing, op, [peer, addr, bytes], expression)`: the expression, and for a routine that may wait a note that the
/// thread is in it.
macro_rules! within {
    (timed, $op:literal, [$peer:expr, $addr:expr, $bytes:expr], $call:expr) => {
        $crate::thread::within($op, move || ($peer, $addr, $bytes), || $call)
    };
    ($timing:ident, $op:literal, [$peer:expr, $addr:expr, $bytes:expr], $call:expr) => {
        $call
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

/// Ends the job because a call cannot be carried out.
#[cold]
#[inline(never)]
pub fn end(op: u16, fault: Fault) -> ! {
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
    pub use crate::dispatcher::{self, Call, Tool};
    pub use crate::seen::{of_aset, of_set, of_team, on, rooted};
    pub use crate::shim::by_value::*;
    pub use crate::types::{
        Aset, ComplexDouble, ComplexFloat, LongDouble, OffsetFunction, ReqHandle, RequestHandle, SessionConfig, Team,
        TeamConfig, W128, word,
    };
}
