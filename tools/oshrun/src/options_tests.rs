//! Arguments and what becomes of them.

use super::*;
use crate::bind::Bind;
use crate::cli::parse;
use pellucid_cli::Answer;

fn run(args: &[&str]) -> Options {
    match parse(args.iter().map(OsString::from)) {
        Ok(Request::Run(options)) => *options,
        other => panic!("{args:?}: {other:?}"),
    }
}

fn error(args: &[&str]) -> String {
    match parse(args.iter().map(OsString::from)) {
        Err(Answer::Wrong(text)) => text,
        other => panic!("{args:?}: {other:?}"),
    }
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
    let message = "invalid value 'a:b' for '--tool <FILE>': a name with a colon cannot be passed on in SHMEM_TOOLS";
    assert!(error(&["--tool", "a:b", "p"]).starts_with(message));
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

const HOST: &str = "expected NAME, NAME:SLOTS, or [ADDRESS]:SLOTS of IPv6";
const TIMES: &str = "expected a time above 0: seconds, 500ms, 5s, 2m, 1h, 1:30 or 1:00:00";

/// The beginning of what is said.
fn says(args: &[&str], message: &str) {
    let said = error(args);
    assert!(said.starts_with(message), "{args:?}: {said}");
    assert!(said.contains("try '--help'"), "{said}");
}

#[test]
fn a_wrong_value_is_told_with_its_option() {
    for (args, option, reason) in [
        (&["-n", "0", "p"][..], "'0' for '--np <N>'", "a job needs at least 1 PE"),
        (&["-n", "-3", "p"], "'-3' for '--np <N>'", "a job needs at least 1 PE"),
        (&["-np", "two", "p"], "'two' for '--np <N>'", "expected a whole number of PEs"),
        (&["-n", "5000000000", "p"], "'5000000000' for '--np <N>'", "at most 1048576 PEs"),
        (&["--bind", "sun", "p"], "'sun' for '--bind <WHERE>'", "expected core, numa, socket, none or list:CPUS,CPUS,"),
        (&["--bind-to", "sun", "p"], "'sun' for '--bind <WHERE>'", "expected core"),
        (&["--cores-per-pe", "0", "p"], "'0' for '--cores-per-pe <N>'", "expected a number of cores above 0"),
        (
            &["--map-by", "node", "p"],
            "'node' for '--map-by <ppr:N:node>'",
            "a host has consecutive PEs here: ppr:N:node",
        ),
        (&["--output", "out", "p"], "'out' for '--output <FILE>'", "expected %p in the name: a file a PE"),
        (&["--timeout", "0", "p"], "'0' for '--timeout <TIME>'", TIMES),
        (&["--timeout", "nan", "p"], "'nan' for '--timeout <TIME>'", TIMES),
        (&["--timeout", "5x", "p"], "'5x' for '--timeout <TIME>'", TIMES),
        (&["--timeout", "1:x", "p"], "'1:x' for '--timeout <TIME>'", TIMES),
        (&["--timeout", "0:00", "p"], "'0:00' for '--timeout <TIME>'", TIMES),
        (&["--heap", "1q", "p"], "'1q' for '--heap <SIZE>'", "unknown suffix: expected k, m, g or t"),
        (
            &["--profile=99999999999", "p"],
            "'99999999999' for '--profile[=<LEVEL|off|DIR>]'",
            "expected off or a level from 0 to 1",
        ),
        (&["--profile=-1", "p"], "'-1' for '--profile", "expected off or a level from 0 to 1"),
        (&["--metrics=:x", "p"], "':x' for '--metrics", "port `x` is not 0 to 65535"),
        (&["--metrics-push", "http://a b", "p"], "'http://a b' for '--metrics-push", "expected http://HOST:PORT"),
        (&["--metrics-push", "http://a:x/", "p"], "'http://a:x/' for '--metrics-push", "its port is not a number"),
        (&["--metrics-file", "", "p"], "'' for '--metrics-file <FILE>'", "expected the name of a file"),
        (&["--hostfile", "", "p"], "'' for '--hostfile <FILE>'", "expected the name of a file"),
        (&["--hosts", "[::1", "p"], "'[::1' for '--hosts <LIST>'", HOST),
        (&["--hosts", "a:1:2:3", "p"], "'a:1:2:3' for '--hosts <LIST>'", HOST),
        (&["--profile=10", "p"], "'10' for '--profile[=<LEVEL|off|DIR>]'", "expected off or a level from 0 to 1"),
        (
            &["--profile=high,sampling=1", "p"],
            "'high,sampling=1' for '--profile",
            "expected off or a level from 0 to 1",
        ),
        (&["-x", "=1", "p"], "'=1' for '-x <VAR[=VALUE]>'", "expected VAR or VAR=VALUE"),
    ] {
        says(args, &format!("invalid value {option}"));
        assert!(error(args).contains(&format!(": {reason}")), "{}", error(args));
    }
}

#[test]
fn what_is_wrong_is_told_with_the_nearest_option() {
    for (args, message) in [
        (&["-n"][..], "a value is required for '--np <N>' but none was supplied"),
        (&["-n", "2"], "no program given"),
        (&["--"], "no program given"),
        (&[], "no program given"),
        (&[""], "no program given"),
        (
            &["--labl", "p"],
            "unexpected argument '--labl' found\n\n  tip: a similar argument exists: '--label'\n\nUsage: ",
        ),
        (&["--zebra=3", "p"], "unexpected argument '--zebra' found\n\nUsage: oshrun "),
        (&["-zzz", "p"], "unexpected argument '--zzz' found\n\nUsage: "),
        (&["-Z", "p"], "unexpected argument '-Z' found\n\nUsage: "),
        (
            &["-c", "2", "p"],
            "unexpected argument '-c' found\n\n  tip: the number of PEs is -n N, and that of cores for each --cores",
        ),
        (&["-maxtime=2", "p"], "unexpected argument '--maxtime' found\n\n  tip: the longest time is --timeout TIME"),
        (&["--label=yes", "p"], "unexpected value 'yes' for '--label' found; no more were expected"),
        (&["-genv", "A"], "2 values required for '--genv <VAR> <VALUE>' but 1 was provided"),
        (&["--profile", "off", "--profile-dir", "d", "p"], "--profile off and --profile-dir exclude each other"),
        (&["--hosts", "a", "--hostfile", "f", "p"], "the argument '--hosts <LIST>' cannot be used with '--hostfile"),
        (
            &["--metrics-push-forget", "--metrics", "p"],
            "the following required arguments were not provided:\n  --metrics-push <URL|otlp>",
        ),
        (&["--metrics-file", "f", "--profile=off", "p"], "--profile off and --metrics-file exclude each other"),
    ] {
        says(args, message);
    }
}

#[test]
fn help_has_every_option_in_80_columns() {
    let Err(Answer::Text(help)) = parse(["--help".into()]) else { panic!("no help") };
    for option in crate::cli::command().get_arguments().filter(|option| !option.is_hide_set()) {
        let long = option.get_long().map_or_else(|| "-x <VAR".to_owned(), |long| format!("--{long}"));
        assert!(help.contains(&long), "{long}");
    }
    assert!(help.contains("list:CPUS") && help.contains("\n\nExit status: that of the first PE"), "{help}");
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    shown_command().debug_assert();
}

fn shown_command() -> clap::Command {
    pellucid_cli::shown(crate::cli::with_foreign())
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
