//! Words for what a PE does.

use super::{PeNow, State};
use crate::report::{NoSymbols, Symbols, place};
use crate::segment::{CurrentOp, Phase, offset_in_memory};

/// `in shmem_barrier_all for 3.2 s; thread 71 in shmem_quiet for 1.0 s`
pub fn activity(pe: &PeNow) -> String {
    activity_at(pe, &NoSymbols)
}

/// As [`activity`], with source lines: `..., called from main at solve.c:44`.
pub fn activity_at(pe: &PeNow, symbols: &dyn Symbols) -> String {
    let operation = |pe: &PeNow, current: &CurrentOp| operation(pe, current, symbols);
    // Without a profile, what a thread did last is long ago; a wait that it is in is shown all the same.
    let is_known = |first: &&CurrentOp| pe.recorded || pe.state != State::Running || first.phase == Phase::Inside;
    let Some(first) = pe.threads.first().filter(is_known) else {
        return match pe.state {
            State::Absent => "has not called shmem_init",
            State::Starting => "in shmem_init",
            State::Running if !pe.recorded => "does not wait; the profile is off, so that no more is known",
            State::Running => "has called nothing since shmem_init",
            State::Finalized => "after shmem_finalize",
            State::Ended => "has ended",
            State::Stopped if !pe.recorded => "stopped (by a signal or a debugger)",
            State::Stopped => "stopped, before its first call",
        }
        .to_owned();
    };
    let mut text = match pe.state {
        State::Finalized => return "after shmem_finalize".to_owned(),
        State::Ended => format!("has ended; it was {}", operation(pe, first)),
        State::Stopped => format!("stopped (by a signal or a debugger); {}", operation(pe, first)),
        _ => operation(pe, first),
    };
    for other in pe.threads.iter().skip(1).filter(|other| other.phase == Phase::Inside).take(3) {
        text += &format!("; thread {} {}", other.thread, operation(pe, other));
    }
    // Those that the thread inside may wait for.
    if first.phase == Phase::Inside {
        for other in pe.threads.iter().filter(|other| other.phase != Phase::Inside).take(3) {
            let since = if other.phase == Phase::Returned { "outside of the library since" } else { "in or after" };
            text += &format!("; thread {} {since} {}", other.thread, other.routine);
        }
    }
    text
}

/// `in shmem_long_put (to PE 3, heap+0x40, 64 bytes) for 0.5 s, called from a.out+0x1234`
pub fn operation(pe: &PeNow, current: &CurrentOp, symbols: &dyn Symbols) -> String {
    let site = called_from(current, symbols);
    let routine = current.routine;
    let when = current.elapsed_ns.map(|ns| format!(" {}", seconds(ns))).unwrap_or_default();
    match (current.phase, pe.quiet_ns.filter(|ns| *ns >= QUIET_NS)) {
        (Phase::Inside, _) => {
            format!("in {routine}{} for{when}{site}", current.operands(|addr| object(pe, addr, symbols)))
        }
        (Phase::Returned, _) if !when.is_empty() => format!("{} for{when}, since {routine}{}", outside(pe), at(pe)),
        // Such a call takes nanoseconds, or it would be noted as one that waits.
        (_, Some(ns)) => {
            let longer = if pe.at_least { " or longer" } else { "" };
            format!("{} for {}{longer}, since {routine}{}", outside(pe), seconds(ns), at(pe))
        }
        (Phase::Entered, None) => {
            format!("in or after {routine}{}", current.operands(|addr| object(pe, addr, symbols)))
        }
        (Phase::Returned, None) => format!("{}, last in {routine}", outside(pe)),
    }
}

/// `in shmem_long_put (to PE 3, heap+0x40, 64 bytes), called from main at solve.c:44`: where a PE was when it ended.
pub fn last_operation(pe: &PeNow, current: &CurrentOp, symbols: &dyn Symbols) -> String {
    current.phrase(|addr| object(pe, addr, symbols)) + &called_from(current, symbols)
}

/// `, called from main at solve.c:44`; empty where that is not known.
fn called_from(current: &CurrentOp, symbols: &dyn Symbols) -> String {
    let site = current.site.as_ref().map(|(path, address)| place(Some((path, *address)), symbols));
    site.map(|place| format!(", called from {place}")).unwrap_or_default()
}

/// From when on a PE that is not seen to make a call computes.
const QUIET_NS: u64 = 100_000_000;

/// Where a PE is outside of the library.
fn at(pe: &PeNow) -> String {
    pe.place.as_ref().map(|place| format!(", in {place}")).unwrap_or_default()
}

fn outside(pe: &PeNow) -> &'static str {
    if pe.asleep { "asleep outside the library" } else { "computing" }
}

fn seconds(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

/// An address as an object in symmetric memory, by its name or an offset: what is the same on every PE.
pub fn object(pe: &PeNow, addr: u64, symbols: &dyn Symbols) -> String {
    let is_static = pe.symmetric(addr).is_some_and(|(memory, _)| memory != 0);
    let program = pe.program.as_ref().filter(|_| is_static);
    match program.and_then(|(path, base)| symbols.object(path, addr.checked_sub(*base)?)) {
        Some((name, 0)) => name,
        Some((name, within)) => format!("{name}+{within:#x}"),
        None => offset_in_memory(pe.memory, addr),
    }
}
