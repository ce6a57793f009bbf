//! Who is told of what happens in the library: the layer above it, which records it and finds words for it. Without
//! one, nothing is told and nothing is asked for.

use super::Fault;
use std::sync::OnceLock;
use std::time::Instant;

/// All that is told. Functions may be called before there is anything to record into, and by several threads at once.
#[derive(Debug, Clone, Copy)]
pub struct Observer {
    /// Bytes in use on the symmetric heap, after each change.
    pub heap_in_use: fn(usize),
    /// A new context: its number, then number, first PE, stride and size of its team.
    pub context_made: fn(usize, usize, (i32, i32, i32)),
    /// The thread's collective takes the algorithm of this place in `collectives::table`; where that is asked for
    /// (`team::tell_algorithms`).
    pub algorithm: fn(u8),
    /// Waits that have become long.
    pub waits: WaitObserver,
    /// Requests.
    pub requests: RequestObserver,
    /// What operations came to, where a call gives something else than that.
    pub faults: FaultObserver,
    /// Where calls were made.
    pub callers: Callers,
    /// Words for a call, by the number of its routine and its place.
    pub call_name: fn(u16, usize) -> String,
    /// Which routine a thread is in.
    pub routines: RoutineNames,
    /// Completes an initialization that the program has left open at its end: calls its argument, once.
    pub finish: fn(&mut dyn FnMut()),
    /// This process is about to end the job because of a fault, which no exit handler sees.
    pub failing: fn(),
}

/// What was noted of a wait before, for its observer to put back.
pub type Before = [u64; 5];

/// What a variable is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Condition {
    /// Where it is.
    pub addr: usize,
    /// Its bytes.
    pub bytes: usize,
    /// Whether it has a sign.
    pub signed: bool,
    /// The comparison, one of `SHMEM_CMP_`.
    pub cmp: i32,
    /// What it is compared with.
    pub wanted: u64,
    /// What it was at the last look.
    pub found: u64,
    /// Where it is one of several: how many, and whether all of them have to compare.
    pub set: Option<(usize, bool)>,
}

/// Who is told of waits that have become long.
#[derive(Debug, Clone, Copy)]
pub struct WaitObserver {
    /// The calling thread has been waiting since then; the world number of the PE that it waits for, where it is one
    /// alone. `None`: nothing was noted.
    pub begin: fn(Instant, Option<u32>) -> Option<Before>,
    /// The variable that it waits for has not changed as it should.
    pub condition: fn(&Condition),
    /// It waits no longer.
    pub end: fn(&Before),
}

/// A request that the program has ended. Times are the observer's.
#[derive(Debug, Clone, Copy)]
pub struct EndedRequest {
    /// The routine that began it, its number plus 1; 0: not known.
    pub routine: u32,
    /// From its begin to its completion, as far as the library has seen it.
    pub open: u64,
    /// The part of it that the program spent waiting for it.
    pub waited: u64,
    /// Who was waited for last; `None`: nobody, or it is not known.
    pub last: Option<u32>,
}

/// Who is told how long requests are under way, and whom a wait for one waits for.
#[derive(Debug, Clone, Copy)]
pub struct RequestObserver {
    /// The time; 0: nothing is kept.
    pub now: fn() -> u64,
    /// The routine that the calling thread is in, its number plus 1; 0: not known.
    pub routine: fn() -> u32,
    /// The calling thread waits for this PE in a request that such a routine has begun.
    pub waits: fn(Option<u32>, u32),
    /// A request is ended.
    pub ended: fn(&EndedRequest),
}

/// Who is told of faults that do not end the job, and says which would.
#[derive(Debug, Clone, Copy)]
pub struct FaultObserver {
    /// Keeps a fault as the last one of the calling thread, and gives its code.
    pub report: fn(&Fault) -> i32,
    /// The same of a call that is allowed.
    pub keep_allowed: fn(&Fault) -> i32,
    /// Whether a fault would end the job if it were told now.
    pub is_fatal: fn(&Fault) -> bool,
}

/// How the place of a call in the program is found.
#[derive(Debug, Clone, Copy)]
pub struct Callers {
    /// Where the calling thread has called the library: a file and an address in it, in one word.
    pub site: fn() -> Option<String>,
    /// What people call it, where there is time for it.
    pub place: fn(&str) -> String,
    /// The source lines that are known of some calls, each as `site` gives it.
    pub lines: fn(&[String]) -> Vec<Option<String>>,
    /// What people call some PEs.
    pub pes: fn(&[u32]) -> String,
}

/// Who knows which routine a thread is in, as a number of its own that is not 0, and the name of such a number.
#[derive(Debug, Clone, Copy)]
pub struct RoutineNames {
    /// Of the calling thread; 0 where it is not known.
    pub current: fn() -> u32,
    /// The routine's name.
    pub name: fn(u32) -> &'static str,
}

static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Has this one told. The first caller wins.
pub fn install(observer: Observer) {
    let _ = OBSERVER.set(observer);
}

/// Who is told, where there is somebody.
#[inline]
pub fn get() -> Option<&'static Observer> {
    OBSERVER.get()
}
