//! PEs that are threads and send each other active messages.
#![allow(unsafe_code)]

use super::pes::{self, HEAP, Way};
use pellucid_core::am::{Handler, MessagePaths, Messages};
use pellucid_core::transport::SegmentId;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a PE waits for something, on a machine however busy.
const LONG: Duration = Duration::from_secs(300);

/// A PE of a test.
pub struct Pe {
    pub me: i32,
    pub npes: i32,
    pub messages: &'static Messages,
    pub heap: usize,
    /// All PEs are reached through memory.
    pub is_of_one_host: bool,
    /// What handlers count.
    pub counts: &'static [AtomicUsize; 8],
    meeting: Arc<Meeting>,
}

/// A barrier in which everyone goes on polling.
struct Meeting {
    arrived: AtomicUsize,
    npes: usize,
    /// A PE has panicked: nobody waits for it.
    failed: AtomicBool,
}

/// Lives as long as a PE's thread: tells the others where that panics.
pub struct Alarm<'a>(&'a Meeting);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.failed.store(true, Ordering::Release);
        }
    }
}

impl Pe {
    /// Registers a handler that gets the address of [`Self::counts`] as its context.
    pub fn register(&self, number: u16, name: &'static str, run: fn(&mut pellucid_core::am::Message<'_>, usize)) {
        let context = std::ptr::from_ref(self.counts) as usize;
        self.messages.register(number, Handler { name, run, context }).unwrap();
    }

    /// For the PE's thread to hold.
    pub fn alarm(&self) -> Alarm<'_> {
        Alarm(&self.meeting)
    }

    /// Waits for all PEs, and runs handlers meanwhile.
    pub fn barrier(&self) {
        let mine = self.meeting.arrived.fetch_add(1, Ordering::AcqRel);
        let round = (mine / self.meeting.npes + 1) * self.meeting.npes;
        self.until(|| self.meeting.arrived.load(Ordering::Acquire) >= round);
    }

    /// Polls until something is so.
    pub fn until(&self, is: impl Fn() -> bool) {
        let begin = Instant::now();
        while !is() {
            assert!(!self.meeting.failed.load(Ordering::Acquire), "PE {}: another PE has failed", self.me);
            assert!(begin.elapsed() < LONG, "PE {} of {} waits in vain; counts {:?}", self.me, self.npes, self.counts);
            if self.messages.poll().unwrap() == 0 {
                std::thread::yield_now();
            }
        }
    }

    pub fn count(&self, i: usize) -> usize {
        self.counts[i].load(Ordering::Acquire)
    }

    /// Bytes of the heap as they are now.
    pub fn bytes(&self, offset: usize, len: usize) -> Vec<u8> {
        // SAFETY: the tests stay in the heap; others write there, hence volatile.
        (0..len).map(|i| unsafe { ((self.heap + offset + i) as *const u8).read_volatile() }).collect()
    }
}

/// The counts that a handler was registered with.
pub fn counts(context: usize) -> &'static [AtomicUsize; 8] {
    // SAFETY: what `register` passes, which lives for ever.
    unsafe { &*(context as *const [AtomicUsize; 8]) }
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// PEs that know each other. They live for ever, as those of a process do.
pub fn job(way: &Way, npes: usize) -> Vec<Pe> {
    let meeting = Arc::new(Meeting { arrived: AtomicUsize::new(0), npes, failed: AtomicBool::new(false) });
    let pes: &'static Vec<pes::Pe> = leak(way.open(npes));
    let open = |pe: &'static pes::Pe| {
        let messages = leak(Messages::new());
        let remote = pe.remote.as_deref();
        messages.open(MessagePaths {
            me: pe.me,
            npes: pe.npes,
            oversubscribed: true,
            local: Some(&pe.local),
            remote,
            data: MessagePaths::channel_for_data(remote),
            segments: vec![(SegmentId::HEAP, pe.heap() as usize, HEAP)],
            losses: None,
        });
        Pe {
            me: pe.me,
            npes: pe.npes,
            messages,
            heap: pe.heap() as usize,
            is_of_one_host: remote.is_none(),
            counts: leak(Default::default()),
            meeting: meeting.clone(),
        }
    };
    pes.iter().map(open).collect()
}
