//! Calls that are alike in all but one thing, many of which share a place among those that were counted last.

use std::collections::BTreeMap;

use super::tests::{Fixture, op_named, routine};
use super::unstamped::{self, KnownCaller};
use super::{algorithm, region_begin, region_end, set_site, team, timed, wait_counts};
use crate::model::Pe;
use crate::op::OPS;
use crate::tables::Site;

/// Number of a team that is not the world.
const HALF: u32 = 5;

/// One call.
struct Call {
    op: u16,
    site: u64,
    bytes: usize,
    /// What the profile knows its team by, and the team's number.
    team: (i32, u32),
    /// The same, where the call begins without a search for it.
    known: Option<KnownCaller>,
    /// Algorithms 0, 1, 2 and 0 again, so many of them.
    tells: u64,
    in_region: bool,
    waits: bool,
}

impl Call {
    fn make(&self) {
        if self.in_region {
            region_begin("here");
        }
        set_site(self.site);
        let work = || {
            (0..self.tells).for_each(|number| algorithm(number as u8 % 3));
            if self.waits {
                wait_counts();
            }
        };
        if let Some(known) = self.known
            && unstamped::begin(self.op, known, 0, self.bytes)
        {
            work();
            unstamped::leave(self.op, known);
        } else {
            timed(self.op, self.team.0, 0, self.bytes, work);
        }
        if self.in_region {
            region_end(Some("here"));
        }
    }
}

/// Calls and bytes.
type Sum = (u64, u64);

#[derive(Default)]
struct Done {
    by_site: BTreeMap<(u16, u64, u8), Sum>,
    by_team: BTreeMap<u32, Sum>,
    algorithms: BTreeMap<u16, u64>,
}

impl Done {
    fn add(&mut self, call: &Call) {
        let by_site = self.by_site.entry((call.op, call.site, u8::from(call.in_region))).or_default();
        let by_team = self.by_team.entry(call.team.1).or_default();
        for (calls, bytes) in [by_site, by_team] {
            *calls += 1;
            *bytes += call.bytes as u64;
        }
        *self.algorithms.entry(call.op).or_default() += call.tells;
    }

    fn compare(&self, pe: &Pe) {
        for (&(op, address, region), expected) in &self.by_site {
            let is_it = |site: &&Site| (site.address, &*site.routine, site.region) == (address, name(op), region);
            let site = pe.tables.sites.iter().find(is_it).unwrap_or_else(|| panic!("{address:x} of {}", name(op)));
            assert_eq!((site.calls, site.bytes), *expected, "{address:x} of {} in region {region}", name(op));
        }
        for (id, expected) in &self.by_team {
            let found = pe.tables.teams.iter().filter(|team| team.id == *id && team.size > 0);
            let found = found.fold((0, 0), |(calls, bytes), team| (calls + team.calls, bytes + team.bytes));
            assert_eq!(found, *expected, "team {id}");
        }
        for (op, expected) in &self.algorithms {
            let found = pe.tables.algorithms.iter().filter(|row| row.routine == name(*op)).map(|row| row.calls);
            assert_eq!(found.sum::<u64>(), *expected, "algorithms of {}", name(*op));
        }
    }
}

fn name(op: u16) -> &'static str {
    OPS[usize::from(op)].name()
}

#[test]
fn calls_that_are_nearly_alike_are_told_apart() {
    let fixture = Fixture::new();
    let (barrier, sum) = (op_named("shmem_barrier_all"), op_named("shmem_long_sum_reduce"));
    // The thread has its slot from the first call on.
    timed(op_named("shmem_ctx_create"), -1, 0, 0, || ());
    let teams = [(team(0, 0, 1, 4), 0), (team(HALF as usize, 0, 2, 2), HALF)];
    (1..).zip(&teams).for_each(|(handle, team)| unstamped::note_team(handle, 0, team.0));
    let (mut done, mut random) = (Done::default(), 1_u64);
    let mut draw = |of: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % of
    };
    for _ in 0..300_000 {
        let (is_sum, site, tells) = (draw(4) == 0, 0x4000 + 0x10 * draw(20), draw(4));
        let (in_region, waits) = (draw(8) == 0, draw(3) == 0);
        let (op, bytes, (team, known)) = if is_sum {
            let number = draw(2) as usize;
            (sum, 8 << draw(3), (teams[number], unstamped::team_again(number + 1, 0)))
        } else {
            (barrier, 0, ((-1, 0), unstamped::world_again()))
        };
        let known = known.filter(|_| draw(4) != 0);
        let call = Call { op, site, bytes, team, known, tells, in_region, waits };
        call.make();
        done.add(&call);
    }
    assert_eq!(done.by_site.len(), 80);
    let pe = fixture.pe();
    done.compare(&pe);
    let sizes = &routine(&pe, sum).sizes;
    assert_eq!(sizes.iter().map(|size| size.calls).sum::<u64>(), routine(&pe, sum).all_calls());
    // Only powers of two were sent.
    assert!(sizes.iter().all(|size| size.bytes == size.calls << (size.class - 1)), "{sizes:?}");
}

#[test]
fn a_handle_is_that_of_another_team_once_there_are_more() {
    let _fixture = Fixture::new();
    assert!(unstamped::team_again(64, 1).is_none(), "there is no slot");
    timed(op_named("shmem_ctx_create"), -1, 0, 0, || ());
    unstamped::note_team(64, 1, team(HALF as usize, 0, 2, 2));
    assert!(unstamped::team_again(64, 1).is_some());
    assert!(unstamped::team_again(64, 2).is_none(), "one more was made");
    assert!(unstamped::team_again(128, 1).is_none(), "another handle");
    // Handles share places.
    unstamped::note_team(64 + (4 << 6), 2, -1);
    assert!(unstamped::team_again(64, 1).is_none());
}
