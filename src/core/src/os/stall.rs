//! Waits that have become long are told to whoever keeps what each thread does: for reports on jobs that hang. Nothing
//! is told of short ones, so that they cost nothing.

use std::sync::OnceLock;
use std::time::Instant;

/// What was kept before, for whoever keeps it to put back.
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

/// Who keeps it.
#[derive(Debug, Clone, Copy)]
pub struct Keeper {
    /// The calling thread has been waiting since then; the world number of the PE that it waits for, where it is one
    /// alone. `None`: nothing was noted.
    pub begin: fn(Instant, Option<u32>) -> Option<Before>,
    /// The variable that it waits for has not changed as it should.
    pub condition: fn(&Condition),
    /// It waits no longer.
    pub end: fn(&Before),
}

static KEEPER: OnceLock<Keeper> = OnceLock::new();

/// Has long waits noted. The first caller wins.
pub fn keep_with(keeper: Keeper) {
    let _ = KEEPER.set(keeper);
}

/// Notes what the calling thread, whose wait has become slow, waits for.
#[cold]
pub fn waits_for(condition: &Condition) {
    if let Some(keeper) = KEEPER.get() {
        (keeper.condition)(condition);
    }
}

/// A wait that is noted, until this is dropped.
#[derive(Debug)]
pub struct Noted(Before);

impl Noted {
    /// Notes that the calling thread waits.
    #[cold]
    pub fn since(since: Instant, pe: Option<u32>) -> Option<Self> {
        (KEEPER.get()?.begin)(since, pe).map(Self)
    }
}

impl Drop for Noted {
    #[cold]
    fn drop(&mut self) {
        if let Some(keeper) = KEEPER.get() {
            (keeper.end)(&self.0);
        }
    }
}
