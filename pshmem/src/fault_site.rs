//! Where the program has made the call that a fault is about, for its message.

use std::time::Duration;

use pellucid_core::base::observer::Callers;
use pellucid_core::os::{own_code, stack};
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
/// Functions between a routine and the program at most.
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

/// Return addresses of the calling thread: the first few that are none of this library's, as `FILE+0xADDRESS`. Where
/// the library is part of the executable, the file does not tell; where its code is does, or else the routine's.
fn site() -> Option<String> {
    let (own, _) = in_file((site as *const ()).addr())?;
    let calls = stack::calls();
    let places = |calls: &mut dyn Iterator<Item = usize>| -> Option<String> {
        let shown = |(path, at): (String, u64)| format!("{path}+{at:#x}");
        let places: Vec<String> = calls.filter_map(in_file).map(shown).take(BETWEEN).collect();
        (!places.is_empty()).then(|| places.join(&OR.to_string()))
    };
    let is_outside = |call: &usize| in_file(*call).is_some_and(|(path, _)| path != own);
    if is_shared(&own) {
        return places(&mut calls.into_iter().filter(is_outside));
    }
    let looked_at = &calls[..calls.len().min(u32::BITS as usize)];
    let ours = own_code::calls(looked_at, 0);
    if ours != 0 {
        let outside = looked_at.iter().enumerate().filter(|(at, _)| ours >> at & 1 == 0);
        return places(&mut outside.map(|(_, call)| *call));
    }
    // A routine that ends in the call which refuses its arguments is not on the stack any more.
    let behind = stack::function(stall::body).map(|(_, behind)| behind);
    let from = behind.and_then(|behind| calls.iter().position(|call| *call == behind));
    places(&mut calls.into_iter().skip(from.unwrap_or(0)))
}

/// Whether a file is a library, and not a program with this library in it.
fn is_shared(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or_default();
    ["libsma.so", "libgasnet-"].iter().any(|start| name.starts_with(start))
}

/// How the functions begin that the headers of GASNet-EX have.
const OF_HEADERS: [&str; 4] = ["gex_", "gasnet_", "gasnett_", "pellucid_"];

/// Whether a function, `NAME at FILE:LINE`, is of a header of this library's: calls of GASNet's may be functions of its
/// headers, and those of C++ be overloads, which are in the program.
fn is_of_header(function: &str) -> bool {
    let is_named = || OF_HEADERS.iter().any(|start| function.starts_with(start));
    let Some((_, place)) = function.rsplit_once(" at ") else { return is_named() };
    let file = place.split(':').next().unwrap_or_default();
    file.ends_with(".h") && (["shmem.h", "shmemx.h", "pshmem.h"].contains(&file) || is_named())
}

/// The name of a place from the first of its functions on that is not of a header: what is inlined in the program's.
fn of_program(mut name: &str) -> Option<&str> {
    while is_of_header(name.split(INLINED).next().unwrap_or(name)) {
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

/// The first place that is not a function of a header as a whole; else the first one.
fn named(site: &str, patience: Duration) -> String {
    let mut first = None;
    for place in site.split(OR) {
        let Some((path, address)) = place.rsplit_once("+0x") else { continue };
        let Ok(number) = u64::from_str_radix(address, 16) else { continue };
        first.get_or_insert_with(|| format!("{}+0x{address}", path.rsplit('/').next().unwrap_or(path)));
        let Some(name) = line::of(path, number, patience) else { break };
        if let Some(name) = of_program(&name) {
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
        assert_eq!(of("shmem_put(long*, long const*, unsigned long, int) at shmem.h:3158"), None);
    }

    #[test]
    fn functions_of_any_name_may_be_the_programs() {
        for name in ["shmem_halo at halo.c:3", "core::Solver::step(int) at ns.cpp:4", "std::f at shmem.cpp:1", "main"] {
            assert_eq!(of_program(name), Some(name));
        }
    }
}
