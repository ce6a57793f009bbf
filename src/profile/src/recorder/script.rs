//! Which lines of a script calls come from. An interpreter knows them; its own frames are code of C that tells nothing.
//!
//! A file of scripts is noted as if it were an object that is loaded where no object can be, a byte a line: so a line
//! is an address, and is kept, summed and looked up as others are (`report::script_line`).

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::names::locked;
use crate::clock;
use crate::segment::callers::DEPTH;
use crate::segment::layout::Region;
use crate::segment::names::Names;

/// Visits file and line of the scripts' functions that the calling thread is in, innermost first, while that gives
/// true.
pub type Script = fn(&mut dyn FnMut(&str, u32) -> bool);

static SCRIPT: OnceLock<Script> = OnceLock::new();
/// When that was set, by the clock of the system.
static SINCE: AtomicU64 = AtomicU64::new(0);
/// Percent of the time since then that asking may take, but for the first call from each place.
const PERCENT: u64 = 1;
/// What it may take of a short run as well, in nanoseconds: shares of callers are known by many calls only.
const LITTLE_NS: u64 = 1_000_000;

/// Addresses of the kernel, at which no process has code.
const FIRST: u64 = 0xffff_8000_0000_0000;
/// Of a file, those that have a number.
const LINES: u64 = 1 << 24;

/// From now on this one knows of scripts. Once a process.
pub fn script_source(script: Script) {
    SINCE.store(clock::monotonic_ns(), Relaxed);
    let _ = SCRIPT.set(script);
}

/// As [`places_now`]; notes what that takes, which of some interpreters is as much as thousands of calls. `None`:
/// nobody was asked, since it has taken its share of the run, and this is not the first call from its place.
pub(super) fn places(region: &Region, is_first: bool) -> Option<[u64; DEPTH]> {
    let Some(script) = SCRIPT.get() else { return Some([0; DEPTH]) };
    let (spent, begin) = (&region.head.script_ns, clock::monotonic_ns());
    if !is_first && !may_ask(spent.load(Relaxed), begin.saturating_sub(SINCE.load(Relaxed))) {
        return None;
    }
    let places = places_now(&region.names, *script);
    spent.fetch_add(clock::monotonic_ns().saturating_sub(begin), Relaxed);
    Some(places)
}

/// Of so many nanoseconds that were spent in so many.
fn may_ask(spent: u64, run: u64) -> bool {
    spent < LITTLE_NS || spent.saturating_mul(100) <= run.saturating_mul(PERCENT)
}

/// The lines by which a script has come to the call of now, innermost first, as addresses; 0: no more. Those of
/// installed packages are left out, since a package that calls the library for its users is none of theirs, unless
/// there are no others.
fn places_now(names: &Names, script: Script) -> [u64; DEPTH] {
    let (mut own, mut packages) = ([0; DEPTH], [0; DEPTH]);
    script(&mut |file, line| {
        if !file.ends_with(".py") {
            return true;
        }
        let list = if is_package(file) { &mut packages } else { &mut own };
        if let Some(place) = list.iter_mut().find(|place| **place == 0) {
            *place = address(names, file, line).unwrap_or(0);
        }
        own[DEPTH - 1] == 0
    });
    if own[0] == 0 { packages } else { own }
}

fn is_package(file: &str) -> bool {
    ["/site-packages/", "/dist-packages/", "/lib/python3"].iter().any(|folder| file.contains(folder))
}

/// What stands for a line: the address behind it, as the address to return to is behind a call.
fn address(names: &Names, file: &str, line: u32) -> Option<u64> {
    if u64::from(line) + 1 >= LINES {
        return None;
    }
    let base = base(names, file, false).or_else(|| locked(names, |names| base(names, file, true))?)?;
    Some(base + u64::from(line) + 1)
}

/// Where a file stands, which gets a place there where it may.
fn base(names: &Names, file: &str, may_add: bool) -> Option<u64> {
    for (number, module) in (0_u64..).zip(&names.modules) {
        let start = module.start.load(Relaxed);
        if start >= FIRST && module.path.is(file) {
            return Some(start);
        }
        if start == 0 {
            let base = FIRST + number * LINES;
            if !may_add {
                return None;
            }
            module.path.set(file);
            // A path that does not fit would be another one: the row stays free.
            if !module.path.is(file) {
                return None;
            }
            module.base.store(base, Relaxed);
            module.end.store(base + LINES, Relaxed);
            module.start.store(base, Relaxed);
            return Some(base);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_takes_a_hundredth_of_the_run_or_little_at_most() {
        let ms = |ms: u64| ms * 1_000_000;
        assert!(may_ask(0, 0) && may_ask(LITTLE_NS - 1, 0) && may_ask(ms(10), ms(1000)) && may_ask(0, u64::MAX));
        assert!(!may_ask(ms(11), ms(1000)) && !may_ask(LITTLE_NS, 0) && !may_ask(1 << 40, 1 << 41));
    }

    #[test]
    fn packages_are_told_from_scripts() {
        assert!(is_package("/venv/lib/python3.11/site-packages/shmem4py/shmem.py"));
        assert!(is_package("/usr/lib/python3/dist-packages/x.py") && is_package("/usr/lib/python3.11/runpy.py"));
        assert!(!is_package("heat.py") && !is_package("/home/me/examples/python/heat.py"));
    }
}
