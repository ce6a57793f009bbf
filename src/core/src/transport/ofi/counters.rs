//! Counters of what goes over the network.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($name:ident, $text:literal;)*) => {
        /// What a fabric has done so far; read at any time by whoever wants to know.
        #[derive(Debug, Default)]
        pub struct NetworkCounters {
            $($name: AtomicU64,)*
        }

        impl NetworkCounters {
            $(
                #[doc = $text]
                pub fn $name(&self) -> u64 {
                    self.$name.load(Ordering::Relaxed)
                }
            )*

            /// All counters: name, meaning, value.
            pub fn rows(&self) -> Vec<(&'static str, &'static str, u64)> {
                vec![$((stringify!($name), $text, self.$name()),)*]
            }
        }

        /// Where the library counts.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(non_camel_case_types, missing_docs)]
        pub(super) enum Counter {
            $($name,)*
        }

        impl NetworkCounters {
            #[inline]
            fn cell(&self, which: Counter) -> &AtomicU64 {
                match which {
                    $(Counter::$name => &self.$name,)*
                }
            }
        }
    };
}

counters! {
    writes, "RMA writes posted.";
    reads, "RMA reads posted.";
    nic_atomics, "Atomics posted to the provider.";
    requests, "Active messages with puts, gets, atomics or signals sent.";
    request_entries, "Puts, gets, atomics and signals in these.";
    replies, "Replies to active messages sent.";
    messages, "Messages of collectives sent.";
    active_sent, "Active messages sent.";
    active_received, "Active messages received.";
    received, "Messages of all kinds received.";
    strangers, "Messages dropped that came from outside the job.";
    served, "Puts, gets, atomics and signals of others carried out here.";
    injects, "Operations whose data the provider copied at once.";
    retries, "Operations that the provider had no room for at first, and that were posted again.";
    bytes_out, "Bytes of data and messages sent.";
    bytes_in, "Bytes of messages and of results of reads received.";
    polls, "Looks at the completion queue.";
    naps, "Times the progress thread went to sleep.";
    peers, "PEs whose address was looked up.";
    lost, "Errors of sends that nobody waits for, such as a reply to a PE that has ended.";
}

impl NetworkCounters {
    /// Counts. Writers hold the fabric's lock, but for naps, which one thread counts: no read-modify-write is needed.
    #[inline]
    pub(super) fn add(&self, which: Counter, n: u64) {
        let cell = self.cell(which);
        cell.store(cell.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }
}
