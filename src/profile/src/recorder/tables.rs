//! Recording by peer, by call site, by team, by context, and from issue to completion.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use super::hot::{self, bump, bump32};
use super::{callers, flows, release, script, tls};
use crate::arm;
use crate::clock;
use crate::op::{NONBLOCKING, ONE_ELEMENT, Operation, SIGNALS, STORES, TOGETHER, TRANSFER, TRANSFER_SHIFT, traits};
use crate::sample::{is_kept, next_kept};
use crate::segment::layout::Slot;
use crate::segment::tables::{
    CONTEXTS, ContextTeam, Nbi, PEER_OVERFLOW, PEERS, PROBES, SITE_OVERFLOW, SITES, SYNCS, Site, Sync, TEAMS,
    TRANSFERS, TeamRow, key, site_index, transfer,
};

/// Most bytes of a word that can be waited for.
const WORD_BYTES: usize = 8;

/// As [`note`], for a put, get or routine of nanoseconds: left out where the profile has counts only. `is_sampled`:
/// samples stand for its calls. Where only samples have call sites, such a call is not counted here
/// ([`note_sample`]).
#[inline(always)]
pub(super) fn note_short(
    slot: &Slot,
    op: impl Operation,
    (peer, addr, bytes): (i32, usize, usize),
    is_sampled: bool,
) -> u32 {
    if arm::counts_only() {
        return SITE_OVERFLOW as u32;
    }
    if is_sampled && arm::samples_sites(op.id()) {
        return note_uncounted(slot, op, (peer, addr, bytes));
    }
    flows::begin(slot, op, peer);
    note(slot, op, peer, addr, bytes)
}

/// The row of the call site of a call that is not counted there.
#[cold]
#[inline(never)]
fn note_uncounted<O: Operation>(slot: &Slot, op: O, (peer, addr, bytes): (i32, usize, usize)) -> u32 {
    let key = key(tls::site(), op.id(), slot.head.region_key.load(Relaxed));
    if op.traits() & TRANSFER != 0 && peer >= 0 && is_release(op, bytes) {
        release::note(slot, peer, addr, key);
    }
    site_row(slot, key) as u32
}

/// Counts the calls that a sample stands for at its call site, which is the slot's present one, and its peer.
#[cold]
#[inline(never)]
pub(super) fn note_sample(slot: &Slot, op: u16, (peer, bytes): (i32, u64), calls: u64) {
    let at = (slot.head.site.load(Relaxed) as usize).min(SITE_OVERFLOW);
    let (site, bytes) = (&slot.tables.sites[at], bytes.saturating_mul(calls));
    bump(&site.calls, calls);
    if !bytes_follow(op, at) {
        bump(&site.bytes, bytes);
    }
    if traits(op) & TRANSFER != 0 && peer >= 0 {
        let kind = &slot.tables.peers[peer_row(slot, peer as u64 + 1)].kinds[transfer(op)];
        bump(&kind.calls, calls);
        bump(&kind.bytes, bytes);
    }
}

/// Counts a call by call site and by peer. Returns the row of the call site.
#[inline(always)]
pub(super) fn note(slot: &Slot, op: impl Operation, peer: i32, addr: usize, bytes: usize) -> u32 {
    let traits = op.traits();
    let key = key(tls::site(), op.id(), slot.head.region_key.load(Relaxed));
    let first = site_index(key);
    let at = if slot.tables.sites[first].key.load(Relaxed) == key { first } else { site_row(slot, key) };
    let site = &slot.tables.sites[at];
    bump(&site.calls, 1);
    if bytes != 0 && !bytes_follow(op, at) {
        bump(&site.bytes, bytes as u64);
    }
    if traits & TRANSFER != 0 && peer >= 0 {
        let first = peer as usize & (PEERS - 1);
        let tag = peer as u64 + 1;
        let row = if slot.tables.peers[first].tag.load(Relaxed) == tag { first } else { peer_row(slot, tag) };
        let kind = &slot.tables.peers[row].kinds[transfer(op)];
        bump(&kind.calls, 1);
        bump(&kind.bytes, bytes as u64);
        if is_release(op, bytes) {
            release::note(slot, peer, addr, key);
        }
    }
    if traits & NONBLOCKING != 0 {
        issue(slot, bytes);
    }
    at as u32
}

/// Whether a call stores to a word for which its peer may wait.
#[inline(always)]
pub(super) fn is_release(op: impl Operation, bytes: usize) -> bool {
    op.traits() & STORES != 0 && (bytes <= WORD_BYTES || op.traits() & SIGNALS != 0)
}

/// Whether the bytes in a call site's row follow from its calls: not in the row that all operations share.
#[inline(always)]
pub(super) fn bytes_follow(op: impl Operation, at: usize) -> bool {
    op.traits() & ONE_ELEMENT != 0 && at != SITE_OVERFLOW
}

/// As [`note`], for a thread that shares its slot with others.
#[cold]
pub(super) fn note_shared(slot: &Slot, op: u16, peer: i32, bytes: usize) {
    let at = site_row(slot, key(tls::site(), op, 0));
    let site = &slot.tables.sites[at];
    site.calls.fetch_add(1, Relaxed);
    if !bytes_follow(op, at) {
        site.bytes.fetch_add(bytes as u64, Relaxed);
    }
    if traits(op) & TRANSFER != 0 && peer >= 0 {
        let row = &slot.tables.peers[peer_row(slot, peer as u64 + 1)];
        let kind = &row.kinds[transfer(op)];
        kind.calls.fetch_add(1, Relaxed);
        kind.bytes.fetch_add(bytes as u64, Relaxed);
    }
}

/// Finds or takes the row of a call site. Serves the shared slot too.
#[cold]
#[inline(never)]
fn site_row(slot: &Slot, key: u64) -> usize {
    let first = site_index(key);
    let at = (0..PROBES)
        .map(|k| (first + k) & (SITES - 1))
        .find(|&at| is_mine(&slot.tables.sites[at].key, key))
        .unwrap_or(SITE_OVERFLOW);
    if at != SITE_OVERFLOW && slot.tables.sites[at].calls.load(Relaxed) == 0 {
        callers::note(slot, key);
    }
    at
}

#[cold]
#[inline(never)]
fn peer_row(slot: &Slot, tag: u64) -> usize {
    let first = (tag - 1) as usize & (PEERS - 1);
    let found = (0..PROBES).map(|k| (first + k) & (PEERS - 1)).find(|&at| is_mine(&slot.tables.peers[at].tag, tag));
    found.unwrap_or(PEER_OVERFLOW)
}

/// Whether a row has this key, or was free and has it now.
pub(super) fn is_mine(word: &AtomicU64, key: u64) -> bool {
    let found = word.load(Relaxed);
    found == key
        || (found == 0 && word.compare_exchange(0, key, Relaxed, Relaxed).map_or_else(|now| now == key, |_| true))
}

/// The key of the call site in a row.
pub(super) fn site_key(slot: &Slot, row: u64) -> u64 {
    slot.tables.sites[(row as usize).min(SITE_OVERFLOW)].key.load(Relaxed)
}

/// Adds a timed call to the call site that it was entered with.
#[inline(always)]
pub(super) fn add_exact(slot: &Slot, ns: u64) {
    let site = &slot.tables.sites[(slot.head.site.load(Relaxed) as usize).min(SITE_OVERFLOW)];
    bump(&site.exact_calls, 1);
    bump(&site.exact_ns, ns);
    if script::is_known() {
        timed_in_script(slot, site);
    }
    note_longest(site, ns);
}

/// In a script, all calls of a routine come from one place: which lines they are of is seen as for samples.
#[cold]
#[inline(never)]
fn timed_in_script(slot: &Slot, site: &Site) {
    let calls = u32::try_from(site.exact_calls.load(Relaxed)).unwrap_or(u32::MAX);
    callers::sampled(slot, site.key.load(Relaxed), calls);
}

#[inline(always)]
fn note_longest(site: &Site, ns: u64) {
    let bits = (ns as f32).to_bits();
    if bits > site.max_ns.load(Relaxed) {
        site.max_ns.store(bits, Relaxed);
    }
}

/// Adds a sample to the call site that it was entered with: `claimed_ns` for each of `weight` calls, with what timing
/// takes; it took `ns` itself.
pub(super) fn add_sample(slot: &Slot, claimed_ns: u64, weight: u64, ns: u64) {
    let site = &slot.tables.sites[(slot.head.site.load(Relaxed) as usize).min(SITE_OVERFLOW)];
    bump32(&site.samples, 1);
    bump(&site.sample_weight, weight);
    bump(&site.sample_ns, claimed_ns.saturating_mul(weight));
    callers::sampled(slot, site.key.load(Relaxed), site.samples.load(Relaxed));
    note_longest(site, ns);
}

/// Which team a collective is on, for the `peer` of its record: below -1, the row of the team in the slot. `id` is the
/// number that members agree on.
#[inline]
pub fn team(id: usize, start: i32, stride: i32, size: i32) -> i32 {
    match tls::slot() {
        Some(slot) => -2 - team_row(slot, id as u32, start, stride, size),
        None => -1,
    }
}

/// The call at hand of this operation has this member of its team as its root.
#[inline]
pub fn rooted(op: u16, root: i32) {
    if let Some(slot) = tls::slot() {
        slot.tables.root.store((u64::from(op) + 1) << 32 | u64::from(root as u32), Relaxed);
    }
}

#[inline(always)]
fn team_row(slot: &Slot, id: u32, start: i32, stride: i32, size: i32) -> i32 {
    for (at, row) in slot.tables.teams[..TEAMS - 1].iter().enumerate() {
        let found = row.size.load(Relaxed);
        if found == 0 {
            row.start.store(start, Relaxed);
            row.stride.store(stride, Relaxed);
            row.id.store(id, Relaxed);
            row.size.store(size, Relaxed);
            return at as i32;
        }
        let range = (row.start.load(Relaxed), row.stride.load(Relaxed), found);
        if row.id.load(Relaxed) == id && range == (start, stride, size) {
            return at as i32;
        }
    }
    TEAMS as i32 - 1
}

/// The row of the team of a call of all its PEs: `peer` is what [`team`] gave, or -1 for the world.
#[inline(always)]
pub(super) fn team_at(peer: i32) -> usize {
    if peer < -1 { (-2 - peer) as usize & (TEAMS - 1) } else { 0 }
}

/// The row itself, where a call with these traits is one of all PEs of a team.
#[inline(always)]
pub(super) fn team_row_of(slot: &Slot, traits: u16, peer: i32) -> Option<&TeamRow> {
    (traits & TOGETHER != 0 && peer < 0).then(|| &slot.tables.teams[team_at(peer)])
}

/// A call of all PEs of a team is over: `peer` is what [`team`] gave, or -1 for the world. Its time stands for so many
/// calls.
#[inline(always)]
pub(super) fn met(slot: &Slot, peer: i32, arrived: u64, left: u64, calls: u64) {
    let at = team_at(peer);
    let number = count_meeting(slot, at);
    bump(&slot.tables.teams[at].ticks, left.saturating_sub(arrived).saturating_mul(calls));
    if at != TEAMS - 1 && is_kept_now(slot, number) {
        keep(slot, at, number, arrived, left);
    }
    begin_phase(slot, left);
}

/// It comes to wait for long: it is counted when it is over.
pub(super) fn meets_after_all(slot: &Slot, peer: i32) {
    if peer < 0 {
        let team = &slot.tables.teams[team_at(peer)];
        bump(&team.calls, u64::MAX);
        bump(&team.bytes, slot.head.current.bytes.load(Relaxed).wrapping_neg());
    }
}

/// Counts it in a row of teams. Gives whether the next one is kept: the phase that this one begins is kept with the
/// call that ends it.
#[inline(always)]
pub(super) fn met_in_passing(slot: &Slot, team: &TeamRow, bytes: u64, site: u32) -> bool {
    bump(&team.calls, 1);
    if bytes != 0 {
        bump(&team.bytes, bytes);
    }
    if team.calls.load(Relaxed) >= team.stamped_next.load(Relaxed) {
        return true;
    }
    slot.tables.phase.passed_site.store(u64::from(site) + 1, Relaxed);
    false
}

/// Counts a call of all PEs of a team that has its stamps; gives its number.
#[inline(always)]
fn count_meeting(slot: &Slot, at: usize) -> u64 {
    let team = &slot.tables.teams[at];
    let number = team.calls.load(Relaxed);
    team.calls.store(number + 1, Relaxed);
    bump(&team.bytes, slot.head.current.bytes.load(Relaxed));
    if number + 1 >= team.stamped_next.load(Relaxed) {
        look_ahead(slot, at, number + 1);
    }
    number
}

/// Finds the next call of all PEs of a team that is kept, from `number` on.
#[inline(never)]
fn look_ahead(slot: &Slot, at: usize, number: u64) {
    let next = if at == TEAMS - 1 { u64::MAX } else { next_kept(number, kept_shift(slot)) };
    slot.tables.teams[at].stamped_next.store(next, Relaxed);
}

/// The phase after the call at hand, which returned at `left`.
#[inline(always)]
pub(super) fn begin_phase(slot: &Slot, left: u64) {
    let phase = &slot.tables.phase;
    phase.site.store(slot.head.site.load(Relaxed).into(), Relaxed);
    phase.left.store(left, Relaxed);
    phase.claimed_ns.store(slot.head.claimed_ns.load(Relaxed), Relaxed);
    phase.passed_site.store(0, Relaxed);
}

#[inline(always)]
fn kept_shift(slot: &Slot) -> u32 {
    slot.tables.sync_shift.load(Relaxed) as u32 & 63
}

#[inline(always)]
fn is_kept_now(slot: &Slot, number: u64) -> bool {
    is_kept(number, kept_shift(slot))
}

/// Records that need not be paid for.
const UNPAID: u64 = 32;
/// Time that pays for a record beyond these, in nanoseconds. A meeting that is kept takes 100 to 250 more than another.
const NS_PER_SYNC: u64 = 10_000;

/// Whether there are more records than time has paid for, in a profile that nobody has asked to keep: who calls
/// barriers in a fast loop would notice.
fn come_too_fast(slot: &Slot, used: u64, left: u64) -> bool {
    if !arm::counts_only() || used < UNPAID {
        return false;
    }
    let passed = left.saturating_sub(slot.tables.syncs[0].arrived.load(Relaxed));
    clock::scale_ns(passed, slot.head.clock_mult.load(Relaxed)) < used * NS_PER_SYNC
}

/// Keeps a meeting, and the phase that it ends.
#[cold]
#[inline(never)]
fn keep(slot: &Slot, team: usize, number: u64, arrived: u64, left: u64) {
    let used = slot.tables.syncs_used.load(Relaxed);
    if used as usize >= SYNCS || come_too_fast(slot, used, left) {
        thin_out(slot);
        if !is_kept_now(slot, number) {
            return;
        }
    }
    let used = (slot.tables.syncs_used.load(Relaxed) as usize).min(SYNCS - 1);
    let (sync, phase) = (&slot.tables.syncs[used], &slot.tables.phase);
    sync.key.store(site_key(slot, slot.head.site.load(Relaxed).into()), Relaxed);
    sync.number.store(number | (team as u64) << 56, Relaxed);
    sync.arrived.store(arrived, Relaxed);
    sync.left.store(left, Relaxed);
    let from = phase.passed().unwrap_or_else(|| phase.site.load(Relaxed));
    sync.from_key.store(site_key(slot, from), Relaxed);
    sync.from_left.store(phase.left.load(Relaxed), Relaxed);
    let library = slot.head.claimed_ns.load(Relaxed).saturating_sub(phase.claimed_ns.load(Relaxed));
    sync.library_ns.store(library, Relaxed);
    slot.tables.syncs_used.store(used as u64 + 1, Relaxed);
}

/// What is kept of a meeting.
fn words(sync: &Sync) -> [&AtomicU64; 7] {
    [&sync.key, &sync.number, &sync.arrived, &sync.left, &sync.from_key, &sync.from_left, &sync.library_ns]
}

/// Makes room: keeps about half of the records.
#[cold]
#[inline(never)]
fn thin_out(slot: &Slot) {
    let shift = slot.tables.sync_shift.load(Relaxed) + 1;
    let get = |word: &AtomicU64| word.load(Relaxed);
    let (mut kept, used) = (0, slot.tables.syncs_used.load(Relaxed) as usize);
    // A reader that looks now sees fewer records, each of them whole.
    slot.tables.syncs_used.store(0, Relaxed);
    for at in 0..used.min(SYNCS) {
        let sync = &slot.tables.syncs[at];
        if is_kept(get(&sync.number) & ((1 << 56) - 1), shift as u32) {
            let to = &slot.tables.syncs[kept];
            for (to, from) in words(to).into_iter().zip(words(sync)) {
                to.store(get(from), Relaxed);
            }
            kept += 1;
        }
    }
    slot.tables.sync_shift.store(shift, Relaxed);
    slot.tables.syncs_used.store(kept as u64, Relaxed);
}

/// The program made a context on a team: number of the context, then number, first PE, stride and size of the team.
pub fn context_made(handle: usize, id: usize, (start, stride, size): (i32, i32, i32)) {
    let Some(region) = super::claim::region() else { return };
    let _ = super::names::locked(&region.names, |names| {
        let free = |row: &&ContextTeam| row.handle.load(Relaxed) == 0 || row.handle.load(Relaxed) == handle as u64;
        if let Some(row) = names.contexts.iter().find(free) {
            row.start.store(start, Relaxed);
            row.stride.store(stride, Relaxed);
            row.size.store(size, Relaxed);
            row.id.store(id as u32, Relaxed);
            row.handle.store(handle as u64, Release);
        }
    });
}

/// What the team of a context is, for people; empty where it is not known.
pub(crate) fn team_of(handle: u64) -> String {
    let Some(region) = super::claim::region_unchecked() else { return String::new() };
    let world = region.slots[crate::segment::layout::SLOTS].tables.teams[0].size.load(Relaxed);
    if handle == 1 {
        return format!("world: {world} PEs");
    }
    let row = region.names.contexts.iter().find(|row| handle != 0 && row.handle.load(Acquire) == handle);
    let Some(row) = row else { return String::new() };
    let get = |word: &std::sync::atomic::AtomicI32| word.load(Relaxed);
    let (start, stride, size) = (get(&row.start), get(&row.stride), get(&row.size));
    let name = match row.id.load(Relaxed) {
        0 if size == world => return format!("world: {world} PEs"),
        1 => "shared".to_owned(),
        id => format!("team {id}"),
    };
    if stride == 1 {
        format!("{name}: {size} PEs from PE {start} on")
    } else {
        format!("{name}: {size} PEs from PE {start} on, every {stride}")
    }
}

/// The call at hand is on the default context, whose number this is.
#[inline]
pub fn context_default(handle: usize) {
    if let Some(slot) = tls::slot() {
        slot.tables.context.store(handle as u64, Relaxed);
    }
}

/// Where the calls of an operation are counted in the row of a context: a kind of transfer, or behind them.
#[inline(always)]
pub const fn context_column(op: u16) -> usize {
    let traits = traits(op);
    if traits & TRANSFER != 0 { (traits >> TRANSFER_SHIFT & 3) as usize } else { TRANSFERS }
}

/// Counts a call on a context that the program made. In a profile of counts only it is left for the trace alone.
#[inline(never)]
pub fn context(column: usize, handle: usize, bytes: usize) {
    let Some(slot) = tls::slot() else { return };
    slot.tables.context.store(handle as u64, Relaxed);
    if arm::counts_only() {
        return;
    }
    let [last, at] = &slot.tables.context_last;
    if last.load(Relaxed) == handle as u64 {
        count_on_context(slot, at.load(Relaxed) as usize, column, bytes);
    } else {
        another_context(slot, column, handle, bytes);
    }
}

/// As [`context`], where the one before was another.
#[cold]
#[inline(never)]
fn another_context(slot: &Slot, column: usize, handle: usize, bytes: usize) {
    count_on_context(slot, context_row(slot, handle), column, bytes);
}

#[inline(always)]
fn count_on_context(slot: &Slot, at: usize, column: usize, bytes: usize) {
    let row = &slot.tables.contexts[at % CONTEXTS];
    if let Some(kind) = row.kinds.get(column) {
        bump(&kind.calls, 1);
        bump(&kind.bytes, bytes as u64);
    } else {
        bump(&row.orders, 1);
    }
}

/// Finds or takes the row of a context.
fn context_row(slot: &Slot, handle: usize) -> usize {
    let rows = &slot.tables.contexts[..CONTEXTS - 1];
    let at = rows.iter().position(|row| is_mine(&row.handle, handle as u64)).unwrap_or(CONTEXTS - 1);
    let [last, last_at] = &slot.tables.context_last;
    last_at.store(at as u64, Relaxed);
    last.store(handle as u64, Relaxed);
    at
}

/// A nonblocking operation is issued.
#[inline(always)]
fn issue(slot: &Slot, bytes: usize) {
    let nbi = &slot.tables.nbi;
    if nbi.open.load(Relaxed) == 0 {
        slot.head.nbi_since.store(hot::ticks(&slot.head), Relaxed);
    }
    issue_more(nbi, bytes);
}

/// As [`issue`], while others are open.
#[inline(always)]
pub(super) fn issue_more(nbi: &Nbi, bytes: usize) {
    bump(&nbi.open, 1);
    bump(&nbi.issued, 1);
    bump(&nbi.bytes, bytes as u64);
}

/// A completing call begins: the time now if there is something to complete, else 0.
#[inline(always)]
pub(super) fn begin_completion() -> u64 {
    match tls::slot() {
        Some(slot) if slot.tables.nbi.open.load(Relaxed) != 0 => hot::ticks(&slot.head),
        _ => 0,
    }
}

/// A completing call that began at `begun` (0: nothing was open) is over.
#[inline(always)]
pub(super) fn complete(op: u16, begun: u64) {
    if begun != 0
        && let Some(slot) = tls::slot()
        && slot.tables.nbi.open.load(Relaxed) != 0
    {
        complete_batch(slot, op, begun);
    }
}

#[cold]
#[inline(never)]
fn complete_batch(slot: &Slot, op: u16, begun: u64) {
    let now = hot::ticks(&slot.head);
    let nbi = &slot.tables.nbi;
    let ticks = now.saturating_sub(slot.head.nbi_since.load(Relaxed));
    bump(&nbi.batches, 1);
    bump(&nbi.completed, nbi.open.load(Relaxed));
    bump(&nbi.ticks, ticks);
    bump(&nbi.blocked_ticks, now.saturating_sub(begun));
    if traits(op) & TOGETHER != 0 {
        bump(&nbi.met_ticks, now.saturating_sub(begun));
    }
    if ticks > nbi.max_ticks.load(Relaxed) {
        nbi.max_ticks.store(ticks, Relaxed);
    }
    nbi.open.store(0, Relaxed);
}
