//! What is behind an entry: the implementation, and the probe around it.

use pellucid_core::base::Fault;
use pellucid_core::collectives::Kernel;
use pellucid_core::request::Request;

use pellucid_profile::recorder;

use crate::entry::Number;
use crate::errors::{self, Answer};
use crate::generated::kernels;
use crate::types::Team;

/// `routine!(imp, probe, first, number, timing, (parameters) -> result, |m| [peer, addr, bytes] expression, failed
/// |r| condition)`
///
/// `first` is the operation that the body is written for, and `number` what tells which routine it is
/// ([`crate::entry`]): that operation, or where routines share it, its last parameter. It makes two functions: `imp`
/// evaluates the expression, `probe` calls it under the recorder. `m`, where named, is the map of this process's
/// symmetric memory. `failed` tells which results count as errors of the call.
///
/// Where memory is mapped here, `imp` evaluates what is in brackets before the names of a `short` function, or behind
/// `near`; elsewhere the expression.
///
/// `short` functions have two more in front of the probe, which most calls need not go beyond: where the profile has
/// counts only, and where it has call sites. They are given the peer without what noting it does, and what notes the
/// call besides. They count the call and jump to `imp`. Those of `near` ones make it themselves where memory is mapped
/// here, by an expression of their own, and leave it to the probe elsewhere; those of `whole` ones evaluate the
/// expression of `imp`. Both do so before they count: another PE may wait for it, or counting has no registers to save
/// for it.
///
/// The probes of calls that may be `unstamped` begin with the way of most of them: of waits, and of collectives on a
/// team that the thread has called one on before.
///
/// Of `exported` functions the C shim takes the arguments, and of `never` functions the call does not return: each
/// has an `intercepted` of its own, which the dispatcher jumps to. `through` is the shim's way to a tool.
macro_rules! routine {
    (exported $through:ident, $intercepted:ident, $imp:ident, $probe:ident, $first:literal, $number:expr, $timing:ident,
     ($($arg:ident: $type:ty),*) $(-> $ret:ty)?, $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr] $call:expr,
     args [$dest:expr, $source:expr, $ctx:expr, $team:expr]) => {
        routine!($imp, $probe, $first, $number, $timing, ($($arg: $type),*) $(-> $ret)?,
                 $(|$m|)? [$peer, $addr, $bytes] $call);

        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $intercepted($($arg: $type),*) $(-> $ret)? {
            $(let $m = map();)?
            let call = Call::new($first, ($peer, $addr, $bytes), ($dest, $source, $ctx, $team));
            let mut result = std::mem::MaybeUninit::uninit();
            dispatcher::pass(&call, &mut |tool| {
                result.write(match tool {
                    // SAFETY: the shim passes the caller's arguments to a function of this signature.
                    Some(tool) => unsafe { $through(tool, $($arg),*) },
                    // SAFETY: the arguments are the caller's.
                    None => unsafe { $imp($($arg),*) },
                });
                false
            });
            // SAFETY: the dispatcher calls the closure, which writes the result, once.
            unsafe { result.assume_init() }
        }
    };
    (never $intercepted:ident, $imp:ident, $probe:ident, $first:literal, $number:expr, $timing:ident,
     ($($arg:ident: $type:ty),*) -> !, [$peer:expr, $addr:expr, $bytes:expr] $call:expr,
     args [$dest:expr, $source:expr, $ctx:expr, $team:expr]) => {
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $imp($($arg: $type),*) -> ! {
            $call
        }
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $probe($($arg: $type),*) -> ! {
            // Counted, and shown as the last operation of the thread.
            recorder::$timing($first, $peer, $addr, $bytes, || ());
            $call
        }
        pub(crate) unsafe extern "C" fn $intercepted($($arg: $type),*) -> ! {
            let call = Call::new($first, ($peer, $addr, $bytes), ($dest, $source, $ctx, $team));
            dispatcher::pass(&call, &mut |tool| match tool {
                // SAFETY: a tool's function of this name has this signature; the arguments are the caller's.
                Some(tool) => unsafe {
                    std::mem::transmute::<Tool, unsafe extern "C" fn($($type),*) -> !>(tool)($($arg),*)
                },
                // SAFETY: the arguments are the caller's.
                None => unsafe { $imp($($arg),*) },
            });
            // SAFETY: as the caller's own call. It comes here should a tool have returned.
            unsafe { $imp($($arg),*) }
        }
    };
    (short [$($mapped:expr)?] $count:ident, $count_site:ident, $placed:ident, [$known:expr, $noted:expr],
     $imp:ident, $probe:ident, $first:literal, $number:expr, $timing:ident, ($($arg:ident: $type:ty),*) $(-> $ret:ty)?,
     $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr] $call:expr) => {
        // A jump: the routine would save registers here that the count leaves alone.
        routine!(@in_front [$($mapped)?] $count, $count_site, $placed, [$known, $noted],
                 $imp, $probe, $first, $number, $timing, ($($arg: $type),*) $(-> $ret)?,
                 $(|$m|)? [$peer, $addr, $bytes] $call,
                 // SAFETY: the arguments are the caller's.
                 $timing [], (), |()| unsafe { $imp($($arg),*) });
    };
    (near $near:expr, $count:ident, $count_site:ident, $placed:ident, [$known:expr, $noted:expr],
     $imp:ident, $probe:ident, $first:literal, $number:expr, $timing:ident, ($($arg:ident: $type:ty),*) $(-> $ret:ty)?,
     $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr] $call:expr) => {
        routine!(@in_front [$near] $count, $count_site, $placed, [$known, $noted],
                 $imp, $probe, $first, $number, $timing, ($($arg: $type),*) $(-> $ret)?,
                 $(|$m|)? [$peer, $addr, $bytes] $call,
                 sampled_mapped [|| map().known_pe()], $near, |result| result);
    };
    (whole $count:ident, $count_site:ident, $placed:ident, [$known:expr, $noted:expr],
     $imp:ident, $probe:ident, $first:literal, $number:expr, $timing:ident, ($($arg:ident: $type:ty),*) $(-> $ret:ty)?,
     $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr] $call:expr) => {
        routine!(@in_front [] $count, $count_site, $placed, [$known, $noted],
                 $imp, $probe, $first, $number, $timing, ($($arg: $type),*) $(-> $ret)?,
                 $(|$m|)? [$peer, $addr, $bytes] $call,
                 $timing [], or_end(op($number), $call), |result| result);
    };
    (@in_front [$($mapped:expr)?] $count:ident, $count_site:ident, $placed:ident, [$known:expr, $noted:expr],
     $imp:ident, $probe:ident, $first:literal, $number:expr, $timing:ident, ($($arg:ident: $type:ty),*) $(-> $ret:ty)?,
     $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr] $call:expr, $by:ident [$($own:expr)?], $made:expr,
     $answer:expr) => {
        routine!(@counts false, $count, $placed, $first, $number, $by [$($own)?], ($($arg: $type),*) $(-> $ret)?,
                 $(|$m|)? [$known, $addr, $bytes, $noted], $made, $answer);
        routine!(@counts true, $count_site, $probe, $first, $number, $by [$($own)?], ($($arg: $type),*) $(-> $ret)?,
                 $(|$m|)? [$known, $addr, $bytes, $noted], $made, $answer);
        routine!(@imp [$($mapped)?] $imp, $number, $timing, ($($arg: $type),*) $(-> $ret)?,
                 $(|$m|)? [$peer, $addr, $bytes] $call);
        routine!(@probe [#[unsafe(no_mangle)]], $probe, $imp, $first, $number, $timing,
                 ($($arg: $type),*) $(-> $ret)?, $(|$m|)? [$peer, $addr, $bytes]);
    };
    (@counts $with_site:literal, $name:ident, $placed:ident, $first:literal, $number:expr,
     $by:ident [$($own:expr)?], ($($arg:ident: $type:ty),*) $(-> $ret:ty)?,
     $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr, $noted:expr], $made:expr, $answer:expr) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($arg: $type),*) $(-> $ret)? {
            unsafe extern "C" {
                // The probe, or what leaves the call site first: that of the caller, since this is a jump.
                fn $placed($($arg: $type),*) $(-> $ret)?;
            }
            $(let $m = map();)?
            let (op, place) = (With::<{ recorded($first) }>(word_of($number)), ($peer, $addr, $bytes));
            if let Some(result) = recorder::count::$by::<$with_site, _>(op, place, $($own,)? || $made) {
                let () = $noted;
                return ($answer)(result);
            }
            // SAFETY: the arguments are the caller's.
            unsafe { $placed($($arg),*) }
        }
    };
    (unstamped $again:expr, $imp:ident, $probe:ident, $first:literal, $number:expr, $timing:ident,
     ($($arg:ident: $type:ty),*) $(-> $ret:ty)?, $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr] $call:expr
     $(, failed |$r:ident: $answer:ty| $failed:expr)?) => {
        routine!(@imp [] $imp, $number, $timing, ($($arg: $type),*) $(-> $ret)?,
                 $(|$m|)? [$peer, $addr, $bytes] $call);
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $probe($($arg: $type),*) $(-> $ret)? {
            routine!(@probe [], whole, $imp, $first, $number, $timing, ($($arg: $type),*) $(-> $ret)?,
                     $(|$m|)? [$peer, $addr, $bytes] $(, failed |$r: $answer| $failed)?);
            let op = With::<{ recorded($first) }>(word_of($number));
            if let Some(known) = $again
                && unstamped::begin(op, known, $addr, $bytes)
            {
                // SAFETY: the arguments are the caller's.
                let result = unsafe { $imp($($arg),*) };
                unstamped::leave(op, known);
                $(
                    let $r: $answer = result;
                    if $failed {
                        recorder::error(op.id());
                    }
                )?
                return result;
            }
            // A jump, which leaves the registers of the arguments alone.
            // SAFETY: the arguments are the caller's.
            unsafe { whole($($arg),*) }
        }
    };
    ($imp:ident, $probe:ident, $first:literal, $number:expr, $timing:ident, ($($arg:ident: $type:ty),*) $(-> $ret:ty)?,
     $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr] $call:expr
     $(, failed |$r:ident: $answer:ty| $failed:expr)?) => {
        routine!(@imp [] $imp, $number, $timing, ($($arg: $type),*) $(-> $ret)?,
                 $(|$m|)? [$peer, $addr, $bytes] $call);
        routine!(@probe [#[unsafe(no_mangle)]], $probe, $imp, $first, $number, $timing,
                 ($($arg: $type),*) $(-> $ret)?, $(|$m|)? [$peer, $addr, $bytes]
                 $(, failed |$r: $answer| $failed)?);
    };
    (@imp [$mapped:expr] $imp:ident, $number:expr, $timing:ident, ($($arg:ident: $type:ty),*) $(-> $ret:ty)?,
     $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr] $call:expr) => {
        #[inline(never)]
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $imp($($arg: $type),*) $(-> $ret)? {
            // Jumped to, with the arguments where they are: what is found at once saves no registers for it.
            #[cold]
            #[inline(never)]
            unsafe extern "C" fn other($($arg: $type),*) $(-> $ret)? {
                $(let $m = map();)?
                or_end(op($number), $call)
            }
            $(let $m = map();)?
            match $mapped {
                Some(result) => result,
                // SAFETY: the arguments are the caller's.
                None => unsafe { other($($arg),*) },
            }
        }
    };
    (@imp [] $imp:ident, $number:expr, $timing:ident, ($($arg:ident: $type:ty),*) $(-> $ret:ty)?,
     $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr] $call:expr) => {
        // Not once more in the probe.
        #[inline(never)]
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $imp($($arg: $type),*) $(-> $ret)? {
            $(let $m = map();)?
            // SAFETY: the caller vouches for the pointers that it gives, as the specification asks.
            or_end(op($number), unsafe { within!($timing, $number, [$peer, $addr, $bytes], $call) })
        }
    };
    (@probe [$($attribute:tt)*], $probe:ident, $imp:ident, $first:literal, $number:expr, $timing:ident,
     ($($arg:ident: $type:ty),*) $(-> $ret:ty)?, $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr]
     $(, failed |$r:ident: $answer:ty| $failed:expr)?) => {
        // Not in what is in front of it, which then need not save registers.
        #[inline(never)]
        $($attribute)*
        unsafe extern "C" fn $probe($($arg: $type),*) $(-> $ret)? {
            $(let $m = map();)?
            let op = With::<{ recorded($first) }>(word_of($number));
            // SAFETY: the arguments are the caller's.
            let call = move || unsafe { $imp($($arg),*) };
            let result = recorder::outlined::$timing(op, $peer, $addr, $bytes, call);
            $(
                let $r: $answer = result;
                if $failed {
                    recorder::error(op.id());
                } else if op.traits() & ALLOCATES != 0 {
                    recorder::given(op.id(), $bytes);
                }
            )?
            result
        }
    };
}

/// `intercepted!(name, |op| (parameters), |m| [peer, addr, bytes], args [dest, source, ctx, team], failed |r|
/// condition)`: a function that takes a call of any routine with these arguments past stacked tools and callbacks
/// ([`crate::dispatcher`]).
macro_rules! intercepted {
    ($name:ident, |$op:ident| ($($arg:ident: $type:ty),*), $(|$m:ident|)? [$peer:expr, $addr:expr, $bytes:expr],
     args [$dest:expr, $source:expr, $ctx:expr, $team:expr] $(, failed |$r:ident: $answer:ty| $failed:expr)?) => {
        pub(crate) unsafe fn $name(frame: &mut Frame, $op: u16) {
            #[allow(unused_mut)] // of a routine without arguments
            let mut arguments = Arguments::of(frame);
            // SAFETY: the caller vouches for it that these are the arguments of the call.
            $(let $arg: $type = unsafe { arguments.take() };)*
            $(let $m = map();)?
            let call = Call::new($op, ($peer, $addr, $bytes), ($dest, $source, $ctx, $team));
            dispatcher::pass_frame(&call, frame, &|frame| {
                // SAFETY: asked after the call, whose answer is of this type.
                false $(|| { let $r: $answer = unsafe { frame.answer() }; $failed })?
            });
        }
    };
}

/// `within!(timing, op, [peer, addr, bytes], expression)`: the expression, and for a routine that may wait a note
/// that the thread is in it.
macro_rules! within {
    (timed, $number:expr, [$peer:expr, $addr:expr, $bytes:expr], $call:expr) => {
        $crate::thread::within($crate::routine::op($number), move || ($peer, $addr, $bytes), || $call)
    };
    ($timing:ident, $number:expr, [$peer:expr, $addr:expr, $bytes:expr], $call:expr) => {
        $call
    };
}

/// The operation that is called.
#[inline(always)]
pub fn op(number: impl Number) -> u16 {
    number.op()
}

/// What the reduction or scan does.
#[inline(always)]
pub fn kernel(op: u16) -> Kernel {
    kernels::KERNELS[usize::from(kernels::OF[usize::from(op)])]
}

/// The same as the profile notes it.
#[inline(always)]
pub fn word_of(number: impl Number) -> u32 {
    number.word()
}

/// The one place where an implementation's result becomes what C sees: a value, what stands for an error, or the end of
/// the job.
#[inline(always)]
pub fn or_end<R: Answer>(op: u16, result: Result<R, Fault>) -> R {
    match result {
        Ok(value) => value,
        Err(fault) => end(op, fault),
    }
}

/// The result of a call that begins an operation: one that could not begin has no request, and the place for it says
/// so.
#[inline(always)]
pub fn begun<R>(request: *mut Request, result: Result<R, Fault>) -> Result<R, Fault> {
    result.inspect_err(|_| has_none(request))
}

#[cold]
#[inline(never)]
#[allow(unsafe_code)]
fn has_none(request: *mut Request) {
    if !request.is_null() {
        // SAFETY: not null; the caller vouches for a handle there.
        unsafe { request.write_unaligned(Request::INVALID) };
    }
}

/// A call cannot be carried out.
#[cold]
#[inline(never)]
pub fn end<R: Answer>(op: u16, fault: Fault) -> R {
    if !R::tells(op) {
        recorder::error_of(op);
    }
    R::of(errors::happened(Some(op), fault), op)
}

/// The result of a call on a team, whose handler an error is for.
#[inline(always)]
pub fn on_team<R>(team: Team, result: Result<R, Fault>) -> Result<R, Fault> {
    result.map_err(|fault| fault.on_team(team.bits()))
}

/// What the generated files use.
pub mod prelude {
    pub use std::ffi::{
        c_char, c_int, c_long, c_longlong, c_schar, c_short, c_uchar, c_uint, c_ulong, c_ulonglong, c_ushort, c_void,
    };

    pub use pellucid_core::context::{Ctx, bytes, near, unmapped, world_pe};
    pub use pellucid_core::runtime::world as map;
    pub use pellucid_profile::op::{ALLOCATES, Operation, With, elem, recorded};
    pub use pellucid_profile::recorder;
    pub use pellucid_profile::recorder::unstamped::{self, thread_again, world_again};

    pub use super::{begun, kernel, on_team, op, or_end, word_of};
    pub use crate::dispatcher::{self, Call, Tool};
    pub use crate::frame::{Arguments, Frame};
    pub use crate::seen::{
        note_if_kept, of_aset, of_file, of_set, of_space, of_team, of_world, on, rooted, rooted_again, team_again,
    };
    pub use crate::shim::by_value::*;
    pub use crate::types::{
        Aset, ComplexDouble, ComplexFloat, ErrorHandler, ErrorInfo, File, LongDouble, Offset, OffsetFunction,
        ReqHandle, RequestHandle, SessionConfig, SignedSize, Space, SpaceConfig, Team, TeamConfig, W128, word,
    };
}
