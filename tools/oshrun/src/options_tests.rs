//! Arguments and what becomes of them.

use super::*;

fn run(args: &[&str]) -> Options {
    match parse(args.iter().map(OsString::from)) {
        Ok(Request::Run(options)) => *options,
        other => panic!("{args:?}: {other:?}"),
    }
}

fn error(args: &[&str]) -> String {
    parse(args.iter().map(OsString::from)).expect_err("accepted").to_string()
}

#[test]
fn spellings_of_the_number_of_pes() {
    for args in [&["-n", "4"][..], &["-np", "4"], &["-n4"], &["-np4"], &["-n=4"], &["-np=4"], &["-n", "1", "-n", "4"]] {
        let options = run(&[args, &["prog", "-n", "9"]].concat());
        assert_eq!(options.pes, 4, "{args:?}");
        assert_eq!(options.args, ["-n", "9"], "{args:?}");
    }
    assert_eq!(run(&["prog"]).pes, 1);
}

#[test]
fn the_program_ends_the_options() {
    assert_eq!(run(&["--", "-odd", "--label"]).program, "-odd");
    assert_eq!(run(&["prog", "--", "--label"]).args, ["--", "--label"]);
    assert!(!run(&["prog", "--label"]).label);
    assert_eq!(run(&["--label", "-"]).program, "-");
}

#[test]
fn a_job_has_one_program() {
    assert!(error(&["-n", "2", "prog", ":", "-n", "1", "other"]).contains("a job has one program"));
    assert_eq!(run(&["prog", ":", "x"]).args, [":", "x"]);
}

#[test]
fn a_profile_level_is_optional() {
    for (args, profile) in [
        (&["p"][..], ProfileChoice::Silent),
        (&["--profile", "p"], ProfileChoice::Level(1)),
        (&["--profile", "1", "p"], ProfileChoice::Level(1)),
        (&["--profile=1", "p"], ProfileChoice::Level(1)),
        (&["--profile", "off", "p"], ProfileChoice::Off),
        (&["--profile=off", "p"], ProfileChoice::Off),
        (&["--profile", "0", "p"], ProfileChoice::Off),
        (&["--profile", "--", "2"], ProfileChoice::Level(1)),
        (&["--profile-dir", "d", "p"], ProfileChoice::Level(1)),
        (&["--profile=1", "--profile-dir=d", "p"], ProfileChoice::Level(1)),
        (&["--profile=d", "p"], ProfileChoice::Level(1)),
    ] {
        assert_eq!(run(args).profile, profile, "{args:?}");
    }
}

#[test]
fn an_address_of_metrics_may_stand_by_itself() {
    for (args, address) in [
        (&["--metrics", "p"][..], ""),
        (&["--metrics", "127.0.0.1:9746", "p"], "127.0.0.1:9746"),
        (&["--metrics", ":9747", "p"], ":9747"),
        (&["--metrics", "unix:/tmp/m", "p"], "unix:/tmp/m"),
        (&["--metrics=node:9747", "p"], "node:9747"),
        (&["--metrics", "./a:b"], ""),
    ] {
        assert_eq!(run(args).metrics.serve.as_deref(), Some(address), "{args:?}");
    }
}

#[test]
fn values() {
    let options = run(&["-x", "A", "-x", "B=c=d", "-xE=", "--timeout", "1.5", "--heap", "1.5g", "--bind=none", "p"]);
    let pair = |name: &str, value: Option<&str>| (OsString::from(name), value.map(OsString::from));
    assert_eq!(options.exports, [pair("A", None), pair("B", Some("c=d")), pair("E", Some(""))]);
    assert_eq!(options.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(options.heap, Some(("1.5g".into(), 3 << 29)));
    assert_eq!(options.bind, Wanted { bind: Some(Bind::None), cores: None });
    let options = run(&["--tool", "b.so", "--tool-optional", "--tool=./a.so", "p"]);
    assert_eq!(options.tools, [PathBuf::from("b.so"), PathBuf::from("./a.so")]);
    assert!(options.tool_optional);
    assert_eq!(
        error(&["--tool", "a:b", "p"]),
        "option --tool: \"a:b\": a name with a colon cannot be passed on in SHMEM_TOOLS"
    );
}

#[test]
fn profile_and_trace_take_a_directory_in_both_ways() {
    let taken = |args: &[&str]| {
        let options = run(args);
        let text = |path: Option<PathBuf>| path.map(|path| path.display().to_string());
        (text(options.profile_dir), text(options.trace), options.program.into_string().unwrap())
    };
    let some = |name: &str| Some(name.to_owned());
    let sh = || "sh".to_owned();
    assert_eq!(taken(&["--profile=d", "sh"]), (some("d"), None, sh()));
    assert_eq!(taken(&["--profile", "d", "sh"]), (some("d"), None, sh()));
    assert_eq!(taken(&["--profile", "./d/e", "--label", "sh"]), (some("./d/e"), None, sh()));
    assert_eq!(taken(&["--trace=d", "sh"]), (None, some("d"), sh()));
    assert_eq!(taken(&["--trace", "/tmp", "sh"]), (None, some("/tmp"), sh()));
    assert_eq!(taken(&["--trace", "d", "--", "sh"]), (None, some("d"), sh()));
    assert_eq!(taken(&["--trace", "--profile", "d", "sh"]), (some("d"), some(""), sh()));
    // What can be run is the program, whatever follows; and so is what stands alone, to be named where it is not there.
    assert_eq!(taken(&["--trace", "sh", "sh"]), (None, some(""), sh()));
    assert_eq!(taken(&["--profile", "no-such-program"]), (None, None, "no-such-program".to_owned()));
    assert_eq!(taken(&["--trace", "no-such-program", "argument"]), (None, some(""), "no-such-program".to_owned()));
    assert_eq!(taken(&["--profile-dir", "a", "--profile=1", "sh"]), (some("a"), None, sh()));
}

#[test]
fn times() {
    for (text, milliseconds) in
        [("2", 2000), ("1.5", 1500), ("500ms", 500), ("5s", 5000), ("2m", 120_000), ("1h", 3_600_000), ("0.5m", 30_000)]
    {
        assert_eq!(run(&["--timeout", text, "p"]).timeout, Some(Duration::from_millis(milliseconds)), "{text}");
    }
    assert_eq!(run(&["--timeout", "1:30", "p"]).timeout, Some(Duration::from_secs(90)));
    assert_eq!(run(&["--timeout", "2:00:01", "p"]).timeout, Some(Duration::from_secs(7201)));
}

#[test]
fn options_of_other_launchers_are_understood() {
    let options = run(&["-N", "2", "-H", "a:2,b", "--tag-output", "--oversubscribe", "--allow-run-as-root", "-q", "p"]);
    assert_eq!((options.ppn, options.hosts.map(|hosts| hosts.len()), options.label), (Some(2), Some(2), true));
    for args in [&["--np", "3"][..], &["--ntasks=3"], &["-ppn", "3"], &["-N3"], &["--map-by", "ppr:3:node:PE=2"]] {
        assert_eq!(run(&[args, &["p"]].concat()).pes, 3, "{args:?}");
    }
    assert_eq!(run(&["-hostfile", "f", "p"]).hostfile, Some("f".into()));
    let options =
        run(&["-genv", "A", "b=c", "-env", "D", "", "-e", "F=g", "-genvlist", "X,Y", "-wdir", "/tmp", "p", "q"]);
    let pair = |name: &str, value: Option<&str>| (OsString::from(name), value.map(OsString::from));
    let exports = [pair("A", Some("b=c")), pair("D", Some("")), pair("F", Some("g")), pair("X", None), pair("Y", None)];
    assert_eq!(
        (options.exports, options.wdir, options.args),
        (exports.to_vec(), Some("/tmp".into()), vec!["q".into()])
    );
    let options = run(&["--bind-to", "core:overload-allowed", "--map-by", "socket:PE=4", "p"]);
    assert_eq!(options.bind, Wanted { bind: Some(Bind::Core), cores: Some(4) });
    assert_eq!(run(&["--output=d/%p", "--mpi=pmi2", "p"]).output, Some("d/%p".into()));
}

const TIMES: &str = "expected a time above 0: seconds, 500ms, 5s, 2m, 1h, 1:30 or 1:00:00";

#[test]
fn what_is_wrong_names_the_option_and_the_value() {
    for (args, message) in [
        (&["-n", "0", "p"][..], "option -n: \"0\": a job needs at least 1 PE"),
        (&["-n", "-3", "p"], "option -n: \"-3\": a job needs at least 1 PE"),
        (&["-np", "two", "p"], "option -np: \"two\": expected a whole number of PEs"),
        (&["-n", "5000000000", "p"], "option -n: \"5000000000\": at most 1048576 PEs"),
        (&["-n"], "option -n needs a value: -n N"),
        (&["-n", "2"], "no program given"),
        (&["--"], "no program given"),
        (&[], "no program given"),
        (&[""], "no program given"),
        (&["--labl", "p"], "unknown option --labl (did you mean --label?)"),
        (&["--zebra=3", "p"], "unknown option --zebra"),
        (&["-nodes", "p"], "unknown option -nodes"),
        (&["-Z", "p"], "unknown option -Z"),
        (&["-label", "p"], "unknown option -label (did you mean --label?)"),
        (
            &["-c", "2", "p"],
            "unknown option -c: the number of PEs is -n N, and that of cores for each --cores-per-pe N",
        ),
        (&["--label=yes", "p"], "option --label takes no value, got \"yes\""),
        (&["--bind", "sun", "p"], "option --bind: \"sun\": expected core, numa, socket, none or list:CPUS,CPUS,..."),
        (
            &["--bind-to", "sun", "p"],
            "option --bind-to: \"sun\": expected core, numa, socket, none or list:CPUS,CPUS,...",
        ),
        (&["--cores-per-pe", "0", "p"], "option --cores-per-pe: \"0\": expected a number of cores above 0"),
        (
            &["--map-by", "node", "p"],
            "option --map-by: \"node\": a host has consecutive PEs here: ppr:N:node or --ppn N says how many",
        ),
        (&["--output", "out", "p"], "option --output: \"out\": expected %p in the name: a file a PE"),
        (&["-genv", "A"], "option -genv needs a value: -genv VAR VALUE"),
        (&["--timeout", "0", "p"], &format!("option --timeout: \"0\": {TIMES}")),
        (&["--timeout", "nan", "p"], &format!("option --timeout: \"nan\": {TIMES}")),
        (&["--timeout", "5x", "p"], &format!("option --timeout: \"5x\": {TIMES}")),
        (&["--timeout", "1:x", "p"], &format!("option --timeout: \"1:x\": {TIMES}")),
        (&["--timeout", "0:00", "p"], &format!("option --timeout: \"0:00\": {TIMES}")),
        (&["--heap", "1q", "p"], "option --heap: \"1q\": unknown suffix: expected k, m, g or t"),
        (&["--profile=10", "p"], "option --profile: \"10\": expected off or a level from 0 to 1"),
        (
            &["--profile=high,sampling=1", "p"],
            "option --profile: \"high,sampling=1\": expected off or a level from 0 to 1",
        ),
        (
            &["--profile", "off", "--profile-dir", "d", "p"],
            "options --profile off and --profile-dir exclude each other",
        ),
        (&["--metrics-push-forget", "--metrics", "p"], "option --metrics-push-forget needs --metrics-push"),
        (&["--metrics-file", "f", "--profile=off", "p"], "options --profile off and --metrics-file exclude each other"),
        (&["-x", "=1", "p"], "option -x: \"=1\": expected VAR or VAR=VALUE"),
    ] {
        assert_eq!(error(args), message, "{args:?}");
    }
}

#[test]
fn the_environment_names_a_directory_where_no_option_does() {
    let taken = |args: &[&str], value: &str| {
        let Ok(Request::Run(mut options)) = parse(args.iter().map(OsString::from)) else { panic!("{args:?}") };
        options.take_over(Some(value.into()), Some("t".into()));
        let off = options.profile == ProfileChoice::Off;
        assert_eq!(options.trace, (!off).then(|| "t".into()));
        (options.profile_dir.map(|path| path.display().to_string()), options.profile)
    };
    let d = |name: &str| Some(name.to_owned());
    assert_eq!(taken(&["p"], "d"), (d("d"), ProfileChoice::Level(1)));
    assert_eq!(taken(&["--profile=1", "p"], "d"), (d("d"), ProfileChoice::Level(1)));
    assert_eq!(taken(&["--profile-dir=e", "p"], "d"), (d("e"), ProfileChoice::Level(1)));
    assert_eq!(taken(&["--profile=off", "p"], "d"), (None, ProfileChoice::Off));
    assert_eq!(taken(&["p"], ""), (None, ProfileChoice::Silent));
}
