//! Where the program has made the call that a fault is about, for its message.

use std::time::Duration;

use pellucid_core::base::observer::Callers;
use pellucid_core::os::stack;
use pellucid_profile::recorder;
use pellucid_profile::text::{pe_list, with_line};

use crate::line;
use crate::stall;

/// How long a message waits for its line.
const LINE: Duration = Duration::from_millis(1500);
/// Between the functions of a place.
const INLINED: &str = ", inlined in ";
/// Between places that it may be.
const OR: char = '\n';
/// In an executable that this library is part of: functions between a routine and the program at most.
const BETWEEN: usize = 4;

/// Has messages of faults say where the call was made.
pub const CALLERS: Callers = Callers { site, place, lines, pes: pe_list };

/// Where the program has called this library, in words, if that is known in time.
pub fn caller(patience: Duration) -> Option<String> {
    site().map(|site| named(&site, patience))
}

/// The file that an address is from, and the address there; before there is a profile the loader tells.
fn in_file(address: usize) -> Option<(String, u64)> {
    let loaded = || stack::object(address).map(|(path, at)| (path, at as u64));
    recorder::in_file(address as u64).or_else(loaded)
}

/// Return addresses of the calling thread by their files: the first that is none of this library's. Where the library
/// is part of the executable, the file does not tell: then the first few behind the routine.
fn site() -> Option<String> {
    let (own, _) = in_file((site as *const ()).addr())?;
    let calls = stack::calls();
    let file = |call: &usize| in_file(*call);
    let shown = |(path, at): (String, u64)| format!("{path}+{at:#x}");
    let is_named = |start: &str| own.rsplit('/').next().is_some_and(|name| name.starts_with(start));
    let mut outside = calls.iter().filter_map(file).filter(|(path, _)| *path != own).map(shown);
    if is_named("libsma.so") {
        return outside.next();
    }
    // Calls of GASNet's may be functions of its headers, which are in the program.
    if is_named("libgasnet-") {
        let places: Vec<String> = outside.take(BETWEEN).collect();
        return (!places.is_empty()).then(|| places.join(&OR.to_string()));
    }
    // A routine that ends in the call which refuses its arguments is not on the stack any more.
    let behind = stack::function(stall::body).map(|(_, behind)| behind);
    let from = behind.and_then(|behind| calls.iter().position(|call| *call == behind));
    let most = if from.is_some() { BETWEEN } else { calls.len() };
    let places: Vec<String> = calls.iter().skip(from.unwrap_or(0)).filter_map(file).take(most).map(shown).collect();
    (!places.is_empty()).then(|| places.join(&OR.to_string()))
}

/// Whether the name of a function is one of this library's or of what it is made of. Where the linker gave it a suffix
/// it is as the compiler wrote it.
fn is_ours(name: &str) -> bool {
    let ours = [
        "shmem_",
        "pshmem_",
        "gex_",
        "gasnet_",
        "gasnett_",
        "sma::",
        "core::",
        "std::",
        "_ZN3sma",
        "_ZN4core",
        "_ZN3std",
        "_ZN15gasnet_",
        "_Unwind",
    ];
    name.contains("pellucid_") || ours.iter().any(|ours| name.trim_start_matches(['<', '&']).starts_with(ours))
}

/// The name of a place from the first of its functions on that is not this library's: what its headers have is inlined
/// in the program's.
fn of_program(mut name: &str) -> Option<&str> {
    while is_ours(name.split(" at ").next().unwrap_or(name)) {
        (_, name) = name.split_once(INLINED)?;
    }
    Some(name)
}

fn place(site: &str) -> String {
    named(site, LINE)
}

fn lines(calls: &[String]) -> Vec<Option<String>> {
    line::all(calls, LINE)
}

/// The source line of a call with a certain return address.
pub fn name_of(returns_to: usize) -> String {
    let place = in_file(returns_to).map(|(path, at)| format!("{path}+{at:#x}"));
    place.map_or_else(|| format!("{returns_to:#x}"), |place| named(&place, LINE))
}

/// The first place whose function is known and not this library's, else the first one.
fn named(site: &str, patience: Duration) -> String {
    let mut first = None;
    for place in site.split(OR) {
        let Some((path, address)) = place.rsplit_once("+0x") else { continue };
        let Ok(number) = u64::from_str_radix(address, 16) else { continue };
        first.get_or_insert_with(|| format!("{}+0x{address}", path.rsplit('/').next().unwrap_or(path)));
        let name = line::of(path, number, patience);
        if let Some(name) = name.as_deref().and_then(of_program) {
            return with_line(name);
        }
    }
    with_line(&first.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_headers_are_inlined_in_the_programs() {
        let of = |name| of_program(name);
        assert_eq!(of("asks at site.c:5"), Some("asks at site.c:5"));
        let inlined = "gex_AM_RequestShort0 at pellucid_gex_am.h:142, inlined in asks at site.c:5, inlined in main";
        assert_eq!(of(inlined), Some("asks at site.c:5, inlined in main"));
        assert_eq!(of("gex_a at x.h:1, inlined in gasnet_b at y.h:2"), None);
        assert_eq!(of("shmem_putmem"), None);
    }
}
