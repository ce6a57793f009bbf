//! Times: what makes a PE late is named; gates run pairs, and say what they do not know.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::runs::{build, diff, json, oshprof, profiles, rows, version};
use harness::{system, tree};

#[test]
fn a_delay_in_a_get_of_one_pe_is_named() {
    let base = profiles("slow-base", &version("BASE"), 2, &[]);
    let new = profiles("slow", &version("SLOW_GET"), 2, &[]);
    let (outcome, found) = diff(&base, &new, &[]);
    assert_eq!(outcome.code(), 0, "counts are the same, and two runs of a side say nothing on times: {found:#}");
    let first = &rows(&found, "causes")[0];
    assert_eq!(first["late_pe"], 3, "{first:#}");
    assert_eq!((&first["op"], &first["site"]), (&json!("shmem_long_get"), &json!("halo_exchange")));
    let ns = |row: &Value, name: &str| row[name].as_i64().unwrap();
    // Five times 20 ms, and seven PEs that wait for it.
    assert!(ns(first, "delta_ns") > 300_000_000 && ns(first, "waited_ns") > 200_000_000, "{first:#}");
    assert_eq!(first["waited_at"]["op"], "shmem_barrier_all");
    let mut sum = found["causes_others_ns"].as_i64().unwrap();
    for row in rows(&found, "causes") {
        assert_eq!(ns(row, "count_ns") + ns(row, "cost_ns") + ns(row, "mix_ns"), ns(row, "delta_ns"));
        sum += ns(row, "delta_ns");
    }
    let delta = found["causes_delta_ns"].as_i64().unwrap();
    assert!((sum - delta).abs() <= rows(&found, "causes").len() as i64 + 1, "{sum} of {delta}");
}

#[test]
fn a_wait_for_a_flag_is_charged_to_the_pe_that_was_late() {
    let source = tree::package().join("programs/regression/pipeline.c");
    let runs = |name: &str| -> Vec<std::path::PathBuf> {
        let binary = build(&format!("PIPELINE_{name}"), &source, name);
        let root = tree::fresh(&format!("regression/pipeline-{name}"));
        let one = |at: usize| {
            let directory = root.join(format!("run{at}"));
            let job = harness::run::Job::oshrun(4).arg("--profile-dir").arg(&directory).arg(&binary);
            job.run().expect_code(0);
            directory
        };
        (0..2).map(one).collect()
    };
    let (_, found) = diff(&runs("PLAIN"), &runs("SLOW"), &[]);
    let first = &rows(&found, "causes")[0];
    assert_eq!((&first["what"], &first["late_pe"], &first["region"]), (&json!("late"), &json!(1), &json!("work")));
    assert_eq!(first["waited_at"]["op"], "shmem_long_wait_until", "{first:#}");
    // Ten times 20 ms, for which two PEs wait.
    let ns = |name: &str| first[name].as_i64().unwrap();
    assert!(ns("delta_ns") > 450_000_000 && ns("waited_ns") > 250_000_000, "{first:#}");
}

fn command(name: &str, arguments: &str) -> String {
    format!("{} -n 4 {} {arguments}", tree::tool("oshrun").display(), version(name).display())
}

#[test]
fn a_gate_runs_pairs() {
    let (base, new) = (command("BASE", "1"), command("SLOW_GET", "5"));
    // Other arguments: nothing to compare, and told at the first look.
    let outcome =
        oshprof(&["gate", "--pairs", "10..10", "--json", "--base", &base, "--new", &new]).run().expect_code(4);
    assert_eq!(json(&outcome)["verdict"], "not comparable");

    let new = command("SLOW_GET", "1");
    let page = tree::fresh("regression/gate").join("gate.html");
    let file = page.to_str().unwrap();
    let outcome =
        oshprof(&["gate", "--pairs", "10..14", "--html", file, "--json", "--base", &base, "--new", &new]).run();
    let found = json(&outcome);
    assert_eq!(found["schema_version"], 1);
    assert!(rows(&found["counts"], "changed").is_empty(), "{:#}", found["counts"]);
    let run = rows(&found, "metrics").iter().find(|metric| metric["name"] == "run").unwrap().clone();
    assert!(run["pairs"].as_u64().is_some_and(|pairs| (10..=14).contains(&pairs)), "{run:#}");
    // 20 ms more in each run. A machine that is this loud may not see it, but then it must not say that there is
    // nothing.
    match found["verdict"].as_str() {
        Some("regression") => assert_eq!((outcome.code(), &run["verdict"]), (3, &json!("slower")), "{found:#}"),
        Some("inconclusive") => assert_eq!(outcome.code(), 0, "{found:#}"),
        other => panic!("{other:?}: {found:#}"),
    }
    assert!(run["ratio"].as_f64().is_some() && run["noise"].as_f64().is_some() && run["p"].as_f64().is_some());
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("<svg") && !text.contains("src=") && text.ends_with("</html>\n"));
    let machine = &found["environment"]["new"]["machine"];
    assert!(machine["cpu"].as_str().is_some_and(|cpu| !cpu.is_empty()) && machine["kernel"].is_string(), "{machine}");
}

#[test]
fn more_communication_fails_a_gate_however_loud_it_is() {
    let (base, new) = (command("BASE", "1"), command("EXTRA_BARRIER", "1"));
    let outcome =
        oshprof(&["gate", "--pairs", "10..10", "--json", "--base", &base, "--new", &new]).run().expect_code(3);
    let found = json(&outcome);
    let changed = rows(&found["counts"], "changed");
    assert_eq!((changed.len(), &changed[0]["op"]), (1, &json!("shmem_barrier_all")));
}

#[test]
fn a_gate_names_what_failed() {
    let good = command("BASE", "1");
    let two = format!("{good}; {good}");
    for (arguments, code, text) in [
        (&["gate", "--base", &two, "--new", &good][..], 1, "it started more than one job"),
        (&["gate", "--base", "exit 7", "--new", &good][..], 1, "`exit 7` ended with status 7"),
        (&["gate", "--base", "kill -9 $$", "--new", &good], 1, "was ended by signal 9"),
        (&["gate", "--base", "true", "--new", &good], 1, "`true` left no profile"),
        (&["gate", "--limit", "1", "--base", "sleep 60", "--new", &good], 1, "did not end within 1 s"),
        (&["gate", "--pairs", "3..5", "--base", "true", "--new", "true"], 2, "10 to 1000 pairs"),
        (&["gate", "--base", "true"], 2, "needs --base CMD and --new CMD"),
        (&["gate", "--baseline", "/no/such/store", &good], 1, "/no/such/store"),
    ] {
        oshprof(arguments).run().expect_code(code).expect_text(&[text]);
    }
}

#[test]
fn a_signal_ends_a_gate_and_what_it_started() {
    let folder = tree::fresh("regression/signal");
    std::fs::create_dir_all(folder.join("tmp")).unwrap();
    let started = folder.join("started");
    // It ends when it is told, and says so. The signal may come before the first `sleep` is there to be interrupted.
    let line =
        format!("trap 'echo > {0}.ended; exit 1' INT; echo $$ > {0}; while sleep 0.1; do :; done", started.display());
    let mut command = Command::new(tree::tool("oshprof"));
    command.args(["gate", "--base", &line, "--new", "true"]).env("TMPDIR", folder.join("tmp"));
    system::default_signals(&mut command);
    let mut gate = command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap();
    let limit = std::time::Duration::from_secs(60);
    let is_started = || std::fs::read_to_string(&started).is_ok_and(|text| text.ends_with('\n'));
    assert!(system::wait_until(limit, is_started) && system::signal(gate.id(), libc::SIGINT));
    assert_eq!(gate.wait().unwrap().code(), Some(130));
    assert!(folder.join("started.ended").exists(), "it was told");
    assert_eq!(std::fs::read_dir(folder.join("tmp")).unwrap().count(), 0, "profiles are removed");
}

#[test]
fn calibration_says_what_can_be_seen() {
    let page = tree::fresh("regression/calibration").join("page.html");
    let gate = oshprof(&["gate", "--calibrate", "--pairs", "10..10", "--base", &command("BASE", "1")]);
    let outcome = gate.args(["--html", page.to_str().unwrap()]).run();
    outcome.expect_code(0).expect_text(&["10 pairs of the same program", "40 pairs see", "run *", "waiting *"]);
    assert!(std::fs::read_to_string(&page).unwrap().contains("Pellucid comparison"));
}

#[test]
fn a_history_names_the_commit() {
    let store = tree::fresh("regression/history").join("store");
    let store = store.to_str().unwrap();
    let base = profiles("history-base", &version("BASE"), 3, &["1"]);
    let more = profiles("history-more", &version("QUIET_EACH"), 2, &["1"]);
    let add = |dirs: &[&std::path::PathBuf], commit: &str, time: &str| {
        let job = oshprof(&["history", "add"])
            .args(dirs)
            .args(["--commit", commit, "--store", store, "--time", time, "--suite", "step"]);
        job.run().expect_code(0)
    };
    add(&[&base[0], &base[1]], "1111", "100");
    add(&[&base[2]], "2222", "200");
    oshprof(&["history", "check", "--store", store]).run().expect_code(0).expect_text(&["ok: 0 findings"]);
    add(&[&more[0]], "3333", "300");
    add(&[&more[1]], "4444", "400");
    add(&[&more[1]], "4444", "400").expect_text(&["is already in"]);
    let outcome = oshprof(&["history", "check", "--store", store, "--json"]).run().expect_code(3);
    let found = json(&outcome);
    let findings = rows(&found, "findings");
    assert_eq!((findings.len(), &findings[0]["commit"], &findings[0]["before"]), (1, &json!("3333"), &json!("2222")));
    assert_eq!((&findings[0]["counts"][0]["op"], &findings[0]["age"]), (&json!("shmem_quiet"), &json!(1)));
    oshprof(&["history", "check", "--store", store, "--last", "1"]).run().expect_code(0);
    oshprof(&["history", "list", "--store", store]).run().expect_code(0).expect_text(&["3333", "step"]);
    let page = tree::scratch("regression/history").join("plot.html");
    oshprof(&["history", "plot", page.to_str().unwrap(), "--store", store]).run().expect_code(0);
    assert!(std::fs::read_to_string(&page).unwrap().contains("polyline"));

    // A gate against it. The program's own name is the series' there.
    let at_baseline = |name: &str| {
        let job = oshprof(&["gate", "--baseline", store, "--json", "--any-arguments", &command(name, "1")]);
        job.run()
    };
    at_baseline("BASE").expect_code(1).expect_text(&["to compare with: oshprof history add"]);
    let own = profiles("history-own", &version("BASE"), 1, &["1"]);
    oshprof(&["history", "add", own[0].to_str().unwrap(), "--commit", "5555", "--store", store]).run().expect_code(0);
    let line = format!("{} -n 8 {} 1", tree::tool("oshrun").display(), version("BASE").display());
    let outcome = oshprof(&["gate", "--baseline", store, "--json", &line]).run().expect_code(0);
    assert_eq!(json(&outcome)["verdict"], "ok", "{}", outcome.stdout);
    let unknown = oshprof(&["gate", "--baseline", store, "--metric", "region:nope", &line]).run().expect_code(4);
    unknown.expect_text(&["no run of base has the metric \"region:nope\"", "no run of new has the metric"]);

    // Where the tables of counts are gone, their hashes still tell which part changed, and nobody knows how.
    let counts = std::path::Path::new(store).join("counts");
    std::fs::remove_dir_all(&counts).unwrap();
    let outcome = oshprof(&["history", "check", "--store", store]).run().expect_code(1);
    let change = format!("change since 3333 (before: 2222) in `step`: counts of order ({}/", counts.display());
    outcome.expect_text(&[&change, "unknown: 1 finding", "No such file or directory"]);
}

/// A clock that was set back between two commits does not hide what the later one brought.
#[test]
fn a_history_goes_from_parent_to_child() {
    let store = tree::fresh("regression/parents").join("store");
    let base = profiles("parents-base", &version("BASE"), 2, &["1"]);
    let more = profiles("parents-more", &version("QUIET_EACH"), 2, &["1"]);
    let add = |dirs: &[std::path::PathBuf], options: &[&str]| {
        let job = oshprof(&["history", "add", "--suite", "step"]).args(dirs).args(options);
        job.arg("--store").arg(&store).run()
    };
    add(&more, &["--commit", "2222", "--parent", "1111", "--time", "100"]).expect_code(0);
    add(&base, &["--commit", "1111", "--time", "3000"]).expect_code(0);
    let outcome = oshprof(&["history", "check", "--store"]).arg(&store).run().expect_code(3);
    outcome.expect_text(&["regression since 2222 (before: 1111)"]);
    for (options, text) in [
        (&["--commit", "a b"][..], "for '--commit <SHA>': `a b` is no commit: it has a blank"),
        (&["--commit", "c", "--parent", "a\nb"], "for '--parent <SHA>': `a\\nb` is no commit"),
        (&["--commit", "c", "--parent", "c"], "--parent `c` is the commit itself"),
        (&["--commit", "c", "--suite", " "], "for '--suite <NAME>': expected a name"),
        (
            &["--commit", "c", "--time", "99999999999999999"],
            "for '--time <SECONDS>': 99999999999999999 is not in seconds",
        ),
    ] {
        add(&base, options).expect_code(2).expect_text(&[text]);
    }
}

#[test]
fn a_store_in_which_nothing_can_be_read_is_not_well() {
    let store = tree::fresh("regression/nothing").join("store");
    std::fs::create_dir_all(&store).unwrap();
    let check = || oshprof(&["history", "check", "--store"]).arg(&store).run();
    let file = store.join("a-123456.jsonl");
    check().expect_code(1).expect_text(&["no run can be read there"]);
    std::fs::write(&file, "").unwrap();
    check().expect_code(1).expect_text(&["no run can be read there"]);
    std::fs::write(&file, "<<<<<<< HEAD\n{\"v\":1,\"suite\":\n").unwrap();
    check().expect_code(1).expect_text(&["a-123456.jsonl: 2 lines skipped", "no run can be read there"]);
    // What is left of a store is looked at, and what is not is told.
    let run = profiles("nothing-runs", &version("BASE"), 1, &["1"]);
    let add = oshprof(&["history", "add", run[0].to_str().unwrap(), "--commit", "c", "--store"]);
    add.arg(&store).run().expect_code(0);
    check().expect_code(0).expect_text(&["2 lines skipped", "ok: 0 findings"]);
}

#[test]
fn stores_of_two_branches_merge() {
    let root = tree::fresh("regression/merge");
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
        let outcome = harness::run::Job::new("git").args(identity).args(arguments).directory(&root).run();
        outcome.expect_code(0)
    };
    let runs = profiles("merge-runs", &version("BASE"), 3, &["1"]);
    let store = root.join("store");
    let add = |at: usize, commit: &str| {
        let job = oshprof(&["history", "add", runs[at].to_str().unwrap(), "--commit", commit, "--suite", "s"]);
        job.args(["--store", store.to_str().unwrap()]).run().expect_code(0);
        git(&["add", "."]);
        git(&["commit", "-q", "-m", commit]);
    };
    git(&["init", "-q"]);
    add(0, "first");
    git(&["checkout", "-q", "-b", "other"]);
    add(1, "second");
    git(&["checkout", "-q", "main"]);
    add(2, "third");
    git(&["merge", "-q", "-m", "merge", "other"]);
    let outcome = oshprof(&["history", "list", "--store", store.to_str().unwrap()]).run();
    let outcome = outcome.expect_code(0).expect_text(&["first", "second", "third"]);
    assert_eq!(outcome.stdout.lines().count(), 3, "{}", outcome.stdout);
}

#[test]
fn whoever_is_killed_while_adding_leaves_a_store_that_can_be_read() {
    let run = profiles("kill-runs", &version("BASE"), 1, &["1"]);
    let store = tree::fresh("regression/kill").join("store");
    let rounds = system::repetitions(25, 300) as u64;
    for round in 0..rounds {
        let mut command = Command::new(tree::tool("oshprof"));
        command.args(["history", "add"]).arg(&run[0]).args(["--commit", &format!("c{round}"), "--store"]).arg(&store);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(700 * round % 20_000));
        system::kill_group(child.id());
        child.wait().unwrap();
    }
    let add =
        oshprof(&["history", "add", run[0].to_str().unwrap(), "--commit", "last", "--store", store.to_str().unwrap()]);
    add.run().expect_code(0);
    let outcome = oshprof(&["history", "list", "--json", "--store", store.to_str().unwrap()]).run().expect_code(0);
    let found = json(&outcome);
    assert!(rows(&found, "runs").iter().any(|entry| entry["commit"] == "last"), "{found:#}");
    oshprof(&["history", "check", "--store", store.to_str().unwrap()]).run().expect_code(0);
}
