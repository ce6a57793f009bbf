//! Conversions of a trace that is written here, byte by byte as the format says.

mod otlp;
#[path = "../scratch/mod.rs"]
mod scratch;

use std::fs;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use pellucid_profile::op;
use scratch::Scratch;
use serde_json::Value;

/// Begin of each PE's heap.
const HEAP: u64 = 0x10_0000;

/// A call: routine, begin, end, peer, address, bytes.
type Call = (&'static str, u64, u64, Option<u32>, u64, u64);

fn put(bytes: &mut [u8], at: usize, value: u64, width: usize) {
    bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
}

/// A file whose ticks are nanoseconds. Each PE has its static objects elsewhere.
fn file(pe: u32, calls: &[Call], notes: &[u8]) -> Vec<u8> {
    let mut head = vec![0_u8; 4096];
    head[..8].copy_from_slice(b"PELLTRAC");
    for (at, value) in [(8, 2), (12, pe), (16, 2), (20, 0), (24, 500 + pe), (28, 499)] {
        put(&mut head, at, u64::from(value), 4);
    }
    // Version 2 is of before there were extensions.
    put(&mut head, 32, op::EARLIER_TABLE_HASH, 8);
    put(&mut head, 40, 2, 4);
    put(&mut head, 44, 64 << 10, 4);
    put(&mut head, 48, 1 << 32, 8);
    put(&mut head, 56, 1000, 8);
    put(&mut head, 64, 1_700_000_000_000_000_000, 8);
    put(&mut head, 104, 3 * u64::from(pe), 8);
    for (i, value) in [HEAP, 0x1000, 0x70_0000 + 0x1_0000 * u64::from(pe), 0x1000].into_iter().enumerate() {
        put(&mut head, 120 + 8 * i, value, 8);
    }
    head[152..157].copy_from_slice(b"node7");
    head[216..221].copy_from_slice(b"solve");

    let mut records = notes.to_vec();
    let (mut time, mut addr, mut bytes, mut peer) = (1000_u64, 0_u64, 0_u64, 0_u64);
    for &(name, begin, end, to, at, size) in calls {
        let difference = at.wrapping_sub(addr) as i64;
        let to = to.map_or(0, |to| u64::from(to) + 1);
        let zigzag = (difference << 1 ^ difference >> 63) as u64;
        let values = [begin + 1000 - time, end - begin, zigzag, size ^ bytes, to ^ peer];
        let op = op::find(name).unwrap_or_else(|| panic!("{name}"));
        records.extend(op.to_le_bytes());
        // Eight bytes each: longer than need be, but as good.
        records.extend(0x7fff_u16.to_le_bytes());
        values.iter().for_each(|value| records.extend(value.to_le_bytes()));
        (time, addr, bytes, peer) = (end + 1000, at, size, to);
    }
    let mut chunk = vec![0_u8; 64];
    chunk[..8].copy_from_slice(b"PELLCHNK");
    put(&mut chunk, 8, 1, 8);
    put(&mut chunk, 16, 1000, 8);
    put(&mut chunk, 24, records.len() as u64, 4);
    put(&mut chunk, 32, u64::from(900 + pe), 4);
    [head, chunk, records].concat()
}

fn note(kind: u16, ticks: u64, value: i64, text: &str) -> Vec<u8> {
    let mut note = (kind << 11).to_le_bytes().to_vec();
    note.extend((text.len() as u16).to_le_bytes());
    note.extend((ticks + 1000).to_le_bytes());
    note.extend(value.to_le_bytes());
    note.extend(text.as_bytes());
    note
}

/// Short calls that were folded: their time from the begin on, number, bytes.
fn folded(name: &str, time: u64, calls: u64, bytes: u64) -> Vec<u8> {
    let mut record = (op::find(name).unwrap_or_else(|| panic!("{name}")) | 5 << 11).to_le_bytes().to_vec();
    record.extend(0x1ff_u16.to_le_bytes());
    [time, calls, bytes].iter().for_each(|value| record.extend(value.to_le_bytes()));
    record
}

/// PE 0 puts with a signal to a static object of PE 1, which waits for it.
fn trace(name: &str) -> Scratch {
    let dir = Scratch::new(name);
    fs::create_dir_all(dir.path()).unwrap();
    let first = file(
        0,
        &[
            ("shmem_long_put_signal", 500, 700, Some(1), 0x70_0040, 512),
            ("shmem_ctx_long_p", 800, 801, Some(1), HEAP + 8, 8),
            ("shmem_barrier_all", 900, 1000, None, 0, 0),
        ],
        &[
            note(9, 400, 0x1000, "2000 0 - /nowhere/a.out"),
            note(8, 400, 0x1234, ""),
            note(6, 400, 0x21, "team 3"),
            note(2, 400, 0, "halo, \"x\""),
            note(4, 450, -3, "step"),
        ]
        .concat(),
    );
    let short = [folded("shmem_long_p", 90, 37, 296), folded("shmem_quiet", 90, 2, 0)].concat();
    let second = file(1, &[("shmem_signal_wait_until", 100, 650, None, 0x71_0040, 0)], &short);
    fs::write(dir.path().join("pe-00000-000.trace"), first).unwrap();
    fs::write(dir.path().join("pe-00001-000.trace"), second).unwrap();
    dir
}

fn oshprof(dir: &Path, args: &[&str]) -> Output {
    oshprof_with(dir, args, &[])
}

/// With these variables, and none other of an exporter.
fn oshprof_with(dir: &Path, args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oshprof"));
    for end in ["ENDPOINT", "TIMEOUT", "TRACES_TIMEOUT"] {
        command.env_remove(format!("OTEL_EXPORTER_OTLP_{end}"));
    }
    command.arg("trace").arg(dir).args(args).envs(variables.iter().copied()).output().expect("oshprof starts")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn csv() {
    let dir = trace("trace-csv");
    assert_eq!(
        stdout(&oshprof(dir.path(), &["--to", "csv"])),
        "kind,name,class,pe,host,thread,start_ns,duration_ns,peer,bytes,address,value,calls,context,root,team,site\n\
         region begin,\"halo, \"\"x\"\"\",region,0,node7,900,400,0,,,,,,,,,\n\
         marker,step,marker,0,node7,900,450,0,,,,-3,,,,,\n\
         call,shmem_long_put_signal,signal,0,node7,900,500,200,1,512,0x700040,,1,,,,a.out+0x1234\n\
         call,shmem_ctx_long_p,put,0,node7,900,800,1,1,8,0x100008,,1,0x21,,team 3,a.out+0x1234\n\
         call,shmem_barrier_all,barrier,0,node7,900,900,100,,0,,,1,,,,a.out+0x1234\n\
         calls,shmem_long_p,put,1,node7,901,0,90,,296,,,37,,,,\n\
         calls,shmem_quiet,order,1,node7,901,0,90,,0,,,2,,,,\n\
         call,shmem_signal_wait_until,wait,1,node7,901,100,550,,0,0x710040,,1,,,,\n"
    );
    let output = oshprof(dir.path(), &["--to", "csv"]);
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("3 events of the program are not in the trace: 3 older ones were overwritten (SHMEM_TRACE_SIZE)")
    );
}

#[test]
fn a_trace_alone_says_what_is_in_it() {
    let dir = trace("trace-summary");
    let text = stdout(&oshprof(dir.path(), &[]));
    for part in [
        "trace of solve\n2 PEs, 1.00 us from the first event to the last\n",
        "8 events, which stand for 43 calls\n",
        "3 events are missing: 3 older ones were overwritten (SHMEM_TRACE_SIZE)\n",
        "0   node7        1       5      3  100 ns        0\n1   node7        1       3     40  550 ns        3\n",
        "longest waits in         PE    from     for  ended by\n",
        "shmem_signal_wait_until   1  100 ns  550 ns  PE 0 long_put_signal\n",
        "shmem_barrier_all         0  900 ns  100 ns  -\n",
        "region     entries   total  longest  PE  PEs\nhalo, \"x\"        1  600 ns   600 ns   0    1\n",
        "open at the end, counted until their thread's last event: halo, \"x\" (1)\n",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80 || line.contains("--to perfetto")), "{text}");
    // What it proposes is a command.
    let command = text.split("ui.perfetto.dev: oshprof ").nth(1).unwrap().lines().next().unwrap();
    assert_eq!(command, format!("trace {0} --to perfetto -o {0}.pftrace", dir.path().display()));
}

/// `-` is what the process has: behind what a file has already, a socket, a pipe that nobody reads any more.
#[test]
fn standard_output_is_written_to_as_it_is() {
    let dir = trace("trace-stdout");
    let run = |output: &str, to: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oshprof"));
        command.arg("trace").arg(dir.path()).args(["--to", "csv", "-o", output]).stdout(to);
        command.output().unwrap().status.code()
    };
    let whole = stdout(&oshprof(dir.path(), &["--to", "csv"]));
    for output in ["-", "/dev/stdout", "/dev/fd/1"] {
        let path = dir.path().join("output");
        let mut file = fs::File::create(&path).unwrap();
        file.write_all(b"HEADER\n").unwrap();
        assert_eq!(run(output, file.into()), Some(0));
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("HEADER\n{whole}"), "{output}");

        let (mut here, there) = UnixStream::pair().unwrap();
        assert_eq!(run(output, OwnedFd::from(there).into()), Some(0));
        let mut text = String::new();
        here.read_to_string(&mut text).unwrap();
        assert_eq!(text, whole, "{output}");
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(run("-", writer.into()), Some(0));
}

#[test]
fn who_ended_waits() {
    let dir = trace("trace-waits");
    let value: Value = serde_json::from_str(&stdout(&oshprof(dir.path(), &["--to", "waits-json"]))).unwrap();
    let row = serde_json::json!({ "waiting_pe": 1, "routine": "shmem_signal_wait_until", "ended_by_pe": 0,
        "ended_by": "shmem_long_put_signal", "waits": 1, "waited_ns": 550, "mean_ns": 550.0 });
    assert_eq!(value["waits"], serde_json::json!([row]));
    let text = stdout(&oshprof(dir.path(), &["--to", "waits"]));
    assert!(text.contains("ended by PE") && text.contains("shmem_long_put_signal"), "{text}");
    // For locks, too: who had it before is not known of a trace.
    let calls = [("shmem_set_lock", 100, 650, None, 0x71_0040, 0), ("shmem_clear_lock", 700, 701, None, 0x71_0040, 0)];
    fs::write(dir.path().join("pe-00001-000.trace"), file(1, &calls, &[])).unwrap();
    let value: Value = serde_json::from_str(&stdout(&oshprof(dir.path(), &["--to", "waits-json"]))).unwrap();
    let row = serde_json::json!({ "waiting_pe": 1, "routine": "shmem_set_lock", "ended_by_pe": null,
        "ended_by": null, "waits": 1, "waited_ns": 550, "mean_ns": 550.0 });
    assert_eq!(value["waits"], serde_json::json!([row]));
}

#[test]
fn chrome() {
    let dir = trace("trace-chrome");
    let value: Value = serde_json::from_str(&stdout(&oshprof(dir.path(), &["--to", "chrome"]))).unwrap();
    let events = value["traceEvents"].as_array().unwrap();
    let find = |name: &str, phase: &str| {
        events.iter().find(|e| e["name"] == name && e["ph"] == phase).unwrap_or_else(|| panic!("{name} {phase}"))
    };
    let put = find("shmem_long_put_signal", "X");
    assert_eq!((put["ts"].as_f64(), put["dur"].as_f64()), (Some(0.5), Some(0.2)));
    assert_eq!(
        put["args"],
        serde_json::json!({ "peer": 1, "bytes": 512, "address": "0x700040", "site": "a.out+0x1234" })
    );
    assert_eq!(find("shmem_long_p", "X")["args"], serde_json::json!({ "calls": 37, "bytes": 296 }));
    let context = find("shmem_ctx_long_p", "X")["args"].clone();
    assert_eq!((&context["context"], &context["team"]), (&"0x21".into(), &"team 3".into()));
    let (from, to) = (find("release", "s"), find("release", "f"));
    assert_eq!((&from["pid"], &to["pid"], &from["id"]), (&0.into(), &1.into(), &to["id"]));
    assert!(to["ts"].as_f64().unwrap() < 0.65 && to["ts"].as_f64().unwrap() > 0.1);
    assert_eq!(find("halo, \"x\"", "B")["tid"], 900);
    assert_eq!(find("step", "i")["args"]["value"], -3);
    assert_eq!(find("process_name", "M")["args"]["name"], "PE 0 on node7");
}

/// Fields of a protobuf message: number and contents.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = prost::encoding::decode_varint(&mut bytes).unwrap();
        let length = match key & 7 {
            0 => {
                fields.push((key >> 3, prost::encoding::decode_varint(&mut bytes).unwrap().to_le_bytes().to_vec()));
                continue;
            }
            1 => 8,
            2 => prost::encoding::decode_varint(&mut bytes).unwrap() as usize,
            other => panic!("wire type {other}"),
        };
        fields.push((key >> 3, bytes[..length].to_vec()));
        bytes = &bytes[length..];
    }
    fields
}

#[test]
fn perfetto() {
    let dir = trace("trace-perfetto");
    let file = dir.path().join("out.pftrace");
    stdout(&oshprof(dir.path(), &["--to", "perfetto", "-o", file.to_str().unwrap()]));
    let packets: Vec<_> = fields(&fs::read(&file).unwrap()).into_iter().map(|(_, packet)| fields(&packet)).collect();
    let of = |packet: &[(u64, Vec<u8>)], number: u64| packet.iter().find(|f| f.0 == number).map(|f| f.1.clone());
    let number = |bytes: Vec<u8>| u64::from_le_bytes(bytes.try_into().unwrap());
    let events: Vec<_> = packets.iter().filter_map(|p| Some((number(of(p, 8)?), fields(&of(p, 11)?)))).collect();
    let kinds: Vec<(u64, u64)> = events.iter().map(|(time, e)| (*time, number(of(e, 9).unwrap()))).collect();
    let first = [(400, 1), (450, 3), (500, 1), (700, 2), (800, 1), (801, 2), (900, 1), (1000, 2)];
    let second = [(0, 1), (90, 2), (0, 1), (90, 2), (100, 1), (650, 2)];
    assert_eq!(kinds, [&first[..], &second].concat());
    let (from, to) = (of(&events[2].1, 47).expect("an arrow"), of(&events[13].1, 48).expect("its end"));
    assert_eq!(from, to);
    // Two processes and their threads.
    assert_eq!(packets.iter().filter(|p| of(p, 60).is_some()).count(), 4);
    let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
    for name in ["shmem_long_put_signal", "PE 1 on node7", "thread 901", "address"] {
        assert!(text.contains(name), "{name}");
    }
}

/// Reads a file with a Python package: what it prints, a JSON value a line. `None`, and said: no Python here has the
/// package.
fn read_with_python(package: &str, program: &str, file: &Path) -> Option<Vec<Value>> {
    // The one of the system has the packages of the system.
    let pythons =
        std::env::var("OSHPROF_TEST_PYTHON").map_or(vec!["python3".into(), "/usr/bin/python3".into()], |p| vec![p]);
    for python in pythons {
        let Ok(output) = Command::new(python).args(["-c", program]).arg(file).output() else { continue };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if said.contains("No module named") {
            continue;
        }
        assert!(output.status.success(), "{said}");
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        return Some(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect());
    }
    eprintln!("no Python package {package} here: not read");
    None
}

/// Perfetto's own definitions know every field that is written, and give the same events.
#[test]
fn perfetto_by_its_own_definitions() {
    const READER: &str = "
import json, sys
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
trace = Trace()
trace.ParseFromString(open(sys.argv[1], 'rb').read())
names = {}
for packet in trace.packet:
    event = packet.track_event
    for name in packet.interned_data.event_names:
        names[packet.trusted_packet_sequence_id, name.iid] = name.name
    for message in (packet, event, packet.track_descriptor, packet.interned_data):
        assert len(UnknownFieldSet(message)) == 0, message
    if packet.HasField('track_event'):
        name = event.name or names.get((packet.trusted_packet_sequence_id, event.name_iid), '')
        flows = [list(event.flow_ids), list(event.terminating_flow_ids)]
        print(json.dumps([packet.timestamp, TrackEvent.Type.Name(event.type), name, [len(f) for f in flows]]))
";
    let dir = trace("trace-perfetto-own");
    let file = dir.path().join("out.pftrace");
    stdout(&oshprof(dir.path(), &["--to", "perfetto", "-o", file.to_str().unwrap()]));
    let Some(read) = read_with_python("perfetto", READER, &file) else { return };
    let event = |time: u64, kind: &str, name: &str, begins: u64, ends: u64| {
        serde_json::json!([time, format!("TYPE_{kind}"), name, [begins, ends]])
    };
    assert_eq!(
        read[..4],
        [
            event(400, "SLICE_BEGIN", "halo, \"x\"", 0, 0),
            event(450, "INSTANT", "step", 0, 0),
            event(500, "SLICE_BEGIN", "shmem_long_put_signal", 1, 0),
            event(700, "SLICE_END", "", 0, 0),
        ]
    );
    // The arrow ends where the wait does: it begins before what it waits for.
    assert!(read.contains(&event(100, "SLICE_BEGIN", "shmem_signal_wait_until", 0, 0)), "{read:?}");
    let ends: Vec<_> = read.iter().filter(|event| event[3][1] == 1).collect();
    assert!(matches!(ends[..], [end] if end[1] == "TYPE_SLICE_END" && end[0].as_u64() >= Some(500)), "{read:?}");
    assert_eq!(read.len(), 14);
}

/// What the public Python package reads of an archive, as JSON lines.
const READER: &str = "
import json, otf2, sys
with otf2.reader.open(sys.argv[1]) as trace:
    for location, event in trace.events:
        values = {a.name: v for a, v in (event.attributes or {}).items()}
        place = event.region.name if hasattr(event, 'region') else event.win.name if hasattr(event, 'win') else ''
        if hasattr(event, 'remote'):
            values['to'] = event.win.location(event.remote).group.name
        for name in ['bytes', 'bytes_sent', 'bytes_received', 'matching_id', 'root', 'sync_level']:
            if hasattr(event, name):
                value = getattr(event, name)
                values[name] = getattr(value, 'value', value)
        print(json.dumps([location.group.name, location.name, event.time, type(event).__name__, place, values]))
";

#[test]
fn otf2() {
    let dir = trace("trace-otf2");
    let archive = dir.path().join("archive");
    let output = oshprof(dir.path(), &["--to", "otf2", "-o", archive.to_str().unwrap()]);
    if output.status.code() == Some(1) {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("libotf2 3 is needed (Debian: libopen-trace-format2-10"), "{said}");
        assert!(!archive.exists());
        return eprintln!("no libotf2 here: not tested");
    }
    assert!(output.status.success(), "{output:?}");
    let again = oshprof(dir.path(), &["--to", "otf2", "-o", archive.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("is there already"));
    // Whatever has the name: a link is not followed, and nothing is left beside it.
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), &link).unwrap();
    let linked = oshprof(dir.path(), &["--to", "otf2", "-o", link.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&linked.stderr).contains("link: is there already"), "{linked:?}");
    let names = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let odd: Vec<String> = names.filter(|name| name.contains("elsewhere") || name.starts_with('.')).collect();
    assert!(odd.is_empty(), "{odd:?}");
    let Some(read) = read_with_python("otf2", READER, &archive.join("traces.otf2")) else { return };
    let of = |pe: &str| read.iter().filter(|event| event[0] == pe).cloned().collect::<Vec<Value>>();
    let event = |pe: &str, thread: &str, ns: u64, kind: &str, region: &str, attributes: Value| {
        serde_json::json!([pe, thread, ns, kind, region, attributes])
    };
    let none = || serde_json::json!({});
    let memory = "symmetric memory";
    let transfer = |bytes: u64, number: u64| serde_json::json!({ "to": "PE 1", "bytes": bytes, "matching_id": number });
    let met = serde_json::json!({ "bytes_sent": 0, "bytes_received": 0, "root": u32::MAX, "sync_level": 3 });
    let (first, thread) = ("PE 0", "thread 900");
    let site = "a.out+0x1234";
    let put = serde_json::json!({ "peer": 1, "bytes": 512, "address": 0x70_0040, "site": site });
    let p = serde_json::json!({ "peer": 1, "bytes": 8, "address": 0x10_0008, "context": 0x21, "site": site });
    assert_eq!(
        of(first),
        [
            event(first, thread, 400, "RmaWinCreate", memory, none()),
            event(first, thread, 400, "Enter", "halo, \"x\"", none()),
            event(first, thread, 450, "Enter", "step", none()),
            event(first, thread, 450, "Leave", "step", none()),
            event(first, thread, 500, "Enter", "shmem_long_put_signal", put),
            event(first, thread, 500, "RmaPut", memory, transfer(512, 1)),
            event(first, thread, 700, "RmaOpCompleteBlocking", memory, serde_json::json!({ "matching_id": 1 })),
            event(first, thread, 700, "Leave", "shmem_long_put_signal", none()),
            event(first, thread, 800, "Enter", "shmem_ctx_long_p", p),
            event(first, thread, 800, "RmaPut", memory, transfer(8, 2)),
            event(first, thread, 801, "RmaOpCompleteBlocking", memory, serde_json::json!({ "matching_id": 2 })),
            event(first, thread, 801, "Leave", "shmem_ctx_long_p", none()),
            event(first, thread, 900, "Enter", "shmem_barrier_all", serde_json::json!({ "site": site })),
            event(first, thread, 900, "RmaCollectiveBegin", "", none()),
            event(first, thread, 1000, "RmaCollectiveEnd", memory, met),
            event(first, thread, 1000, "Leave", "shmem_barrier_all", none()),
            // It was still open when the trace ended.
            event(first, thread, 1000, "Leave", "halo, \"x\"", none()),
            event(first, thread, 1000, "RmaWinDestroy", memory, none()),
        ]
    );
    let (second, thread) = ("PE 1", "thread 901");
    assert_eq!(
        of(second)[..5],
        [
            event(second, thread, 0, "RmaWinCreate", memory, none()),
            event(second, thread, 0, "Enter", "shmem_long_p", serde_json::json!({ "calls": 37, "bytes": 296 })),
            event(second, thread, 90, "Leave", "shmem_long_p", none()),
            event(second, thread, 90, "Enter", "shmem_quiet", serde_json::json!({ "calls": 2 })),
            event(second, thread, 90, "Leave", "shmem_quiet", none()),
        ]
    );
    assert_eq!(of(second).len(), 8);
    // The package's own tool finds nothing to complain of.
    if let Ok(printed) = Command::new("otf2-print").arg(archive.join("traces.otf2")).output() {
        let text = String::from_utf8_lossy(&printed.stdout);
        assert!(printed.status.success() && text.contains("RMA_PUT") && text.contains("RMA_COLLECTIVE_END"), "{text}");
    }
}

/// Nonblocking operations are complete when a quiet of their context, or a barrier, returns; atomics say what they
/// move.
#[test]
fn otf2_operations_end_where_they_are_complete() {
    let dir = Scratch::new("trace-otf2-nbi");
    fs::create_dir_all(dir.path()).unwrap();
    let calls = [
        ("shmem_long_put_nbi", 100, 110, Some(1), HEAP, 64),
        ("shmem_long_get_nbi", 120, 130, Some(1), HEAP, 32),
        ("shmem_long_atomic_fetch_add", 140, 150, Some(1), HEAP, 8),
        ("shmem_quiet", 200, 250, None, 0, 0),
        ("shmem_long_put_nbi", 300, 310, Some(0), HEAP, 16),
        // Of a PE without a trace nothing is known.
        ("shmem_long_put", 320, 330, Some(7), HEAP, 16),
        ("shmem_barrier_all", 400, 500, None, 0, 0),
        ("shmem_long_put_nbi", 600, 610, Some(1), HEAP, 16),
    ];
    fs::write(dir.path().join("pe-00000-000.trace"), file(0, &calls, &[])).unwrap();
    fs::write(dir.path().join("pe-00001-000.trace"), file(1, &[], &[])).unwrap();
    let archive = dir.path().join("archive");
    if !oshprof(dir.path(), &["--to", "otf2", "-o", archive.to_str().unwrap()]).status.success() {
        return eprintln!("no libotf2 here: not tested");
    }
    let Some(read) = read_with_python("otf2", READER, &archive.join("traces.otf2")) else { return };
    let rma: Vec<_> =
        read.iter().filter(|event| event[3].as_str().is_some_and(|kind| kind.starts_with("RmaOp"))).collect();
    let ends: Vec<_> = rma.iter().map(|event| (event[5]["matching_id"].as_u64(), event[2].as_u64())).collect();
    let at = |number: u64, ns: u64| (Some(number), Some(ns));
    assert_eq!(ends, [at(3, 150), at(1, 250), at(2, 250), at(4, 500), at(5, 610)]);
    let atomic = read.iter().find(|event| event[3] == "RmaAtomic").unwrap_or_else(|| panic!("{read:?}"));
    assert_eq!(atomic[5], serde_json::json!({ "to": "PE 1", "bytes_sent": 8, "bytes_received": 8, "matching_id": 3 }));
    let puts = read.iter().filter(|event| event[3] == "RmaPut");
    assert_eq!(
        puts.map(|event| event[5]["to"].as_str()).collect::<Vec<_>>(),
        [Some("PE 1"), Some("PE 0"), Some("PE 1")]
    );
}

#[test]
fn a_damaged_trace_is_converted_as_far_as_it_goes() {
    let dir = trace("trace-damaged");
    let path = dir.path().join("pe-00000-000.trace");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 10]).unwrap();
    for format in ["chrome", "csv", "perfetto"] {
        let output = oshprof(dir.path(), &["--to", format]);
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.matches("pe-00000-000.trace: truncated at offset").count(), 1, "{said}");
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(out.contains("shmem_ctx_long_p") && !out.contains("shmem_barrier_all"));
        assert!(out.contains("shmem_signal_wait_until"));
    }
    let output =
        Command::new(env!("CARGO_BIN_EXE_oshprof")).args(["trace", "nowhere", "--to", "csv"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nowhere: no such directory"));
    let full = oshprof(dir.path(), &["--to", "csv", "-o", "/dev/full"]);
    assert!(String::from_utf8_lossy(&full.stderr).contains("/dev/full: the disk is full: No space left on device"));
}
