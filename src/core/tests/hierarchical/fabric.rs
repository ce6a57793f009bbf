//! A fabric in memory. Messages arrive after some polls of the receiver, in any order; puts are done at some poll of
//! the sender, in any order, and read their source then; a message that could be taken for another is an error.

use crate::random::Random;
use pellucid_core::base::{Cause, Fault};
use pellucid_core::transport::{
    Atomic, Capabilities, Channel, Completion, EventSlot, Incoming, Lane, MESSAGE, MessageLimits, Outgoing,
    RemoteAddress, SegmentId, SignalOp, Tag, Transport,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Polls that anything takes at most.
const LATE: u64 = 4;

#[derive(Debug)]
struct Message {
    from: i32,
    tag: Tag,
    payload: Vec<u8>,
    late: u64,
}

#[derive(Debug, Default)]
struct Mailbox {
    coming: Vec<Message>,
    here: HashMap<(i32, Tag), Vec<u8>>,
}

#[derive(Debug)]
pub struct Hub {
    /// Addresses of the PEs' heaps.
    pub heaps: Vec<usize>,
    pub heap_len: usize,
    mail: Vec<Mutex<Mailbox>>,
    /// Set when the job is to end: whoever waits gets a fault.
    pub stop: AtomicBool,
    pub messages: AtomicUsize,
    pub puts: AtomicUsize,
    pub gets: AtomicUsize,
}

impl Hub {
    pub fn new(heaps: Vec<usize>, heap_len: usize) -> Self {
        Self {
            mail: heaps.iter().map(|_| Mutex::default()).collect(),
            heaps,
            heap_len,
            stop: AtomicBool::new(false),
            messages: AtomicUsize::new(0),
            puts: AtomicUsize::new(0),
            gets: AtomicUsize::new(0),
        }
    }

    fn at(&self, place: RemoteAddress, bytes: usize) -> *mut u8 {
        assert_eq!(place.segment, SegmentId::HEAP);
        assert!(place.offset + bytes <= self.heap_len);
        (self.heaps[place.pe as usize] + place.offset) as *mut u8
    }

    /// Nothing that was sent is left.
    pub fn is_empty(&self) -> bool {
        self.mail.iter().all(|mail| {
            let mail = mail.lock().unwrap();
            mail.coming.is_empty() && mail.here.is_empty()
        })
    }
}

#[derive(Debug)]
struct Put {
    to: RemoteAddress,
    source: usize,
    bytes: usize,
    event: Option<EventSlot>,
}

/// One PE's end.
#[derive(Debug)]
pub struct End {
    pub hub: Arc<Hub>,
    pub me: i32,
    puts: Mutex<(Vec<Put>, Random)>,
}

impl End {
    pub fn new(hub: Arc<Hub>, me: i32, seed: u64) -> Self {
        Self { hub, me, puts: Mutex::new((Vec::new(), Random::new(seed + me as u64))) }
    }

    fn unused<T>(&self) -> Result<T, Fault> {
        unreachable!("PE {}: collectives do not use this", self.me)
    }

    fn perform(&self, put: &Put) {
        // SAFETY: the sender keeps its source until it is quiet; places were checked.
        unsafe { std::ptr::copy(put.source as *const u8, self.hub.at(put.to, put.bytes), put.bytes) };
        if let Some(event) = put.event {
            event.end();
        }
    }
}

impl Transport for End {
    fn capabilities(&self) -> Capabilities {
        Capabilities { reaches_other_hosts: true, puts_at_once: false, atomics_with_cpu: false }
    }

    // Nobody knows of a PE that does not come: waits go on.
    fn ask(&self, _: Channel, _: i32, _: [u64; 3]) -> Result<u64, Fault> {
        Ok(0)
    }

    fn messages_handled_by(&self, _: i32) -> Option<bool> {
        Some(true)
    }

    fn progress(&self) -> bool {
        let mut mail = self.hub.mail[self.me as usize].lock().unwrap();
        let mut moved = false;
        let (mut i, mut puts) = (0, self.puts.lock().unwrap());
        while i < mail.coming.len() {
            if mail.coming[i].late == 0 {
                let message = mail.coming.swap_remove(i);
                let before = mail.here.insert((message.from, message.tag), message.payload);
                assert!(before.is_none(), "{} got two messages from {}: {:?}", self.me, message.from, message.tag);
                moved = true;
            } else {
                mail.coming[i].late -= 1;
                i += 1;
            }
        }
        let (list, random) = &mut *puts;
        if !list.is_empty() && random.below(LATE) == 0 {
            let put = list.swap_remove(random.below(list.len() as u64) as usize);
            self.perform(&put);
        }
        moved
    }

    fn message_limits(&self) -> MessageLimits {
        MessageLimits::default()
    }

    fn try_send_message(&self, _: Lane, _: i32, _: &Outgoing<'_>) -> Result<bool, Fault> {
        self.unused()
    }

    fn deliver_messages(
        &self,
        _: Lane,
        _: usize,
        _: &mut dyn FnMut(&mut Incoming<'_>) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        self.unused()
    }

    fn all_messages_handled(&self) -> Result<bool, Fault> {
        self.unused()
    }

    fn open_channel(&self) -> Option<Channel> {
        Some(Channel(1))
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
        bytes: usize,
        completion: Completion,
    ) -> Result<(), Fault> {
        self.hub.puts.fetch_add(1, Ordering::Relaxed);
        self.hub.at(to, bytes);
        let event = if let Completion::Event(event) = completion { Some(event) } else { None };
        if let Some(event) = event {
            event.begin();
        }
        self.puts.lock().unwrap().0.push(Put { to, source: source as usize, bytes, event });
        Ok(())
    }

    unsafe fn get(
        &self,
        _: Channel,
        dest: *mut u8,
        from: RemoteAddress,
        bytes: usize,
        _: Completion,
    ) -> Result<(), Fault> {
        self.hub.gets.fetch_add(1, Ordering::Relaxed);
        // SAFETY: `dest` is writable, says the caller; the place was checked.
        unsafe { std::ptr::copy(self.hub.at(from, bytes).cast_const(), dest, bytes) };
        Ok(())
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
        for put in self.puts.lock().unwrap().0.drain(..) {
            self.perform(&put);
        }
        Ok(())
    }

    fn quiet_pes(&self, _: Channel, _: &mut dyn Iterator<Item = i32>) -> Result<(), Fault> {
        self.unused()
    }

    fn send(&self, pe: i32, tag: Tag, payload: &[u8]) -> Result<(), Fault> {
        assert!(payload.len() <= MESSAGE);
        assert_ne!(pe, self.me, "a message to oneself");
        self.hub.messages.fetch_add(1, Ordering::Relaxed);
        let late = self.puts.lock().unwrap().1.below(LATE);
        let message = Message { from: self.me, tag, payload: payload.to_vec(), late };
        self.hub.mail[pe as usize].lock().unwrap().coming.push(message);
        Ok(())
    }

    fn take(&self, pe: i32, tag: Tag) -> Result<Option<Vec<u8>>, Fault> {
        if self.hub.stop.load(Ordering::Relaxed) {
            return Err(Fault::from(Cause::Network("the job ends".into())));
        }
        Ok(self.hub.mail[self.me as usize].lock().unwrap().here.remove(&(pe, tag)))
    }
}
