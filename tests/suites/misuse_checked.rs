//! Mistakes that the specification leaves undefined and that `--check` explains: what each PE was about to do, or what
//! is wrong with the call, where the job would otherwise hang or go on with garbage.

use harness::compile::Build;
use harness::run::Job;

/// Case of `checked.c`, and words of the message.
const CASES: &[(&str, &[&str])] = &[
    ("barrier-broadcast", &["a barrier or sync", "a broadcast", "the same calls in the same order"]),
    ("sync-finalize", &["a barrier or sync", "shmem_finalize"]),
    ("barrier-exit", &["a barrier or sync", "shmem_finalize or exit"]),
    ("team-sync", &["a barrier or sync", "a reduction"]),
    ("free", &["shmem_free with ptr at byte", "of the symmetric heap"]),
    ("free-malloc", &["shmem_free", "an allocation"]),
    ("realloc", &["shmem_realloc with bytes = 32", "shmem_realloc with bytes = 48"]),
    ("split", &["shmem_team_split_strided with size = "]),
    ("dest", &["an fcollect with dest at byte", "of the static data"]),
    ("source", &["an alltoall with source at byte", "of the symmetric heap"]),
    ("stride", &["an alltoalls with dst = 2", "an alltoalls with dst = 1"]),
    ("zero", &["a reduction with bytes = 0", "a reduction with bytes = 8"]),
    ("scan", &["an inclusive scan", "an exclusive scan"]),
    ("psync", &["shmem_barrier: pSync[0] = -1: expected SHMEM_SYNC_VALUE"]),
    ("psync-stack", &["shmem_barrier: pSync = 0x", "not a symmetric address"]),
    ("psync-null", &["shmem_barrier: pSync", "null pointer"]),
    ("odd-wait", &["shmem_long_wait_until: ivar = 0x", "aligned to 8 bytes"]),
    ("overlap-reduce", &["dest = 0x", "overlap", "one object or two apart"]),
    ("overlap-broadcast", &["dest = 0x", "overlap", "must be apart"]),
    ("overlap-collect", &["dest = 0x", "overlap"]),
    ("lock-clear", &["shmem_clear_lock: lock = 0x", "is not held by this PE"]),
    ("lock-twice", &["shmem_set_lock: lock = 0x", "is held by this thread already"]),
    ("put-freed", &["shmem_long_put: dest = 0x", "(32 bytes) lies in no object", "it was freed, or never allocated"]),
    ("fetch-freed", &["shmem_signal_fetch: sig_addr = 0x", "lies in no object", "it was freed, or never allocated"]),
    ("signal-freed", &["shmem_putmem_signal: sig_addr = 0x", "lies in no object"]),
    ("wait-freed", &["shmem_long_wait_until: ivar = 0x", "lies in no object"]),
    ("test-freed", &["shmem_long_test_any: ivars = 0x", "lies in no object"]),
    ("lock-freed", &["shmem_set_lock: lock = 0x", "lies in no object"]),
    ("reduce-freed", &["shmem_long_sum_reduce: dest = 0x", "lies in no object"]),
    ("get-never", &["shmem_long_get: source = 0x", "lies in no object of the symmetric heap"]),
    ("put-past", &["shmem_long_p: dest = 0x", "lies in no object of the symmetric heap"]),
    ("amo-never", &["shmem_long_atomic_inc: dest = 0x", "lies in no object of the symmetric heap"]),
    ("put-from-freed", &["shmem_putmem: source = 0x", "lies in no object of the symmetric heap"]),
    ("put-self", &["shmem_long_put: dest = 0x", "and source = 0x", "overlap: they must be apart"]),
    ("signal-inside", &["shmem_long_put_signal: dest = 0x", "(32 bytes) and sig_addr = 0x", "(8 bytes) overlap"]),
    ("signal-inside-nbi", &["shmem_long_put_signal_nbi: dest = 0x", "and sig_addr = 0x", "overlap"]),
    ("fetch-self", &["shmem_long_atomic_swap_nbi: dest = 0x", "and fetch = 0x", "overlap: they must be apart"]),
    ("fetch-self-source", &["shmem_double_atomic_fetch_nbi: source = 0x", "and fetch = 0x", "overlap"]),
    ("iput-self", &["shmem_long_iput: dest = 0x", "(32 bytes) and source = 0x", "overlap: they must be apart"]),
    ("iget-self", &["shmem_long_iget: dest = 0x", "(40 bytes) and source = 0x", "(24 bytes) overlap"]),
    ("ibput-self", &["shmem_long_ibput: dest = 0x", "(32 bytes) and source = 0x", "overlap"]),
    ("iput-past", &["shmem_long_iput: dest = 0x", "88 bytes run past the end of the object", "has 64 bytes"]),
    ("iget-past", &["shmem_long_iget: source = 0x", "88 bytes run past the end of the object"]),
    ("iput-zero", &["shmem_long_iput: dst = 0: expected a stride of at least 1"]),
    ("ibget-short", &["shmem_long_ibget: dst = 1: expected a stride of at least bsize"]),
    ("alltoalls-overlap", &["shmem_long_alltoalls: dest = 0x", "and source = 0x", "overlap"]),
    ("alltoalls-past", &["shmem_long_alltoalls: dest = 0x", "run past the end of the object"]),
    ("alltoall-past", &["shmem_long_alltoall: dest = 0x", "run past the end of the object"]),
    ("collect-past", &["shmem_long_collect: source = 0x", "72 bytes run past the end of the object"]),
    ("collect-sum-past", &["shmem_long_collect: dest = 0x", "run past the end of the object", "has 64 bytes"]),
    ("test-past", &["shmem_long_test_all: ivars = 0x", "72 bytes run past the end of the object"]),
    ("wait-past", &["shmem_long_wait_until_all: ivars = 0x", "72 bytes run past the end of the object"]),
    ("barrier-sync", &["a barrier", "a sync", "the same calls in the same order"]),
    ("reduce-type", &["a reduction by sum of 4-byte integers", "a reduction by sum of 8-byte integers"]),
    ("reduce-kind", &["a reduction by sum of 8-byte reals", "a reduction by sum of 8-byte integers"]),
    ("scan-type", &["an inclusive scan by sum of 4-byte integers", "an inclusive scan by sum of 8-byte integers"]),
    ("private", &["shmem_ctx_long_p: ctx = 0x", "is the thread's that created it, by SHMEM_CTX_PRIVATE"]),
    ("single", &["shmem_ctx_long_p: called by another thread", "at SHMEM_THREAD_SINGLE"]),
    ("funneled", &["shmem_ctx_long_p: called by another thread", "at SHMEM_THREAD_FUNNELED"]),
    ("align-4", &["shmem_align: alignment = 4: expected a power of two that is a multiple of sizeof(void *)"]),
    ("session-null", &["shmem_ctx_session_start: config", "null pointer"]),
    ("team-twice", &["shmem_team_destroy: team = 0x", "was destroyed already"]),
    ("ctx-twice", &["shmem_ctx_destroy: ctx = 0x", "was destroyed already"]),
    ("ctx-of-team", &["shmem_ctx_long_p: ctx = 0x", "was destroyed already"]),
];

/// The same on active sets that are not the whole job.
const SETS: &[(&str, &[&str])] = &[
    ("set-kind", &["a barrier or sync", "a collect", "the same calls in the same order"]),
    ("set-stack", &["shmem_barrier: pSync = 0x", "not a symmetric address"]),
    ("set-null", &["shmem_barrier: pSync", "null pointer"]),
    ("set-past", &["shmem_collect64: dest = 0x", "run past the end of the object", "has 64 bytes"]),
    ("set-root", &["a broadcast with PE_root = 1", "a broadcast with PE_root = 0"]),
    ("set-count", &["an fcollect with bytes = 16", "an fcollect with bytes = 8"]),
    ("set-zero", &["an alltoall with bytes = 0", "an alltoall with bytes = 8"]),
    ("set-object", &["a reduction with dest at byte", "of the static data"]),
    ("set-operation", &["a reduction by max", "a reduction by min"]),
    ("set-work", &["shmem_barrier: pSync[7] = 1: expected SHMEM_SYNC_VALUE in all elements"]),
];

#[test]
fn every_mistake_is_explained() {
    explained(CASES, [2, 3]);
}

#[test]
fn every_mistake_on_an_active_set_is_explained() {
    explained(SETS, [3, 5]);
    explained(&[("world-set", &["a barrier or sync", "a broadcast"])], [2, 3]);
}

/// The same with requests.
const REQUESTS: &[(&str, &[&str])] = &[
    ("source-written", &["shmem_long_get: dest = 0x", "with source of shmemx_long_put_nb (main at requests.c:"]),
    ("target-read", &["shmem_long_put: source = 0x", "with target of shmemx_long_get_nb (main at requests.c:"]),
    ("target-own", &["shmem_long_p: dest = 0x", "with target of shmemx_long_get_nb (main at requests.c:"]),
    ("two-puts", &["shmemx_long_put_nb: target = 0x", "(64 bytes)", "with target of shmemx_long_put_nb"]),
    ("without-handle", &["shmem_long_p: dest = 0x", "with target of shmemx_long_put_nb", "call shmem_quiet first"]),
    ("put-atomic", &["shmem_long_atomic_inc: dest = 0x", "wait for its request first"]),
    ("old", &["shmemx_long_finc_nb: oldval = 0x", "with oldval of shmemx_long_finc_nb"]),
    ("reduce-source", &["shmem_long_p: dest = 0x", "with source of shmemx_long_sum_reduce_nb (main at requests.c:"]),
    ("two-collectives", &["shmemx_long_broadcast_nb: dest = 0x", "with dest of shmemx_long_sum_reduce_nb"]),
    ("blocking-collective", &["shmem_long_sum_reduce: source = 0x", "with dest of shmemx_long_fcollect_nb"]),
    ("collect-past", &["dest = 0x", "run past the end of the object"]),
    ("file", &["shmem_long_get: dest = 0x", "with sym of shmemx_file_write_at_nb"]),
    ("order", &["an fcollect, begun by shmemx_long_fcollect_nb (main at requests.c:", "a reduction"]),
    ("order-of-two", &["a barrier or sync, begun by shmemx_team_sync_nb", "a reduction", "in the same order"]),
    ("size", &["a broadcast with bytes = 32, begun by shmemx_long_broadcast_nb", "a broadcast with bytes = 24"]),
    ("nothing", &["an fcollect with bytes = 0"]),
    ("root", &["a broadcast with PE_root = 1", "a broadcast with PE_root = 0"]),
    ("operation", &["a reduction by max", "a reduction by min"]),
    ("two-threads", &["shmemx_wait_req: request = ", "no other thread waits for"]),
];

#[test]
fn every_mistake_with_requests_is_explained() {
    explained_in("misuse/requests.c", REQUESTS, [2, 3]);
}

#[test]
fn requests_that_are_forgotten_are_named() {
    let binary = Build::program("misuse/requests.c").build();
    let mut outcome = Job::oshrun(2).arg("--check").arg(&binary).arg("forgotten").run().expect_code(0);
    for pe in 0..2 {
        outcome = outcome.expect_text(&[
            &format!("PE {pe}: shmem_finalize: 3 requests of shmemx_long_inc_nb (main at requests.c:"),
            &format!("PE {pe}: shmem_finalize: the request of shmemx_team_sync_nb (main at requests.c:"),
        ]);
    }
    assert_eq!(outcome.stderr.lines().count(), 4, "{}", outcome.describe());
    Job::oshrun(2).arg(&binary).arg("forgotten").run().expect_code(0).expect_text(&[]);
}

#[test]
fn requests_that_are_used_right_pass_the_checks() {
    let binary = Build::program("misuse/requests.c").build();
    for pes in [1, 2, 4] {
        let outcome = Job::oshrun(pes).arg("--check").arg(&binary).arg("right").run().expect_code(0);
        assert_eq!(outcome.stderr, "");
    }
    // Over the network operations are under way for longer.
    let outcome = Job::oshrun(3).arg("--check").arg(&binary).arg("right").env("SHMEM_TRANSPORT", "ofi").run();
    assert_eq!(outcome.expect_code(0).stderr, "");
}

fn explained(cases: &[(&str, &[&str])], pes: [usize; 2]) {
    explained_in("misuse/checked.c", cases, pes);
}

fn explained_in(program: &str, cases: &[(&str, &[&str])], pes: [usize; 2]) {
    let binary = Build::program(program).build();
    let mut failures = Vec::new();
    for (case, words) in cases {
        for pes in pes {
            let outcome = Job::oshrun(pes).arg("--check").arg(&binary).arg(case).limit(20).run();
            let lines: String = outcome.stderr.lines().filter(|line| line.starts_with("pellucid: PE")).collect();
            let missing = words.iter().find(|word| !lines.contains(**word));
            if outcome.code() != 1 || missing.is_some() {
                failures.push(format!("{case}: missing {missing:?}\n{}", outcome.describe()));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_does_no_harm_goes_on_without_the_checks() {
    let binary = Build::program("misuse/checked.c").build();
    let overlaps = ["put-self", "iput-self", "fetch-self", "signal-inside"];
    let others = ["psync-stack", "psync-null", "odd-wait", "put-freed", "put-past", "single", "private", "align-4"];
    for case in overlaps.into_iter().chain(others) {
        Job::oshrun(3).arg(&binary).arg(case).run().expect_code(0);
    }
}

#[test]
fn what_is_right_passes_the_checks() {
    let binary = Build::program("misuse/checked.c").build();
    for case in ["lock-right", "put-right", "strided-right", "private-right"] {
        for options in [&["--check"][..], &["--check", "--profile", "off"]] {
            let outcome = Job::oshrun(2).args(options).arg(&binary).arg(case).run().expect_code(0);
            assert_eq!(outcome.stderr, "", "{case}");
        }
    }
}

#[test]
fn hints_that_are_not_known_are_ignored() {
    let binary = Build::program("misuse/checked.c").build();
    let outcome = Job::oshrun(2).arg(&binary).arg("hints").run().expect_code(0);
    assert_eq!(outcome.stderr, "");
    let outcome = Job::oshrun(2).arg("--check").arg(&binary).arg("hints").run().expect_code(0);
    assert_eq!(outcome.stderr.matches("0x40 is not known, and ignored").count(), 1, "{}", outcome.describe());
}

#[test]
fn bits_of_a_session_that_are_not_known_are_ignored() {
    // 9.9.2: no combination of options results in undefined behavior.
    let binary = Build::program("misuse/checked.c").build();
    let outcome = Job::oshrun(2).arg(&binary).arg("session").run().expect_code(0);
    assert_eq!(outcome.stderr, "");
    let outcome = Job::oshrun(2).arg("--check").arg(&binary).arg("session").run().expect_code(0);
    for words in
        ["options = 0x21: 0x20 is not known, and ignored", "config_mask = 0x40: 0x40 is not known, and ignored"]
    {
        assert_eq!(outcome.stderr.matches(words).count(), 1, "{}", outcome.describe());
    }
}

#[test]
fn a_heap_that_is_too_small_is_explained_once() {
    let binary = Build::program("misuse/checked.c").build();
    for options in [&["--check", "--heap", "8m"][..], &["--heap", "8m"]] {
        let more = Job::oshrun(2).args(options).arg(&binary).arg("heap-64m").run().expect_code(0);
        more.expect_text(&["67108864 bytes", "Try SHMEM_SYMMETRIC_SIZE=", "oshrun --heap"]);
        let outcome = Job::oshrun(2).args(options).arg(&binary).arg("heap").run().expect_code(0);
        let is_finding = |line: &&str| line.starts_with("pellucid: ");
        assert_eq!(outcome.stderr.lines().filter(is_finding).count(), 1, "{}", outcome.describe());
        let words = [
            "PE 0: shmem_malloc returns null",
            "1099511627776 bytes",
            "8388608 bytes",
            "largest gap",
            "on each of 2 PEs is more than this host's",
        ];
        outcome.expect_text(&words);
    }
}

#[test]
fn an_alignment_or_a_product_that_cannot_be_is_no_want_of_room() {
    let binary = Build::program("misuse/checked.c").build();
    let said = |case: &str| Job::oshrun(2).arg(&binary).arg(case).run().expect_code(0);
    for (case, words) in [
        ("align-2g", ["8 bytes at a multiple of 2147483648", "no object can be aligned to more"]),
        ("calloc-product", ["shmem_calloc returns null", "That is more than there are addresses"]),
    ] {
        let outcome = said(case).expect_text(&words);
        assert!(!outcome.stderr.contains("Try SHMEM_SYMMETRIC_SIZE"), "{}", outcome.describe());
    }
}
