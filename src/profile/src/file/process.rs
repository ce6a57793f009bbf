//! The sections of the process: what recording costs, what the system gave, and what the PE did over time.

use super::ReadError;
use super::cursor::Cursor;
use super::sections::{Out, Section, list, number};
use crate::tables::{Cost, Outside, System, Timeline, Usage};
use crate::timeline::UNRECORDED as NOT_RECORDED;

/// What recording costs, and what could not be kept.
pub(super) const COST: Section = Section {
    tag: 4,
    is_there: |_| true,
    encode: |out, d| {
        let Cost { counted_ns, timed_ns, sample_ns, .. } = d.cost;
        [counted_ns, timed_ns, sample_ns].into_iter().for_each(|ns| out.u64(ns.to_bits()));
        out.u32(d.region_errors);
    },
    decode: |c, d| {
        let mut next = || finite(c, "what recording costs");
        let (counted_ns, timed_ns, sample_ns) = (next()?, next()?, next()?);
        d.cost = Cost { counted_ns, timed_ns, sample_ns, ..d.cost };
        d.region_errors = c.u32("region errors")?;
        Ok(())
    },
};

/// What counting takes of atomic operations and of copies; left out where that was not measured.
pub(super) const BESIDE: Section = Section {
    tag: 32,
    is_there: |d| d.cost.beside_ns != [0.0; 2],
    encode: |out, d| d.cost.beside_ns.into_iter().for_each(|ns| out.u64(ns.to_bits())),
    decode: |c, d| {
        let mut next = || finite(c, "what recording costs");
        d.cost.beside_ns = [next()?, next()?];
        Ok(())
    },
};

/// What the system gave; left out where it is not known.
pub(super) const SYSTEM: Section = Section {
    tag: 17,
    is_there: |d| d.system != System::default(),
    encode: |out, d| put_system(out, &d.system),
    decode: |c, d| system(c, &mut d.system),
};

/// How long threads stood in run queues; left out where that is not known.
pub(super) const QUEUED: Section = Section {
    tag: 31,
    is_there: |d| d.system.queued_ns.is_some(),
    encode: |out, d| out.u64(d.system.queued_ns.unwrap_or(0)),
    decode: |c, d| {
        d.system.queued_ns = Some(c.u64("how long threads stood in run queues")?);
        Ok(())
    },
};

/// What the control group may take of the processors, where that is limited.
pub(super) const QUOTA: Section = Section {
    tag: 33,
    is_there: |d| d.system.quota > 0,
    encode: |out, d| out.u32(d.system.quota),
    decode: |c, d| {
        d.system.quota = c.u32("what the control group may take")?;
        Ok(())
    },
};

/// How long threads were on no core while they waited; left out where no wait was long.
pub(super) const OFF_CORE: Section =
    number!(37, system.off_core_ns, "how long threads were on no core while they waited");

/// What threads did outside of the library; left out where there is but one.
pub(super) const OUTSIDE: Section = Section {
    tag: 39,
    is_there: |d| d.system.outside.is_some(),
    encode: |out, d| {
        let Outside { work_ns, queued_ns } = d.system.outside.unwrap_or_default();
        [work_ns, queued_ns].into_iter().for_each(|ns| out.u64(ns));
    },
    decode: |c, d| {
        let mut next = || c.u64("what threads did outside of the library");
        d.system.outside = Some(Outside { work_ns: next()?, queued_ns: next()? });
        Ok(())
    },
};

/// How long threads that never call the library were on cores; left out where none was.
pub(super) const HELPERS: Section = number!(40, system.helpers_ns, "how long other threads were on cores");

/// How long the process had stood in a run queue before its initialization; left out where it had not.
pub(super) const QUEUED_BEFORE: Section =
    number!(44, system.queued_before_ns, "how long the process stood in a run queue before its initialization");

/// How long the level was 0; left out where it never was.
pub(super) const UNRECORDED: Section = number!(42, system.unrecorded_ns, "how long nothing was recorded");

/// What asking for lines of a script took; left out where nobody was asked.
pub(super) const SCRIPT: Section = number!(46, system.script_ns, "what asking for lines of a script took");

/// What is missing in the trace; left out where nothing is.
pub(super) const TRACE: Section = number!(24, trace_dropped, "what the trace does not have");

/// What the PE did over time.
pub(super) const TIMELINE: Section = Section {
    tag: 19,
    is_there: |d| d.timeline.width_ns > 0,
    encode: |out, d| {
        [d.timeline.begin_ns, d.timeline.width_ns].into_iter().for_each(|n| out.u64(n));
        out.list(&d.timeline.slices, |out, slice| slice[..NOT_RECORDED].iter().for_each(|&ns| out.u64(ns)));
    },
    decode: |c, d| {
        let mut next = || c.u64("the time line");
        let (begin_ns, width_ns) = (next()?, next()?);
        let slices = list(c, |c| {
            let mut next = || c.u64("a slice of the time line");
            Ok([next()?, next()?, next()?, 0])
        })?;
        d.timeline = Timeline { begin_ns, width_ns, slices };
        Ok(())
    },
};

/// What of the time line was not recorded, slice by slice; left out where all was.
pub(super) const UNRECORDED_SLICES: Section = Section {
    tag: 47,
    is_there: |d| d.timeline.slices.iter().any(|slice| slice[NOT_RECORDED] > 0),
    encode: |out, d| out.list(&d.timeline.slices, |out, slice| out.u64(slice[NOT_RECORDED])),
    decode: |c, d| {
        let times = list(c, |c| c.u64("what was not recorded of the time line"))?;
        d.timeline.slices.iter_mut().zip(times).for_each(|(slice, ns)| slice[NOT_RECORDED] = ns);
        Ok(())
    },
};

/// A `u64` each.
fn put_system(out: &mut Out, s: &System) {
    let ([heap, heap_bytes, data, data_bytes], u) = (s.memory, s.usage);
    [
        s.cores.into(),
        s.allowed.into(),
        s.threads_ns,
        heap,
        heap_bytes,
        data,
        data_bytes,
        s.heap_used,
        s.heap_most,
        u.user_ns,
        u.system_ns,
        u.page_faults,
        u.voluntary_switches,
        u.involuntary_switches,
    ]
    .into_iter()
    .for_each(|n: u64| out.u64(n));
}

fn system(c: &mut Cursor<'_>, s: &mut System) -> Result<(), ReadError> {
    let mut next = || c.u64("what the system gave");
    for small in [&mut s.cores, &mut s.allowed] {
        *small = u32::try_from(next()?).unwrap_or(u32::MAX);
    }
    s.threads_ns = next()?;
    s.memory = [next()?, next()?, next()?, next()?];
    (s.heap_used, s.heap_most) = (next()?, next()?);
    s.usage = Usage {
        user_ns: next()?,
        system_ns: next()?,
        page_faults: next()?,
        voluntary_switches: next()?,
        involuntary_switches: next()?,
    };
    Ok(())
}

fn finite(c: &mut Cursor<'_>, wanted: &'static str) -> Result<f64, ReadError> {
    let value = f64::from_bits(c.u64(wanted)?);
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(c.corrupt(format!("{wanted}: {value}"))) }
}
