//! Where the program has made the call that a fault is about, for its message.

use std::time::Duration;

use pellucid_core::os::stack;
use pellucid_core::runtime::{self, Callers};
use pellucid_profile::recorder;
use pellucid_profile::text::{pe_list, with_line};

use crate::line;
use crate::stall;

/// How long a message waits for its line.
const LINE: Duration = Duration::from_millis(1500);
/// Between places that it may be.
const OR: char = '\n';
/// In an executable that this library is part of: functions between a routine and the program at most.
const BETWEEN: usize = 4;

/// Has messages of faults say where the call was made.
pub fn name() {
    runtime::name_callers(Callers { site, place, pes: pe_list });
}

/// Return addresses of the calling thread by their files: the first that is none of this library's. Where the library
/// is part of the executable, the file does not tell: then the first few behind the routine.
fn site() -> Option<String> {
    let (own, _) = recorder::in_file(site as *const () as u64)?;
    let calls = stack::calls();
    let file = |call: &usize| recorder::in_file(*call as u64);
    let shown = |(path, at): (String, u64)| format!("{path}+{at:#x}");
    let is_apart = own.rsplit('/').next().is_some_and(|name| name.starts_with("libsma.so"));
    if is_apart {
        return calls.iter().filter_map(file).find(|(path, _)| *path != own).map(shown);
    }
    let (_, behind) = stack::function(stall::body)?;
    let behind = calls.iter().skip_while(|call| **call != behind).filter_map(file).take(BETWEEN);
    let places: Vec<String> = behind.map(shown).collect();
    (!places.is_empty()).then(|| places.join(&OR.to_string()))
}

/// The first place whose function is known and not this library's, else the first one.
fn place(site: &str) -> String {
    let mut first = None;
    for place in site.split(OR) {
        let Some((path, address)) = place.rsplit_once("+0x") else { continue };
        let Ok(number) = u64::from_str_radix(address, 16) else { continue };
        first.get_or_insert_with(|| format!("{}+0x{address}", path.rsplit('/').next().unwrap_or(path)));
        let is_ours = |name: &String| {
            name.contains("pellucid_") || ["shmem_", "pshmem_"].iter().any(|ours| name.starts_with(ours))
        };
        if let Some(name) = line::of(path, number, LINE).filter(|name| !is_ours(name)) {
            return with_line(&name);
        }
    }
    with_line(&first.unwrap_or_default())
}
