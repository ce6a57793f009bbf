//! Variables for tools, in the manner of MPI_T: what the profile counts on this PE, and what can be set at run time.
//!
//! The first few are control variables; then five for each operation, in the order of the operation table.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use pellucid_profile::histogram::{BUCKETS, bounds};
use pellucid_profile::op::{COUNT, OPS};
use pellucid_profile::{arm, recorder};

use crate::callbacks::{ENABLED, result};
use crate::generated::constants::SHMEMX_PCONTROL_DEFAULT;
use crate::stack;

const COUNTER: c_int = 0;
const HISTOGRAM: c_int = 1;
const CONTROL: c_int = 2;

/// `shmemx_var_info_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Info {
    size: usize,
    name: *const c_char,
    unit: *const c_char,
    description: *const c_char,
    kind: c_int,
    op: c_int,
    count: usize,
    writable: c_int,
}

/// A control variable.
struct Control {
    name: &'static CStr,
    unit: &'static CStr,
    description: &'static CStr,
    read: fn() -> i64,
    /// Gives whether it took the value.
    write: Option<fn(i64) -> bool>,
}

const CONTROLS: &[Control] = &[
    Control {
        name: c"profile.level",
        unit: c"level",
        description: c"profile of this PE: 0 off, 1 on, as shmem_pcontrol sets it",
        read: || i64::from(arm::level()),
        write: Some(|value| {
            let level = c_int::try_from(value).ok().filter(|level| (0..=SHMEMX_PCONTROL_DEFAULT).contains(level));
            level.map(crate::init::set_level).is_some()
        }),
    },
    Control {
        name: c"callbacks.enabled",
        unit: c"switch",
        description: c"0: no callback is told of calls that begin from now on, 1: as registered",
        read: || i64::from(ENABLED.load(Relaxed)),
        write: Some(|value| {
            if matches!(value, 0 | 1) {
                ENABLED.store(value == 1, Relaxed);
            }
            matches!(value, 0 | 1)
        }),
    },
    Control {
        name: c"tools.loaded",
        unit: c"tools",
        description: c"tools that SHMEM_TOOLS has put in a row",
        read: || stack::count() as i64,
        write: None,
    },
];

/// What is kept of each operation.
struct CountedValue {
    suffix: &'static str,
    unit: &'static CStr,
    description: &'static CStr,
    kind: c_int,
}

const COUNTED: [CountedValue; 5] = [
    CountedValue { suffix: "calls", unit: c"calls", description: c"calls of the routine on this PE", kind: COUNTER },
    CountedValue { suffix: "bytes", unit: c"B", description: c"bytes that these calls moved", kind: COUNTER },
    CountedValue { suffix: "errors", unit: c"calls", description: c"calls that reported failure", kind: COUNTER },
    CountedValue {
        suffix: "time",
        unit: c"ns",
        description: c"time in the routine; an estimate where calls are sampled",
        kind: COUNTER,
    },
    CountedValue {
        suffix: "latency",
        unit: c"calls",
        description: c"timed calls by latency in nanoseconds",
        kind: HISTOGRAM,
    },
];

/// Which variable a number is.
enum Which {
    Control(&'static Control),
    Op(u16, usize),
}

fn which(index: c_int) -> Option<Which> {
    let index = usize::try_from(index).ok()?;
    if let Some(control) = CONTROLS.get(index) {
        return Some(Which::Control(control));
    }
    let at = index - CONTROLS.len();
    (at < COUNT * COUNTED.len()).then(|| Which::Op((at / COUNTED.len()) as u16, at % COUNTED.len()))
}

fn name_of(op: u16, kept: usize) -> String {
    format!("{}.{}", OPS[usize::from(op)].name(), COUNTED[kept].suffix)
}

/// Names of operations and of their variables as C strings, made when first asked for.
fn names() -> &'static [CString] {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let c = |text: String| CString::new(text).unwrap_or_default();
        let operations = OPS.iter().map(|row| c(row.name().to_owned()));
        let variables = (0..COUNT as u16).flat_map(|op| (0..COUNTED.len()).map(move |kept| name_of(op, kept)));
        operations.chain(variables.map(c)).collect()
    })
}

/// The name of an operation as a C string that stays.
pub fn text(operation: &str) -> *const c_char {
    let at = OPS.iter().position(|row| row.name() == operation);
    at.map_or(std::ptr::null(), |at| names()[at].as_ptr())
}

/// Number of variables; they are numbered from 0.
#[unsafe(no_mangle)]
pub extern "C" fn shmemx_var_count() -> c_int {
    (CONTROLS.len() + COUNT * COUNTED.len()) as c_int
}

/// Describes a variable. `info->size` is the size of the caller's structure; as much is filled in.
///
/// # Safety
/// `info` is null or a structure of `info->size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shmemx_var_info(index: c_int, info: *mut Info) -> c_int {
    if info.is_null() {
        return result::BAD_ARGUMENT;
    }
    // SAFETY: at least its first word is there, as the caller promises.
    let size = unsafe { (&raw const (*info).size).read() };
    if size < size_of::<usize>() {
        return result::BAD_ARGUMENT;
    }
    let Some(which) = which(index) else { return result::NO_SUCH };
    let answer = match which {
        Which::Control(control) => Info {
            size,
            name: control.name.as_ptr(),
            unit: control.unit.as_ptr(),
            description: control.description.as_ptr(),
            kind: CONTROL,
            op: -1,
            count: 1,
            writable: c_int::from(control.write.is_some()),
        },
        Which::Op(op, at) => Info {
            size,
            name: names()[COUNT + usize::from(op) * COUNTED.len() + at].as_ptr(),
            unit: COUNTED[at].unit.as_ptr(),
            description: COUNTED[at].description.as_ptr(),
            kind: COUNTED[at].kind,
            op: c_int::from(op),
            count: if COUNTED[at].kind == HISTOGRAM { BUCKETS } else { 1 },
            writable: 0,
        },
    };
    // SAFETY: both have that many bytes.
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const answer).cast::<u8>(), info.cast::<u8>(), size.min(size_of::<Info>()));
    }
    result::SUCCESS
}

/// The variable of this name, or `SHMEMX_ERROR_NO_SUCH`.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shmemx_var_find(name: *const c_char) -> c_int {
    if name.is_null() {
        return result::BAD_ARGUMENT;
    }
    // SAFETY: a C string, as the caller promises.
    let name = unsafe { CStr::from_ptr(name) };
    if let Some(at) = CONTROLS.iter().position(|control| control.name == name) {
        return at as c_int;
    }
    let Some((routine, suffix)) = name.to_str().ok().and_then(|name| name.rsplit_once('.')) else {
        return result::NO_SUCH;
    };
    let op = OPS.iter().position(|row| row.name() == routine);
    let kept = COUNTED.iter().position(|kept| kept.suffix == suffix);
    match (op, kept) {
        (Some(op), Some(kept)) => (CONTROLS.len() + op * COUNTED.len() + kept) as c_int,
        _ => result::NO_SUCH,
    }
}

/// Reads up to `count` values of a variable. Gives how many there are to read, or an error. All are 0 without a
/// profile.
///
/// # Safety
/// `values` has room for `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shmemx_var_read(index: c_int, values: *mut i64, count: usize) -> c_int {
    let Some(which) = which(index) else { return result::NO_SUCH };
    if values.is_null() && count > 0 {
        return result::BAD_ARGUMENT;
    }
    // SAFETY: room for `count` values, as the caller promises; any length is fine where that is 0.
    let put = |at: usize, value: i64| unsafe {
        if at < count {
            values.add(at).write(value);
        }
    };
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    match which {
        Which::Control(control) => {
            put(0, (control.read)());
            1
        }
        Which::Op(op, at) => {
            let routine = recorder::read(op);
            let routine = routine.as_ref();
            if COUNTED[at].kind == HISTOGRAM {
                (0..BUCKETS.min(count)).for_each(|bucket| put(bucket, 0));
                let counts = routine.map_or(&[][..], |routine| routine.latency.counts());
                counts.iter().for_each(|&(bucket, calls)| put(usize::from(bucket), number(calls)));
                return BUCKETS as c_int;
            }
            let value = routine.map_or(0, |routine| match COUNTED[at].suffix {
                "calls" => routine.all_calls(),
                "bytes" => routine.all_bytes(),
                "errors" => routine.errors,
                _ => routine.total_ns,
            });
            put(0, number(value));
            1
        }
    }
}

/// Sets a control variable on this PE.
#[unsafe(no_mangle)]
pub extern "C" fn shmemx_var_write(index: c_int, value: i64) -> c_int {
    match which(index) {
        None => result::NO_SUCH,
        Some(Which::Control(Control { write: Some(write), .. })) => {
            if write(value) {
                result::SUCCESS
            } else {
                result::BAD_ARGUMENT
            }
        }
        Some(_) => result::READ_ONLY,
    }
}

/// Smallest and largest value that a bucket of a histogram counts.
///
/// # Safety
/// `low` and `high` are null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shmemx_var_bucket(index: c_int, bucket: usize, low: *mut i64, high: *mut i64) -> c_int {
    match which(index) {
        Some(Which::Op(_, at)) if COUNTED[at].kind == HISTOGRAM && bucket < BUCKETS => {}
        Some(_) => return result::BAD_ARGUMENT,
        None => return result::NO_SUCH,
    }
    let range = bounds(bucket);
    for (to, value) in [(low, range.0), (high, range.1)] {
        if !to.is_null() {
            // SAFETY: writable where it is not null, as the caller promises.
            unsafe { to.write(i64::try_from(value).unwrap_or(i64::MAX)) };
        }
    }
    result::SUCCESS
}
