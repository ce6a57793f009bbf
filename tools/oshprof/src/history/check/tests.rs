//! Change points of simulated histories.

use super::*;

fn normal(random: &mut fastrand::Rng) -> f64 {
    (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
}

fn history(length: usize, seed: u64, level: impl Fn(usize) -> f64) -> Vec<Entry> {
    let mut random = fastrand::Rng::with_seed(seed);
    let one = |at: usize, noise: f64| Entry {
        commit: format!("c{at}"),
        metrics: BTreeMap::from([("run".to_owned(), 1e9 * (level(at) + 0.02 * noise).exp())]),
        ..Entry::default()
    };
    (0..length).map(|at| one(at, normal(&mut random))).collect()
}

fn check(entries: &[Entry]) -> Vec<Finding> {
    times(&entries.iter().collect::<Vec<_>>())
}

#[test]
fn planted_changes_name_their_commits() {
    let entries = history(200, 4, |at| match at {
        0..70 => 0.0,
        70..130 => 0.1,
        130..170 => 0.04,
        _ => 0.2,
    });
    let found = check(&entries);
    assert_eq!(found.len(), 3, "{found:?}");
    for (finding, planted) in found.iter().zip([70_usize, 130, 170]) {
        let commit: usize = finding.commit[1..].parse().unwrap();
        assert!(commit.abs_diff(planted) <= 2, "{} for {planted}", finding.commit);
    }
    assert_eq!(found.iter().map(|f| f.is_worse).collect::<Vec<_>>(), [true, false, true]);
}

/// A run of 10 s becomes shorter by a third, and a wait of 1 ms in it longer.
#[test]
fn what_became_faster_is_no_regression() {
    let mut entries = history(40, 3, |at| if at < 20 { 2.3 } else { 1.9 });
    for (at, entry) in entries.iter_mut().enumerate() {
        let (wait, library) = if at < 20 { (1.00e6, 6.0e9) } else { (1.05e6, 3.0e9) };
        entry.metrics.extend([("waiting".to_owned(), wait), ("library".to_owned(), library)]);
    }
    let found = check(&entries);
    let names: Vec<&str> = found[0].times.iter().map(|(name, _)| name.as_str()).collect();
    assert!(found.len() == 1 && !found[0].is_worse && found[0].commit == "c20", "{found:?}");
    assert!(names.contains(&"run") && names.contains(&"library") && !names.contains(&"waiting"), "{names:?}");
    // A run that takes longer is worse, whatever becomes shorter in it.
    let mut entries = history(40, 3, |at| if at < 20 { 1.9 } else { 2.3 });
    for (at, entry) in entries.iter_mut().enumerate() {
        entry.metrics.insert("waiting".to_owned(), if at < 20 { 6.0e9 } else { 0.5e9 });
    }
    let found = check(&entries);
    assert!(found.len() == 1 && found[0].is_worse && found[0].times.len() == 2, "{found:?}");
}

#[test]
fn a_large_change_is_told_after_two_runs_and_confirmed_after_five() {
    let of = |after: usize| check(&history(40 + after, 8, |at| if at < 40 { 0.0 } else { 0.3 }));
    assert!(of(1).is_empty(), "one run may be a spike");
    let two = of(2);
    assert!(two.len() == 1 && two[0].is_suspected && two[0].commit == "c40", "{two:?}");
    let five = of(5);
    assert!(five.len() == 1 && !five[0].is_suspected && five[0].commit == "c40", "{five:?}");
}

/// A gain of 17 % is lost again: the loss stands, however many runs come after it.
#[test]
fn what_stands_is_told_as_long_as_it_stands() {
    for (from, to, seeds) in [(15, 25, 1..4), (10, 17, 4..6)] {
        for (after, seed) in [5, 7, 12, 20].into_iter().flat_map(|after| seeds.clone().map(move |seed| (after, seed))) {
            let found = check(&history(to + after, seed, |at| if (from..to).contains(&at) { 0.0 } else { 0.18 }));
            let told: Vec<(&str, bool)> = found.iter().map(|f| (f.commit.as_str(), f.fails())).collect();
            let named = (format!("c{from}"), format!("c{to}"));
            assert_eq!(told, [(named.0.as_str(), false), (named.1.as_str(), true)], "{after} runs later");
        }
    }
}

/// Ten runs took longer, and later ones do not: both commits are told, and that it is no regression any more.
#[test]
fn what_was_taken_back_is_told_and_stands_no_more() {
    for (length, longer) in [(30, 0.18), (36, 0.18), (60, 0.18), (45, 0.7)] {
        let found = check(&history(length, 7, |at| if (15..25).contains(&at) { longer } else { 0.0 }));
        let [worse, better] = &found[..] else { panic!("{found:?}") };
        assert_eq!((worse.commit.as_str(), worse.until.as_deref(), worse.fails()), ("c15", Some("c25"), false));
        assert!(worse.text().starts_with("regression from c15 to c25"), "{}", worse.text());
        assert_eq!((better.commit.as_str(), better.is_worse, better.until.as_deref()), ("c25", false, None));
    }
    // Half of it stays.
    let level = |at: usize| if at < 20 { 0.0 } else { [0.2, 0.1][usize::from(at >= 32)] };
    let found = check(&history(45, 7, level));
    assert!(found.len() == 2 && found[0].fails() && found[0].until.is_none(), "{found:?}");
}

#[test]
fn what_went_away_is_forgotten() {
    let found = check(&history(60, 8, |at| if (40..42).contains(&at) { 0.3 } else { 0.0 }));
    assert!(found.is_empty(), "{found:?}");
}

/// At most 15 of 1,000, with one metric and with those that a program with two regions has.
#[test]
fn unchanged_histories_have_no_findings() {
    let histories = if std::env::var_os("PELLUCID_TEST_LONG").is_some() { 1000 } else { 100 };
    for metrics in [1, 5] {
        let wrong = |seed: &u64| {
            let mut entries = history(40, 1000 + seed, |_| 0.0);
            for more in 1..metrics {
                let other = history(40, 5000 + 10 * seed + more, |_| 0.0);
                for (entry, other) in entries.iter_mut().zip(other) {
                    entry.metrics.insert(format!("region:{more}"), other.metrics["run"]);
                }
            }
            !check(&entries).is_empty()
        };
        let wrong = (0..histories).filter(wrong).count();
        assert!(wrong as u64 * 1000 <= histories * 15 + 1000, "{wrong} of {histories} with {metrics} metrics");
    }
}

/// Of a suite that somebody has named, runs may have other arguments: their counts are compared all the same.
#[test]
fn counts_of_a_named_suite_are_compared_whatever_the_arguments() {
    let one = |at: usize, counts: &str, arguments: &str| {
        let mut entry = Entry { commit: format!("c{at}"), suite: "solver".to_owned(), ..Entry::default() };
        entry.counts = counts.to_owned();
        entry.groups = [("put".to_owned(), counts.to_owned())].into();
        (entry.shape.arguments, entry.shape.npes) = (arguments.to_owned(), 4);
        entry
    };
    // The tables of their counts are gone.
    let store = Store::open(&std::env::temp_dir()).unwrap();
    let entries = [one(0, "0123456789", "out.1"), one(1, "0123456789", "out.2"), one(2, "9876543210", "out.3")];
    let found = steps::find(&store, &entries.each_ref(), "").unwrap().findings;
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!((finding.commit.as_str(), &finding.groups), ("c2", &vec!["put".to_owned()]));
    // On other PEs there are other counts.
    let mut other = entries.clone();
    other[2].shape.npes = 8;
    assert!(all(&store, &other).unwrap().findings.is_empty());
}

/// Where entries come from a second kind of machine, or of another branch.
fn of_store(entries: &[Entry]) -> Vec<Finding> {
    all(&Store::open(&std::env::temp_dir()).unwrap(), entries).unwrap().findings
}

#[test]
fn a_change_gets_old_on_whatever_machine_later_runs_are() {
    let mut entries = history(80, 8, |at| if (40..50).contains(&at) { 0.3 } else { 0.0 });
    entries.iter_mut().enumerate().for_each(|(at, entry)| entry.machine = if at < 50 { "a" } else { "b" }.to_owned());
    let found = of_store(&entries);
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!((finding.commit.as_str(), finding.age), ("c40", 39));
    // Runs of both in turn: the age is that of the run, not of its place among those of its machine.
    let mut entries = history(60, 8, |at| if at < 40 { 0.0 } else { 0.3 });
    entries.iter_mut().enumerate().for_each(|(at, entry)| entry.machine = ["a", "b"][at % 2].to_owned());
    let found = of_store(&entries);
    let ages: Vec<(&str, usize)> = found.iter().map(|finding| (finding.commit.as_str(), finding.age)).collect();
    assert_eq!(ages, [("c40", 19), ("c41", 18)]);
}

#[test]
fn each_branch_has_series_of_its_own() {
    // Every second run is of a branch that takes longer, and communicates more.
    let mut entries = history(60, 8, |at| if at % 2 == 0 { 0.0 } else { 0.3 });
    for (at, entry) in entries.iter_mut().enumerate() {
        entry.branch = ["main", "slow"][at % 2].to_owned();
        entry.groups = [("put".to_owned(), entry.branch.clone())].into();
        entry.counts = entry.branch.clone();
    }
    assert!(of_store(&entries).is_empty());
    entries[58].groups = [("put".to_owned(), "more".to_owned())].into();
    entries[58].counts = "more".to_owned();
    let found = of_store(&entries);
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!((finding.branch.as_str(), finding.before.as_str(), finding.age), ("main", "c56", 0));
    assert!(finding.text().contains("in `` of branch main: counts of put"), "{}", finding.text());
}

/// Runs on two and on four PEs in turn: the times of each are a series.
#[test]
fn jobs_of_two_sizes_are_two_series_of_times() {
    let mut entries = history(40, 8, |at| if at % 2 == 0 { 0.0 } else { 0.7 } + if at < 18 { 0.0 } else { 0.26 });
    entries.iter_mut().enumerate().for_each(|(at, entry)| entry.shape.npes = [2, 4][at % 2]);
    let found = of_store(&entries);
    let told: Vec<(&str, &str)> = found.iter().map(|f| (f.commit.as_str(), f.on.as_str())).collect();
    assert_eq!(told, [("c18", " on 2 PEs"), ("c19", " on 4 PEs")]);
    // More PEs from some commit on are no change of the times.
    let mut entries = history(28, 1, |at| if at < 20 { 0.0 } else { 0.7 });
    entries.iter_mut().enumerate().for_each(|(at, entry)| entry.shape.npes = if at < 20 { 2 } else { 4 });
    assert!(of_store(&entries).is_empty());
}
