//! Who ended which waits, and why he was late.
//!
//! Of each PE the waits that took most are kept, by who ended them. At the second reading it is known which PEs did so:
//! of these, the time outside of the library is kept by region, to be compared with the mean of all.

use std::collections::{BTreeMap, BTreeSet};

use super::efficiency::Recorded;
use super::phases::Place;
use super::plan::Plan;
use crate::model::Pe;
use crate::op::{self, Class};
use crate::tables::{self, CodePlace, Lock, Releaser, Site};

/// Rows that are kept of a PE.
const OF_A_PE: usize = 16;
/// Rows that are kept in all.
const IN_ALL: usize = 1 << 14;
/// What of a wait has to be the same thing for it to be the reason.
const HALF: f64 = 0.5;

/// Waits of a PE at one place, ended by one place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Who waited.
    pub pe: u32,
    /// Where.
    pub site: Place,
    /// In which region, empty outside of all.
    pub region: String,
    /// Waits that were looked at.
    pub waits: u64,
    /// Time in waits that they stand for, in nanoseconds.
    pub ns: u64,
    /// Who ended them, where that is known.
    pub by: Option<Releaser>,
    /// Why that was late.
    pub because: Because,
}

/// Why a wait was long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Because {
    /// It is not known.
    #[default]
    NotKnown,
    /// Nobody had ended it when the PE ended.
    NotEnded,
    /// The other waited itself, for so long, at [`Releaser::from`]; for this PE, where that is known.
    Waited(u64, Option<u32>),
    /// It held the lock, for so long a time.
    Held(u64),
    /// It was in other calls of the library for so long.
    Library(u64),
    /// It worked for so long.
    Worked(u64),
    /// It worked, and in the region of this number in [`Causes::regions`] so much more than the mean of all PEs.
    More(u32, u64),
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Causes {
    /// Longest first.
    pub rows: Vec<Cause>,
    /// Time of those that are left out.
    pub others_ns: u64,
    /// Names of regions.
    pub regions: Vec<String>,
}

/// Rows, in the order that they are shown in.
fn sort(rows: &mut [Cause]) {
    rows.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| key(a).cmp(&key(b))));
}

/// What tells rows apart.
type Key<'a> = (u32, &'a Place, &'a str, Option<(u32, &'a CodePlace, [&'a str; 2], Option<&'a CodePlace>)>);

fn key(row: &Cause) -> Key<'_> {
    let by =
        row.by.as_ref().map(|by| (by.pe, &by.place, [&by.region, &by.worked_in].map(String::as_str), by.from.as_ref()));
    (row.pe, &row.site, &row.region, by)
}

impl Causes {
    pub(super) fn add(&mut self, pe: &Pe) {
        let ended = pe.tables.causes.iter().map(|cause| row(pe, cause));
        let mut rows: Vec<Cause> = ended.chain(pe.tables.sites.iter().filter_map(|site| open(pe, site))).collect();
        sort(&mut rows);
        self.cut(&mut rows, OF_A_PE);
        self.rows.extend(rows);
    }

    fn cut(&mut self, rows: &mut Vec<Cause>, most: usize) {
        let rest = rows.drain(most.min(rows.len())..);
        self.others_ns = rest.map(|row| row.ns).fold(self.others_ns, u64::saturating_add);
    }

    pub(super) fn join(&mut self, other: Causes) {
        self.rows.extend(other.rows);
        self.others_ns = self.others_ns.saturating_add(other.others_ns);
    }

    /// PEs that ended waits of others.
    pub(super) fn releasers(&self) -> BTreeSet<u32> {
        self.rows.iter().filter_map(|row| Some(row.by.as_ref()?.pe)).collect()
    }

    /// Sorted, and with reasons.
    pub(super) fn finish(mut self, work: &Work) -> Causes {
        let mut rows = std::mem::take(&mut self.rows);
        sort(&mut rows);
        self.cut(&mut rows, IN_ALL);
        let mut for_whom: BTreeMap<(u32, &str, u64), u32> = BTreeMap::new();
        for row in rows.iter().rev() {
            if let Some(by) = &row.by {
                for_whom.insert((row.pe, &row.site.path, row.site.address), by.pe);
            }
        }
        let because: Vec<Because> = rows.iter().map(|row| self.because(row, work, &for_whom)).collect();
        rows.iter_mut().zip(because).for_each(|(row, because)| row.because = because);
        self.rows = rows;
        self
    }

    fn because(&mut self, row: &Cause, work: &Work, for_whom: &BTreeMap<(u32, &str, u64), u32>) -> Because {
        let Some(by) = &row.by else { return row.because };
        if Lock::is_waited_for_in(row.site.routine) {
            return Because::Held(by.own_ns / row.waits.max(1));
        }
        let waited = row.ns.saturating_sub(by.work_ns).saturating_sub(by.library_ns);
        let is_most = |ns: u64| ns as f64 > HALF * row.ns as f64;
        if is_most(waited) {
            let from = by.from.as_ref();
            let whom = from.and_then(|from| for_whom.get(&(by.pe, from.path.as_str(), from.address)).copied());
            return Because::Waited(waited, whom);
        }
        if by.library_ns > by.work_ns {
            return Because::Library(by.library_ns);
        }
        let region = by.worked_in.as_str();
        match work.above_mean(by.pe, region) {
            Some(above) if above as f64 > HALF * by.work_ns as f64 => {
                let number = self.regions.iter().position(|name| name == region).unwrap_or_else(|| {
                    self.regions.push(region.to_owned());
                    self.regions.len() - 1
                });
                Because::More(number as u32, above)
            }
            _ => Because::Worked(by.work_ns),
        }
    }
}

/// Waits and locks from this place that had not returned when the PE ended, where there are any.
fn open(pe: &Pe, site: &Site) -> Option<Cause> {
    if site.unfinished_ns == 0 || !op::class_of(&site.routine).is_some_and(Class::is_for_others) {
        return None;
    }
    let open = tables::Cause {
        address: site.address,
        routine: site.routine.clone(),
        region: site.region,
        waits: site.unfinished,
        ns: site.unfinished_ns,
        by: None,
    };
    Some(Cause { because: Because::NotEnded, ..row(pe, &open) })
}

fn row(pe: &Pe, cause: &tables::Cause) -> Cause {
    let (path, address) = pe.in_file(cause.address).unwrap_or_default();
    let routine = op::lookup(&cause.routine).and_then(op::get).map_or("", |row| row.name());
    Cause {
        pe: pe.pe,
        site: Place { path: path.into(), address, routine },
        region: pe.tables.regions.get(usize::from(cause.region)).map(|r| r.name.clone()).unwrap_or_default(),
        waits: cause.waits,
        ns: cause.ns,
        by: cause.by.clone(),
        because: Because::NotKnown,
    }
}

/// Time outside of the library by region: of PEs that ended waits, and of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    pes: u64,
    all: BTreeMap<String, u64>,
    of: BTreeMap<u32, BTreeMap<String, u64>>,
}

impl Work {
    pub(super) fn add(&mut self, plan: &Plan, pe: &Pe, recorded: &Recorded) {
        if plan.releasers.is_empty() {
            return;
        }
        self.pes += 1;
        let mut own: BTreeMap<String, u64> = BTreeMap::new();
        for (number, region) in pe.tables.regions.iter().enumerate().filter(|(_, region)| !region.name.is_empty()) {
            *own.entry(region.name.clone()).or_default() += recorded.region(number, region.own_ns).useful_ns;
        }
        own.iter().for_each(|(name, ns)| *self.all.entry(name.clone()).or_default() += ns);
        if plan.releasers.contains(&pe.pe) {
            self.of.insert(pe.pe, own);
        }
    }

    pub(super) fn join(&mut self, other: Work) {
        self.pes += other.pes;
        other.all.into_iter().for_each(|(name, ns)| *self.all.entry(name).or_default() += ns);
        self.of.extend(other.of);
    }

    /// By how much a PE works above the mean in a region; nothing outside of all.
    fn above_mean(&self, pe: u32, region: &str) -> Option<u64> {
        let own = *self.of.get(&pe)?.get(region)?;
        Some(own.saturating_sub(self.all.get(region).copied().unwrap_or(0) / self.pes.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Region;

    const MS: u64 = 1_000_000;

    fn place(address: u64) -> CodePlace {
        CodePlace { routine: "shmem_long_p".into(), path: "/bin/x".into(), address }
    }

    fn waits(by: u32, ns: u64, work_ns: u64, library_ns: u64) -> Pe {
        let by = Releaser { pe: by, place: place(7), from: Some(place(3)), work_ns, library_ns, ..Releaser::default() };
        let mut pe = Pe { pe: 1, ..Pe::default() };
        pe.tables.causes.push(tables::Cause {
            routine: "shmem_long_wait_until".into(),
            waits: 1,
            ns,
            by: Some(by),
            ..tables::Cause::default()
        });
        pe
    }

    fn because(pe: &Pe, work: &Work) -> (Because, Vec<String>) {
        let mut causes = Causes::default();
        causes.add(pe);
        let causes = causes.finish(work);
        (causes.rows[0].because, causes.regions)
    }

    #[test]
    fn the_reason_is_what_takes_most() {
        let none = Work::default();
        assert_eq!(because(&waits(0, 10 * MS, 2 * MS, MS), &none).0, Because::Waited(7 * MS, None));
        assert_eq!(because(&waits(0, 10 * MS, 2 * MS, 6 * MS), &none).0, Because::Library(6 * MS));
        assert_eq!(because(&waits(0, 10 * MS, 9 * MS, 0), &none).0, Because::Worked(9 * MS));
    }

    #[test]
    fn a_wait_that_has_not_returned_is_told_of() {
        let mut pe = waits(0, 10 * MS, 9 * MS, 0);
        let site = |routine: &str| Site {
            routine: routine.into(),
            calls: 1,
            unfinished: 1,
            unfinished_ns: 1000 * MS,
            ..Site::default()
        };
        pe.tables.sites = vec![site("shmem_long_wait_until"), site("shmem_barrier_all")];
        let mut causes = Causes::default();
        causes.add(&pe);
        let rows = causes.finish(&Work::default()).rows;
        assert_eq!((rows.len(), rows[0].ns, rows[0].by.is_some()), (2, 1000 * MS, false));
        assert_eq!(rows[0].because, Because::NotEnded);
        assert_eq!(rows[1].because, Because::Worked(9 * MS));
    }

    #[test]
    fn a_region_is_named_where_the_other_works_more_than_the_mean() {
        let mut work = Work { pes: 2, ..Work::default() };
        work.all.insert("prep".into(), 22 * MS);
        work.of.insert(0, [("prep".to_owned(), 20 * MS)].into());
        let mut late = waits(0, 10 * MS, 9 * MS, 0);
        // It was in none while it was waited for, whatever it did before or after.
        assert_eq!(because(&late, &work), (Because::Worked(9 * MS), vec![]));
        late.tables.causes[0].by.as_mut().unwrap().worked_in = "prep".into();
        assert_eq!(because(&late, &work), (Because::More(0, 9 * MS), vec!["prep".to_owned()]));
        // As much as the others: not the reason.
        work.all.insert("prep".into(), 40 * MS);
        assert_eq!(because(&late, &work).0, Because::Worked(9 * MS));
    }

    #[test]
    fn the_order_of_pes_does_not_matter_and_nothing_is_lost() {
        let mut pe = waits(0, 10 * MS, 9 * MS, 0);
        let one = pe.tables.causes[0].clone();
        pe.tables.causes = (0..40).map(|at| tables::Cause { address: at, ns: at * MS, ..one.clone() }).collect();
        pe.tables.regions.push(Region::default());
        let other = waits(2, 5 * MS, MS, 0);
        let fold = |pes: [&Pe; 2]| {
            let mut halves = [Causes::default(), Causes::default()];
            halves.iter_mut().zip(pes).for_each(|(half, pe)| half.add(pe));
            let [mut first, second] = halves;
            first.join(second);
            first.finish(&Work::default())
        };
        let found = fold([&pe, &other]);
        assert_eq!(found, fold([&other, &pe]));
        let kept: u64 = found.rows.iter().map(|row| row.ns).sum();
        assert_eq!((found.rows.len(), kept + found.others_ns), (OF_A_PE + 1, (780 + 5) * MS));
    }
}
