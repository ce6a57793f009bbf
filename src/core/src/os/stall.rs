//! Waits that have become long are told to whoever keeps what each thread does: for reports on jobs that hang. Nothing
//! is told of short ones, so that they cost nothing.

use std::sync::OnceLock;
use std::time::Instant;

/// What was kept before, for whoever keeps it to put back.
pub type Before = [u64; 5];

/// Who keeps it.
#[derive(Debug, Clone, Copy)]
pub struct Keeper {
    /// The calling thread has been waiting since then; the world number of the PE that it waits for, where it is one
    /// alone. `None`: nothing was noted.
    pub begin: fn(Instant, Option<u32>) -> Option<Before>,
    /// It waits no longer.
    pub end: fn(&Before),
}

static KEEPER: OnceLock<Keeper> = OnceLock::new();

/// Has long waits noted. The first caller wins.
pub fn keep_with(keeper: Keeper) {
    let _ = KEEPER.set(keeper);
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
