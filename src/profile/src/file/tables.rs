//! The sections of a PE file beside those of the PE and its routines. The order of the fields here is the format.
//!
//! Each is a list: `u32` number of rows, then the rows; text is a `u32` length and UTF-8.

use super::cursor::Cursor;
use super::{ReadError, callers, causes, counters, lines, locks, phases, rates, unfinished};
use crate::op;
use crate::tables::{
    Algorithm, Context, Cost, Marker, Module, Nbi, Outside, PeTables, Peer, Region, Requests, Site, Sync, System, Team,
    Timeline, Traffic, Usage,
};

/// Tags of the sections, in the order in which they are written.
pub(super) const TAGS: [u32; 37] = [
    TAG_COST,
    TAG_PEERS,
    TAG_MODULES,
    TAG_REGIONS,
    TAG_SITES,
    TAG_MARKERS,
    TAG_TEAMS,
    TAG_SYNCS,
    TAG_NBI,
    TAG_CONTEXTS,
    TAG_COUNTERS,
    TAG_NETWORK,
    TAG_SYSTEM,
    TAG_PHASES,
    TAG_TIMELINE,
    TAG_CAUSES,
    TAG_LOCKS,
    TAG_LINES,
    TAG_ALGORITHMS,
    TAG_TRACE,
    TAG_BUILD_IDS,
    TAG_REGION_ERROR,
    TAG_RATES,
    TAG_CALLERS,
    TAG_REQUESTS,
    TAG_ERRORS,
    TAG_QUEUED,
    TAG_BESIDE,
    TAG_QUOTA,
    TAG_UNFINISHED,
    TAG_LONGEST,
    TAG_SYNC_CALLERS,
    TAG_OFF_CORE,
    TAG_PHASE_WAITS,
    TAG_OUTSIDE,
    TAG_HELPERS,
    TAG_LONGEST_PHASES,
];
/// What recording costs, and what could not be kept.
const TAG_COST: u32 = 4;
/// Traffic by peer.
const TAG_PEERS: u32 = 5;
/// Loaded objects.
const TAG_MODULES: u32 = 6;
/// Regions.
const TAG_REGIONS: u32 = 7;
/// Call sites.
const TAG_SITES: u32 = 8;
/// Markers.
const TAG_MARKERS: u32 = 9;
/// Teams.
const TAG_TEAMS: u32 = 10;
/// Synchronisations one by one.
pub(super) const TAG_SYNCS: u32 = 11;
/// Nonblocking operations.
const TAG_NBI: u32 = 12;
/// Contexts.
const TAG_CONTEXTS: u32 = 13;
/// Hardware and software counters; left out where none was asked for.
const TAG_COUNTERS: u32 = 14;
/// Numbers of the network; left out where there is none.
const TAG_NETWORK: u32 = 15;
/// What the system gave; left out where it is not known. (16 is `TAG_DENIED`.)
const TAG_SYSTEM: u32 = 17;
/// What lies before the synchronisations, in their order, and after the last ones.
const TAG_PHASES: u32 = 18;
/// What the PE did over time.
const TAG_TIMELINE: u32 = 19;
/// Who ended waits.
const TAG_CAUSES: u32 = 20;
/// Distributed locks.
const TAG_LOCKS: u32 = 21;
/// Words that short calls go to.
const TAG_LINES: u32 = 22;
/// Algorithms of collectives; left out where there were none.
const TAG_ALGORITHMS: u32 = 23;
/// What is missing in the trace; left out where nothing is.
const TAG_TRACE: u32 = 24;
/// Build ids of the loaded objects, in their order; left out where none has one.
const TAG_BUILD_IDS: u32 = 25;
/// Where the first region or marker that could not be kept was called from; left out where that is not known.
const TAG_REGION_ERROR: u32 = 26;
/// How fast puts, gets and atomics were; left out where there were none.
const TAG_RATES: u32 = 27;
/// Who called the functions that call the library; left out where nobody is known.
const TAG_CALLERS: u32 = 28;
/// Requests by routine; left out where there were none.
const TAG_REQUESTS: u32 = 29;
/// Errors by code; left out where there were none.
const TAG_ERRORS: u32 = 30;
/// How long threads stood in run queues; left out where that is not known.
const TAG_QUEUED: u32 = 31;
/// What counting takes of atomic operations and of copies; left out where that was not measured.
const TAG_BESIDE: u32 = 32;
/// What the control group may take of the processors, where that is limited.
const TAG_QUOTA: u32 = 33;
/// Calls that had not returned, by call site, and those of all PEs of a team; left out where there were none.
const TAG_UNFINISHED: u32 = 34;
/// How long a PE has to be in a synchronisation for all such to be kept; left out where nothing was left out.
const TAG_LONGEST: u32 = 35;
/// Who called the synchronisations.
const TAG_SYNC_CALLERS: u32 = 36;
/// How long threads were on no core while they waited; left out where no wait was long.
const TAG_OFF_CORE: u32 = 37;
/// How much of the phases was in waits and locks; left out where nothing was.
const TAG_PHASE_WAITS: u32 = 38;
/// What threads did outside of the library; left out where there is but one.
const TAG_OUTSIDE: u32 = 39;
/// How long threads that never call the library were on cores; left out where none was.
const TAG_HELPERS: u32 = 40;
/// From how long a phase on all calls after such are kept; left out where none were looked for.
const TAG_LONGEST_PHASES: u32 = 41;

/// The payload of a section; `None` where there is nothing to say.
pub(super) fn encode(tag: u32, d: &PeTables) -> Option<Vec<u8>> {
    let mut out = Out(Vec::new());
    match tag {
        TAG_COST => {
            let Cost { counted_ns, timed_ns, sample_ns, .. } = d.cost;
            [counted_ns, timed_ns, sample_ns].into_iter().for_each(|ns| out.u64(ns.to_bits()));
            out.u32(d.region_errors);
        }
        TAG_PEERS => out.list(&d.peers, |out, p| {
            out.u32(p.pe.unwrap_or(u32::MAX));
            [p.put, p.get, p.amo].into_iter().for_each(|t| out.traffic(t));
        }),
        TAG_MODULES => out.list(&d.modules, |out, m| {
            [m.base, m.start, m.end].into_iter().for_each(|n| out.u64(n));
            out.text(&m.path);
        }),
        TAG_REGIONS => out.list(&d.regions, |out, r| {
            out.text(&r.name);
            [r.entries, r.total_ns, r.own_ns, r.max_ns, r.open].into_iter().for_each(|n| out.u64(n));
        }),
        TAG_SITES => out.list(&d.sites, |out, s| {
            out.u64(s.address);
            out.text(&s.routine);
            out.0.push(s.region);
            [s.calls, s.bytes, s.timed_calls].into_iter().for_each(|n| out.u64(n));
            out.0.push(u8::from(s.total_ns.is_some()));
            [s.total_ns.unwrap_or(0), s.max_ns].into_iter().for_each(|n| out.u64(n));
        }),
        TAG_MARKERS => out.list(&d.markers, |out, m| {
            out.text(&m.name);
            out.u64(m.count);
            [m.sum, m.min, m.max, m.last].into_iter().for_each(|v| out.u64(v.to_bits()));
        }),
        TAG_TEAMS => out.list(&d.teams, |out, t| {
            [t.start as u32, t.stride as u32, t.size as u32, t.id].into_iter().for_each(|n| out.u32(n));
            [t.calls, t.ns, t.bytes].into_iter().for_each(|n| out.u64(n));
        }),
        TAG_SYNCS => {
            out.u64(d.sync_every);
            out.list(&d.syncs, |out, s| {
                out.0.extend([s.team, s.region]);
                out.text(op::get(s.op).map_or("", |row| row.name()));
                [s.address, s.number, s.arrived_ns, s.left_ns].into_iter().for_each(|n| out.u64(n));
            });
        }
        TAG_NBI => {
            let n = &d.nbi;
            [n.issued, n.bytes, n.batches, n.completed, n.ns, n.blocked_ns, n.max_ns, n.met_ns]
                .into_iter()
                .for_each(|n| out.u64(n));
        }
        TAG_REQUESTS if !d.requests.is_empty() => out.list(&d.requests, |out, r| {
            out.text(&r.routine);
            [r.ended, r.open_ns, r.waited_ns].into_iter().for_each(|n| out.u64(n));
        }),
        TAG_ERRORS if !d.errors.is_empty() => out.list(&d.errors, |out, (code, count)| {
            out.u32(*code);
            out.u64(*count);
        }),
        TAG_CONTEXTS => out.list(&d.contexts, |out, c| {
            out.u64(c.handle);
            [c.put, c.get, c.amo].into_iter().for_each(|t| out.traffic(t));
            out.u64(c.orders);
            out.0.push(u8::from(c.team.is_some()));
            let (id, start, stride, size) = c.team.unwrap_or_default();
            [id, start as u32, stride as u32, size as u32].into_iter().for_each(|n| out.u32(n));
        }),
        TAG_COUNTERS if !d.counters.list.is_empty() => counters::encode(&mut out, &d.counters),
        TAG_NETWORK if !d.network.is_empty() => out.list(&d.network, |out, (name, value)| {
            out.text(name);
            out.u64(*value);
        }),
        TAG_ALGORITHMS if !d.algorithms.is_empty() => out.list(&d.algorithms, |out, a| {
            out.text(&a.routine);
            out.text(&a.name);
            out.u64(a.calls);
        }),
        TAG_SYSTEM if d.system != System::default() => system_words(&d.system).into_iter().for_each(|n| out.u64(n)),
        TAG_PHASES if d.syncs.iter().any(|sync| sync.phase.begin_ns > 0) || !d.last_phases.is_empty() => {
            phases::encode(&mut out, d);
        }
        TAG_PHASE_WAITS if phases::waits(d).any(|ns| ns > 0) => phases::encode_waits(&mut out, d),
        TAG_CAUSES if !d.causes.is_empty() => causes::encode(&mut out, &d.causes),
        TAG_LOCKS if !d.locks.is_empty() => locks::encode(&mut out, &d.locks),
        TAG_LINES if !d.lines.is_empty() => lines::encode(&mut out, &d.lines),
        TAG_TIMELINE if d.timeline.width_ns > 0 => {
            [d.timeline.begin_ns, d.timeline.width_ns].into_iter().for_each(|n| out.u64(n));
            out.list(&d.timeline.slices, |out, slice| slice.iter().for_each(|&ns| out.u64(ns)));
        }
        TAG_BUILD_IDS if d.modules.iter().any(|m| !m.build_id.is_empty()) => {
            out.list(&d.modules, |out, m| out.text(&m.build_id));
        }
        TAG_REGION_ERROR if d.region_error > 0 => out.u64(d.region_error),
        TAG_RATES if !d.rates.is_empty() => rates::encode(&mut out, &d.rates),
        TAG_CALLERS if !d.callers.is_empty() => callers::encode(&mut out, &d.callers),
        TAG_UNFINISHED if d.sites.iter().any(|site| site.unfinished > 0) || !d.open_syncs.is_empty() => {
            unfinished::encode(&mut out, d);
        }
        TAG_SYNC_CALLERS if d.syncs.iter().any(|sync| sync.caller != 0) => {
            out.list(&d.syncs, |out, sync| out.u64(sync.caller));
        }
        TAG_OFF_CORE if d.system.off_core_ns > 0 => out.u64(d.system.off_core_ns),
        TAG_LONGEST if d.longest_from_ns > 0 => out.u64(d.longest_from_ns),
        TAG_LONGEST_PHASES if d.longest_phase_from_ns > 0 => out.u64(d.longest_phase_from_ns),
        TAG_TRACE if d.trace_dropped > 0 => out.u64(d.trace_dropped),
        TAG_QUEUED => out.u64(d.system.queued_ns?),
        TAG_QUOTA if d.system.quota > 0 => out.u32(d.system.quota),
        TAG_OUTSIDE => {
            let Outside { work_ns, queued_ns } = d.system.outside?;
            [work_ns, queued_ns].into_iter().for_each(|ns| out.u64(ns));
        }
        TAG_HELPERS if d.system.helpers_ns > 0 => out.u64(d.system.helpers_ns),
        TAG_BESIDE if d.cost.beside_ns == [0.0; 2] => return None,
        TAG_BESIDE => d.cost.beside_ns.into_iter().for_each(|ns| out.u64(ns.to_bits())),
        _ => return None,
    }
    Some(out.0)
}

/// The payload of the system's section: a `u64` each.
fn system_words(s: &System) -> [u64; 14] {
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

/// Reads a section into the tables. Sections of other tags are left alone.
pub(super) fn decode(tag: u32, c: &mut Cursor<'_>, d: &mut PeTables) -> Result<(), ReadError> {
    match tag {
        TAG_COST => {
            let mut next = || finite(c, "what recording costs");
            let (counted_ns, timed_ns, sample_ns) = (next()?, next()?, next()?);
            d.cost = Cost { counted_ns, timed_ns, sample_ns, ..d.cost };
            d.region_errors = c.u32("region errors")?;
        }
        TAG_PEERS => {
            d.peers = list(c, |c| {
                let pe = c.u32("a peer")?;
                let pe = (pe != u32::MAX).then_some(pe);
                Ok(Peer { pe, put: traffic(c)?, get: traffic(c)?, amo: traffic(c)? })
            })?;
        }
        TAG_MODULES => {
            d.modules = list(c, |c| {
                let mut next = || c.u64("an object's address");
                let (base, start, end) = (next()?, next()?, next()?);
                Ok(Module { base, start, end, path: c.text("an object's file")?, build_id: String::new() })
            })?;
        }
        TAG_REGION_ERROR => d.region_error = c.u64("where a region was called from")?,
        TAG_BUILD_IDS => {
            for (at, build_id) in list(c, |c| c.text("an object's build id"))?.into_iter().enumerate() {
                // As many as there are objects: what is too much belongs to none.
                d.modules.get_mut(at).into_iter().for_each(|module| module.build_id.clone_from(&build_id));
            }
        }
        TAG_REGIONS => {
            d.regions = list(c, |c| {
                let name = c.text("a region's name")?;
                let mut next = || c.u64("a region");
                let (entries, total_ns, own_ns, max_ns, open) = (next()?, next()?, next()?, next()?, next()?);
                Ok(Region { name, entries, total_ns, own_ns, max_ns, open })
            })?;
        }
        TAG_SITES => {
            d.sites = list(c, |c| {
                let address = c.u64("a call site")?;
                let routine = c.text("a call site's routine")?;
                let region = c.u8("a call site's region")?;
                let mut next = || c.u64("a call site");
                let (calls, bytes, timed_calls) = (next()?, next()?, next()?);
                let is_timed = c.u8("a call site")? != 0;
                let total_ns = Some(c.u64("a call site's time")?).filter(|_| is_timed);
                let max_ns = c.u64("a call site's time")?;
                let (unfinished, unfinished_ns) = (0, 0);
                Ok(Site {
                    address,
                    routine,
                    region,
                    calls,
                    bytes,
                    timed_calls,
                    total_ns,
                    max_ns,
                    unfinished,
                    unfinished_ns,
                })
            })?;
        }
        TAG_MARKERS => {
            d.markers = list(c, |c| {
                let (name, count) = (c.text("a marker's name")?, c.u64("a marker")?);
                let mut next = || c.u64("a marker").map(f64::from_bits);
                Ok(Marker { name, count, sum: next()?, min: next()?, max: next()?, last: next()? })
            })?;
        }
        TAG_TEAMS => {
            d.teams = list(c, |c| {
                let mut next = || c.u32("a team");
                let (start, stride, size, id) = (next()? as i32, next()? as i32, next()? as i32, next()?);
                let mut next = || c.u64("a team");
                Ok(Team { start, stride, size, id, calls: next()?, ns: next()?, bytes: next()? })
            })?;
        }
        TAG_SYNCS => {
            d.sync_every = c.u64("the synchronisations")?;
            let teams = d.teams.len();
            // The same routine again and again.
            let mut last = ("", op::lookup(""));
            d.syncs = list(c, |c| {
                let (team, region) = (c.u8("a synchronisation")?, c.u8("a synchronisation")?);
                if usize::from(team) >= teams {
                    return Err(c.corrupt(format!("a synchronisation of team {team} of {teams}")));
                }
                let name = c.str("a synchronisation's routine")?;
                if name != last.0 {
                    last = (name, op::lookup(name));
                }
                let op = last.1.unwrap_or(u16::MAX);
                let mut next = || c.u64("a synchronisation");
                let (address, number, arrived_ns, left_ns) = (next()?, next()?, next()?, next()?);
                Ok(Sync { team, region, op, address, number, arrived_ns, left_ns, ..Sync::default() })
            })?;
        }
        TAG_NBI => {
            let mut next = || c.u64("nonblocking operations");
            d.nbi = Nbi {
                issued: next()?,
                bytes: next()?,
                batches: next()?,
                completed: next()?,
                ns: next()?,
                blocked_ns: next()?,
                max_ns: next()?,
                // Not in profiles of earlier versions.
                met_ns: 0,
            };
            if !c.is_at_end() {
                d.nbi.met_ns = c.u64("nonblocking operations")?;
            }
        }
        TAG_CONTEXTS => {
            d.contexts = list(c, |c| {
                let handle = c.u64("a context")?;
                let (put, get, amo) = (traffic(c)?, traffic(c)?, traffic(c)?);
                let orders = c.u64("a context")?;
                let is_known = c.u8("a context's team")? != 0;
                let mut next = || c.u32("a context's team");
                let team = (next()?, next()? as i32, next()? as i32, next()? as i32);
                Ok(Context { handle, put, get, amo, orders, team: Some(team).filter(|_| is_known) })
            })?;
        }
        TAG_REQUESTS => {
            d.requests = list(c, |c| {
                let routine = c.text("requests of a routine")?;
                let mut next = || c.u64("requests of a routine");
                Ok(Requests { routine, ended: next()?, open_ns: next()?, waited_ns: next()? })
            })?;
        }
        TAG_ERRORS => d.errors = list(c, |c| Ok((c.u32("a code")?, c.u64("errors by code")?)))?,
        TAG_COUNTERS => d.counters = counters::decode(c)?,
        TAG_SYSTEM => system(c, &mut d.system)?,
        TAG_QUOTA => d.system.quota = c.u32("what the control group may take")?,
        TAG_QUEUED => d.system.queued_ns = Some(c.u64("how long threads stood in run queues")?),
        TAG_BESIDE => {
            let mut next = || finite(c, "what recording costs");
            d.cost.beside_ns = [next()?, next()?];
        }
        TAG_PHASES => phases::decode(c, d)?,
        TAG_PHASE_WAITS => phases::decode_waits(c, d)?,
        TAG_CAUSES => d.causes = causes::decode(c)?,
        TAG_LOCKS => d.locks = locks::decode(c)?,
        TAG_LINES => d.lines = lines::decode(c)?,
        TAG_RATES => d.rates = rates::decode(c)?,
        TAG_CALLERS => d.callers = callers::decode(c)?,
        TAG_UNFINISHED => unfinished::decode(c, d)?,
        TAG_SYNC_CALLERS => {
            let callers = list(c, |c| c.u64("who called a synchronisation"))?;
            // As many as there are synchronisations.
            d.syncs.iter_mut().zip(callers).for_each(|(sync, caller)| sync.caller = caller);
        }
        TAG_OFF_CORE => d.system.off_core_ns = c.u64("how long threads were on no core while they waited")?,
        TAG_OUTSIDE => {
            let mut next = || c.u64("what threads did outside of the library");
            d.system.outside = Some(Outside { work_ns: next()?, queued_ns: next()? });
        }
        TAG_HELPERS => d.system.helpers_ns = c.u64("how long other threads were on cores")?,
        TAG_LONGEST => d.longest_from_ns = c.u64("the longest synchronisations")?,
        TAG_LONGEST_PHASES => d.longest_phase_from_ns = c.u64("the longest phases")?,
        TAG_TRACE => d.trace_dropped = c.u64("what the trace does not have")?,
        TAG_TIMELINE => {
            let mut next = || c.u64("the time line");
            let (begin_ns, width_ns) = (next()?, next()?);
            let slices = list(c, |c| {
                let mut next = || c.u64("a slice of the time line");
                Ok([next()?, next()?, next()?])
            })?;
            d.timeline = Timeline { begin_ns, width_ns, slices };
        }
        TAG_ALGORITHMS => {
            d.algorithms = list(c, |c| {
                let (routine, name) = (c.text("an algorithm's routine")?, c.text("an algorithm")?);
                Ok(Algorithm { routine, name, calls: c.u64("an algorithm")? })
            })?;
        }
        TAG_NETWORK => {
            d.network = list(c, |c| Ok((c.text("a number of the network")?, c.u64("a number of the network")?)))?
        }
        _ => {}
    }
    Ok(())
}

pub(super) fn list<'a, T>(
    c: &mut Cursor<'a>,
    mut row: impl FnMut(&mut Cursor<'a>) -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    let count = c.u32("the number of rows")?;
    // Not reserved at once: a damaged number must not take all memory.
    let mut rows = Vec::new();
    for _ in 0..count {
        rows.push(row(c)?);
    }
    Ok(rows)
}

fn traffic(c: &mut Cursor<'_>) -> Result<Traffic, ReadError> {
    Ok(Traffic { calls: c.u64("calls")?, bytes: c.u64("bytes")? })
}

fn finite(c: &mut Cursor<'_>, wanted: &'static str) -> Result<f64, ReadError> {
    let value = f64::from_bits(c.u64(wanted)?);
    if value.is_finite() && value >= 0.0 { Ok(value) } else { Err(c.corrupt(format!("{wanted}: {value}"))) }
}

/// Bytes of a section.
pub(super) struct Out(pub(super) Vec<u8>);

impl Out {
    pub(super) fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn text(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.0.extend(text.as_bytes());
    }

    fn traffic(&mut self, traffic: Traffic) {
        self.u64(traffic.calls);
        self.u64(traffic.bytes);
    }

    pub(super) fn list<T>(&mut self, rows: &[T], mut row: impl FnMut(&mut Out, &T)) {
        self.u32(rows.len() as u32);
        rows.iter().for_each(|item| row(self, item));
    }
}
