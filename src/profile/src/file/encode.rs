//! Writing a PE file. The order of the fields here is the format.

use super::{MAGIC, TAG_DENIED, TAG_END, TAG_JOB, TAG_PE, TAG_ROUTINE, VERSION, sections};
use crate::model::{End, Pe, Progress, Routine};

/// A whole PE file, of a job with this id; empty where it is not known.
pub(super) fn pe_file(pe_data: &Pe, job_id: &str) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    file.extend(VERSION.to_le_bytes());
    section(&mut file, TAG_PE, &pe(pe_data));
    if !job_id.is_empty() {
        let mut id = Vec::new();
        put_text(&mut id, job_id);
        section(&mut file, TAG_JOB, &id);
    }
    for r in &pe_data.routines {
        section(&mut file, TAG_ROUTINE, &routine(r));
    }
    if let Some(payload) = denied(&pe_data.routines) {
        section(&mut file, TAG_DENIED, &payload);
    }
    for kind in &sections::WRITERS {
        if let Some(payload) = kind.payload(&pe_data.tables) {
            section(&mut file, kind.tag, &payload);
        }
    }
    section(&mut file, TAG_END, &(pe_data.routines.len() as u32).to_le_bytes());
    file
}

fn section(file: &mut Vec<u8>, tag: u32, payload: &[u8]) {
    let begin = file.len();
    file.extend(tag.to_le_bytes());
    file.extend((payload.len() as u32).to_le_bytes());
    file.extend(payload);
    let checksum = crc32fast::hash(&file[begin..]);
    file.extend(checksum.to_le_bytes());
}

/// The payload of a PE section: number, process id, progress, end (kind and value), host, start, init, finalize, end,
/// level, level changes, threads, shared calls, overflowed, last operation (flag, routine, inside, peer, since).
fn pe(pe: &Pe) -> Vec<u8> {
    let mut out = Vec::new();
    put_u32(&mut out, pe.pe);
    put_u32(&mut out, pe.pid);
    out.push(match pe.progress {
        Progress::Attached => 0,
        Progress::Initialized => 1,
        Progress::Finalized => 2,
    });
    let (kind, value) = match pe.end {
        End::Unknown => (0, 0),
        End::Exited(status) => (1, status),
        End::Killed(signal) => (2, signal),
        End::Stopped => (3, 0),
    };
    out.push(kind);
    put_u32(&mut out, value as u32);
    put_text(&mut out, &pe.host);
    for time in [pe.start_ns, pe.init_ns, pe.finalize_ns, pe.end_ns] {
        put_u64(&mut out, time);
    }
    put_u32(&mut out, pe.level as u32);
    put_u32(&mut out, pe.level_changes);
    put_u32(&mut out, pe.threads);
    put_u64(&mut out, pe.shared_calls);
    put_u32(&mut out, pe.overflowed);
    match &pe.last {
        None => out.push(0),
        Some(last) => {
            out.push(1);
            put_text(&mut out, &last.routine);
            out.push(match last.inside {
                None => 0,
                Some(false) => 1,
                Some(true) => 2,
            });
            put_option(&mut out, last.peer.map(u64::from));
            put_option(&mut out, last.since_ns);
        }
    }
    out
}

/// The payload of a section of time denied to samples: number of entries, then place among the routines, and
/// nanoseconds.
fn denied(routines: &[Routine]) -> Option<Vec<u8>> {
    let rows: Vec<_> = (0_u32..).zip(routines).filter(|(_, routine)| routine.denied_ns > 0).collect();
    let mut out = Vec::new();
    put_u32(&mut out, rows.len() as u32);
    for (at, routine) in &rows {
        put_u32(&mut out, *at);
        put_u64(&mut out, routine.denied_ns);
    }
    (!rows.is_empty()).then_some(out)
}

/// The payload of a routine section: name, class, calls and bytes by distance, errors, unfinished calls and time, timed
/// calls, total, flags (1: the total is an estimate, 2: call sites are those of samples), variance (the bits of an
/// `f64`), max, latencies (number of buckets, then bucket and count each), sizes (number, then class, distance, calls
/// and bytes each).
fn routine(r: &Routine) -> Vec<u8> {
    let mut out = Vec::new();
    put_text(&mut out, &r.name);
    out.push(r.class as u8);
    r.calls.iter().chain(&r.bytes).for_each(|&n| put_u64(&mut out, n));
    for n in [r.errors, r.unfinished, r.unfinished_ns, r.timed_calls, r.total_ns] {
        put_u64(&mut out, n);
    }
    out.push(u8::from(r.estimated) | u8::from(r.sampled_sites) << 1);
    put_u64(&mut out, r.total_variance.to_bits());
    put_u64(&mut out, r.max_ns);
    put_u32(&mut out, r.latency.counts().len() as u32);
    for &(bucket, count) in r.latency.counts() {
        put_u32(&mut out, u32::from(bucket));
        put_u64(&mut out, count);
    }
    put_u32(&mut out, r.sizes.len() as u32);
    for size in &r.sizes {
        out.extend([size.class, size.distance]);
        put_u64(&mut out, size.calls);
        put_u64(&mut out, size.bytes);
    }
    out
}

fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend(value.to_le_bytes());
}

fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend(value.to_le_bytes());
}

fn put_option(out: &mut Vec<u8>, value: Option<u64>) {
    out.push(u8::from(value.is_some()));
    put_u64(out, value.unwrap_or(0));
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_u32(out, text.len() as u32);
    out.extend(text.as_bytes());
}
