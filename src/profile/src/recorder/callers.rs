//! Who calls the functions that call the library: a wrapper would hide whose calls they are. The stack is walked at the
//! first call from a place, and at some of its samples and timed calls, ever fewer and at random: some hundred walks a
//! place, of a microsecond each. To ask an interpreter takes longer, up to thousands of times: see [`script::places`].

use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use super::hot::bump;
use super::{claim, script, tls};
use crate::arm;
use crate::hash::fibonacci;
use crate::segment::callers::{CallerRow, DEPTH, PROBES, place};
use crate::segment::layout::Slot;

/// Fills in where the calls of the calling thread return to, innermost first; gives how many. It allocates nothing.
pub type Stack = fn(&mut [usize]) -> usize;

static STACK: OnceLock<Stack> = OnceLock::new();

/// Frames that are looked at: those of the library come first.
const FRAMES: usize = 32;
/// Of so many samples, half as many again, twice as many ... as many are walked each time.
const WALKS: u64 = 32;

/// From now on this one walks stacks. Once a process.
pub fn stack_source(stack: Stack) {
    let _ = STACK.set(stack);
}

/// A sample of a call site that has had so many, which stands for `weight` calls.
#[inline]
pub(super) fn sampled(slot: &Slot, key: u64, samples: u32, weight: u64) {
    // By a hash, so that no pattern of the program falls in step with it: with a likelihood of `WALKS` in `samples`.
    let samples = u64::from(samples);
    let drawn = fibonacci(key ^ samples) >> 32;
    if samples > 1 && drawn * samples < WALKS << 32 {
        // It stands for those samples, too, that are not looked at.
        keep(slot, key, weight.saturating_mul(samples.div_ceil(WALKS)), false);
    }
}

/// Notes who called the function that calls from this site now, for the first time.
pub(super) fn note(slot: &Slot, key: u64) {
    keep(slot, key, 1, true);
}

/// As [`note`], of a call that stands for `weight`.
#[cold]
#[inline(never)]
fn keep(slot: &Slot, key: u64, weight: u64, is_first: bool) {
    let returns = returns(is_first);
    if returns[0] == 0 {
        return;
    }
    let first = place(key, &returns);
    for row in &slot.tables.callers[first..first + PROBES] {
        if row.key.load(Relaxed) == 0 {
            row.returns.iter().zip(returns).for_each(|(to, from)| to.store(from, Relaxed));
            row.key.store(key, Relaxed);
        }
        if is_it(row, key, &returns) {
            return bump(&row.times, weight);
        }
    }
}

/// Where the function that calls now returns to, or the line of its script; 0: not known.
pub(super) fn caller() -> u64 {
    returns(true)[0]
}

/// Where the function that calls now returns to, and those that called it, lines of scripts before functions; 0: no
/// more, or not known: of calls that are not the first from their place, a script's lines are looked for while that is
/// cheap.
fn returns(is_first: bool) -> [u64; DEPTH] {
    let Some(stack) = STACK.get().filter(|_| !arm::counts_only()) else { return [0; DEPTH] };
    match claim::region().map(|region| script::places(region, is_first)) {
        Some(None) => [0; DEPTH],
        Some(Some(returns)) if returns[0] != 0 => returns,
        _ => frames(*stack),
    }
}

/// Where the function that calls now returns to, and those that called it; 0: no more.
fn frames(stack: Stack) -> [u64; DEPTH] {
    let (mut calls, mut returns) = ([0_usize; FRAMES], [0_u64; DEPTH]);
    let count = stack(&mut calls).min(FRAMES);
    let site = tls::site() as usize;
    if let Some(at) = calls[..count].iter().position(|call| *call == site) {
        returns.iter_mut().zip(&calls[at + 1..count]).for_each(|(to, from)| *to = *from as u64);
    }
    returns
}

fn is_it(row: &CallerRow, key: u64, returns: &[u64; DEPTH]) -> bool {
    row.key.load(Relaxed) == key && row.returns.each_ref().map(|word| word.load(Relaxed)) == *returns
}
