//! What the profile, traces, metrics and looks at jobs that hang say of programs that use GASNet-EX.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use harness::report::Report;
use harness::run::{Job, Running};
use harness::{system, tree};
use serde_json::Value;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(30);

/// Programs that were built: another test may run them.
static BUILT: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

const SHARED: &str = "$(PKG_CONFIG_PATH=\"$3/pkgconfig\" pkg-config --cflags --libs gasnet-pellucid-par)";
const STATIC: &str = "$(PKG_CONFIG_PATH=\"$3/pkgconfig\" pkg-config --cflags gasnet-pellucid-par) \
                      \"$3/libgasnet-pellucid-par.a\" -lpthread -lm";

fn build(name: &str) -> PathBuf {
    build_with(name, name, SHARED)
}

/// Compiles `programs/gasnet/NAME.c` to a program `to`, with these options.
fn build_with(name: &str, to: &str, options: &str) -> PathBuf {
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let program = tree::scratch("gasnet-profile").join(to);
    if !built.insert(to.to_string()) {
        return program;
    }
    let source = tree::package().join("programs/gasnet").join(format!("{name}.c"));
    let line = format!("cc -std=c11 -O1 -Wall -Wextra -Werror -o \"$1\" \"$2\" {options}");
    let job = Job::new("sh").arg("-c").arg(line).arg("sh").arg(&program).arg(source).arg(tree::library(""));
    job.run().expect_code(0);
    program
}

/// A run of the program whose traffic is known, with what it keeps in this directory.
fn traffic(pes: usize, option: &str, directory: &str) -> PathBuf {
    run_of(build("traffic"), pes, option, directory)
}

fn run_of(program: PathBuf, pes: usize, option: &str, directory: &str) -> PathBuf {
    let directory = tree::scratch("gasnet-profile").join(directory);
    let _ = std::fs::remove_dir_all(&directory);
    Job::oshrun(pes).arg(format!("{option}={}", directory.display())).arg(program).run().expect_code(0);
    directory
}

#[test]
fn calls_and_handlers_are_counted() {
    let (pes, report) = (3, Report::read(&traffic(3, "--profile-dir", "counted"), true));
    let others = pes - 1;
    let each = [
        ("gex_AM_RequestShort", 10, 0),
        ("gex_AM_ReplyShort", 10, 0),
        ("gex_AM_handler_200", 10, 0),
        ("gex_AM_handler_201", 10, 0),
        ("gex_AM_RequestMedium", 5, 500),
        ("gex_AM_handler_202", 5, 500),
        ("gex_AM_RequestLong", 1, 1000),
        ("gex_AM_handler_203", 1, 1000),
        ("gex_RMA_PutBlocking", 7, 7 * 64),
        ("gex_RMA_GetNB", 3, 3 * 64),
        ("gex_AD_OpNB_U64", 4, 4 * 8),
    ];
    for (routine, calls, bytes) in each {
        for pe in 0..pes as usize {
            assert_eq!(report.routine_of(pe, routine), (calls * others, bytes * others), "{routine} of PE {pe}");
        }
    }
    for routine in ["gex_Client_Init", "gex_Segment_Attach"] {
        assert_eq!(report.routine(routine).0, pes, "{routine}");
    }
    // What the client's own initialization calls is no call of the program.
    let names = report.names();
    assert!(!names.iter().any(|name| name.starts_with("shmem_init")), "{names:?}");
    assert!(report.routine("GASNET_BLOCKUNTIL").0 <= pes);
    let handler = report.field("gex_AM_handler_200", "time_ns").expect("the handler's time");
    assert!(handler["total"].as_u64().is_some_and(|ns| ns > 0), "{handler}");
    let class = report.field("gex_AM_handler_200", "class").and_then(Value::as_str);
    assert_eq!(class, Some("handler"));
}

#[test]
fn the_matrix_has_the_messages() {
    let directory = traffic(3, "--profile-dir", "matrix");
    let job = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "matrix", "--json"]);
    let json: Value = serde_json::from_str(&job.run().expect_code(0).stdout).expect("JSON");
    // Short requests and replies, medium and long requests, puts, gets, fetch-adds, from each PE to each other one.
    let (calls, bytes) = (10 + 10 + 5 + 1 + 7 + 3 + 4, 500 + 1000 + 7 * 64 + 3 * 64 + 4 * 8);
    for from in 0..3 {
        for to in 0..3 {
            let of = |name: &str| json["matrix"][name][from][to].as_u64();
            let expected = if from == to { (Some(0), Some(0)) } else { (Some(calls), Some(bytes)) };
            assert_eq!((of("calls"), of("bytes")), expected, "{from} to {to} in {}", json["matrix"]);
        }
    }
}

#[test]
fn call_sites_are_the_clients() {
    sites_are_of("traffic", traffic(2, "--profile-dir", "sites"));
}

#[test]
fn call_sites_are_the_clients_in_static_programs() {
    for (name, options) in [("contains", STATIC.to_string()), ("static", format!("-static {STATIC}"))] {
        let program = build_with("traffic", name, &options);
        sites_are_of(name, run_of(program, 2, "--profile-dir", &format!("sites-{name}")));
    }
}

fn sites_are_of(program: &str, directory: PathBuf) {
    let job = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).args(["--view", "callsites", "--json"]);
    let json: Value = serde_json::from_str(&job.run().expect_code(0).stdout).expect("JSON");
    let rows = json["callsites"].as_array().expect("rows");
    for routine in
        ["gex_AM_RequestShort", "gex_AM_ReplyShort", "gex_RMA_PutBlocking", "gex_RMA_GetNB", "gex_AD_OpNB_U64"]
    {
        let mine: Vec<_> = rows.iter().filter(|row| row["routine"] == routine).collect();
        let is_known = |row: &&Value| row["file"].as_str().is_some_and(|file| file.ends_with(program));
        assert!(!mine.is_empty() && mine.iter().all(is_known), "{routine}: {mine:?}");
    }
}

/// A run of two PEs of the program of calls within calls, and what it says.
fn within(which: &str) -> Report {
    let program = build_with("within", "within", &format!("{SHARED} -lpthread"));
    let directory = tree::scratch("gasnet-profile").join(format!("within-{which}"));
    let _ = std::fs::remove_dir_all(&directory);
    let option = format!("--profile-dir={}", directory.display());
    Job::oshrun(2).arg(option).arg(program).arg(which).run().expect_code(0);
    Report::read(&directory, true)
}

/// Time of each PE in the library, as a part of which each moment counts once, is within that of the job.
fn assert_time_counts_once(report: &Report) {
    let json = report.json();
    let rows = json["balance"].as_array().expect("rows");
    let of = |what: &str| rows.iter().find(|row| row["what"] == what).and_then(|row| row["max_ns"].as_u64());
    let wall = json["wall_ns"].as_u64();
    assert!(of("in the library") <= wall && of("run time") <= wall, "{wall:?}\n{}", json["balance"]);
}

#[test]
fn what_a_handler_waits_for_is_time_of_who_runs_it() {
    let report = within("handler");
    assert_time_counts_once(&report);
    assert_eq!(report.routine_of(1, "gex_HSL_Lock_in_handler").0, 1);
    assert_eq!(report.routine_of(1, "gex_AM_ReplyShort").0, 1);
    for routine in ["gex_HSL_Lock_in_handler", "gex_AM_ReplyShort"] {
        assert_eq!(report.field(routine, "class").and_then(Value::as_str), Some("handler"), "{routine}");
    }
}

#[test]
fn a_wait_for_room_is_no_time_of_its_request() {
    let report = within("full");
    assert!(report.routine_of(0, "gex_AM_Request_waits_for_room").0 > 0, "{:?}", report.names());
    assert_time_counts_once(&report);
}

#[test]
fn messages_that_were_not_sent_have_no_bytes() {
    let report = within("immediate");
    assert_eq!(report.routine_of(0, "gex_AM_RequestMedium"), (2000, 2_000_000));
    assert_eq!(report.routine_of(1, "gex_AM_handler_202"), (2000, 2_000_000));
    let (tries, bytes) = report.routine_of(0, "gex_AM_Request_tries");
    assert!(tries > 2000 && bytes == 0, "{tries} tries of {bytes} bytes");
}

#[test]
fn bytes_of_messages_count_once_in_all() {
    let directory = traffic(2, "--profile-dir", "once");
    let text = Job::new(tree::tool("oshprof")).arg("report").arg(&directory).run().expect_code(0).stdout;
    let all = text.lines().find(|line| line.trim_start().starts_with("all ")).expect("a line of sums");
    // Of either PE: 5 medium messages, a long one, puts, gets, fetch-adds.
    let bytes = 2 * (500 + 1000 + 7 * 64 + 3 * 64 + 4 * 8);
    assert!(all.contains(&format!("{:.2} KiB", f64::from(bytes) / 1024.0)), "{bytes} bytes in {all:?}");
}

#[test]
fn traces_have_messages_and_handlers() {
    let directory = traffic(2, "--trace", "traced");
    let job = Job::new(tree::tool("oshprof")).arg("trace").arg(&directory).args(["--to", "csv"]);
    let text = job.run().expect_code(0).stdout;
    for routine in ["gex_AM_RequestShort", "gex_AM_handler_200", "gex_AM_handler_203", "gex_RMA_PutBlocking"] {
        assert!(text.contains(routine), "{routine} is not in the trace");
    }
}

/// What `oshprof hang` says of a job once it says this.
fn hang(job: &Running, part: &str) -> String {
    hang_with(job, &[part])
}

/// What it says of a job once it says all of these.
fn hang_with(job: &Running, parts: &[&str]) -> String {
    let started = Instant::now();
    loop {
        let text = Job::new(tree::tool("oshprof")).arg("hang").arg(job.pid().to_string()).run().stdout;
        let missing = parts.iter().find(|part| !text.contains(**part));
        let Some(part) = missing else { return text };
        if started.elapsed() > LONG {
            // SAFETY: no pointers.
            unsafe { libc::kill(job.pid() as i32, libc::SIGKILL) };
            panic!("{part:?} is not in\n{text}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn hang_shows_who_has_left_main() {
    let program = build_with("endings", "endings", &format!("{SHARED} -lpthread"));
    // The job ends by itself then.
    let seconds = "4";
    let job = Job::oshrun(3).env("GASNET_EXITTIMEOUT", seconds).arg(program).arg("left-block").limit(60).start();
    hang(&job, "PE 2 waits in shmem_finalize");
    job.wait().expect_code(0).expect_text(&["PE 2: its main has returned"]);
}

/// A job of `stuck` by which PE 0 waits, as `how` says. PEs 1 and 2 are in a barrier. Each has a file of its own by
/// which PE 3 says that it sleeps.
fn stuck(how: &str, settings: [(&str, &str); 2]) -> Running {
    let job = settings.into_iter().fold(Job::oshrun(4), |job, (name, value)| job.env(name, value));
    static JOBS: AtomicU32 = AtomicU32::new(0);
    let number = JOBS.fetch_add(1, Relaxed);
    let asleep = tree::scratch("gasnet-stuck").join(format!("asleep-{}-{number}", std::process::id()));
    job.arg(build("stuck")).arg(how).arg(asleep).limit(60).start()
}

fn end(job: Running) {
    // SAFETY: no pointers.
    unsafe { libc::kill(job.pid() as i32, libc::SIGTERM) };
    job.wait();
}

#[test]
fn hang_names_the_message_that_does_not_come() {
    let not_run = "for an active message of any PE; PE 3 has not run handler 201 yet\n";
    for (how, profile, part) in [
        ("block", "1", &format!("PE 0 waits in GASNET_BLOCKUNTIL {not_run}")[..]),
        ("block", "0", &format!("PE 0 waits in GASNET_BLOCKUNTIL {not_run}")),
        ("poll", "1", &format!("PE 0 waits in gasnet_AMPoll {not_run}")),
        ("poll", "0", &format!("PE 0 waits in gasnet_AMPoll {not_run}")),
        (
            "again",
            "1",
            "PE 0 waits in GASNET_BLOCKUNTIL for the reply of handler 203 of PE 3, which has not run it yet\n",
        ),
        // Its reply, if it has one, would have come.
        ("ran", "1", "PE 0 waits in GASNET_BLOCKUNTIL for an active message of any PE\n"),
        ("full", "1", "PE 0 waits in gex_AM_Request_waits_for_room for PE 3 to run handler 201\n"),
    ] {
        let job = stuck(how, [("SHMEM_PROFILE", profile), ("SHMEM_TRANSPORT", "auto")]);
        // PE 2 has heard of PE 1, and not of PE 0. One that sends its part to a full queue waits there.
        let others = "PEs 1, 2 wait in gex_Event_Wait for PE 0 in a collective\n";
        let parts = [part, others];
        hang_with(&job, if how == "full" { &parts[..1] } else { &parts });
        end(job);
    }
}

#[test]
fn hang_says_no_more_of_messages_over_the_network_than_is_known() {
    if system::library("libfabric.so.1").is_none() {
        eprintln!("skipped: no libfabric");
        return;
    }
    for (how, part) in [
        ("block", "for an active message of any PE; PE 3 may not have run handler 201 yet\n"),
        ("ran", "for an active message of any PE; PE 3 may not have run handler 201 yet\n"),
        ("again", "for the reply of handler 203 of PE 3\n"),
    ] {
        let job = stuck(how, [("SHMEM_PROFILE", "1"), ("SHMEM_TRANSPORT", "ofi")]);
        hang(&job, &format!("PE 0 waits in GASNET_BLOCKUNTIL {part}"));
        end(job);
    }
}

/// A client that polls makes a call after the other: that it waits is to be seen at any time.
#[test]
fn hang_sees_a_client_that_polls_whenever_it_looks() {
    let wait = "PE 0 waits in gasnet_AMPoll for an active message of any PE";
    let job = stuck("poll", [("SHMEM_PROFILE", "1"), ("SHMEM_TRANSPORT", "auto")]);
    hang(&job, wait);
    for look in 0..20 {
        let text = Job::new(tree::tool("oshprof")).arg("hang").arg(job.pid().to_string()).run().stdout;
        assert!(text.contains(wait), "look {look}: {text}");
    }
    end(job);
}

#[test]
fn hang_names_the_call_and_whom_it_waits_for() {
    for (how, routine) in [
        ("events", "gex_Event_Wait"),
        ("gather", "gasnet_coll"),
        ("named", "gasnet_barrier_wait"),
        ("attach", "gex_Segment_Attach"),
        ("publish", "gex_EP_PublishBoundSegment"),
        ("split", "gex_TM_Split"),
        ("create", "gex_TM_Create"),
    ] {
        let (wait, place) =
            (format!(" in {routine} for PE 1 in a collective\n"), format!(" in {routine} (a collective, PE 1)"));
        hang_in(how, &[&wait, &place]);
    }
    // Whatever was asked of somebody else before.
    for (how, routine, place) in [("put", "gex_RMA_PutBlocking", "to"), ("get", "gex_RMA_GetBlocking", "from")] {
        let (wait, place) =
            (format!("waits in {routine} for what is under way to PE 1\n"), format!("in {routine} ({place} PE 1, "));
        hang_in(how, &[&wait, &place]);
    }
}

/// A job of `meets`, with its profile and without, of which `oshprof hang` says all of these.
fn hang_in(how: &str, parts: &[&str]) {
    for profile in ["1", "0"] {
        let job = Job::oshrun(3).env("SHMEM_PROFILE", profile).arg(build("meets")).arg(how).limit(60).start();
        hang_with(&job, parts);
        end(job);
    }
}

#[test]
fn the_wait_for_a_teams_members_is_no_computing() {
    let report = Report::read(&run_of(build("makes_team"), 2, "--profile-dir", "makes-team"), true);
    assert_eq!(report.routine("gex_TM_Create").0, 2);
    let time = report.field("gex_TM_Create", "time_ns").expect("its time");
    let total = time["total"].as_u64().expect("nanoseconds");
    assert!(total > 100_000_000, "{time}");
}

#[test]
fn a_memory_checker_finds_nothing_in_a_client() {
    if system::find(&["valgrind"]).is_none() {
        return println!("no valgrind here: not tested");
    }
    let valgrind = ["--heap", "8m", "valgrind", "-q", "--error-exitcode=99"];
    let outcome = Job::oshrun(2).args(valgrind).arg(build("makes_team")).limit(120).run().expect_code(0);
    assert!(!outcome.stderr.contains("points to unaddressable"), "{}", outcome.describe());
}
