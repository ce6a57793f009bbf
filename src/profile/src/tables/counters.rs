//! Hardware and software counters.

/// A hardware or software counter of a PE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// Name.
    pub name: String,
    /// Whether the system has it.
    pub available: bool,
    /// Why it is not available, or what is missing of it; may be empty.
    pub remark: String,
    /// All threads from initialization to the last reading, also those that never call the library.
    pub total: u64,
    /// Nanoseconds for which it was wanted.
    pub wanted_ns: u64,
    /// Nanoseconds for which the processor had room for it; where that is less, its values are estimates.
    pub counted_ns: u64,
}

/// What counters counted in the timed calls of a routine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterRoutine {
    /// C name.
    pub routine: String,
    /// Timed calls.
    pub calls: u64,
    /// A value of each of [`Counters::list`].
    pub values: Vec<u64>,
}

/// What counters counted in a region, without inner ones, by threads that call the library.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterRegion {
    /// Number of the region, an index of [`super::PeTables::regions`].
    pub region: u8,
    /// A value of each of [`Counters::list`].
    pub values: Vec<u64>,
    /// The part of it in timed calls.
    pub library: Vec<u64>,
}

/// Hardware and software counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Those that were asked for.
    pub list: Vec<Counter>,
    /// By routine.
    pub routines: Vec<CounterRoutine>,
    /// By region.
    pub regions: Vec<CounterRegion>,
}
