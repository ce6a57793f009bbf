//! The writing side: what the entry points inline around a routine.
//!
//! A call is counted when it is entered and timed when it returns. A thread writes with plain stores into a slot of its
//! own; on x86_64 each counter is one read-modify-write instruction, so a signal handler that calls the library between
//! two of them loses nothing. Threads that find no free slot record into a shared one with atomic additions: slower,
//! but as exact. Nothing here allocates, locks or (after a thread's first call) enters the kernel, but for a look at
//! what is loaded (`modules`) before a call site has its first row, and each 10 ms.

mod algorithms;
mod attach;
mod callers;
mod claim;
mod claims;
mod cold;
pub(crate) mod consumers;
mod contexts;
mod control;
mod cost;
pub mod count;
mod counted;
mod counting;
mod early;
mod flows;
mod heap;
mod hot;
mod interrupted;
mod limit;
mod lines;
mod locks;
mod longest;
mod meetings;
pub(crate) mod modules;
mod names;
mod nbi;
mod nested;
mod network;
pub mod outlined;
#[cfg(feature = "counters")]
mod perf;
mod rates;
mod read;
mod recent;
mod release;
mod replaced;
mod requests;
mod script;
mod sites;
mod slow_wait;
mod stall;
mod stays;
mod system;
mod timeline;
mod tls;
mod unrecorded;
pub mod unstamped;
mod vain;
mod waits;
mod warm_up;

#[cfg(test)]
mod count_tests;
#[cfg(test)]
mod counted_tests;
#[cfg(test)]
mod heap_tests;
#[cfg(test)]
mod interrupted_tests;
#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod sampling_tests;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod threads_tests;
#[cfg(test)]
mod unrecorded_tests;
#[cfg(test)]
mod waits_tests;
#[cfg(test)]
mod warm_up_tests;

pub use crate::arm::counts_only;
pub use algorithms::{algorithm, algorithm_names};
pub use attach::{
    Mark, attach, attach_private, began, detach, detach_after_fork, is_attached, level, mark, set_level, shared_segment,
};
pub use callers::stack_source;
pub use claim::observe_threads;
pub use contexts::{context, context_column, context_default, context_made};
pub use control::{
    Flush, ends_job, failed_at, flush, innermost_region, is_last_kept, keeps_last, left_out, marker, region_begin,
    region_end, set_sampling,
};
#[cfg(feature = "counters")]
pub use counting::count;
pub use heap::{given, heap_in_use, memory};
pub use interrupted::{Remembered, look as wait_looks};
pub use limit::set_exact_sites;
pub use locks::{lock_released, lock_taken};
pub use meetings::{NO_TEAM, rooted, team};
pub use nested::{
    enter, exclusive_wait, is_in_timed_call, leave, nested, sampled_after, sampled_in_wait, sized_after, waits_on,
};
pub use network::{NetworkCounters, network_source, publish_network};
pub use script::script_source;
pub use system::note_processors;
pub use tls::set_site;

pub use hot::{Stamp, error, record, sampled, sized, timed};
pub use read::{current_op, in_file, read};
pub use requests::{error_code, error_of, request_ended, request_time};
pub use stall::{Shown, may_stall, stall, stall_over, waits_for};
pub use vain::goes_on as wait_goes_on;
pub use waits::{begins as wait_begins, counts as wait_counts, stamps_come_after};

pub(crate) use attach::{now, own_slot};
pub(crate) use claim::{is_own_or_free, slot_index};
pub(crate) use contexts::team_of;
pub(crate) use tls::site;
