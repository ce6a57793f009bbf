//! What others reach of a PE.

use pellucid_core::transport::{Directory, Owned, SegmentId, Tag};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A PE.
pub struct Node {
    pub me: i32,
    /// First address and bytes.
    pub segments: Mutex<HashMap<SegmentId, (usize, usize)>>,
    pub directory: Directory,
    /// Active messages that have come, by lane.
    pub messages: [Mutex<Vec<Late>>; 2],
    /// Messages by tag that have come.
    pub mail: Mutex<Vec<Mail>>,
    /// Requests of this PE that are not handled, by receiver.
    pub unhandled: Mutex<HashMap<i32, usize>>,
}

/// An active message, after so many looks.
pub struct Late {
    pub from: Arc<Node>,
    pub message: Owned,
    pub polls: usize,
}

/// The same by tag.
pub struct Mail {
    pub from: i32,
    pub tag: Tag,
    pub payload: Vec<u8>,
    pub polls: usize,
}

impl Node {
    pub fn new(me: i32, segments: HashMap<SegmentId, (usize, usize)>, directory: Directory) -> Self {
        let (messages, mail, unhandled) = (Default::default(), Mutex::default(), Mutex::default());
        Self { me, segments: Mutex::new(segments), directory, messages, mail, unhandled }
    }

    pub fn count_request(&self, to: i32) {
        *self.unhandled.lock().unwrap().entry(to).or_default() += 1;
    }

    pub fn end_request(&self, to: i32) {
        let mut unhandled = self.unhandled.lock().unwrap();
        // One to a lost PE is counted no more.
        let Some(count) = unhandled.get_mut(&to) else { return };
        *count -= 1;
        if *count == 0 {
            unhandled.remove(&to);
        }
    }
}
