//! GASNet-EX: programs of `tests/programs/gasnet` in all thread modes, over shared memory, over libfabric, and over
//! both between two hosts; under other launchers; how jobs end and what breaks a rule. `gasnet_installed` has headers,
//! names and what is installed.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use harness::gasnet::{Program, all_is_well, cxx};
use harness::hosts::Hosts;
use harness::launchers::Family;
use harness::run::Job;
use harness::slurm::Cluster;
use harness::{launchers, system};
use libtest_mimic::{Arguments, Failed, Trial};

/// A job of these may take this long where the machine is busy.
const LIMIT: u64 = 120;

/// Programs that run in every mode.
const PROGRAMS: [&str; 8] = ["rma", "team", "atomic", "vis", "legacy", "collectives", "attach", "waits"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let has_libfabric = system::library("libfabric.so.1").is_some();
    let hosts = if arguments.list || !has_libfabric { None } else { Hosts::new(2).map(Arc::new) };
    let mut trials = statics();
    for program in programs() {
        for pes in program.pes() {
            let built = program.clone();
            let job = move || passes(Job::oshrun(pes), &built, pes);
            trials.push(Trial::test(format!("shm/{} of {pes}", program.name), job));
        }
        let built = program.clone();
        let job = move || passes(Job::oshrun(3).env("SHMEM_TRANSPORT", "ofi"), &built, 3);
        trials.push(Trial::test(format!("ofi/{} of 3", program.name), job).with_ignored_flag(!has_libfabric));
        if let Some(hosts) = hosts.clone() {
            let built = program.clone();
            let job = move || passes(hosts.oshrun_with(&["--hosts", &hosts.list(2), "-n", "4"]), &built, 4);
            trials.push(Trial::test(format!("two hosts/{} of 4", program.name), job));
        }
    }
    let across = hosts.clone();
    let places = move || places(across.as_deref(), has_libfabric);
    trials.push(Trial::test("neighbourhoods and hosts", places));
    let across = hosts.clone();
    let remote_calls = move || remote_calls(across.as_deref(), has_libfabric);
    trials.push(Trial::test("remote procedure calls in C++", remote_calls));
    trials.push(Trial::test("collectives until shmem_finalize", move || until_finalize(has_libfabric)));
    trials.extend(endings(has_libfabric, hosts.as_ref()));
    // A client that catches SIGQUIT gets it for others that end the job.
    for which in ["interrupt", "hangup"] {
        let end = move || ended(Job::oshrun(3), "PAR", (which, 45, ""), true);
        trials.push(Trial::test(format!("ends/{which}"), end));
    }
    let in_thread = ("thread-lock", 1, "gex_HSL_Lock: called by another thread than gex_Client_Init");
    trials.push(Trial::test("ends/thread-lock SEQ", move || ended(Job::oshrun(3), "SEQ", in_thread, true)));
    trials.extend(damages());
    let cluster = if arguments.list {
        Err("tests are listed only".into())
    } else {
        Cluster::start().unwrap_or_else(|error| {
            let reason = error.clone();
            trials.push(Trial::test("Slurm starts", move || Err(Failed::from(error))));
            Err(reason)
        })
    };
    trials.extend(other_launchers(&cluster, hosts.as_ref()));
    let code = libtest_mimic::run(&arguments, trials).exit_code();
    drop(cluster);
    code
}

fn programs() -> Vec<Program> {
    let mut all = Vec::new();
    for mode in ["PAR", "PARSYNC", "SEQ"] {
        all.extend(PROGRAMS.iter().map(|source| Program::new(source, mode)));
    }
    all.push(Program::new("threads", "PAR"));
    let arities = if system::is_long() { (1..=16).collect() } else { vec![1, 4, 16] };
    for arity in arities {
        let name = format!("am {arity} PAR");
        all.push(Program { name, options: vec![format!("-DARGS={arity}")], ..Program::new("am", "PAR") });
    }
    all.extend(few().into_iter().filter(|program| program.name == "am 7 SEQ"));
    all
}

fn passes(job: Job, program: &Program, pes: usize) -> Result<(), Failed> {
    all_is_well(&job.arg(program.build()?).limit(LIMIT).run(), pes)
}

/// How the program that is told to end or to break a rule does so: its argument, the exit code, words of the message.
type Ending = (&'static str, i32, &'static str);
const ENDINGS: [Ending; 75] = [
    ("exit", 42, ""),
    ("exit-handler", 43, ""),
    ("exit-signal", 44, ""),
    ("exit-in-atexit", 46, ""),
    ("exit-in-exit", 47, ""),
    ("killed", 137, "PE 2"),
    ("poll", 1, "gasnet_AMPoll: called in handler 200 (asks) of a request of rank 2"),
    ("request", 1, "gex_AM_RequestShort: called in handler 200 (asks)"),
    ("put", 1, "gex_RMA_PutBlockingVal: called in handler 200 (asks)"),
    ("wait", 1, "gex_Event_Wait: called in handler 200 (asks)"),
    ("barrier", 1, "gex_Coll_BarrierNB: called in handler 200 (asks)"),
    ("keep-lock", 1, "unlocked before a reply"),
    ("reply-with-lock", 1, "holds 1 handler-safe lock(s), in handler 200 (asks)"),
    ("reply-twice", 1, "handler 200 (asks) of an active message replies a second time"),
    ("reply-to-reply", 1, "handler 201 (answers) of a reply of rank 0 is a reply handler"),
    ("locked-poll", 1, "gasnet_AMPoll: called while this thread holds 1 handler-safe lock(s)"),
    ("recursive", 1, "holds the lock at"),
    ("order", 1, "unlocked in reverse order"),
    ("prepared", 1, "gasnet_AMPoll: called between gex_AM_Prepare and gex_AM_Commit"),
    ("rank", 1, "rank = 3 is no rank of the team"),
    ("arguments", 1, "registered with flags 0x9 and 0 arguments"),
    ("unknown", 1, "for handler 222, and none is registered here"),
    ("twice-attached", 1, "a process attaches one segment"),
    ("event", 1, "was synchronized already"),
    ("quit", 45, ""),
    ("max-reply", 1, "gex_Token_MaxReplyMedium: called in handler 201 (answers) of a reply of rank 0"),
    ("translate", 1, "gex_TM_TranslateRankToJobrank: called in handler 200 (asks) of a request of rank 2"),
    ("bound", 1, "gex_EP_QueryBoundSegmentNB: called in handler 200 (asks)"),
    ("group-reply", 1, "gex_AM_ReplyMedium: lc_opt is GEX_EVENT_GROUP"),
    ("kept-prepared", 1, "handler 200 (asks) of a request of rank 2 returned between gex_AM_Prepare and gex_AM_Commit"),
    ("defer", 1, "gex_AM_RequestMedium: lc_opt is GEX_EVENT_DEFER"),
    ("least", 1, "GEX_FLAG_AM_PREPARE_LEAST_ is for queries of limits"),
    ("too-long", 1, "are possible in a medium message; a long one may have more"),
    ("commit-twice", 1, "gex_AM_CommitRequestMedium: the descriptor is not what the last Prepare of this thread gave"),
    ("commit-size", 1, "nbytes = 9: 8 were prepared"),
    ("commit-locked", 1, "gex_AM_CommitRequestMedium: called while this thread holds 1 handler-safe lock(s)"),
    ("prepare-null", 1, "gex_AM_PrepareRequestMedium: lc_opt is NULL: messages take GEX_EVENT_NOW, GEX_EVENT_GROUP"),
    ("prepare-defer", 1, "gex_AM_PrepareRequestLong: lc_opt is GEX_EVENT_DEFER: messages take GEX_EVENT_NOW"),
    ("prepare-group", 1, "gex_AM_PrepareReplyMedium: lc_opt is GEX_EVENT_GROUP: messages take GEX_EVENT_NOW or"),
    ("prepare-arguments", 1, "gex_AM_PrepareRequestMedium: numargs = 17: at most 16 are possible"),
    ("put-null", 1, "gex_RMA_PutNB: lc_opt is NULL: expected GEX_EVENT_NOW, _DEFER or a place for an event"),
    ("put-null-nbi", 1, "gex_RMA_PutNBI: lc_opt is NULL: expected GEX_EVENT_NOW, _DEFER or _GROUP"),
    ("token", 1, "gex_Token_Info: the token is not that of the handler that runs here: called outside of a handler"),
    ("leaf", 1, "is a leaf of an event that was synchronized already"),
    ("no-op", 1, "gex_Event_Test: GEX_EVENT_NO_OP is no event"),
    ("region-in-region", 1, "gex_NBI_BeginAccessRegion: called in an access region"),
    ("wait-in-region", 1, "gex_NBI_Wait: called in an access region"),
    ("never-self", 1, "rank = 2 is this process, which GEX_FLAG_PEER_NEVER_SELF"),
    ("never-near", 1, "rank = 0 is of this neighbourhood"),
    ("destroy-segment", 1, "gex_Segment_Destroy: the segment that gex_Segment_Attach made stays"),
    ("gone-segment", 1, "was destroyed"),
    ("bind-nothing", 1, "gex_EP_BindSegment: segment is GEX_SEGMENT_INVALID"),
    ("destroy-world", 1, "gex_TM_Destroy: the primordial team stays"),
    ("pair", 1, "gex_Coll_BarrierNB: tm is a pair of endpoints"),
    ("gone-team", 1, "gex_TM_QueryRank: tm = 0x"),
    ("reduction", 1, "gasnet_AMPoll: called in a function that a reduction calls"),
    ("no-elements", 1, "gex_Coll_ReduceToAllNB: dt_sz = 4 and dt_cnt = 0"),
    ("overlap", 1, "gex_RMA_PutBlocking: source and destination, of 64 bytes, begin 8 bytes apart"),
    ("overlap-get", 1, "gex_RMA_GetBlocking: source and destination, of 64 bytes, begin 63 bytes apart"),
    ("overlap-all", 1, "gex_Coll_ReduceToAllNB: src and dst, of 8 bytes, begin 4 bytes apart"),
    ("my-rank", 1, "gex_AD_OpNB_U64: the target is of rank 0, and GEX_FLAG_AD_MY_RANK says"),
    ("opcode", 1, "gex_AD_OpNB_U64: opcode = 0x8 on type 0x8: the domain, of 3 members, was made for"),
    ("unaligned", 1, "is not aligned to 8 bytes"),
    ("locked-destroy", 1, "gex_HSL_Destroy: the lock at 0x"),
    ("no-interrupts", 1, "gasnet_AMPoll: called in a No-Interrupt Section"),
    ("hold-twice", 1, "gasnet_hold_interrupts: called in a No-Interrupt Section: they do not nest"),
    ("old-calls", 1, "GASNet-1 calls need gasnet_init, or GEX_FLAG_USES_GASNET1 at gex_Client_Init"),
    ("unattached", 1, "called before gasnet_attach"),
    ("much-broadcast", 1, "gex_Coll_BroadcastNB: nbytes = 18446744073709551615: there is no memory for"),
    ("much-reduce", 1, "gex_Coll_ReduceToAllNB: dt_sz = 8 and dt_cnt = 1125899906842624: there is no memory for"),
    ("much-team", 1, "gex_TM_Create: numargs = 1152921504606846976: the job has"),
    ("much-events", 1, "gex_Event_WaitAll: numevents = 18446744073709551615: no array has so many"),
    ("left-barrier", 0, "its main has returned, or it has called exit"),
    ("left-split", 0, "its main has returned, or it has called exit"),
    ("left-block", 0, "its main has returned, or it has called exit"),
];

/// All leave with 0, from where nobody may wait, or while other threads send: words of the message over libfabric, over
/// which handlers and holders of locks cannot ask for the others.
const LEAVES: [(&str, &str); 4] = [
    ("leaves-in-handler", "it has called exit in handler 200 (asks) of a request of rank 2, where it cannot ask"),
    ("leaves-locked", "it has called exit while this thread holds 1 handler-safe lock(s), where it cannot ask"),
    ("traffic-exit", ""),
    ("traffic-return", ""),
];

/// With handlers of the client's, a thread moves OpenSHMEM's collectives on, too.
fn beside() -> Result<(), Failed> {
    for pes in [2, 4] {
        passes(Job::oshrun(pes).env("SHMEM_PROGRESS", "thread"), &Program::new("beside", "PAR"), pes)?;
    }
    Ok(())
}

/// A PE in its last `shmem_finalize` does its part of a barrier that it has begun; threads of the library's beside that
/// change nothing.
fn until_finalize(has_libfabric: bool) -> Result<(), Failed> {
    let waits = Program::new("waits", "PAR").build()?;
    for pes in [3, 4] {
        for progress in ["calls", "thread"] {
            for transport in ["auto", "ofi"].into_iter().take(1 + usize::from(has_libfabric)) {
                let job = Job::oshrun(pes).env("SHMEM_PROGRESS", progress).env("SHMEM_TRANSPORT", transport);
                all_is_well(&job.arg(&waits).arg("finalize").limit(LIMIT).run(), pes)?;
            }
        }
    }
    Ok(())
}

/// Whether a job ended as it should: its words, its time, and, where its launcher hands the code on, that.
fn ended(job: Job, mode: &'static str, (which, code, words): Ending, hands_on: bool) -> Result<(), Failed> {
    let outcome = job.arg(Program::new("endings", mode).build()?).arg(which).limit(30).run();
    let right = if hands_on { outcome.code() == code } else { outcome.code() > 0 };
    let told = outcome.stderr.contains(words) || !hands_on && outcome.stdout.contains(words);
    // Who called is a function of the program, not one of the headers that it is compiled with.
    let named = !outcome.stderr.contains("called from gex_") && !outcome.stderr.contains("called from gasnet_");
    if right && told && named && outcome.elapsed < Duration::from_secs(20) {
        Ok(())
    } else {
        Err(Failed::from(outcome.describe()))
    }
}

fn endings(has_libfabric: bool, hosts: Option<&Arc<Hosts>>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for ending in ENDINGS {
        let which = ending.0;
        trials.push(Trial::test(format!("ends/{which}"), move || ended(Job::oshrun(3), "PAR", ending, true)));
    }
    for (which, words) in LEAVES {
        let end = move || ended(Job::oshrun(3), "PAR", (which, 0, ""), true);
        trials.push(Trial::test(format!("ends/{which}"), end));
        let end = move || ended(Job::oshrun(3).env("SHMEM_TRANSPORT", "ofi"), "PAR", (which, 0, words), true);
        trials.push(Trial::test(format!("ends/{which} over libfabric"), end).with_ignored_flag(!has_libfabric));
    }
    for ending in ENDINGS.into_iter().filter(|(_, code, _)| *code > 1) {
        let which = ending.0;
        for mode in ["SEQ", "PARSYNC"] {
            let end = move || ended(Job::oshrun(3), mode, ending, true);
            trials.push(Trial::test(format!("ends/{which} {mode}"), end));
        }
        let untold = (ending.0, ending.1, "");
        trials.push(Trial::test(format!("ends/{which} of 8"), move || ended(Job::oshrun(8), "PAR", untold, true)));
        // One PE waits for nobody in its exit.
        if !["quit", "killed", "exit-in-exit"].contains(&which) {
            trials.push(Trial::test(format!("ends/{which} of 1"), move || ended(Job::oshrun(1), "PAR", ending, true)));
        }
        let end = move || ended(Job::oshrun(3).env("SHMEM_TRANSPORT", "ofi"), "PAR", ending, true);
        let over = Trial::test(format!("ends/{which} over libfabric"), end);
        trials.push(over.with_ignored_flag(!has_libfabric || which == "killed"));
        if let Some(hosts) = hosts.cloned() {
            let end = move || {
                let job = hosts.oshrun_with(&["--hosts", &hosts.list(2), "-n", "4"]);
                ended(job, "PAR", untold, true)
            };
            trials.push(Trial::test(format!("ends/{which} on two hosts"), end));
        }
    }
    trials
}

/// Signals that say that a process did what it must not with memory or code: SIGILL, SIGBUS, SIGSEGV.
const CRASHES: [i32; 3] = [4, 7, 11];

/// Something writes to the queues of messages while they are in use: the job ends, in whatever way but one of these.
fn damages() -> Vec<Trial> {
    let ends = |seed: u32| {
        let mode = ["PAR", "PARSYNC", "SEQ"][seed as usize % 3];
        let program = Program::new("damage", mode).build()?;
        let outcome = Job::oshrun(2).arg(program).arg(seed.to_string()).limit(60).run();
        let crashed = CRASHES.iter().any(|signal| outcome.code() == 128 + signal);
        // SIGALRM's handler ends what has lost messages.
        if crashed || outcome.code() > 1 && outcome.code() != 7 { Err(outcome.describe().into()) } else { Ok(()) }
    };
    let seeds = if system::is_long() { 200 } else { 12 };
    (1..=seeds).map(|seed| Trial::test(format!("damage/{seed}"), move || ends(seed))).collect()
}

/// Programs under launchers that are installed: on this host, on two nodes of Slurm's, and across two hosts.
fn other_launchers(cluster: &Result<Cluster, String>, hosts: Option<&Arc<Hosts>>) -> Vec<Trial> {
    let mut trials = Vec::new();
    let add = |trials: &mut Vec<Trial>, title: String, job: Job, program: &Program, pes: usize| {
        let (title, program) = (format!("{title}/{} of {pes}", program.name), program.clone());
        trials.push(Trial::test(title, move || passes(job, &program, pes)));
    };
    for (name, launcher) in launchers::all(cluster) {
        let launcher = match launcher {
            Ok(launcher) => launcher,
            Err(reason) => {
                println!("not tested: {name}: {reason}");
                continue;
            }
        };
        for program in few() {
            add(&mut trials, name.into(), launcher.job(3), &program, 3);
        }
        for ending in ENDINGS.into_iter().filter(|(_, code, _)| *code > 1) {
            let launcher = launcher.clone();
            let end = move || ended(launcher.job(3), "PAR", (ending.0, ending.1, ""), false);
            trials.push(Trial::test(format!("{name}/ends/{}", ending.0), end));
        }
        if launcher.family == Family::Slurm {
            match launcher.on_two_hosts(2) {
                Ok(two) => {
                    for program in few() {
                        add(&mut trials, format!("{name} on two nodes"), two.job(4), &program, 4);
                    }
                }
                Err(reason) => println!("not tested: {name}: two nodes: {reason}"),
            }
        } else if let Some(Ok(across)) = hosts.map(|hosts| launcher.across(hosts, 2)) {
            for program in few().into_iter().take(2) {
                add(&mut trials, format!("{name} across two hosts"), across.job(4), &program, 4);
            }
        }
    }
    trials
}

/// Programs that use most of what there is.
fn few() -> Vec<Program> {
    let am =
        |mode| Program { name: format!("am 7 {mode}"), options: vec!["-DARGS=7".into()], ..Program::new("am", mode) };
    let mut few = vec![am("PAR"), Program::new("vis", "SEQ"), am("SEQ")];
    few.extend(
        [("team", "PAR"), ("legacy", "SEQ"), ("collectives", "PAR")].map(|(name, mode)| Program::new(name, mode)),
    );
    few.push(Program::new("threads", "PAR"));
    few
}

fn statics() -> Vec<Trial> {
    vec![
        Trial::test("without a launcher", without_launcher),
        Trial::test("with nonblocking collectives of OpenSHMEM", beside),
        Trial::test("variables that are no numbers", bad_variables),
        Trial::test("sizes of segments", segment_sizes),
        Trial::test("GASNET_BACKTRACE", backtrace),
        Trial::test("a client in C++", client_in_cxx),
    ]
}

fn without_launcher() -> Result<(), Failed> {
    let program = Program::new("team", "PAR");
    passes(Job::new("env").arg("GASNET_PSHM_NODES=3"), &program, 3)?;
    passes(Job::new("env"), &program, 1)?;
    let bad = Job::new("env").arg("GASNET_PSHM_NODES=many").arg(program.build()?).run();
    let told = bad.code() != 0 && bad.stderr.contains("GASNET_PSHM_NODES=many");
    if told { Ok(()) } else { Err(bad.describe().into()) }
}

/// Names and habits of clients that are in use.
fn client_in_cxx() -> Result<(), Failed> {
    for mode in ["seq", "par"] {
        all_is_well(&Job::oshrun(3).arg(cxx("client", mode)?).limit(LIMIT).run(), 3)?;
    }
    Ok(())
}

/// What PEs share: memory, or a host whose PEs reach each other over the network alone.
fn places(hosts: Option<&Hosts>, has_libfabric: bool) -> Result<(), Failed> {
    for mode in ["PAR", "PARSYNC", "SEQ"] {
        let program = Program::new("places", mode).build()?;
        let run = |job: Job, pes: usize, numbers: [&str; 2]| {
            all_is_well(&job.arg(&program).args(numbers).limit(LIMIT).run(), pes)
        };
        run(Job::oshrun(4), 4, ["1", "1"])?;
        if has_libfabric {
            run(Job::oshrun(3).env("SHMEM_TRANSPORT", "ofi"), 3, ["3", "1"])?;
        }
        if let Some(hosts) = hosts {
            let job = || hosts.oshrun_with(&["--hosts", &hosts.list(2), "-n", "4"]);
            run(job(), 4, ["2", "2"])?;
            run(job().env("SHMEM_TRANSPORT", "ofi"), 4, ["4", "2"])?;
        }
    }
    Ok(())
}

/// A runtime for remote procedure calls on top.
fn remote_calls(hosts: Option<&Hosts>, has_libfabric: bool) -> Result<(), Failed> {
    for mode in ["seq", "par"] {
        let program = cxx("rpc", mode)?;
        for pes in [1, 2, 5] {
            all_is_well(&Job::oshrun(pes).arg(&program).limit(LIMIT).run(), pes)?;
        }
        if has_libfabric {
            all_is_well(&Job::oshrun(3).env("SHMEM_TRANSPORT", "ofi").arg(&program).limit(LIMIT).run(), 3)?;
        }
        if let Some(hosts) = hosts {
            let job = hosts.oshrun_with(&["--hosts", &hosts.list(2), "-n", "4"]);
            all_is_well(&job.arg(&program).limit(LIMIT).run(), 4)?;
        }
    }
    Ok(())
}

/// Values of variables that are none end the job at its begin.
fn bad_variables() -> Result<(), Failed> {
    for (name, value, words) in [
        ("GASNET_EXITTIMEOUT", "abc", "GASNET_EXITTIMEOUT=abc: expected seconds"),
        ("GASNET_EXITTIMEOUT", "-1", "GASNET_EXITTIMEOUT=-1: expected seconds"),
        ("GASNET_EXITTIMEOUT", "nan", "GASNET_EXITTIMEOUT=nan: expected seconds"),
        ("GASNET_MAX_SEGSIZE", "999999t", "a smaller GASNET_MAX_SEGSIZE"),
    ] {
        let outcome = Job::oshrun(1).env(name, value).arg(Program::new("team", "PAR").build()?).run();
        if outcome.code() != 1 || !outcome.stderr.contains(words) {
            return Err(outcome.describe().into());
        }
    }
    let differ = "GASNET_MAX_SEGSIZE=$((PELLUCID_PE + 1))m exec \"$0\"";
    let job = Job::oshrun(2).args(["sh", "-c", differ]).arg(Program::new("team", "PAR").build()?);
    let outcome = job.run();
    if outcome.code() == 1 && outcome.stderr.contains("GASNET_MAX_SEGSIZE gives ") {
        Ok(())
    } else {
        Err(outcome.describe().into())
    }
}

/// A segment is as large as the variable says, or as the default; no larger one is possible, and memory is left for
/// OpenSHMEM.
fn segment_sizes() -> Result<(), Failed> {
    let attach = Program::new("attach", "PAR").build()?;
    for (value, bytes) in [("16k", 16u64 << 10), ("64M", 64 << 20), ("256M", 256 << 20), ("", 1 << 30)] {
        let job = Job::oshrun(2).env("GASNET_MAX_SEGSIZE", value).arg(&attach).arg(bytes.to_string());
        all_is_well(&job.limit(LIMIT).run(), 2)?;
    }
    // A heap of the user's own is not used up.
    let job = Job::oshrun(2).env("SHMEM_SYMMETRIC_SIZE", "1g").env("GASNET_MAX_SEGSIZE", "64M");
    all_is_well(&job.arg(&attach).arg((64u64 << 20).to_string()).limit(LIMIT).run(), 2)
}

/// What a PE that breaks a rule shows of its stack.
fn backtrace() -> Result<(), Failed> {
    let endings = Program::new("endings", "PAR").build()?;
    for (value, is_shown) in [("1", true), ("0", false)] {
        let outcome = Job::oshrun(2).env("GASNET_BACKTRACE", value).arg(&endings).arg("defer").limit(LIMIT).run();
        let shown = ["stack of this thread", "pellucid:   break_a_rule+0x", "pellucid:   main+0x"];
        // By an address, or by its name where its debug information is installed.
        let in_libc = ["libc.so.6 0x", "__libc_start_main"].iter().any(|words| outcome.stderr.contains(words));
        let right = shown.iter().all(|words| outcome.stderr.contains(words) == is_shown) && in_libc == is_shown;
        if outcome.code() != 1 || !right || outcome.stderr.contains("not honoured") {
            return Err(outcome.describe().into());
        }
    }
    Ok(())
}
