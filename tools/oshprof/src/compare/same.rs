//! Whether runs that are given as runs of one program are that: what is counted over two programs is of neither.

use super::run::Run;

/// In what runs differ that are to be runs of the same; nothing where they are.
pub fn differences(runs: &[&Run], any_arguments: bool) -> Vec<String> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    others.iter().flat_map(|run| pair_differences(first, run, any_arguments)).collect()
}

/// What is told of two programs, however they are written down: folders differ where versions are kept side by side. A
/// name that no profile has kept tells nothing.
pub fn two_programs(base: (&str, &str), new: (&str, &str)) -> Option<String> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let (old, now) = (name(base.1), name(new.1));
    let are_two = old != now && !old.is_empty() && !now.is_empty();
    are_two.then(|| format!("two programs: {} runs {old}, {} runs {now}", base.0, new.0))
}

/// Runs that are given again, by their places: a job that was run once is no second run, in whatever folders its
/// profile lies. With what to say of each.
pub fn copies(runs: &[&Run]) -> Vec<(usize, String)> {
    let again = |(at, run): (usize, &&Run)| {
        let first = runs[..at].iter().find(|first| is_one_job(first, run))?;
        let (dir, first) = (run.dir.display(), first.dir.display());
        Some((at, format!("{dir} is the same run as {first}")))
    };
    runs.iter().enumerate().filter_map(again).collect()
}

/// The runs that are no copies of others before them, and what to say of those that are.
pub fn without_copies<'r>(runs: &[&'r Run]) -> (Vec<&'r Run>, Vec<String>) {
    let copies = copies(runs);
    let is_copy = |at: usize| copies.iter().any(|(copy, _)| *copy == at);
    let once = runs.iter().enumerate().filter(|(at, _)| !is_copy(*at)).map(|(_, run)| *run).collect();
    (once, copies.into_iter().map(|(_, text)| format!("{text}: it counts once")).collect())
}

/// Whether two profiles are of one job, as far as they say which: who it is, and when it began.
fn is_one_job(a: &Run, b: &Run) -> bool {
    let who = |run: &Run| (run.job.identity.id.clone(), run.job.host.clone(), run.job.start_realtime_ns);
    a.job.start_realtime_ns > 0 && who(a) == who(b)
}

fn pair_differences(first: &Run, run: &Run, any_arguments: bool) -> Vec<String> {
    let (a, b) = (&first.shape, &run.shape);
    let quoted = |arguments: &str| format!("`{arguments}`");
    let build = |run: &Run| run.library.as_ref().map(|id| format!("build {id:.12}"));
    let mut list = Vec::new();
    let mut compare = |what: &str, old: String, now: String| {
        if old != now {
            let (first, run) = (first.dir.display(), run.dir.display());
            list.push(format!("different {what}: {old} in {first}, {now} in {run}"));
        }
    };
    // Folders differ where versions are kept side by side. A name that no profile has kept tells nothing.
    if !first.program().is_empty() && !run.program().is_empty() {
        compare("programs", first.program().to_owned(), run.program().to_owned());
    }
    compare("numbers of PEs", a.npes.to_string(), b.npes.to_string());
    if a.npes == b.npes {
        compare("numbers of PEs by host", format!("{:?}", a.hosts), format!("{:?}", b.hosts));
    }
    if !any_arguments {
        compare("arguments", quoted(&a.arguments), quoted(&b.arguments));
    }
    compare("profiling levels", a.level.to_string(), b.level.to_string());
    if let (Some(old), Some(now)) = (build(first), build(run)) {
        compare("libraries", old, now);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(program: &str, npes: u32, arguments: &str) -> Run {
        let mut run = Run { dir: format!("{program}-{npes}").into(), ..Run::default() };
        run.job.program = program.to_owned();
        (run.shape.npes, run.shape.arguments) = (npes, arguments.to_owned());
        run
    }

    #[test]
    fn runs_of_two_programs_are_told_apart_by_their_names_not_their_folders() {
        let of = |a: &str, b: &str| differences(&[&run(a, 2, ""), &run(b, 2, "")], false);
        assert_eq!(of("/old/heat", "./heat"), Vec::<String>::new());
        assert_eq!(of("/tmp/gate-1/b/heat", "/tmp/gate-1/b/heat"), Vec::<String>::new());
        assert_eq!(of("", "heat"), Vec::<String>::new());
        assert_eq!(of("heat", "isx"), ["different programs: heat in heat-2, isx in isx-2"]);
    }

    #[test]
    fn a_job_that_was_run_once_is_one_run() {
        let of = |dir: &str, id: &str, start: u64| {
            let mut run = Run { dir: dir.into(), ..Run::default() };
            (run.job.identity.id, run.job.start_realtime_ns) = (id.to_owned(), start);
            run
        };
        let runs = [of("a", "x", 5), of("b", "x", 5), of("c", "x", 6), of("d", "y", 5), of("a", "x", 5)];
        let (once, notes) = without_copies(&runs.iter().collect::<Vec<_>>());
        let dirs: Vec<String> = once.iter().map(|run| run.dir.display().to_string()).collect();
        assert_eq!(dirs, ["a", "c", "d"]);
        assert_eq!(notes, ["b is the same run as a: it counts once", "a is the same run as a: it counts once"]);
        // What does not say when it began.
        let unknown = [of("a", "", 0), of("b", "", 0)];
        assert_eq!(copies(&unknown.iter().collect::<Vec<_>>()), []);
    }

    #[test]
    fn each_run_is_held_to_the_first() {
        let runs = [run("a", 2, "x"), run("a", 2, "y"), run("a", 4, "x")];
        let runs: Vec<&Run> = runs.iter().collect();
        let arguments = "different arguments: `x` in a-2, `y` in a-2";
        let pes = "different numbers of PEs: 2 in a-2, 4 in a-4";
        assert_eq!(differences(&runs, false), [arguments, pes]);
        assert_eq!(differences(&runs, true), [pes]);
        assert_eq!(differences(&[], false), Vec::<String>::new());
    }
}
