//! What is kept of each PE: some hundred bytes.

use std::sync::Arc;

use super::strip::Strip;
use crate::model::{End, LastOp, Pe, Progress, Routine, main_ns};
use crate::op::{self, Class};
use crate::size::size_bounds;
use crate::tables::{Cost, Nbi, Site, System, Traffic};

const CLASSES: usize = Class::ALL.len();

/// Puts of fewer bytes are small.
pub const SMALL: u64 = 256;

/// One PE, without what is by routine, call site or peer. Names are those of [`Pe`].
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "described in `Pe`")]
pub struct PeRow {
    pub pe: u32,
    pub pid: u32,
    pub host: Arc<str>,
    pub progress: Progress,
    pub end: End,
    pub start_ns: u64,
    pub init_ns: u64,
    pub finalize_ns: u64,
    pub end_ns: u64,
    pub level: i32,
    pub level_changes: u32,
    pub threads: u32,
    pub shared_calls: u64,
    pub overflowed: u32,
    pub incomplete: bool,
    pub last: Option<Box<LastOp>>,
    pub nbi: Nbi,
    /// The part of [`Nbi::blocked_ns`] in which others were waited for.
    pub nbi_waiting_ns: u64,
    /// Time in the calls that issue nonblocking operations, as far as these were completed; whether it is estimated.
    pub issuing_ns: u64,
    pub is_issuing_estimated: bool,
    pub cost: Cost,
    pub overhead_ns: u64,
    pub region_errors: u32,
    /// File and address in it.
    pub region_error: Option<Box<(Arc<str>, u64)>>,
    pub left_out: u64,
    pub trace_dropped: u64,
    pub system: System,
    /// What it did over time.
    pub strip: Option<Box<Strip>>,
    /// Calls by class.
    pub calls: [u64; CLASSES],
    /// Time by class, calls that did not return included.
    pub ns: [u64; CLASSES],
    /// Bytes that moved between PEs.
    pub bytes: u64,
    /// Gets that block.
    pub blocking_gets: u64,
    /// Puts that block, of fewer than [`SMALL`] bytes.
    pub small_puts: u64,
    /// Calls that ask whether something has happened: tests, and fetches but of many variables.
    pub asks: u64,
    /// Their time in nanoseconds.
    pub asks_ns: u64,
    /// Time in gets and swaps of routines nearly all of whose calls are of one word, in nanoseconds.
    pub one_word_ns: u64,
    /// Calls of these.
    pub one_word_calls: u64,
    /// Compare-and-swaps, and reads of one element that are waited for.
    pub compare_swaps: u64,
    pub element_reads: u64,
    /// As [`Self::small_puts`], of puts that do not block.
    pub small_nbi_puts: u64,
    /// How long it had locks, in nanoseconds.
    pub held_ns: u64,
    /// Puts and signals to any PE, and to the one that gets most of them.
    pub puts: u64,
    pub most_puts: Option<(Option<u32>, Traffic)>,
}

impl PeRow {
    /// What is kept of a PE.
    pub fn new(pe: &Pe, host: Arc<str>) -> PeRow {
        let (mut calls, mut ns) = ([0_u64; CLASSES], [0_u64; CLASSES]);
        for r in &pe.routines {
            let class = r.class as usize;
            calls[class] = calls[class].saturating_add(r.all_calls());
            ns[class] = ns[class].saturating_add(r.spent_ns());
        }
        let sum = |of: &dyn Fn(&Routine) -> u64| pe.routines.iter().map(of).fold(0, u64::saturating_add);
        let all_if = |is: bool, r: &Routine| if is { r.all_calls() } else { 0 };
        let most = pe.tables.peers.iter().max_by_key(|p| (p.put.calls, std::cmp::Reverse(p.pe)));
        PeRow {
            pe: pe.pe,
            pid: pe.pid,
            host,
            progress: pe.progress,
            end: pe.end,
            start_ns: pe.start_ns,
            init_ns: pe.init_ns,
            finalize_ns: pe.finalize_ns,
            end_ns: pe.end_ns,
            level: pe.level,
            level_changes: pe.level_changes,
            threads: pe.threads,
            shared_calls: pe.shared_calls,
            overflowed: pe.overflowed,
            incomplete: pe.incomplete,
            last: pe.last.clone().map(Box::new),
            nbi: pe.tables.nbi,
            nbi_waiting_ns: 0,
            issuing_ns: issuing_ns(pe),
            is_issuing_estimated: pe.routines.iter().any(|r| is_issue(r) && r.estimated),
            cost: pe.tables.cost,
            overhead_ns: pe.overhead_ns(),
            region_errors: pe.tables.region_errors,
            region_error: pe.in_file(pe.tables.region_error).map(|(path, address)| Box::new((path.into(), address))),
            left_out: pe.tables.left_out,
            trace_dropped: pe.tables.trace_dropped,
            system: pe.tables.system,
            strip: Strip::new(pe),
            calls,
            ns,
            bytes: sum(&Routine::traffic_bytes),
            blocking_gets: sum(&|r| all_if(r.class == Class::Get && !op::is_nonblocking(&r.name), r)),
            small_puts: sum(&|r| if is_blocking_put(r) { small(r) } else { 0 }),
            small_nbi_puts: sum(&|r| if is_nbi_put(r) { small(r) } else { 0 }),
            held_ns: pe.tables.locks.iter().map(|lock| lock.held_ns).fold(0, u64::saturating_add),
            asks: sum(&|r| all_if(asks_again(pe, r), r)),
            asks_ns: sum(&|r| if asks_again(pe, r) { r.spent_ns() } else { 0 }),
            one_word_ns: sum(&|r| if is_of_one_word(pe, r) { r.spent_ns() } else { 0 }),
            one_word_calls: sum(&|r| all_if(is_of_one_word(pe, r), r)),
            compare_swaps: sum(&|r| all_if(op::has(&r.name, op::COMPARES), r)),
            element_reads: sum(&|r| all_if(is_element_read(r), r)),
            puts: pe.tables.peers.iter().map(|p| p.put.calls).fold(0, u64::saturating_add),
            most_puts: most.map(|p| (p.pe, p.put)),
        }
    }

    /// Length of its run in nanoseconds.
    pub fn wall_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// See [`Pe::main_ns`]: what shares are of, however many threads it has. What these do adds up, and calls of
    /// several at a time may come to more.
    pub fn main_ns(&self) -> u64 {
        let all = main_ns(self.progress, self.init_ns.max(self.start_ns), self.finalize_ns, self.end_ns);
        all.saturating_sub(self.system.unrecorded_ns)
    }

    /// Lives of all its threads together, in nanoseconds.
    pub fn threads_ns(&self) -> u64 {
        self.main_ns().max(self.system.threads_ns).max(self.library_ns())
    }

    /// Time of its threads outside of the library, in nanoseconds. One that waits for others to end is there as well.
    pub fn outside_ns(&self) -> u64 {
        self.threads_ns().saturating_sub(self.library_ns())
    }

    /// Time on cores, of all its threads, in nanoseconds; 0 where the system did not say.
    pub fn on_core_ns(&self) -> u64 {
        self.system.usage.user_ns + self.system.usage.system_ns
    }

    /// How long its threads stood in a run queue, in nanoseconds, no longer than they lived; `None` where the system
    /// did not say.
    pub fn queued_ns(&self) -> Option<u64> {
        self.system.queued_ns.map(|ns| ns.min(self.threads_ns()))
    }

    /// As [`Self::queued_ns`], outside of the library, as far as is known: while it waited for long it stood in line
    /// for as long as it was on no core, unless it slept. Of several threads one may sleep while another one stands in
    /// line.
    pub fn queued_outside_ns(&self) -> Option<u64> {
        let of = |queued: u64| match self.system.outside {
            Some(outside) => outside.queued_ns.min(queued),
            None => queued.saturating_sub(self.system.off_core_ns),
        };
        self.queued_ns().map(of)
    }

    /// Time in the library between initialization and finalization, in nanoseconds.
    pub fn library_ns(&self) -> u64 {
        self.time_ns(Class::is_library_time)
    }

    /// Time in routines of the classes that `of` picks, in nanoseconds, calls that did not return included.
    pub fn time_ns(&self, of: impl Fn(Class) -> bool) -> u64 {
        Class::ALL.iter().zip(&self.ns).filter(|(class, _)| of(**class)).fold(0, |sum, (_, ns)| sum.saturating_add(*ns))
    }

    /// The part of the time in which nonblocking operations were under way that the program had for itself: it neither
    /// issued one nor waited in the call that completes them.
    pub fn overlapped_ns(&self) -> u64 {
        self.nbi.ns.saturating_sub(self.nbi.blocked_ns).saturating_sub(self.issuing_ns)
    }

    /// All calls.
    pub fn all_calls(&self) -> u64 {
        self.calls.iter().fold(0, |sum, &n| sum.saturating_add(n))
    }

    /// Calls of a class.
    pub fn calls_of(&self, class: Class) -> u64 {
        self.calls[class as usize]
    }
}

impl From<&Pe> for PeRow {
    fn from(pe: &Pe) -> PeRow {
        PeRow::new(pe, pe.host.as_str().into())
    }
}

/// Whether a routine asks whether something has happened.
pub fn is_ask(r: &Routine) -> bool {
    op::has(&r.name, op::ASKS) || is_fetch(r)
}

/// Whether a routine is an atomic fetch.
pub(crate) fn is_fetch(r: &Routine) -> bool {
    r.class == Class::Amo && !op::has(&r.name, op::STORES) && !op::is_nonblocking(&r.name)
}

/// Whether a routine is a read of one element that waits for it.
pub fn is_element_read(r: &Routine) -> bool {
    (r.class == Class::Get && op::has(&r.name, op::ONE_ELEMENT)) || (r.class == Class::Amo && is_ask(r))
}

/// Share of a routine's calls that have to be of one word for it to be asked for.
const ONE_WORD: f64 = 0.9;

/// Whether so many calls, by word, are nearly all of a routine's and of one word, as far as samples of them tell.
pub(crate) fn are_of_one_word(calls: impl Iterator<Item = u64>, r: &Routine) -> bool {
    let (most, all) = calls.fold((0, 0_u64), |(most, all), calls| (most.max(calls), all.saturating_add(calls)));
    // Rows are kept of words that are asked for often: of a scan over many words, few are left.
    all >= r.all_calls() / 2 && all > 0 && most as f64 >= ONE_WORD * all as f64
}

/// Whether calls of a routine are known to be of many words, each of them rarely: data, and no flags. `calls`: those of
/// the lines of memory that are called often; `is_known`: whether its calls were looked at by word at all.
pub(crate) fn are_of_many_words(calls: impl Iterator<Item = u64>, is_known: bool, r: &Routine) -> bool {
    // A flag of each of some neighbours is few words, too: these lines have most of the calls then.
    is_known && calls.fold(0, u64::saturating_add) < r.all_calls() / 2
}

/// Whether a PE asks with a routine, and not for the data of many words.
fn asks_again(pe: &Pe, r: &Routine) -> bool {
    let lines = pe.tables.lines.iter().filter(|line| line.routine == r.name);
    // Profiles have had words for longer than rates: where it has rates, a routine without words has many.
    let is_known = pe.tables.rates.iter().any(|rate| rate.routine == r.name);
    is_ask(r) && !(is_fetch(r) && are_of_many_words(lines.map(|line| line.calls), is_known, r))
}

fn is_of_one_word(pe: &Pe, r: &Routine) -> bool {
    let lines = pe.tables.lines.iter().filter(|line| line.routine == r.name);
    (r.class == Class::Get || op::has(&r.name, op::SWAPS)) && are_of_one_word(lines.map(|line| line.calls), r)
}

/// Whether what it begins is complete with a quiet.
fn is_issue(r: &Routine) -> bool {
    op::has(&r.name, op::NONBLOCKING)
}

/// Time in the calls that issue nonblocking operations. Samples may put it beyond the batches that it is a part of, and
/// those that were never completed have no batch.
fn issuing_ns(pe: &Pe) -> u64 {
    let all = pe.routines.iter().filter(|r| is_issue(r)).map(Routine::spent_ns).fold(0, u64::saturating_add);
    all.min(pe.tables.nbi.ns.saturating_sub(pe.tables.nbi.blocked_ns))
}

/// Whether a routine is a put, with a signal or without.
fn is_put(r: &Routine) -> bool {
    op::has(&r.name, op::PUTS)
}

/// Whether a routine is a put that blocks.
pub fn is_blocking_put(r: &Routine) -> bool {
    is_put(r) && !op::is_nonblocking(&r.name)
}

/// Whether a routine is a put that does not block.
pub fn is_nbi_put(r: &Routine) -> bool {
    is_put(r) && op::is_nonblocking(&r.name)
}

fn small(r: &Routine) -> u64 {
    let small = r.sizes.iter().filter(|s| size_bounds(usize::from(s.class)).1 < SMALL);
    small.fold(0, |sum, s| sum.saturating_add(s.calls))
}

impl Pe {
    /// Name of a region, by its number.
    pub fn region_name(&self, number: u8) -> &str {
        self.tables.regions.get(usize::from(number)).map_or("", |region| region.name.as_str())
    }

    /// Where an address of its process lies: the file and the address in it.
    pub fn in_file(&self, address: u64) -> Option<(&str, u64)> {
        let module = self.tables.modules.iter().find(|m| (m.start..m.end).contains(&address))?;
        Some((module.path.as_str(), address.wrapping_sub(module.base)))
    }

    /// Time in all calls from a site, returned or not: of one of which no call was timed, by the mean of its routine.
    pub fn site_ns(&self, site: &Site) -> Option<u64> {
        let returned = site.total_ns.or_else(|| {
            let routine = self.routines.iter().find(|r| r.name == site.routine && r.timed_calls > 0)?;
            Some((routine.mean_ns() * site.calls.saturating_sub(site.unfinished) as f64) as u64)
        });
        returned.map(|ns| ns.saturating_add(site.unfinished_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_batches_is_no_longer_than_they_are() {
        let mut put = Routine::new("shmem_long_put_nbi", Class::Put);
        (put.calls[2], put.timed_calls, put.total_ns, put.estimated) = (100, 10, 250, true);
        let mut pe = Pe { routines: vec![put], ..Pe::default() };
        let row = |pe: &Pe| {
            let row = PeRow::from(pe);
            (row.issuing_ns, row.overlapped_ns(), row.is_issuing_estimated)
        };
        pe.tables.nbi = Nbi { issued: 100, ns: 1000, blocked_ns: 100, ..Nbi::default() };
        assert_eq!(row(&pe), (250, 650, true));
        pe.tables.nbi.ns = 300;
        assert_eq!(row(&pe), (200, 0, true));
        pe.tables.nbi = Nbi { issued: 100, ..Nbi::default() };
        assert_eq!(row(&pe), (0, 0, true), "what was never completed has no batch");
    }
}
