//! Reading who ended the waits of a PE.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::tables::written;
use crate::op;
use crate::order;
use crate::segment::layout::{self, Slot};
use crate::segment::release;
use crate::segment::sites::split_key;
use crate::segment::tables::REGIONS;
use crate::segment::{Segment, in_file};
use crate::tables::{Cause, CodePlace, Releaser};

/// Reads the causes of all threads of a PE, added up.
pub(crate) fn take<'a>(segment: &Segment, slots: impl Iterator<Item = &'a Slot>) -> Vec<Cause> {
    let mut causes: Vec<Cause> = Vec::new();
    for slot in slots {
        written(segment, &slot.tables.causes, |_, row| {
            if row.waits.load(Relaxed) == 0 {
                return;
            }
            let cause = read(segment, row);
            match causes.iter_mut().find(|known| known.is_like(&cause)) {
                Some(known) => known.add(&cause),
                None => causes.push(cause),
            }
        });
    }
    order::sort_by(&mut causes, |a, b| b.ns.cmp(&a.ns).then_with(|| (a.address, a.region).cmp(&(b.address, b.region))));
    causes
}

fn read(segment: &Segment, row: &release::Cause) -> Cause {
    let get = |word: &AtomicU64| word.load(Relaxed);
    let (address, op, region) = split_key(get(&row.key));
    let by = (get(&row.by_pe) as u32).checked_sub(1).and_then(|pe| Some((pe, segment.region(pe)?)));
    let by = by.map(|(pe, of)| {
        let (place, region) = place(of, get(&row.by));
        let named = |number: usize| match number {
            0 => String::new(),
            _ => of.names.regions[number.min(REGIONS - 1)].get(),
        };
        Releaser {
            pe,
            place,
            region: named(region),
            worked_in: named((get(&row.by_pe) >> 32) as usize),
            from: (get(&row.from) != 0).then(|| self::place(of, get(&row.from)).0),
            work_ns: get(&row.work_ns),
            library_ns: get(&row.library_ns),
            own_ns: get(&row.own_ns),
        }
    });
    Cause {
        address,
        routine: op::get(op).map_or("", |row| row.name()).to_owned(),
        region,
        waits: get(&row.waits),
        ns: get(&row.ns),
        by,
    }
}

/// A place of the program of the PE whose region this is, and the number of the program's region there.
fn place(of: &layout::Region, key: u64) -> (CodePlace, usize) {
    let (address, op, region) = split_key(key);
    let (path, address) = in_file(of, address).unwrap_or((String::new(), address));
    let routine = op::get(op).map_or("", |row| row.name()).to_owned();
    (CodePlace { routine, path, address }, usize::from(region))
}
