//! By routine.

use super::row::{Chart, Json, Tables, View};
use crate::merge::Merged;
use crate::model::Routine;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::{Options, merge, sort, text};

pub(super) static VIEW: View = View {
    name: "routines",
    aliases: &["routine"],
    title: "Routines: calls, bytes, times",
    help: "calls, bytes and times of each routine, and the balance between PEs",
    hint: "Where time in the library goes, summed over PEs. p99 far above p50: some calls wait. One PE with most of \
           the time of a routine: look at that PE, or at what it waits for.",
    chart: Chart::Routines,
    tables: Tables::Made(|p, o, _| vec![grid(p, o)]),
    text: Some(text::of_routines),
    json: Json::Nothing,
};

const COLUMNS: [Column; 15] = [
    column("routine", "routine", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
    column("errors", "errors", Kind::Count),
    column("timed_calls", "timed", Kind::Count),
    column("total_ns", "total", Kind::Time),
    column("total_stderr_ns", "+-", Kind::Time),
    column("mean_ns", "mean", Kind::Time),
    column("p50_ns", "p50", Kind::Time),
    column("p99_ns", "p99", Kind::Time),
    column("max_ns", "max", Kind::Time),
    column("estimated", "est.", Kind::Text),
    column("share", "% run", Kind::Share),
    column("max_pe", "most: PE", Kind::Text),
    column("max_pe_ns", "its time", Kind::Time),
];

fn grid(profile: &Merged, options: &Options) -> Grid {
    let mut grid = Grid::new("routines", "Routines", &COLUMNS, "no call was recorded");
    let mut routines = profile.routines.clone();
    sort::select(&mut routines, options.sort, None);
    let run = merge::run_time_ns(&profile.pes);
    routines.iter().for_each(|r| grid.row(row(r, run, profile.most_of(&r.name))));
    grid.cut(options.top);
    grid
}

fn row(r: &Routine, run: f64, most: Option<(u64, u32)>) -> Vec<Cell> {
    let timed = |value: Cell| if r.timed_calls == 0 { Cell::None } else { value };
    vec![
        r.name.as_str().into(),
        r.all_calls().into(),
        r.all_bytes().into(),
        r.errors.into(),
        r.timed_calls.into(),
        // With what has passed in calls that have not returned.
        if r.timed_calls == 0 && r.unfinished == 0 { Cell::None } else { r.spent_ns().into() },
        timed(r.total_stderr_ns().into()),
        timed(r.mean_ns().into()),
        timed(r.quantile_ns(0.5).into()),
        timed(r.quantile_ns(0.99).into()),
        timed(r.max_ns.into()),
        if r.is_bounded() {
            "bound"
        } else if r.estimated {
            "yes"
        } else {
            "no"
        }
        .into(),
        merge::share(r, run).into(),
        Cell::from(most.map(|(_, pe)| Cell::Pe(pe))),
        Cell::from(most.map(|(ns, _)| ns)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Pe, Profile, Progress};
    use crate::op::Class;
    use crate::report::{self, NoSymbols};

    #[test]
    fn a_call_that_never_returned_has_one_total_everywhere() {
        let mut barrier = Routine::new("shmem_barrier_all", Class::Barrier);
        (barrier.calls[0], barrier.unfinished, barrier.unfinished_ns) = (1, 1, 10_500_000);
        let end_ns = 12_000_000;
        let pe = Pe { progress: Progress::Initialized, end_ns, routines: vec![barrier], ..Pe::default() };
        let profile = Profile { pes: vec![pe], ..Profile::default() };
        let merged = Merged::from(&profile);
        let options = Options::default();
        assert!(report::text(&merged, &options, &NoSymbols).contains("10.5 ms"));
        assert!(grid(&merged, &options).text().contains("10.5 ms"));
        assert!(report::csv(&merged, &options, &NoSymbols).contains(",10500000,,,,,,"));
        let mut out = Vec::new();
        report::json((&merged, &profile), &options, &[], &NoSymbols, &mut out).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        let time = &json["routines"][0]["time_ns"];
        assert_eq!(time["total"], 10_500_000);
        for name in ["mean", "p50", "p99", "max", "total_stderr"] {
            assert!(time[name].is_null(), "{name} of a call that was never timed: {time}");
        }
    }
}
