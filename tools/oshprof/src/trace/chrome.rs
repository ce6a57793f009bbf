//! Chrome's JSON: one process a PE, one track a thread, a complete event a call, flow events from updates to waits.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use pellucid_profile::file::ReadError;
use pellucid_profile::trace::read::{Event, Trace, TraceFileHeader, What};
use serde_json::{Value, json};

use super::flows::Flows;
use super::regions::OpenRegions;
use super::rows;
use super::sites::Sites;

/// Writes the JSON object.
pub(super) fn write(trace: &Trace, problems: &mut Vec<ReadError>, out: &mut dyn Write) -> io::Result<()> {
    let (flows, sites) = (Flows::find(trace, problems), Sites::default());
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut threads = BTreeSet::new();
    let mut regions: BTreeMap<_, OpenRegions> = BTreeMap::new();
    let mut first = true;
    let mut put = |value: Value, out: &mut dyn Write| {
        let comma = if std::mem::take(&mut first) { "\n" } else { ",\n" };
        out.write_all(comma.as_bytes())?;
        serde_json::to_writer(out, &value).map_err(io::Error::from)
    };
    for (number, file) in trace.files.iter().enumerate() {
        let facts = &file.facts;
        let (mut result, mut event_number) = (Ok(()), 0);
        file.for_each(problems, |event| {
            let at = (number, event_number);
            event_number += 1;
            if result.is_err() {
                return;
            }
            if threads.insert((facts.pe, event.thread)) {
                result = names(facts, event.thread).into_iter().try_for_each(|value| put(value, out));
            }
            for _ in 0..regions.entry((facts.pe, event.thread)).or_default().note(&event.what) {
                result = std::mem::replace(&mut result, Ok(())).and_then(|()| put(body(facts, event, &sites), out));
            }
            let flow = |phase: &str, id: u64, ns: u64| {
                json!({ "ph": phase, "bp": "e", "id": id, "name": "release", "cat": "flow",
                        "ts": us(ns), "pid": facts.pe, "tid": event.thread })
            };
            for &id in flows.from.get(&at).into_iter().flatten() {
                result = std::mem::replace(&mut result, Ok(())).and_then(|()| put(flow("s", id, event.start_ns), out));
            }
            if let Some(&(id, _)) = flows.to.get(&at) {
                // An arrow ends in the call, so before the end of it.
                let ns = event.end_ns.saturating_sub(1).max(event.start_ns);
                result = std::mem::replace(&mut result, Ok(())).and_then(|()| put(flow("f", id, ns), out));
            }
        });
        result?;
    }
    let facts = trace.files.first().map(|file| &file.facts);
    let other = json!({
        "program": facts.map(|facts| &facts.program),
        "pes": facts.map(|facts| facts.npes),
        "start_realtime_ns": facts.map(|facts| facts.start_realtime),
        "dropped_events": trace.dropped(),
        "recorded_by": concat!("Pellucid ", env!("CARGO_PKG_VERSION")),
    });
    writeln!(out, "\n],\"otherData\":{other}}}")
}

/// Nanoseconds as the microseconds that the format wants.
fn us(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

fn body(facts: &TraceFileHeader, event: &Event, sites: &Sites) -> Value {
    let mut value = json!({ "name": rows::name(event), "cat": rows::category(event), "ts": us(event.start_ns),
                            "pid": facts.pe, "tid": event.thread });
    match &event.what {
        What::Call(call) | What::Unreturned(call) => {
            value["ph"] = "X".into();
            value["dur"] = us(event.end_ns - event.start_ns).into();
            let mut args = json!({});
            if let Some(peer) = call.peer {
                args["peer"] = peer.into();
            }
            if call.bytes != 0 {
                args["bytes"] = call.bytes.into();
            }
            if call.addr != 0 {
                args["address"] = format!("{:#x}", call.addr).into();
            }
            if call.context.is_some() {
                args["context"] = rows::context(call).into();
            }
            if let Some(root) = call.root {
                args["root"] = root.into();
            }
            if let Some(team) = rows::team(call, facts) {
                args["team"] = team.into();
            }
            if let Some(site) = sites.of(call) {
                args["site"] = (*site).into();
            }
            if matches!(event.what, What::Unreturned(_)) {
                args["returned"] = false.into();
            }
            value["args"] = args;
        }
        What::Calls(calls) => {
            value["ph"] = "X".into();
            value["dur"] = us(event.end_ns - event.start_ns).into();
            value["args"] = json!({ "calls": calls.count, "bytes": calls.bytes });
        }
        What::RegionBegin(_) => value["ph"] = "B".into(),
        What::RegionEnd(_) => value["ph"] = "E".into(),
        What::Marker(_, number) => {
            value["ph"] = "i".into();
            value["s"] = "t".into();
            value["args"] = json!({ "value": number });
        }
    }
    value
}

/// What a thread and its process are called.
fn names(facts: &TraceFileHeader, thread: u32) -> [Value; 3] {
    let meta =
        |name: &str, args: Value| json!({ "ph": "M", "name": name, "pid": facts.pe, "tid": thread, "args": args });
    [
        meta("process_name", json!({ "name": format!("PE {} on {}", facts.pe, facts.host) })),
        meta("process_sort_index", json!({ "sort_index": facts.pe })),
        meta("thread_name", json!({ "name": format!("thread {thread}") })),
    ]
}
