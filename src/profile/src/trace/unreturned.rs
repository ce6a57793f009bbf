//! The call that a thread was in when its PE ended: the launcher finds it in the profile's memory and keeps it in the
//! head of the thread's file.

use std::mem::offset_of;

use super::format::{TraceHead, UnreturnedCall};
use super::read::EventSite;
use crate::op;
use crate::tables::TeamKey;

/// Such a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreturned {
    /// Thread id.
    pub thread: u32,
    /// Operation id, in the table.
    pub op: u16,
    /// World number of the peer.
    pub peer: Option<u32>,
    /// Address argument; 0 where the routine has none.
    pub addr: u64,
    /// Bytes.
    pub bytes: u64,
    /// Of a collective: its team, where that is known.
    pub team: Option<TeamKey>,
    /// Where it would have returned to.
    pub site: Option<EventSite>,
    /// Begin, and the end of the PE, in ticks of its host.
    pub ticks: [u64; 2],
}

const AT: usize = offset_of!(TraceHead, unreturned);
const BYTES: usize = size_of::<UnreturnedCall>();

macro_rules! field {
    ($name:ident) => {
        AT + offset_of!(UnreturnedCall, $name)
    };
}

impl Unreturned {
    /// Writes it into the bytes of a head. A path that is too long is left out.
    pub(super) fn put(&self, head: &mut [u8]) {
        head[AT..AT + BYTES].fill(0);
        let mut put = |at: usize, bytes: &[u8]| head[at..at + bytes.len()].copy_from_slice(bytes);
        put(field!(begin), &self.ticks[0].to_le_bytes());
        put(field!(end), &self.ticks[1].to_le_bytes());
        put(field!(addr), &self.addr.to_le_bytes());
        put(field!(bytes), &self.bytes.to_le_bytes());
        put(field!(thread), &self.thread.to_le_bytes());
        put(field!(op), &u32::from(self.op).to_le_bytes());
        put(field!(peer), &self.peer.map_or(-1, |peer| peer as i32).to_le_bytes());
        let (id, start, stride, size) = self.team.unwrap_or_default();
        for (place, number) in [id as i32, start, stride, size].into_iter().enumerate() {
            put(field!(team) + 4 * place, &number.to_le_bytes());
        }
        let fits = |text: &str, field: usize| text.len() <= field;
        let site = self.site.as_ref().filter(|site| fits(&site.path, PATH) && fits(&site.build_id, BUILD_ID));
        if let Some(site) = site {
            put(field!(site), &site.address.to_le_bytes());
            put(field!(path), site.path.as_bytes());
            put(field!(build_id), site.build_id.as_bytes());
        }
    }

    /// What a head has; `None`: nothing, or nothing that makes sense.
    pub(super) fn of(head: &[u8]) -> Option<Unreturned> {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| head[at + i]));
        let half = |at: usize| i32::from_le_bytes(std::array::from_fn(|i| head[at + i]));
        let text = |at: usize, most: usize| {
            let field = head[at..at + most].split(|&byte| byte == 0).next().unwrap_or_default();
            String::from_utf8_lossy(field).into_owned()
        };
        let ticks = [word(field!(begin)), word(field!(end))];
        let op = u16::try_from(half(field!(op))).ok().filter(|&op| usize::from(op) < op::TOTAL)?;
        let team = std::array::from_fn(|place| half(field!(team) + 4 * place));
        let [id, start, stride, size]: [i32; 4] = team;
        let path = text(field!(path), PATH);
        let (address, build_id) = (word(field!(site)), text(field!(build_id), BUILD_ID));
        let site = EventSite { path: path.into(), build_id: build_id.into(), address };
        (ticks[0] != 0).then(|| Unreturned {
            thread: half(field!(thread)) as u32,
            op,
            peer: u32::try_from(half(field!(peer))).ok(),
            addr: word(field!(addr)),
            bytes: word(field!(bytes)),
            team: (size > 0).then_some((id as u32, start, stride, size)),
            site: (!site.path.is_empty()).then_some(site),
            ticks,
        })
    }
}

/// Bytes of the texts.
const PATH: usize = offset_of!(UnreturnedCall, build_id) - offset_of!(UnreturnedCall, path);
const BUILD_ID: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::format::HEAD_BYTES;

    #[test]
    fn what_is_put_is_read() {
        let mut head = vec![0; HEAD_BYTES];
        assert_eq!(Unreturned::of(&head), None);
        let site = EventSite { path: "/opt/é".into(), build_id: "0f".into(), address: 77 };
        let barrier = op::find("shmem_barrier_all").unwrap();
        let mut call = Unreturned {
            thread: 9,
            op: barrier,
            peer: None,
            addr: 1 << 40,
            bytes: 8,
            team: Some((3, 1, -2, 4)),
            site: Some(site.clone()),
            ticks: [5, 1 << 50],
        };
        for peer in [None, Some(0), Some(70_000)] {
            call.peer = peer;
            call.put(&mut head);
            assert_eq!(Unreturned::of(&head).as_ref(), Some(&call));
        }
        let long = EventSite { path: "x".repeat(PATH + 1).into(), ..site };
        (call.site, call.team) = (Some(long), None);
        call.put(&mut head);
        assert_eq!(Unreturned::of(&head), Some(Unreturned { site: None, ..call }));
        head[AT..AT + BYTES].fill(0xff);
        assert_eq!(Unreturned::of(&head), None, "no such routine");
    }
}
