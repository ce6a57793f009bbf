//! By which transport a message goes, and where the data of a long one is.
#![allow(unsafe_code)]

use crate::base::{Cause, Fault};
use crate::memory::losses::Losses;
use crate::transport::shm::{Lanes, SharedMemory};
use crate::transport::{
    Channel, Completion, Incoming, Lane, LongTarget, MAX_ARGS, Outgoing, RemoteAddress, SegmentId, Transport,
};

/// What messages go through.
#[derive(Debug)]
pub struct MessagePaths {
    /// This PE.
    pub me: i32,
    /// PEs of the job.
    pub npes: i32,
    /// More PEs than cores.
    pub oversubscribed: bool,
    /// PEs with rings here.
    pub local: Option<&'static SharedMemory>,
    /// The others.
    pub remote: Option<&'static dyn Transport>,
    /// See [`Self::channel_for_data`].
    pub data: Channel,
    /// This PE's segments: number, first address, bytes.
    pub segments: Vec<(SegmentId, usize, usize)>,
    /// PEs that are lost, in a job that goes on without them.
    pub losses: Option<&'static Losses>,
}

impl MessagePaths {
    /// What data goes through that is there before a long message is sent: its own, since whoever replies would
    /// otherwise wait for what the program has under way as well. Where no more are to be had, it is the program's.
    pub fn channel_for_data(remote: Option<&dyn Transport>) -> Channel {
        remote.and_then(Transport::open_channel).unwrap_or(Channel::DEFAULT)
    }

    pub(super) fn is_lost(&self, pe: i32) -> bool {
        self.losses.is_some_and(|losses| losses.is_lost(pe))
    }

    #[inline(always)]
    pub(super) fn lanes(&self) -> Option<&Lanes> {
        self.local.and_then(SharedMemory::lanes)
    }

    /// The transport to a PE.
    #[inline]
    pub(super) fn way(&self, pe: i32) -> Result<&dyn Transport, Fault> {
        match (self.local, self.remote) {
            (Some(local), _) if self.lanes().is_some_and(|lanes| lanes.reaches(pe)) => Ok(local),
            (_, Some(remote)) if (pe as u32) < self.npes as u32 => Ok(remote),
            _ => Err(Fault::from(Cause::BadPe { arg: "pe", pe: pe.into(), npes: self.npes.into() })),
        }
    }

    #[inline]
    pub(super) fn try_send(&self, lane: Lane, pe: i32, message: &Outgoing<'_>) -> Result<bool, Fault> {
        if let Some(lanes) = self.lanes()
            && lanes.reaches(pe)
        {
            if lane == Lane::Request && !lanes.is_open(pe) {
                return Err(no_handlers(pe));
            }
            // Nobody takes it, and what is held for want of room keeps this PE from taking requests.
            if lane == Lane::Reply && self.is_lost(pe) {
                return Ok(true);
            }
            return Ok(lanes.try_send(lane, pe, message));
        }
        self.way(pe)?.try_send_message(lane, pe, message)
    }

    /// Checks a message against what can be sent.
    #[inline]
    pub(super) fn check(&self, pe: i32, message: &Outgoing<'_>) -> Result<(), Fault> {
        if message.args.len() > MAX_ARGS {
            let value = message.args.len() as i64;
            return Err(Fault::from(Cause::BadValue { arg: "args", value, expected: "at most 16 arguments" }));
        }
        if message.payload.is_empty() { Ok(()) } else { self.check_payload(pe, message) }
    }

    pub(super) fn check_payload(&self, pe: i32, message: &Outgoing<'_>) -> Result<(), Fault> {
        let (bytes, most) = (message.payload.len(), self.way(pe)?.message_limits().medium);
        if bytes <= most {
            return Ok(());
        }
        Err(Fault::from(Cause::Message(format!(
            "a payload of {bytes} bytes to PE {pe}: at most {most} are possible in a medium message; a long one may \
             have more"
        ))))
    }

    /// Brings the data of a long message to where it belongs. Gives what has to travel with the message, and the
    /// target.
    pub(super) fn place<'a>(&self, data: &'a [u8], to: RemoteAddress) -> Result<(&'a [u8], LongTarget), Fault> {
        let way = self.way(to.pe)?;
        let target = LongTarget { segment: to.segment, offset: to.offset as u64, bytes: data.len() as u64 };
        if !way.capabilities().puts_at_once && data.len() <= way.message_limits().medium {
            return Ok((data, target));
        }
        if !data.is_empty() {
            // SAFETY: the data are the caller's until the return, by which they are there.
            unsafe { way.put(self.data, to, data.as_ptr(), data.len(), Completion::Local)? };
        }
        way.quiet_pes(self.data, &mut std::iter::once(to.pe))?;
        Ok((&[], target))
    }

    /// Where the data of a long message is, which is there at the return.
    pub(super) fn arrived(&self, incoming: &Incoming<'_>) -> Result<(*mut u8, usize), Fault> {
        let LongTarget { segment, offset, bytes } = incoming.target;
        let own = self.segments.iter().find(|own| own.0 == segment);
        let room = own.and_then(|(_, _, len)| (*len as u64).checked_sub(offset)).filter(|room| bytes <= *room);
        let carried = incoming.payload.len() as u64;
        let (Some((_, base, _)), Some(_), true) = (own, room, carried == 0 || carried == bytes) else {
            return Err(Fault::from(Cause::Message(format!(
                "a long message of PE {} names {bytes} bytes at {offset} of segment {}: there are not as many",
                incoming.source, segment.0
            ))));
        };
        let at = (base + offset as usize) as *mut u8;
        // SAFETY: in a segment of this PE, as was just checked; others expect writes there at any time.
        unsafe { std::ptr::copy(incoming.payload.as_ptr(), at, incoming.payload.len()) };
        Ok((at, bytes as usize))
    }

    pub(super) fn all_handled(&self) -> Result<bool, Fault> {
        let local = self.lanes().is_none_or(|lanes| lanes.all_handled(|pe| self.is_lost(pe)));
        Ok(self.remote.map_or(Ok(true), |remote| remote.all_messages_handled())? && local)
    }
}

#[cold]
fn no_handlers(pe: i32) -> Fault {
    Fault::from(Cause::Message(format!(
        "PE {pe} has registered no handlers of active messages: all PEs register theirs, then synchronize, before \
         anyone sends"
    )))
}
