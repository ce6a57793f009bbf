//! Perfetto's protobuf: track descriptors for PEs and threads, a slice a call, flow ids from updates to waits.

use std::collections::HashMap;
use std::io::{self, Write};

use pellucid_profile::file::ReadError;
use pellucid_profile::trace::read::{Event, Trace, TraceFileHeader, What};

use super::flows::Flows;
use super::protobuf::Message;
use super::regions::OpenRegions;
use super::rows;
use super::sites::Sites;

// Field numbers of perfetto/trace/trace.proto, trace_packet.proto, track_event/*.proto and interned_data.proto.
const TRACE_PACKET: u32 = 1;
const PACKET_TIMESTAMP: u32 = 8;
const PACKET_SEQUENCE: u32 = 10;
const PACKET_TRACK_EVENT: u32 = 11;
const PACKET_INTERNED: u32 = 12;
const PACKET_FLAGS: u32 = 13;
const PACKET_TRACK: u32 = 60;
const TRACK_UUID: u32 = 1;
const TRACK_PROCESS: u32 = 3;
const TRACK_THREAD: u32 = 4;
const TRACK_PARENT: u32 = 5;
const PROCESS_PID: u32 = 1;
const PROCESS_NAME: u32 = 6;
const THREAD_PID: u32 = 1;
const THREAD_TID: u32 = 2;
const THREAD_NAME: u32 = 5;
const INTERNED_CATEGORIES: u32 = 1;
const INTERNED_NAMES: u32 = 2;
const INTERNED_ANNOTATIONS: u32 = 3;
const EVENT_CATEGORY: u32 = 3;
const EVENT_ANNOTATION: u32 = 4;
const EVENT_TYPE: u32 = 9;
const EVENT_NAME: u32 = 10;
const EVENT_TRACK: u32 = 11;
const EVENT_FLOW: u32 = 47;
const EVENT_FLOW_END: u32 = 48;
const ANNOTATION_NAME: u32 = 1;
const ANNOTATION_BOOL: u32 = 2;
const ANNOTATION_UINT: u32 = 3;
const ANNOTATION_INT: u32 = 4;
const ANNOTATION_TEXT: u32 = 6;
const ANNOTATION_POINTER: u32 = 7;

const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const INSTANT: u64 = 3;
/// What is interned begins anew here.
const CLEARED: u64 = 1;
/// Uses what was interned.
const NEEDS: u64 = 2;

/// Names of annotations, interned under their number plus 1.
const ANNOTATIONS: [&str; 10] =
    ["peer", "bytes", "address", "value", "calls", "context", "root", "team", "site", "returned"];
const TEAM: u64 = 8;
const SITE: u64 = 9;
const RETURNED: u64 = 10;

/// A sequence of packets: one a file of the trace. Names are sent once and referred to.
struct Sequence<'a> {
    facts: &'a TraceFileHeader,
    sites: &'a Sites,
    id: u64,
    names: HashMap<String, u64>,
    categories: HashMap<&'static str, u64>,
    threads: HashMap<u32, u64>,
    /// By thread.
    regions: HashMap<u32, OpenRegions>,
}

/// Writes the trace.
pub(super) fn write(trace: &Trace, problems: &mut Vec<ReadError>, out: &mut dyn Write) -> io::Result<()> {
    let (flows, sites) = (Flows::find(trace, problems), Sites::default());
    for (number, file) in trace.files.iter().enumerate() {
        let mut sequence = Sequence {
            facts: &file.facts,
            sites: &sites,
            id: number as u64 + 1,
            names: HashMap::new(),
            categories: HashMap::new(),
            threads: HashMap::new(),
            regions: HashMap::new(),
        };
        let mut result = sequence.begin(out);
        let mut event_number = 0;
        file.for_each(problems, |event| {
            let at = (number, event_number);
            event_number += 1;
            if result.is_ok() {
                let from = flows.from.get(&at).map(Vec::as_slice).unwrap_or_default();
                result = sequence.event(event, from, flows.to.get(&at).map(|&(id, _)| id), out);
            }
        });
        result?;
    }
    Ok(())
}

fn packet(message: &Message, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&Message::default().message(TRACE_PACKET, message).0)
}

impl Sequence<'_> {
    fn process(&self) -> u64 {
        u64::from(self.facts.pe) + 1
    }

    /// The process, and the names of annotations.
    fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        let name = format!("PE {} on {}", self.facts.pe, self.facts.host);
        let process = Message::default().number(PROCESS_PID, self.process()).text(PROCESS_NAME, &name);
        let track = Message::default().number(TRACK_UUID, self.process()).message(TRACK_PROCESS, &process);
        let mut interned = Message::default();
        for (id, name) in (1..).zip(ANNOTATIONS) {
            interned = interned.message(INTERNED_ANNOTATIONS, &Message::default().number(1, id).text(2, name));
        }
        let first = Message::default()
            .number(PACKET_SEQUENCE, self.id)
            .number(PACKET_FLAGS, CLEARED)
            .message(PACKET_INTERNED, &interned)
            .message(PACKET_TRACK, &track);
        packet(&first, out)
    }

    fn thread(&mut self, thread: u32, out: &mut dyn Write) -> io::Result<u64> {
        if let Some(&uuid) = self.threads.get(&thread) {
            return Ok(uuid);
        }
        let uuid = self.process() << 32 | u64::from(thread);
        let descriptor = Message::default()
            .number(THREAD_PID, self.process())
            .number(THREAD_TID, u64::from(thread))
            .text(THREAD_NAME, &format!("thread {thread}"));
        let track = Message::default()
            .number(TRACK_UUID, uuid)
            .number(TRACK_PARENT, self.process())
            .message(TRACK_THREAD, &descriptor);
        packet(&Message::default().number(PACKET_SEQUENCE, self.id).message(PACKET_TRACK, &track), out)?;
        self.threads.insert(thread, uuid);
        Ok(uuid)
    }

    fn event(&mut self, event: &Event, from: &[u64], to: Option<u64>, out: &mut dyn Write) -> io::Result<()> {
        let track = self.thread(event.thread, out)?;
        let times = self.regions.entry(event.thread).or_default().note(&event.what);
        if matches!(event.what, What::RegionEnd(_)) {
            return (0..times).try_for_each(|_| self.end(event.end_ns, track, None, out));
        }
        let mut interned = Message::default();
        let name = rows::name(event);
        let next = self.names.len() as u64 + 1;
        let name_id = *self.names.entry(name.to_owned()).or_insert(next);
        if name_id == next {
            interned = interned.message(INTERNED_NAMES, &Message::default().number(1, next).text(2, name));
        }
        let category = rows::category(event);
        let next = self.categories.len() as u64 + 1;
        let category_id = *self.categories.entry(category).or_insert(next);
        if category_id == next {
            interned = interned.message(INTERNED_CATEGORIES, &Message::default().number(1, next).text(2, category));
        }
        let kind = if matches!(event.what, What::Marker(..)) { INSTANT } else { SLICE_BEGIN };
        let mut body = Message::default()
            .number(EVENT_TYPE, kind)
            .number(EVENT_TRACK, track)
            .number(EVENT_NAME, name_id)
            .number(EVENT_CATEGORY, category_id);
        for (name, field, value) in annotations(event) {
            let annotation = Message::default().number(ANNOTATION_NAME, name).number(field, value);
            body = body.message(EVENT_ANNOTATION, &annotation);
        }
        if let Some(call) = event.what.call() {
            let team = rows::team(call, self.facts).map(|team| (TEAM, team));
            let site = self.sites.of(call).map(|site| (SITE, site.to_string()));
            for (name, text) in team.into_iter().chain(site) {
                let annotation = Message::default().number(ANNOTATION_NAME, name).text(ANNOTATION_TEXT, &text);
                body = body.message(EVENT_ANNOTATION, &annotation);
            }
        }
        for &id in from {
            body = body.fixed(EVENT_FLOW, id);
        }
        let mut begin = Message::default()
            .number(PACKET_TIMESTAMP, event.start_ns)
            .number(PACKET_SEQUENCE, self.id)
            .number(PACKET_FLAGS, NEEDS);
        if !interned.0.is_empty() {
            begin = begin.message(PACKET_INTERNED, &interned);
        }
        packet(&begin.message(PACKET_TRACK_EVENT, &body), out)?;
        let lasts = matches!(event.what, What::Call(_) | What::Unreturned(_) | What::Calls(_));
        if lasts { self.end(event.end_ns, track, to, out) } else { Ok(()) }
    }

    /// The end of the innermost slice, which is where an arrow to it ends: a wait may have begun before what it waits
    /// for, and arrows whose end is before their begin are not drawn.
    fn end(&self, ns: u64, track: u64, arrow: Option<u64>, out: &mut dyn Write) -> io::Result<()> {
        let mut body = Message::default().number(EVENT_TYPE, SLICE_END).number(EVENT_TRACK, track);
        if let Some(id) = arrow {
            body = body.fixed(EVENT_FLOW_END, id);
        }
        let end = Message::default()
            .number(PACKET_TIMESTAMP, ns)
            .number(PACKET_SEQUENCE, self.id)
            .message(PACKET_TRACK_EVENT, &body);
        packet(&end, out)
    }
}

/// (interned name, field, value)
fn annotations(event: &Event) -> Vec<(u64, u32, u64)> {
    match &event.what {
        What::Call(call) | What::Unreturned(call) => {
            let peer = call.peer.map(|peer| (1, ANNOTATION_UINT, u64::from(peer)));
            let bytes = (call.bytes != 0).then_some((2, ANNOTATION_UINT, call.bytes));
            let addr = (call.addr != 0).then_some((3, ANNOTATION_POINTER, call.addr));
            let context = call.context.as_ref().map(|context| (6, ANNOTATION_POINTER, context.number));
            let root = call.root.map(|root| (7, ANNOTATION_UINT, u64::from(root)));
            let returned = matches!(event.what, What::Unreturned(_)).then_some((RETURNED, ANNOTATION_BOOL, 0));
            peer.into_iter().chain(bytes).chain(addr).chain(context).chain(root).chain(returned).collect()
        }
        What::Calls(calls) => {
            let bytes = (calls.bytes != 0).then_some((2, ANNOTATION_UINT, calls.bytes));
            bytes.into_iter().chain([(5, ANNOTATION_UINT, calls.count)]).collect()
        }
        What::Marker(_, value) => vec![(4, ANNOTATION_INT, *value as u64)],
        What::RegionBegin(_) | What::RegionEnd(_) => Vec::new(),
    }
}
