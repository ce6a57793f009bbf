//! Reading what a PE recorded beside its routines and call sites.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
};

use super::counters;
use super::flows::Flows;
use super::phases::Phases;
use super::sampled::traffic_of;
use super::unfinished::add_open_sync;
use crate::op;
use crate::order;
use crate::sample;
use crate::segment::Segment;
use crate::segment::algorithms::split_algorithm_key;
use crate::segment::layout::{self, OWNER_NONE, Slot};
use crate::segment::meetings::{self, LONGEST, NO_NUMBER, SYNCS, TeamRow};
use crate::segment::peers::{self, CONTEXTS, PEER_OVERFLOW, PEERS};
use crate::segment::sites::{KEY_REGION, split_key};
use crate::segment::tables::REGIONS;
use crate::tables::{
    Algorithm, Context, Cost, Marker, Module, Nbi, PeTables, Peer, Region, Requests, Sync, System, Team, TeamKey,
    Traffic, Usage,
};

/// Reads one PE. `slots` are those with something in them, `end_ns` is the end of its run.
pub(crate) fn take(segment: &Segment, region: &layout::Region, slots: &[Flows<'_>], end_ns: u64) -> PeTables {
    let head = &region.head;
    let mut tables = begin(segment, region, end_ns);
    markers_and_modules(region, &mut tables);
    let mut sums = Sums::default();
    let mut regions = vec![Region::default(); REGIONS];
    let mut counters = counters::Sums::new(segment, region);
    for flows in slots {
        let slot = flows.slot;
        counters.add(slot);
        tables.system.threads_ns += life_ns(segment, head, slot, end_ns);
        let lives = &slot.tables.lives;
        if get(&lives.queued_seen) > 0 {
            *tables.system.queued_ns.get_or_insert(0) += get(&lives.queued);
        }
        tables.system.off_core_ns += get(&slot.tables.slow_wait.off_core_ns);
        peers(segment, flows, &mut sums.peers);
        region_times(segment, slot, main_end_ns(segment, head, end_ns), &mut regions);
        contexts(slot, &mut sums.contexts);
        algorithms(slot, &mut sums.algorithms);
        nbi(segment, slot, &mut tables.nbi);
        requests(segment, slot, &mut tables.requests);
        let longest = || Longest::both(Phases { segment, head, slot });
        sums.teams.extend(teams(segment, slot, head, 0).map(|teams| ThreadTeams { longest: longest(), ..teams }));
    }
    tables.counters = counters.finish();
    order::merge_by_key(&mut sums.peers, |(tag, _)| *tag, |(_, sum), (_, more)| sum.merge(more));
    tables.peers = sums.peers.into_iter().map(|(_, peer)| peer).collect();
    order::merge_by_key(&mut sums.algorithms, |(key, _)| *key, |(_, sum), (_, more)| *sum += more);
    tables.algorithms = algorithm_list(region, &sums.algorithms);
    order::merge_by_key(&mut sums.contexts, |context| context.handle, add_context);
    tables.contexts =
        sums.contexts.into_iter().map(|c| Context { team: context_team(region, c.handle), ..c }).collect();
    name_regions(regions, &mut tables);
    let several = join_teams(&sums.teams, &mut tables);
    for flows in slots {
        let phases = Phases { segment, head, slot: flows.slot };
        if !add_open_sync(phases, end_ns, &several, &mut tables) {
            tables.last_phases.extend(phases.last(end_ns));
        }
    }
    tables
}

/// When the last meeting came that has been read, by slot, in ticks.
pub(crate) type SeenMeetings = Vec<u64>;

/// As [`take`], without what sums over PEs do not need, and of meetings only those that have not been seen.
pub(crate) fn take_sums<'a>(
    segment: &Segment,
    region: &layout::Region,
    slots: impl Iterator<Item = &'a Slot>,
    (end_ns, seen): (u64, &mut SeenMeetings),
) -> PeTables {
    let mut tables = begin(segment, region, end_ns);
    let mut regions = vec![Region::default(); tables.regions.len()];
    let mut sums = Vec::new();
    for (at, slot) in slots.enumerate() {
        region_times(segment, slot, main_end_ns(segment, &region.head, end_ns), &mut regions);
        nbi(segment, slot, &mut tables.nbi);
        seen.resize(seen.len().max(at + 1), 0);
        let before = seen[at];
        seen[at] = last_met(slot).max(before);
        sums.extend(teams(segment, slot, &region.head, before));
    }
    name_regions(regions, &mut tables);
    let several = join_teams(&sums, &mut tables);
    // Those of several threads are numbered by all of their calls, of which these are only the last.
    tables.syncs.retain(|sync| !several[usize::from(sync.team)]);
    tables
}

/// When the last meeting came that a thread has kept.
fn last_met(slot: &Slot) -> u64 {
    let used = (slot.tables.syncs_used.load(Acquire) as usize).min(SYNCS);
    slot.tables.syncs[..used].last().map_or(0, |row| get(&row.arrived))
}

/// What a PE has once, whatever its threads do.
fn begin(segment: &Segment, region: &layout::Region, end_ns: u64) -> PeTables {
    let ns = |word: &AtomicU64| word.load(Relaxed) as f64 / 256.0 * segment.scale().ns_per_tick();
    let head = &region.head;
    let mut tables = PeTables {
        cost: Cost {
            counted_ns: ns(&head.call_cost),
            beside_ns: [ns(&head.amo_cost), ns(&head.copy_cost)],
            timed_ns: ns(&head.timed_cost),
            sample_ns: ns(&head.sample_overhead),
        },
        region_errors: head.region_errors.load(Relaxed),
        region_error: head.region_error.load(Relaxed),
        left_out: head.left_out.load(Relaxed),
        trace_dropped: head.trace_dropped.load(Relaxed),
        errors: errors(head),
        system: System { unrecorded_ns: unrecorded_ns(segment, head, end_ns), ..system(head) },
        sync_every: 1,
        ..PeTables::default()
    };
    names(region, &mut tables);
    tables
}

fn name_regions(regions: Vec<Region>, tables: &mut PeTables) {
    let known = regions.iter().rposition(|r| r.entries > 0).unwrap_or(0);
    for (number, region) in regions.into_iter().enumerate().take(known + 1) {
        let name = tables.regions.get(number).map(|r| r.name.clone()).unwrap_or_default();
        let region = Region { name, ..region };
        match tables.regions.get_mut(number) {
            Some(place) => *place = region,
            None => tables.regions.push(region),
        }
    }
}

fn system(head: &layout::RegionHead) -> System {
    let [user_ns, system_ns, page_faults, voluntary_switches, involuntary_switches] =
        std::array::from_fn(|at| get(&head.usage[at]).saturating_sub(get(&head.usage_before[at])));
    System {
        cores: head.cores.load(Relaxed),
        allowed: head.allowed.load(Relaxed),
        quota: head.quota.load(Relaxed),
        unrecorded_ns: 0,
        script_ns: get(&head.script_ns),
        threads_ns: 0,
        queued_ns: None,
        queued_before_ns: get(&head.queued_before),
        off_core_ns: 0,
        helpers_ns: 0,
        outside: None,
        memory: head.memory.each_ref().map(|word| word.load(Relaxed)),
        heap_used: head.heap_used.load(Relaxed),
        heap_most: head.heap_most.load(Relaxed),
        usage: Usage { user_ns, system_ns, page_faults, voluntary_switches, involuntary_switches },
    }
}

/// When the PE began to finalize, if it has; else where it is, or was when its level became 0.
fn main_end_ns(segment: &Segment, head: &layout::RegionHead, end_ns: u64) -> u64 {
    match (get(&head.finalize_ticks), get(&head.off_since)) {
        (0, 0) => end_ns,
        (0, off) => segment.since_start(off).min(end_ns),
        (finalize, _) => segment.since_start(finalize),
    }
}

/// How long the level was 0 between initialization and finalization.
fn unrecorded_ns(segment: &Segment, head: &layout::RegionHead, end_ns: u64) -> u64 {
    let still = if get(&head.finalize_ticks) == 0 { end_ns } else { 0 };
    segment.scale().ns(get(&head.off_ticks)) + still.saturating_sub(main_end_ns(segment, head, end_ns))
}

/// How long the slot has had owners between initialization and finalization.
pub(super) fn life_ns(segment: &Segment, head: &layout::RegionHead, slot: &Slot, end_ns: u64) -> u64 {
    let lives = &slot.tables.lives;
    let init = get(&head.init_ticks);
    let ended = segment.scale().ns(get(&lives.ended));
    if init == 0 || slot.head.owner.load(Relaxed) == OWNER_NONE {
        return ended;
    }
    let end_ns = main_end_ns(segment, head, end_ns);
    ended + end_ns.saturating_sub(segment.since_start(get(&lives.since).max(init)))
}

/// What the threads of a PE have, some of it of the same key.
#[derive(Default)]
struct Sums {
    /// With their tags.
    peers: Vec<(u64, Peer)>,
    contexts: Vec<Context>,
    /// Key, where 0 is what found no room, and calls.
    algorithms: Vec<(u64, u64)>,
    teams: Vec<ThreadTeams>,
}

/// Teams and synchronisations of one thread.
struct ThreadTeams {
    /// With their rows.
    teams: Vec<(usize, Team)>,
    syncs: Vec<(usize, Sync)>,
    /// The longest, and those after the longest phases.
    longest: [Longest; 2],
    every: u64,
}

fn get(word: &AtomicU64) -> u64 {
    word.load(Relaxed)
}

fn traffic(of: &peers::Traffic) -> Traffic {
    Traffic { calls: get(&of.calls), bytes: get(&of.bytes) }
}

fn names(region: &layout::Region, tables: &mut PeTables) {
    tables.regions.push(Region::default());
    for name in region.names.regions[1..].iter().map(layout::Text::get).take_while(|name| !name.is_empty()) {
        tables.regions.push(Region { name, ..Region::default() });
    }
    for row in &region.names.network {
        let name = row.name.get();
        if name.is_empty() {
            break;
        }
        tables.network.push((name, get(&row.value)));
    }
}

fn markers_and_modules(region: &layout::Region, tables: &mut PeTables) {
    for row in &region.names.markers {
        let (name, count) = (row.name.get(), get(&row.count));
        if count > 0 {
            let value = |word: &AtomicU64| f64::from_bits(get(word));
            let (sum, min, max, last) = (value(&row.sum), value(&row.min), value(&row.max), value(&row.last));
            tables.markers.push(Marker { name, count, sum, min, max, last });
        }
    }
    for row in &region.names.modules {
        let start = row.start.load(Acquire);
        if start == 0 {
            break;
        }
        let (path, build_id) = (row.path.get(), row.build_id.get());
        tables.modules.push(Module { base: get(&row.base), start, end: get(&row.end), path, build_id });
    }
}

/// Visits the rows of a table that lie on pages that were ever written.
pub(crate) fn written<'a, T>(segment: &Segment, rows: &'a [T], mut visit: impl FnMut(usize, &'a T)) {
    let begin = segment.offset_of(&rows[0]);
    segment.data_ranges(begin..begin + size_of_val(rows), |data| {
        let first = (data.start - begin) / size_of::<T>();
        let end = (data.end - begin).div_ceil(size_of::<T>());
        let rows = rows.iter().enumerate().take(end).skip(first);
        rows.for_each(|(at, row)| visit(at, row));
    });
}

fn peers(segment: &Segment, flows: &Flows<'_>, peers: &mut Vec<(u64, Peer)>) {
    for (pe, kind, traffic) in flows.traffic() {
        let mut peer = Peer { pe: Some(pe), ..Peer::default() };
        *traffic_of(&mut peer, kind) = traffic;
        peers.push((u64::from(pe) + 1, peer));
    }
    written(segment, &flows.slot.tables.peers[..=PEERS], |at, row| {
        let kinds = [&row.kinds[0], &row.kinds[1], &row.kinds[2]].map(traffic);
        let tag = if at == PEER_OVERFLOW { u64::MAX } else { get(&row.tag) };
        if kinds.iter().any(|kind| kind.calls > 0) && tag > 0 {
            let pe = (at != PEER_OVERFLOW).then(|| (tag - 1) as u32);
            let [put, get, amo] = kinds;
            peers.push((tag, Peer { pe, put, get, amo }));
        }
    });
}

fn region_times(segment: &Segment, slot: &Slot, end_ns: u64, sums: &mut [Region]) {
    let ns = |ticks: u64| segment.scale().ns(ticks);
    // Of a thread that has ended, what was open stays where it was.
    let alive = slot.head.owner.load(Relaxed) != OWNER_NONE;
    let until = |since: u64| if alive { end_ns.saturating_sub(segment.since_start(since)) } else { 0 };
    for (sum, row) in sums.iter_mut().zip(&slot.tables.regions) {
        let open = get(&row.open);
        sum.entries += get(&row.entries);
        sum.open += open;
        sum.own_ns += ns(get(&row.own_ticks));
        let running = if open > 0 { until(get(&row.since)) } else { 0 };
        sum.total_ns += ns(get(&row.ticks)) + running;
        sum.max_ns = sum.max_ns.max(ns(get(&row.max_ticks))).max(running);
    }
    let since = get(&slot.head.region_since);
    let innermost = (get(&slot.head.region_key) >> KEY_REGION) as usize % REGIONS;
    if let Some(sum) = sums.get_mut(innermost).filter(|_| since > 0) {
        sum.own_ns += until(since);
    }
}

fn contexts(slot: &Slot, contexts: &mut Vec<Context>) {
    for (at, row) in slot.tables.contexts.iter().enumerate() {
        let handle = if at + 1 == CONTEXTS { 0 } else { get(&row.handle) };
        let kinds = [&row.kinds[0], &row.kinds[1], &row.kinds[2]].map(traffic);
        let orders = get(&row.orders);
        if orders > 0 || kinds.iter().any(|kind| kind.calls > 0) {
            let [put, get, amo] = kinds;
            contexts.push(Context { handle, put, get, amo, orders, ..Context::default() });
        }
    }
}

fn add_context(sum: &mut Context, more: &Context) {
    sum.put.add(more.put);
    sum.get.add(more.get);
    sum.amo.add(more.amo);
    sum.orders += more.orders;
}

fn algorithms(slot: &Slot, algorithms: &mut Vec<(u64, u64)>) {
    let rows = slot.tables.algorithms.iter().map(|row| (get(&row.key), get(&row.calls)));
    algorithms.extend(rows.filter(|(_, calls)| *calls > 0));
}

fn algorithm_list(region: &layout::Region, sums: &[(u64, u64)]) -> Vec<Algorithm> {
    let named = |&(key, calls): &(u64, u64)| {
        let (op, number) = split_algorithm_key(key);
        let routine = op::get(op).map_or("", |row| row.name()).to_owned();
        let name = region.names.algorithms.get(usize::from(number)).filter(|_| key > 0);
        Algorithm { routine, name: name.map(layout::Text::get).unwrap_or_default(), calls }
    };
    sums.iter().map(named).collect()
}

/// The team that a context is of.
fn context_team(region: &layout::Region, handle: u64) -> Option<TeamKey> {
    let row = region.names.contexts.iter().find(|row| handle != 0 && row.handle.load(Acquire) == handle)?;
    let get = |word: &std::sync::atomic::AtomicI32| word.load(Relaxed);
    Some((row.id.load(Relaxed), get(&row.start), get(&row.stride), get(&row.size)))
}

fn nbi(segment: &Segment, slot: &Slot, sum: &mut Nbi) {
    let row = &slot.tables.nbi;
    let ns = |word: &AtomicU64| segment.scale().ns(get(word));
    sum.issued += get(&row.issued);
    sum.batches += get(&row.batches);
    sum.completed += get(&row.closed).saturating_sub(get(&row.unseen));
    sum.ns += ns(&row.ticks);
    sum.blocked_ns += ns(&row.blocked_ticks);
    sum.max_ns = sum.max_ns.max(ns(&row.max_ticks));
    sum.met_ns += ns(&row.met_ticks);
}

fn requests(segment: &Segment, slot: &Slot, sums: &mut Vec<Requests>) {
    for row in slot.tables.requests.iter().filter(|row| get(&row.ended) > 0) {
        let routine = get(&row.routine).checked_sub(1).and_then(|op| op::get(op as u16));
        let ns = |word: &AtomicU64| segment.scale().ns(get(word));
        let (open_ns, waited_ns) = (ns(&row.open_ticks), ns(&row.waited_ticks));
        let routine = routine.map_or("", |row| row.name()).to_owned();
        let one = Requests { routine, ended: get(&row.ended), open_ns, waited_ns };
        match sums.iter_mut().find(|known| known.routine == one.routine) {
            Some(known) => known.add(&one),
            None => sums.push(one),
        }
    }
}

fn errors(head: &layout::RegionHead) -> Vec<(u32, u64)> {
    let counts = head.errors.iter().enumerate().map(|(code, count)| (code as u32, count.load(Relaxed)));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// Those of one thread, and its meetings later than `since`.
fn teams(segment: &Segment, slot: &Slot, head: &layout::RegionHead, since: u64) -> Option<ThreadTeams> {
    let is_used = slot.tables.syncs_used.load(Acquire) > 0;
    if !is_used && slot.tables.teams.iter().all(|team| team.calls.load(Relaxed) == 0) {
        return None;
    }
    let phases = Phases { segment, head, slot };
    let team = |row: &TeamRow| Team {
        start: row.start.load(Relaxed),
        stride: row.stride.load(Relaxed),
        size: row.size.load(Relaxed),
        id: row.id.load(Relaxed),
        calls: get(&row.calls),
        ns: segment.scale().ns(get(&row.ticks)),
        bytes: get(&row.bytes),
    };
    let teams = slot.tables.teams.iter().enumerate().map(|(at, row)| (at, team(row)));
    let used = (slot.tables.syncs_used.load(Acquire) as usize).min(SYNCS);
    // They are in the order of their arrivals.
    let first = slot.tables.syncs[..used].iter().rposition(|row| get(&row.arrived) <= since).map_or(0, |at| at + 1);
    let syncs = slot.tables.syncs[first..used].iter().map(|row| sync(phases, row));
    Some(ThreadTeams {
        teams: teams.filter(|(_, team)| team.calls > 0).collect(),
        syncs: syncs.collect(),
        longest: Default::default(),
        every: 1 << (get(&slot.tables.sync_shift) & 63),
    })
}

/// A meeting, and the row of its team.
fn sync(phases: Phases<'_>, row: &meetings::Sync) -> (usize, Sync) {
    let number = row.number.load(Acquire);
    let (address, op, region) = split_key(get(&row.key));
    let sync = Sync {
        team: 0,
        region,
        op,
        address,
        number: number & ((1 << 56) - 1),
        arrived_ns: phases.segment.since_start(get(&row.arrived)),
        left_ns: phases.segment.since_start(get(&row.left)),
        phase: phases.before(row),
        caller: get(&row.caller),
    };
    ((number >> 56) as usize, sync)
}

/// The longest of those that a thread has thinned out.
#[derive(Default)]
struct Longest {
    syncs: Vec<(usize, Sync)>,
    /// All that took so long are there, in nanoseconds; 0: nothing was looked for.
    from_ns: u64,
}

impl Longest {
    /// Those of a thread, and those after the longest phases.
    fn both(phases: Phases<'_>) -> [Longest; 2] {
        let tables = &phases.slot.tables;
        let took = |sync: &Sync| sync.left_ns.saturating_sub(sync.arrived_ns);
        let phase = |sync: &Sync| sync.arrived_ns.saturating_sub(sync.phase.begin_ns);
        let mut after = Longest::of(phases, &tables.longest_phases, phase);
        // Before there are so many, those of the sample are no longer than others.
        if (1..LONGEST).contains(&after.syncs.len()) {
            after.from_ns = u64::MAX;
        }
        [Longest::of(phases, &tables.longest, took), after]
    }

    fn of(phases: Phases<'_>, longest: &meetings::Longest, length: impl Fn(&Sync) -> u64) -> Longest {
        let beyond = get(&longest.beyond);
        let used = (get(&longest.used) as usize).min(LONGEST);
        if beyond == 0 {
            return Longest::default();
        }
        let whole = longest.syncs[..used].iter().filter(|row| row.number.load(Acquire) != NO_NUMBER);
        let syncs: Vec<(usize, Sync)> = whole.map(|row| sync(phases, row)).collect();
        // Rounding leaves none of them out.
        let lengths = syncs.iter().map(|(_, sync)| length(sync));
        let from_ns = lengths.fold(phases.segment.scale().ns(beyond) + 1, u64::min);
        Longest { syncs, from_ns }
    }
}

/// Puts the teams of the threads together. Where several threads call on one team, the order of their arrivals numbers
/// the calls; that needs all of them, so where some were left out already, those of that team are dropped. Gives which
/// teams are such.
fn join_teams(threads: &[ThreadTeams], tables: &mut PeTables) -> Vec<bool> {
    tables.sync_every = threads.iter().map(|thread| thread.every).max().unwrap_or(1);
    // Threads that call on each team.
    let mut callers: Vec<u32> = Vec::new();
    for thread in threads {
        let mut places = Vec::new();
        for (row, team) in &thread.teams {
            let at = tables.teams.iter().position(|t| t.key() == team.key()).unwrap_or_else(|| {
                tables.teams.push(Team { calls: 0, ns: 0, bytes: 0, ..*team });
                tables.teams.len() - 1
            });
            let sum = &mut tables.teams[at];
            sum.calls += team.calls;
            sum.ns += team.ns;
            sum.bytes += team.bytes;
            callers.resize(tables.teams.len(), 0);
            callers[at] += 1;
            places.push((*row, at));
        }
        // Of several threads nobody knows whose calls belong together.
        let longest = if let [one] = threads { one.longest.each_ref().map(|of| &*of.syncs) } else { [&[][..]; 2] };
        for (row, sync) in thread.syncs.iter().chain(longest.into_iter().flatten()) {
            let place = places.iter().find(|(of, _)| of == row);
            if let Some(team) = place.and_then(|(_, at)| u8::try_from(*at).ok()).filter(|at| *at < u8::MAX) {
                tables.syncs.push(Sync { team, ..*sync });
            }
        }
    }
    let several: Vec<bool> = callers.into_iter().map(|callers| callers > 1).collect();
    let all_kept = tables.sync_every == 1;
    tables.syncs.retain(|sync| all_kept || !several[usize::from(sync.team)]);
    let every = tables.sync_every;
    [tables.longest_from_ns, tables.longest_phase_from_ns] =
        if let [one] = threads { one.longest.each_ref().map(|of| of.from_ns) } else { [0; 2] };
    let is_kept = |sync: &Sync| sample::is_kept(sync.number, every.trailing_zeros());
    if threads.len() != 1 {
        tables.syncs.retain(is_kept);
    }
    order::sort_by_key(&mut tables.syncs, |sync| (sync.team, sync.arrived_ns));
    let mut next = vec![0_u64; tables.teams.len()];
    for sync in &mut tables.syncs {
        if several[usize::from(sync.team)] {
            sync.number = next[usize::from(sync.team)];
            next[usize::from(sync.team)] += 1;
        }
    }
    order::sort_by_key(&mut tables.syncs, |sync| (sync.team, sync.number));
    // One may be long, and after a long phase.
    tables.syncs.dedup_by_key(|sync| (sync.team, sync.number));
    several
}
