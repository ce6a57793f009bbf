//! Tests of the tests: each conformance program must fail with a library that is wrong where it looks.
//!
//! A mutant replaces one routine by a wrong one (`tests/programs/mutants/mutants.c`) and is loaded before the library.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use harness::program::{self, Program};
use harness::run::Job;
use harness::tree;
use libtest_mimic::{Arguments, Trial};

/// Mutant, the program that has to notice, and the number of PEs.
const MUTANTS: &[(&str, &str, usize)] = &[
    ("put_short", "9.06-rma/contiguous", 2),
    ("put_long", "9.06-rma/contiguous", 2),
    ("get_nbi_never", "9.06-rma/contiguous", 2),
    ("p_elsewhere", "9.06-rma/single", 2),
    ("g_own", "9.06-rma/single", 2),
    ("iput_dense", "9.06-rma/strided", 2),
    ("ibget_gap", "9.06-rma/strided-blocks", 2),
    ("fetch_inc_torn", "9.07-amo/concurrent", 2),
    ("cswap_always", "9.07-amo/arithmetic", 2),
    ("fetch_or_new", "9.07-amo/bitwise", 2),
    ("swap_loses_sign", "9.07-amo/floating", 2),
    ("signal_first", "9.08-signal/put-signal", 2),
    ("signal_first", "9.08-signal/handoff", 2),
    ("signal_add_sets", "9.08-signal/signal", 2),
    ("session_swallows", "9.09-session/session", 2),
    ("wait_never", "9.11-p2p/wait-until", 4),
    ("test_unsigned", "9.11-p2p/wait-until", 1),
    ("test_all_empty", "9.11-p2p/arrays", 1),
    ("some_ignores_status", "9.11-p2p/arrays", 1),
    ("barrier_never", "9.10-collective/barrier", 4),
    ("sync_never", "9.10-collective/barrier", 4),
    ("broadcast_skips_root", "9.10-collective/broadcast", 2),
    ("collect_is_fcollect", "9.10-collective/collect", 3),
    ("alltoall_is_collect", "9.10-collective/alltoall", 2),
    ("sum_is_max", "9.10-collective/reduce-arithmetic", 3),
    ("max_unsigned", "9.10-collective/reduce-order", 3),
    ("xor_is_or", "9.10-collective/reduce-bitwise", 3),
    ("exscan_is_inscan", "9.10-collective/scan", 2),
    ("active_broadcast_writes_root", "9.10-collective/active-sets", 2),
    ("broadcast_skips_root", "9.10-collective/large", 2),
    ("broadcast_skips_root", "9.10-collective/back-to-back", 3),
    ("calloc_dirty", "9.03-memory/allocate", 1),
    ("align_never", "9.03-memory/allocate", 1),
    ("realloc_forgets", "9.03-memory/model", 1),
    ("malloc_without_barrier", "9.03-memory/barriers", 3),
    ("free_never", "9.03-memory/exhaustion", 1),
    ("free_never", "9.03-memory/model", 1),
    ("translate_nothing", "9.04-team/strided", 3),
    ("translate_nothing", "9.04-team/predefined", 2),
    ("grid_transposed", "9.04-team/grid", 4),
    ("ctx_team_world", "9.04-team/contexts", 2),
    ("ctx_world_numbers", "9.04-team/contexts", 3),
    ("lock_free_for_all", "9.13-lock/lock", 4),
    ("lock_free_for_all", "9.13-lock/fifo", 3),
    ("always_initialized", "9.01-setup/nesting", 1),
    ("exit_status", "9.01-setup/global-exit", 2),
    ("ptr_own", "9.01-setup/pointers", 2),
    ("accessible_all", "9.01-setup/query", 2),
    ("thread_single", "9.02-thread/levels", 1),
    ("thread_single", "9.02-thread/multiple", 1),
    ("start_pes_no_end", "9.01-setup/start-pes", 2),
    ("late_calls_fail", "9.01-setup/after-main", 1),
    ("inc_torn", "9.02-thread/many-threads", 2),
    ("malloc_small_only", "9.03-memory/sizes", 1),
    ("malloc_coarse", "9.03-memory/many", 1),
    ("split_leaks", "9.04-team/cycles", 1),
    ("destroy_drops", "9.05-context/contexts", 2),
    ("putmem_last_byte", "9.06-rma/big", 2),
    ("needs_target", "9.06-rma/computing-target", 2),
    ("iget_dense", "9.06-rma/generic", 2),
    ("generic_add_never", "9.07-amo/generic", 2),
    ("put_signal_without_data", "9.08-signal/generic", 2),
    ("inscan_backwards", "9.10-collective/random", 3),
    ("signal_wait_returns_limit", "9.11-p2p/signal-wait", 2),
    ("p_late", "9.11-p2p/handoff", 2),
    ("test_unsigned", "9.11-p2p/generic", 1),
    ("fence_never", "9.12-ordering/ordering", 2),
    ("pe_quiet_never", "9.12-ordering/ordering", 2),
    ("one_lock", "9.13-lock/two-locks", 2),
    ("pcontrol_drops", "10-profiling/pcontrol", 2),
    ("file_write_short", "extensions/files", 2),
    ("file_write_goes_well", "extensions/file-errors", 2),
    ("error_stays", "extensions/errors", 2),
    ("file_refuses_nothing", "extensions/lives", 2),
];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let programs: Vec<Arc<Program>> = program::conformance().into_iter().map(Arc::new).collect();
    let mut trials = Vec::new();
    for (mutant, name, pes) in MUTANTS {
        let program = programs.iter().find(|program| program.name == *name).expect("a conformance program").clone();
        if !program.missing().is_empty() {
            println!("skipped, for want of a routine: {mutant} for {name}");
            continue;
        }
        let check = move || notices(mutant, &program, *pes).map_err(Into::into);
        trials.push(Trial::test(format!("{mutant} is noticed by {name}"), check));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Fails where the program passes with the mutant.
fn notices(mutant: &str, program: &Program, pes: usize) -> Result<(), String> {
    let library = library(mutant, &program.name)?;
    let preload = format!("LD_PRELOAD={}", library.display());
    let binary = program.build()?;
    // A wrong barrier or wait may be noticed by hanging.
    let outcome = program.job(&binary, pes, &["-x", &preload]).limit(10).run();
    match program.check(&outcome) {
        Err(_) => Ok(()),
        Ok(()) => Err(format!("passes with a wrong library\n{}", outcome.describe())),
    }
}

/// Compiles a mutant, for one program: another may be loading its own.
fn library(mutant: &str, program: &str) -> Result<PathBuf, String> {
    let library = tree::scratch("mutants").join(format!("{mutant}-{}.so", program.replace('/', "-")));
    let outcome = Job::new(tree::tool("oshcc"))
        .args(["-O1", "-w", "-shared", "-fPIC", &format!("-DMUTANT_{mutant}")])
        .arg(tree::package().join("programs/mutants/mutants.c"))
        .arg("-o")
        .arg(&library)
        .run();
    if outcome.code() == 0 { Ok(library) } else { Err(outcome.describe()) }
}
