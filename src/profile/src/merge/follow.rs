//! Sums over the PEs of a job that is looked at again and again while it runs: each meeting is read once.

use std::collections::BTreeMap;

use super::fold::Fold;
use super::meetings::{self, Late, MeetingTimes, Meetings};
use super::plan::{Limits, Plan};
use super::{Merged, PeSource, fold_all};
use crate::model::Profile;
use crate::segment::Segment;
use crate::snapshot::{self, Seen};

/// What is remembered of a job from one look to the next.
#[derive(Debug, Default)]
pub struct Following {
    seen: Seen,
    meetings: Meetings,
    /// By routine and region.
    late: BTreeMap<(String, String), Late>,
}

impl Following {
    /// Looks at a job. The profile and the sums have routines, regions, teams, meetings, nonblocking operations and
    /// numbers of the network only. What was lost to late PEs does not fall from one look to the next, but for what
    /// [`Late::lost_ns`] is bound by.
    pub fn look(&mut self, segment: &Segment) -> Profile {
        snapshot::take_sums(segment, &mut self.seen)
    }

    /// The sums of what was seen.
    pub fn sums(&mut self, profile: &Profile) -> Merged {
        let plan = Plan::of_sums(Limits::default());
        let mut fold = fold_all(profile, &plan, Fold::add_sums, &mut |_, _| {});
        self.meetings.join(&plan, fold.take_meetings());
        for row in self.meetings.take_complete() {
            let sum = self.late.entry((row.routine.clone(), row.region.clone())).or_insert_with(|| row.empty());
            sum.add(&row);
        }
        let mut merged = fold.finish(profile.job());
        // A look has only the meetings since the last one.
        merged.meeting_times = MeetingTimes::default();
        merged.late = self.late.values().cloned().collect();
        merged.late.sort_by_key(|row| std::cmp::Reverse(row.lost_ns));
        meetings::bound(&mut merged.late, &merged.routines);
        merged
    }
}
