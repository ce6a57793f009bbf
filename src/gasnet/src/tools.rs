//! GASNet tools that are functions of the library: environment, the process, time, texts. The rest is in
//! `gasnet_tools.h`.
#![allow(unsafe_code)]

use crate::fail::refuse;
use crate::number::{self, in_words};
use crate::settings;
use pellucid_core::os::process;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// # Safety
/// A string of C, or null.
pub unsafe fn text(at: *const c_char) -> Option<String> {
    // SAFETY: the caller's.
    (!at.is_null()).then(|| unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned())
}

/// # Safety
/// As [`text`].
unsafe fn variable(name: *const c_char) -> Option<String> {
    // SAFETY: the caller's.
    let value = std::env::var(unsafe { text(name)? }).ok()?;
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// `gasnett_getenv`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: the caller's.
    unsafe { libc::getenv(name) }
}

/// `gasnett_setenv`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_setenv(name: *const c_char, value: *const c_char) {
    // SAFETY: the caller's.
    unsafe { libc::setenv(name, value, 1) };
}

/// `gasnett_unsetenv`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_unsetenv(name: *const c_char) {
    // SAFETY: the caller's.
    unsafe { libc::unsetenv(name) };
}

/// `gasnett_getenv_withdefault`: what is taken is shown where that is asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_getenv_withdefault(name: *const c_char, otherwise: *const c_char) -> *mut c_char {
    // SAFETY: strings of C, or null, says the caller.
    unsafe {
        let set = libc::getenv(name);
        let value = if set.is_null() { otherwise.cast_mut() } else { set };
        gasnett_envstr_display(name, value, set.is_null().into());
        value
    }
}

/// `gasnett_getenv_yesno_withdefault`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_getenv_yesno_withdefault(name: *const c_char, otherwise: c_int) -> c_int {
    // SAFETY: the caller's.
    let Some(value) = (unsafe { variable(name) }) else { return otherwise };
    match value.to_ascii_lowercase().as_str() {
        "y" | "yes" | "1" | "true" | "on" => 1,
        "n" | "no" | "0" | "false" | "off" => 0,
        _ => refuse("gasnett_getenv_yesno_withdefault", format!("the value {value} is neither yes nor no")),
    }
}

/// `gasnett_getenv_int_withdefault`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_getenv_int_withdefault(name: *const c_char, otherwise: i64, unit: u64) -> i64 {
    // SAFETY: the caller's.
    let Some(value) = (unsafe { variable(name) }) else { return otherwise };
    number::parse(&value, unit)
        .unwrap_or_else(|| refuse("gasnett_getenv_int_withdefault", format!("the value {value} is no number")))
}

/// `gasnett_getenv_dbl_withdefault`: fractions such as 1/3 count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_getenv_dbl_withdefault(name: *const c_char, otherwise: f64) -> f64 {
    // SAFETY: the caller's.
    let Some(value) = (unsafe { variable(name) }) else { return otherwise };
    let parsed = match value.split_once('/') {
        Some((over, under)) => {
            over.trim().parse::<f64>().ok().zip(under.trim().parse::<f64>().ok()).map(|(a, b)| a / b)
        }
        None => value.parse().ok(),
    };
    parsed.unwrap_or_else(|| refuse("gasnett_getenv_dbl_withdefault", format!("the value {value} is no number")))
}

/// `gasnett_parse_int`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_parse_int(from: *const c_char, unit: u64) -> i64 {
    // SAFETY: the caller's.
    let value = unsafe { text(from) }.unwrap_or_default();
    number::parse(&value, unit).unwrap_or_else(|| refuse("gasnett_parse_int", format!("{value} is no number")))
}

/// `gasnett_verboseenv`
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_verboseenv() -> c_int {
    settings::is_on("GASNET_VERBOSEENV").into()
}

/// Shows a variable's value on the first PE, where that is asked for.
fn display(name: Option<String>, value: &str, is_default: c_int) {
    let is_first = !crate::start::is_initialized() || pellucid_core::runtime::map().me == 0;
    if let Some(name) = name.filter(|_| is_first && settings::is_on("GASNET_VERBOSEENV")) {
        pellucid_core::say!("pellucid: {name}: {value}{}", if is_default != 0 { " (default)" } else { "" });
    }
}

/// `gasnett_envstr_display`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_envstr_display(name: *const c_char, value: *const c_char, is_default: c_int) {
    // SAFETY: strings of C, or null, says the caller; so below.
    unsafe { display(text(name), &text(value).unwrap_or_else(|| "not set".into()), is_default) };
}

/// `gasnett_envint_display`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_envint_display(name: *const c_char, value: i64, is_default: c_int, is_size: c_int) {
    // SAFETY: see above.
    unsafe { display(text(name), &in_words(value, is_size != 0), is_default) };
}

/// `gasnett_envdbl_display`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_envdbl_display(name: *const c_char, value: f64, is_default: c_int) {
    // SAFETY: see above.
    unsafe { display(text(name), &value.to_string(), is_default) };
}

/// Writes a text where there is room; gives its bytes, without the zero behind.
unsafe fn fill(buffer: *mut c_char, room: usize, text: &str) -> usize {
    if !buffer.is_null() && room > 0 {
        let bytes = text.len().min(room - 1);
        // SAFETY: the caller's room.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, bytes);
            buffer.add(bytes).write(0);
        }
    }
    text.len()
}

/// `gasnett_format_number`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_format_number(
    value: i64,
    buffer: *mut c_char,
    room: usize,
    is_size: c_int,
) -> *mut c_char {
    let text = in_words(value, is_size != 0);
    // SAFETY: the caller's.
    unsafe { fill(buffer, room, &text) };
    buffer
}

fn cached(cell: &'static OnceLock<CString>, make: impl FnOnce() -> String) -> *const c_char {
    cell.get_or_init(|| CString::new(make()).unwrap_or_default()).as_ptr()
}

/// `gasnett_gethostname`
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_gethostname() -> *const c_char {
    static NAME: OnceLock<CString> = OnceLock::new();
    cached(&NAME, process::host_name)
}

/// `gasnett_exe_name`
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_exe_name() -> *const c_char {
    static NAME: OnceLock<CString> = OnceLock::new();
    cached(&NAME, || std::env::current_exe().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default())
}

/// `gasnett_cpu_count`
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_cpu_count() -> c_int {
    // SAFETY: no memory is involved; so below.
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) as c_int }
}

/// `gasnett_getPhysMemSz`
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_getPhysMemSz(_: c_int) -> u64 {
    pellucid_core::os::cpu::memory_bytes() as u64
}

/// `gasnett_set_affinity`: binds this thread to one of the cores that it may run on.
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_set_affinity(rank: c_int) {
    // SAFETY: sets of processors, of the size that is told.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut allowed) != 0 {
            return;
        }
        let cores: Vec<usize> =
            (0..libc::CPU_SETSIZE as usize).filter(|core| libc::CPU_ISSET(*core, &allowed)).collect();
        let Some(core) = cores.get(rank.unsigned_abs() as usize % cores.len().max(1)) else { return };
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(*core, &mut one);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const one);
    }
}

/// `gasnett_flush_streams`: all of them, so that it waits for a thread that reads from one, as `fflush` does.
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_flush_streams() {
    // SAFETY: a null stream means all of them.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}

/// `gasnett_mmap`
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_mmap(bytes: usize) -> *mut c_void {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: fresh memory.
    unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) }
}

/// `gasnett_checksum`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_checksum(data: *const c_void, bytes: usize) -> u64 {
    // SAFETY: as many bytes, says the caller.
    let data: &[u8] = if bytes == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data.cast(), bytes) } };
    pellucid_profile::hash::fnv1a(data)
}

/// `gasnett_getheapstats`: nonzero, as memory is the C library's, which is not counted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_getheapstats(stats: *mut [u64; 9]) -> c_int {
    // SAFETY: room for the answer, says the caller.
    unsafe { stats.write([0; 9]) };
    1
}

/// `gasnett_ticks_now`
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_ticks_now() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: room for the time.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// `gasnett_tick_granularityus`
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_tick_granularityus() -> f64 {
    0.001
}

/// `gasnett_tick_overheadus`
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_tick_overheadus() -> f64 {
    const CALLS: u32 = 1000;
    let begin = Instant::now();
    for _ in 0..CALLS {
        std::hint::black_box(gasnett_ticks_now());
    }
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS)
}

/// `gasnett_gettimeofday_us`
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_gettimeofday_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

/// `gasnett_nsleep`
#[unsafe(no_mangle)]
pub extern "C" fn gasnett_nsleep(ns: u64) -> c_int {
    std::thread::sleep(Duration::from_nanos(ns));
    0
}

/// The names of the bits of a word.
fn names(word: u32, prefix: &str, names: &[&str]) -> String {
    let set = |bit: &usize| word & 1 << bit != 0;
    let name = |bit: usize| match names.get(bit) {
        Some(name) if !name.is_empty() => format!("{prefix}{name}"),
        _ => format!("{:#x}", 1u32 << bit),
    };
    let all: Vec<String> = (0..32).filter(set).map(name).collect();
    if all.is_empty() { "0".into() } else { all.join("|") }
}

/// Room that clients have for a text whose size they have asked for.
const ANY: usize = usize::MAX;

/// `gasnett_format_dt`: writes a text unless the buffer is null; gives its bytes with the zero behind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_format_dt(buffer: *mut c_char, dt: u32) -> usize {
    let text = names(dt, "GEX_DT_", &["I32", "U32", "I64", "U64", "FLT", "DBL", "USER"]);
    // SAFETY: the caller has room for what it was told before; so below.
    unsafe { fill(buffer, ANY, &text) + 1 }
}

/// `gasnett_format_op`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_format_op(buffer: *mut c_char, op: u32) -> usize {
    const OPS: [&str; 28] = [
        "AND", "OR", "XOR", "ADD", "SUB", "MULT", "MIN", "MAX", "INC", "DEC", "SET", "CAS", "USER", "USER_NC", "GET",
        "", "FAND", "FOR", "FXOR", "FADD", "FSUB", "FMULT", "FMIN", "FMAX", "FINC", "FDEC", "SWAP", "FCAS",
    ];
    // SAFETY: see above.
    unsafe { fill(buffer, ANY, &names(op, "GEX_OP_", &OPS)) + 1 }
}

/// `gasnett_format_ti`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_format_ti(buffer: *mut c_char, ti: u32) -> usize {
    let text = names(ti, "GEX_TI_", &["SRCRANK", "EP", "ENTRY", "IS_REQ", "IS_LONG"]);
    // SAFETY: see above.
    unsafe { fill(buffer, ANY, &text) + 1 }
}

fn blocks(list: &[(usize, usize)]) -> String {
    let words: Vec<String> = list.iter().map(|(at, bytes)| format!("{{{at:#x},{bytes}}}")).collect();
    format!("{} blocks, {} bytes: {}", list.len(), list.iter().map(|block| block.1).sum::<usize>(), words.join(", "))
}

/// # Safety
/// As many blocks.
unsafe fn block_list<'a>(list: *const c_void, count: usize) -> &'a [(usize, usize)] {
    // SAFETY: the caller's; a block is an address and a size.
    if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(list.cast(), count) } }
}

/// `gasnett_format_memveclist`: the bytes of the data that the list describes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_format_memveclist(buffer: *mut c_char, count: usize, list: *const c_void) -> usize {
    // SAFETY: the caller's; room as `gasnett_format_memveclist_bufsz` says.
    unsafe {
        let list = block_list(list, count);
        fill(buffer, count * 48 + 64, &blocks(list));
        list.iter().map(|block| block.1).sum()
    }
}

/// `gasnett_format_addrlist`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_format_addrlist(
    buffer: *mut c_char,
    count: usize,
    list: *const usize,
    bytes: usize,
) -> usize {
    // SAFETY: the caller's; room as `gasnett_format_addrlist_bufsz` says.
    unsafe {
        let list: &[usize] = if count == 0 { &[] } else { std::slice::from_raw_parts(list, count) };
        let words: Vec<String> = list.iter().map(|at| format!("{at:#x}")).collect();
        fill(buffer, count * 24 + 64, &format!("{count} of {bytes} bytes: {}", words.join(", ")));
    }
    count * bytes
}

/// `gasnett_format_putsgets`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnett_format_putsgets(
    buffer: *mut c_char,
    _: *mut c_void,
    rank: u32,
    dst_count: usize,
    dst: *const c_void,
    src_count: usize,
    src: *const c_void,
) -> usize {
    // SAFETY: the caller's; room as `gasnett_format_putsgets_bufsz` says.
    unsafe {
        let (dst, src) = (block_list(dst, dst_count), block_list(src, src_count));
        let text = format!("rank {rank}: to {}; from {}", blocks(dst), blocks(src));
        fill(buffer, (dst_count + src_count) * 48 + 192, &text);
        dst.iter().map(|block| block.1).sum()
    }
}

/// The end of `gasnett_fatalerror`, whose text `shim/fatal.c` has put together.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_fatal_text(from: *const c_char) -> ! {
    // SAFETY: a string of the shim's.
    refuse("gasnett_fatalerror", unsafe { text(from) }.unwrap_or_default())
}
