//! What is known of a PE as a process, and what its program says of itself: regions and markers.

use crate::timeline::KINDS;

/// A named region, summed over the threads of a PE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Name; empty for what is outside all regions.
    pub name: String,
    /// How often it was begun.
    pub entries: u64,
    /// From begin to end, in nanoseconds.
    pub total_ns: u64,
    /// The part of it outside inner regions.
    pub own_ns: u64,
    /// Longest time from begin to end.
    pub max_ns: u64,
    /// Begins without an end when the numbers were read.
    pub open: u64,
}

/// Values that the program marked with a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marker {
    /// Name.
    pub name: String,
    /// How often.
    pub count: u64,
    /// Sum.
    pub sum: f64,
    /// Least.
    pub min: f64,
    /// Greatest.
    pub max: f64,
    /// Last.
    pub last: f64,
}

/// What a PE did over time, summed over its threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Begin of the first slice, in nanoseconds since the job's start.
    pub begin_ns: u64,
    /// Width of a slice in nanoseconds.
    pub width_ns: u64,
    /// Time in each slice by kind, in nanoseconds: in the library moving data, waits and locks, barriers and
    /// collectives; and at level 0, which is 0 in profiles of earlier versions.
    pub slices: Vec<[u64; KINDS]>,
}

/// What the system gave the PE, and what its process took of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct System {
    /// Processors that the host's PEs may take between them; 0 where not known, as in profiles of earlier versions.
    pub cores: u32,
    /// Processors that the PE may run on.
    pub allowed: u32,
    /// Processors' worth of time that its control group may take; 0: no limit, or not known.
    pub quota: u32,
    /// Time between initialization and finalization in which the level was 0, in nanoseconds; 0 in profiles of earlier
    /// versions. No other time is of it.
    pub unrecorded_ns: u64,
    /// What asking an interpreter for the lines of its script took, in nanoseconds: a part of what profiling took. 0 in
    /// profiles of earlier versions.
    pub script_ns: u64,
    /// Lives of the threads that call the library, between initialization and finalization, in nanoseconds.
    pub threads_ns: u64,
    /// How long these threads stood in a run queue, ready to run and without a processor, in nanoseconds; `None` where
    /// the kernel does not say.
    pub queued_ns: Option<u64>,
    /// How long its process had stood in a run queue when it came to its initialization, in nanoseconds; 0 where that
    /// is not known, as in profiles of earlier versions.
    pub queued_before_ns: u64,
    /// How long its threads were on no core while they waited for long, in nanoseconds.
    pub off_core_ns: u64,
    /// What its threads did outside of the library; `None` where it has but one, and in profiles of earlier versions.
    pub outside: Option<Outside>,
    /// How long threads of the process that never call the library were on cores, in nanoseconds; 0 where there are
    /// none, and in profiles of earlier versions. How long they stood in line for one is not known.
    pub helpers_ns: u64,
    /// First address and bytes of the symmetric heap, then of the static objects.
    pub memory: [u64; 4],
    /// Bytes in objects of the symmetric heap, and the most there ever were.
    pub heap_used: u64,
    /// See [`Self::heap_used`].
    pub heap_most: u64,
    /// What the kernel counted for the process since it was initialized, as of the last look at it.
    pub usage: Usage,
}

impl System {
    /// Whether the PE's host has no more cores for it and the others because their control group may not take more.
    pub fn has_quota_of_cores(&self) -> bool {
        self.quota > 0 && self.quota == self.cores
    }
}

/// What threads did outside of the library, together, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// How long they were on cores or in line for one.
    pub work_ns: u64,
    /// How long they stood in line for one, as far as is known.
    pub queued_ns: u64,
}

/// What the kernel counted for a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time on a processor in user mode, in nanoseconds.
    pub user_ns: u64,
    /// Time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Pages that were found in memory, and pages that were read.
    pub page_faults: u64,
    /// How often it gave its processor away by itself: to wait, to yield.
    pub voluntary_switches: u64,
    /// How often another process took its processor.
    pub involuntary_switches: u64,
}

/// What recording costs, measured when the PE started, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// A call that is only counted.
    pub counted_ns: f64,
    /// The same of an atomic operation, and of a copy of a kilobyte or more; zeros where that was not measured.
    pub beside_ns: [f64; 2],
    /// A call that is timed.
    pub timed_ns: f64,
    /// A sample.
    pub sample_ns: f64,
}

impl Cost {
    /// A call that is timed in full.
    pub fn longest_ns(&self) -> f64 {
        self.timed_ns.max(self.sample_ns)
    }
}
