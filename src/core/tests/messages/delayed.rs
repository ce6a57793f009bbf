//! A transport that does to messages whatever it may: they come late, in any order, and requests are refused at times.
//! A put is carried out at some poll before the next quiet.
#![allow(unsafe_code)]

use super::job::Random;
use pellucid_core::base::Fault;
use pellucid_core::transport::{
    Atomic, Capabilities, Channel, Completion, Incoming, Lane, MessageLimits, Outgoing, Owned, RemoteAddress,
    SegmentId, SignalOp, Transport,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Requests that a PE has not handled, beyond which it is sent no more.
const ROOM: usize = 40;

struct Late {
    from: i32,
    message: Owned,
    polls: usize,
}

pub struct Hub {
    heaps: Vec<usize>,
    boxes: Vec<[Mutex<Vec<Late>>; 2]>,
    random: Mutex<Random>,
    /// Requests of each PE that are not handled.
    open: Vec<AtomicUsize>,
}

impl Hub {
    pub fn new(heaps: Vec<usize>) -> Arc<Self> {
        Arc::new(Self {
            boxes: heaps.iter().map(|_| Default::default()).collect(),
            open: heaps.iter().map(|_| AtomicUsize::new(0)).collect(),
            heaps,
            random: Mutex::new(Random(0x9e37_79b9)),
        })
    }

    fn below(&self, n: usize) -> usize {
        self.random.lock().unwrap().below(n)
    }
}

struct Put {
    to: usize,
    data: Vec<u8>,
}

pub struct End {
    hub: Arc<Hub>,
    me: i32,
    puts: Mutex<Vec<Put>>,
}

impl std::fmt::Debug for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "End of PE {}", self.me)
    }
}

impl End {
    pub fn new(hub: Arc<Hub>, me: i32) -> Self {
        Self { hub, me, puts: Mutex::default() }
    }

    fn perform(&self, put: &Put) {
        // SAFETY: tests stay in the heaps, which live for ever.
        unsafe { std::ptr::copy_nonoverlapping(put.data.as_ptr(), put.to as *mut u8, put.data.len()) };
    }

    fn unused<T>(&self) -> Result<T, Fault> {
        unreachable!("PE {}: active messages do not use this", self.me)
    }
}

impl Transport for End {
    fn capabilities(&self) -> Capabilities {
        Capabilities { reaches_other_hosts: true, puts_at_once: false, atomics_with_cpu: false }
    }

    fn progress(&self) -> bool {
        let mut puts = self.puts.lock().unwrap();
        let some = !puts.is_empty() && self.hub.below(4) == 0;
        if some {
            let i = self.hub.below(puts.len());
            let put = puts.swap_remove(i);
            self.perform(&put);
        }
        some
    }

    fn open_channel(&self) -> Option<Channel> {
        None
    }

    fn close_channel(&self, _: Channel) {}

    unsafe fn register(&self, _: SegmentId, _: *mut u8, _: usize) -> Result<Vec<u8>, Fault> {
        self.unused()
    }

    fn deregister(&self, _: SegmentId) {}

    fn introduce(&self, _: i32, _: SegmentId, _: &[u8]) -> Result<(), Fault> {
        self.unused()
    }

    unsafe fn put(
        &self,
        _: Channel,
        to: RemoteAddress,
        source: *const u8,
        n: usize,
        _: Completion,
    ) -> Result<(), Fault> {
        // SAFETY: readable, says the caller.
        let data = unsafe { std::slice::from_raw_parts(source, n) }.to_vec();
        self.puts.lock().unwrap().push(Put { to: self.hub.heaps[to.pe as usize] + to.offset, data });
        Ok(())
    }

    unsafe fn get(&self, _: Channel, _: *mut u8, _: RemoteAddress, _: usize, _: Completion) -> Result<(), Fault> {
        self.unused()
    }

    unsafe fn atomic(&self, _: Channel, _: RemoteAddress, _: Atomic, _: Completion) -> Result<(), Fault> {
        self.unused()
    }

    unsafe fn put_signal(
        &self,
        _: Channel,
        _: RemoteAddress,
        _: *const u8,
        _: usize,
        _: RemoteAddress,
        _: u64,
        _: SignalOp,
        _: Completion,
    ) -> Result<(), Fault> {
        self.unused()
    }

    fn fence(&self, _: Channel) -> Result<(), Fault> {
        self.unused()
    }

    fn quiet(&self, _: Channel) -> Result<(), Fault> {
        for put in self.puts.lock().unwrap().drain(..) {
            self.perform(&put);
        }
        Ok(())
    }

    fn quiet_pes(&self, channel: Channel, _: &mut dyn Iterator<Item = i32>) -> Result<(), Fault> {
        self.quiet(channel)
    }

    fn message_limits(&self) -> MessageLimits {
        MessageLimits { medium: 3000 }
    }

    fn try_send_message(&self, lane: Lane, to: i32, message: &Outgoing<'_>) -> Result<bool, Fault> {
        let target = &self.hub.boxes[to as usize][lane as usize];
        if lane == Lane::Request {
            if self.hub.below(3) == 0 || target.lock().unwrap().len() >= ROOM {
                return Ok(false);
            }
            self.hub.open[self.me as usize].fetch_add(1, Ordering::AcqRel);
        }
        let late = Late { from: self.me, message: Owned::new(message), polls: self.hub.below(6) };
        target.lock().unwrap().push(late);
        Ok(true)
    }

    fn deliver_messages(
        &self,
        lane: Lane,
        most: usize,
        run: &mut dyn FnMut(&mut Incoming<'_>) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        let mut count = 0;
        while count < most {
            let mut mine = self.hub.boxes[self.me as usize][lane as usize].lock().unwrap();
            mine.iter_mut().for_each(|late| late.polls = late.polls.saturating_sub(1));
            let ready: Vec<usize> = (0..mine.len()).filter(|i| mine[*i].polls == 0).collect();
            if ready.is_empty() {
                break;
            }
            let Late { from, mut message, .. } = mine.swap_remove(ready[self.hub.below(ready.len())]);
            drop(mine);
            let mut incoming = message.arrive(from);
            run(&mut incoming)?;
            // The end of the exchange: the reply's handler has run, or there is none.
            match lane {
                Lane::Request if !incoming.replied => self.hub.open[from as usize].fetch_sub(1, Ordering::AcqRel),
                Lane::Reply => self.hub.open[self.me as usize].fetch_sub(1, Ordering::AcqRel),
                Lane::Request => 0,
            };
            count += 1;
        }
        Ok(count)
    }

    fn all_messages_handled(&self) -> Result<bool, Fault> {
        Ok(self.hub.open[self.me as usize].load(Ordering::Acquire) == 0)
    }
}
