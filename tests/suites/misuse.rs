//! Wrong arguments and calls: one message that names routine, argument, value and PE, and the end of the whole job with
//! a nonzero status; no hang, no bare crash.

use std::time::Duration;

use harness::compile::Build;
use harness::declared;
use harness::run::{Job, Outcome, is_over_network};

/// What a wrong call must be told: case of `misuse.c`, routine, and words of the message (`N` is the number of PEs).
type Row = (&'static str, &'static str, &'static [&'static str]);

/// Runs each case at 1 and 3 PEs plainly, and at 2 with more checks.
fn check(program: &str, rows: &[Row]) {
    let runs: &[(usize, &[&str])] = &[(1, &[]), (3, &[]), (2, &["--check"])];
    let binary = Build::program(program).build();
    let mut failures = Vec::new();
    for (case, routine, words) in rows {
        // Those of extensions are in a header of their own.
        if !routine.starts_with("shmemx_") && !declared::functions().contains(*routine) {
            println!("not in this build: {routine}");
            continue;
        }
        for &(pes, options) in runs {
            let job = Job::oshrun(pes).args(options).arg(&binary).arg(case).limit(15);
            if let Err(message) = check_outcome(job.run(), pes, routine, words) {
                failures.push(format!("{case}: {message}"));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), rows.len(), failures.join("\n"));
}

/// Whether the outcome is a clear message and a prompt failure.
fn check_outcome(outcome: Outcome, pes: usize, routine: &str, words: &[&str]) -> Result<(), String> {
    let fault = |what: &str| Err(format!("{what}\n{}", outcome.describe()));
    if outcome.code() == 0 {
        return fault("the job succeeded");
    }
    if outcome.code() < 0 || outcome.elapsed > Duration::from_secs(if is_over_network() { 30 } else { 8 }) {
        return fault("the job hung");
    }
    if outcome.code() >= 128 {
        return fault("a signal ended the job");
    }
    let Some(line) = outcome.stderr.lines().find(|line| line.starts_with("pellucid: ") && line.contains(routine))
    else {
        return fault(&format!("no line \"pellucid: PE ...: {routine}: ...\""));
    };
    let mut wanted: Vec<String> = words.iter().map(|word| word.replace('N', &pes.to_string())).collect();
    if !routine.starts_with("any ") {
        wanted.push(format!("{routine}: "));
    }
    match wanted.iter().find(|word| !line.contains(word.as_str())) {
        Some(word) => fault(&format!("the message lacks \"{word}\"")),
        None => Ok(()),
    }
}

#[test]
fn a_call_before_init() {
    check(
        "misuse/misuse.c",
        &[
            ("early-my-pe", "shmem_my_pe", &["before shmem_init"]),
            ("early-put", "shmem_long_put", &["before shmem_init"]),
            ("early-p", "shmem_long_p", &["before shmem_init"]),
            ("early-add", "shmem_long_atomic_add", &["before shmem_init"]),
            ("early-malloc", "shmem_malloc", &["before shmem_init"]),
            ("early-barrier", "shmem_barrier_all", &["before shmem_init"]),
            ("early-quiet", "shmem_quiet", &["before shmem_init"]),
            ("early-wait", "shmem_long_wait_until", &["before shmem_init"]),
            ("early-reduce", "shmem_long_sum_reduce", &["before shmem_init"]),
            ("early-lock", "shmem_set_lock", &["before shmem_init"]),
        ],
    );
}

#[test]
fn a_thread_level_that_does_not_exist() {
    check(
        "misuse/misuse.c",
        &[
            ("thread-77", "shmem_init_thread", &["requested = 77", "(0)", "MULTIPLE (3)"]),
            ("thread-negative", "shmem_init_thread", &["requested = -1"]),
            ("thread-nested", "shmem_init_thread", &["requested = 4"]),
        ],
    );
}

#[test]
fn a_pe_that_does_not_exist() {
    check(
        "misuse/misuse.c",
        &[
            ("pe-p", "shmem_long_p", &["pe = N"]),
            ("pe-g", "shmem_long_g", &["pe = -1"]),
            ("pe-put", "shmem_long_put", &["pe = "]),
            ("pe-get", "shmem_long_get", &["pe = -7"]),
            ("pe-put-nbi", "shmem_long_put_nbi", &["pe = 1000000"]),
            ("pe-iput", "shmem_long_iput", &["pe = N"]),
            ("pe-putmem", "shmem_putmem", &["pe = N"]),
            ("pe-add", "shmem_long_atomic_add", &["pe = N"]),
            ("pe-fetch", "shmem_long_atomic_fetch", &["pe = -2"]),
            ("pe-cswap", "shmem_long_atomic_compare_swap", &["pe = 99"]),
            ("pe-signal", "shmem_long_put_signal", &["pe = N"]),
            ("pe-signal-set", "shmem_signal_set", &["pe = -1"]),
            ("pe-quiet", "shmem_pe_quiet", &["target_pes", "= N"]),
            ("pe-ptr", "shmem_ptr", &["pe = N"]),
            ("pe-ctx", "shmem_ctx_long_p", &["pe = N"]),
        ],
    );
}

#[test]
fn an_address_that_is_not_symmetric() {
    check(
        "misuse/misuse.c",
        &[
            ("address-p", "shmem_long_p", &["dest = 0x", "not a symmetric address"]),
            ("address-put", "shmem_long_put", &["dest = 0x", "not a symmetric address"]),
            ("address-get", "shmem_long_get", &["source = 0x", "not a symmetric address"]),
            ("address-g", "shmem_long_g", &["source = 0x", "not a symmetric address"]),
            ("address-add", "shmem_long_atomic_add", &["dest = 0x", "not a symmetric address"]),
            ("address-iput", "shmem_long_iput", &["dest = 0x", "not a symmetric address"]),
            ("address-signal", "shmem_long_put_signal", &["sig_addr = 0x", "not a symmetric address"]),
            ("address-wait", "shmem_long_wait_until", &["ivar = 0x", "not a symmetric address"]),
            ("address-test", "shmem_long_test", &["ivar = 0x", "not a symmetric address"]),
            ("address-signal-fetch", "shmem_signal_fetch", &["sig_addr = 0x", "not a symmetric address"]),
            ("address-lock", "shmem_set_lock", &["lock = 0x", "not a symmetric address"]),
            ("address-reduce", "shmem_long_sum_reduce", &["source = 0x", "not a symmetric address"]),
            ("sig-address-add", "shmem_signal_add", &["sig_addr = 0x", "not a symmetric address"]),
            ("sig-address-set", "shmem_ctx_signal_set", &["sig_addr = 0x", "not a symmetric address"]),
            ("sig-address-wait", "shmem_signal_wait_until", &["sig_addr = 0x", "not a symmetric address"]),
            ("sig-odd", "shmem_long_put_signal", &["sig_addr = 0x", "aligned to 8 bytes"]),
            ("odd-add", "shmem_long_atomic_add", &["dest = 0x", "aligned to 8 bytes"]),
            ("address-code", "shmem_long_p", &["dest = 0x", "not a symmetric address"]),
            ("address-literal", "shmem_putmem", &["dest = 0x", "not a symmetric address"]),
            ("address-end", "shmem_putmem", &["dest = 0x", "1099511627776"]),
        ],
    );
}

#[test]
fn a_null_pointer_with_a_count() {
    check(
        "misuse/misuse.c",
        &[
            ("null-dest-p", "shmem_long_p", &["dest"]),
            ("null-dest-put", "shmem_long_put", &["dest", "null pointer", "24 bytes"]),
            ("null-source-put", "shmem_long_put", &["source", "null pointer", "24 bytes"]),
            ("null-dest-get", "shmem_long_get", &["dest", "null pointer", "16 bytes"]),
            ("null-source-get", "shmem_long_get", &["source", "null pointer", "8 bytes"]),
            ("null-source-putmem", "shmem_putmem", &["source", "null pointer", "7 bytes"]),
            ("null-add", "shmem_long_atomic_add", &["dest"]),
            ("null-signal", "shmem_long_put_signal", &["sig_addr"]),
            ("null-wait", "shmem_long_wait_until", &["ivar"]),
            ("null-lock", "shmem_set_lock", &["lock", "null pointer"]),
            ("null-indices", "shmem_long_wait_until_some", &["indices", "null pointer"]),
            ("null-cmp-values", "shmem_long_wait_until_any_vector", &["cmp_values", "null pointer"]),
            ("null-dest-reduce", "shmem_long_sum_reduce", &["dest", "null pointer", "40 bytes"]),
            ("null-ctx", "shmem_ctx_create", &["ctx", "null pointer"]),
            ("null-team", "shmem_team_split_strided", &["new_team", "null pointer"]),
            ("null-config", "shmem_team_get_config", &["config", "null pointer", "4 bytes"]),
            ("null-config-split", "shmem_team_split_strided", &["config", "null pointer", "4 bytes"]),
            ("null-wait-all", "shmem_long_wait_until_all", &["ivars"]),
        ],
    );
}

#[test]
fn a_count_whose_bytes_overflow() {
    check(
        "misuse/misuse.c",
        &[
            ("huge-put", "shmem_long_put", &["more than 2^63 bytes (a negative count?)"]),
            ("negative-put", "shmem_putmem", &["-5 bytes (a negative count)"]),
            ("huge-get", "shmem_long_get", &[]),
            ("huge-put-nbi", "shmem_long_put_nbi", &[]),
            ("huge-put128", "shmem_put128", &[]),
            ("huge-iput", "shmem_long_iput", &[]),
            ("huge-stride", "shmem_long_iput", &[]),
            ("huge-ibput", "shmem_long_ibput", &[]),
            ("huge-signal", "shmem_long_put_signal", &[]),
            ("huge-broadcast", "shmem_long_broadcast", &[]),
            ("huge-reduce", "shmem_long_sum_reduce", &[]),
        ],
    );
}

#[test]
fn a_value_outside_its_set() {
    check(
        "misuse/misuse.c",
        &[
            ("cmp", "shmem_long_wait_until", &["cmp = 4711"]),
            ("cmp-test", "shmem_int_test", &["cmp = -3"]),
            ("sig-op", "shmem_long_put_signal", &["sig_op = 77"]),
            ("sig-op-nbi", "shmem_putmem_signal_nbi", &["sig_op = -1"]),
            ("sig-op-ctx", "shmem_ctx_put64_signal", &["sig_op = 2"]),
            ("sig-cmp", "shmem_signal_wait_until", &["cmp = 6"]),
            ("short-stride", "shmem_long_ibput", &["dst = 1"]),
            ("set-size", "shmem_barrier", &["PE_size = 0"]),
            ("set-beyond", "shmem_barrier", &["active set"]),
            ("set-stride", "shmem_sync", &["logPE_stride = -1"]),
            ("set-outside", "shmem_barrier", &["PE_size"]),
            ("unset-lock", "shmem_clear_lock", &["lock"]),
            ("alltoalls-stride", "shmem_long_alltoalls", &["dst = 0"]),
            ("destroy-world", "shmem_team_destroy", &["team"]),
            ("destroy-default", "shmem_ctx_destroy", &["ctx"]),
            ("root", "shmem_long_broadcast", &["PE_root = N"]),
        ],
    );
}

#[test]
fn sets_and_requests() {
    check(
        "misuse/extensions.c",
        &[
            ("early-set", "shmemx_create_strided_aset", &["before shmem_init"]),
            ("early-wait", "shmemx_wait_req", &["before shmem_init"]),
            ("set-null", "shmemx_barrier_aset", &["aset is a null pointer"]),
            ("set-deleted", "shmemx_sync_aset", &["was deleted already"]),
            ("set-wild", "shmemx_in_aset", &["is not an active set"]),
            ("set-deleted-twice", "shmemx_delete_aset", &["was deleted already"]),
            ("set-psync", "shmemx_barrier_aset", &["pSync", "not a symmetric address"]),
            ("set-root", "shmemx_broadcast64_aset", &["PE_root = N"]),
            ("set-root-nb", "shmemx_broadcast64_nb", &["PE_root = N"]),
            ("set-count", "shmemx_long_sum_to_all_nb", &["nreduce = -1"]),
            ("list-null", "shmemx_create_generic_aset", &["PE_list is a null pointer"]),
            ("function-null", "shmemx_create_custom_aset", &["offset is a null pointer"]),
            ("handle-wild", "shmemx_wait_req", &["request = "]),
            ("handle-wild-test", "shmemx_test_req", &["request = 3"]),
            ("handle-null", "shmemx_req_wait", &["request is a null pointer"]),
            ("target-private", "shmemx_long_sum_reduce_nb", &["dest = ", "not a symmetric address"]),
            ("pe", "shmemx_long_fadd_nb", &["pe = N"]),
            ("old-null", "shmemx_long_fadd_nb", &["oldval is a null pointer"]),
            ("file-null", "shmemx_file_sync", &["is no file"]),
            ("file-closed", "shmemx_file_read_at_all", &["was closed already"]),
            ("file-closed-twice", "shmemx_file_close", &["was closed already"]),
            ("file-wild", "shmemx_file_write_at", &["is not a file"]),
            ("file-private", "shmemx_file_write_at_all", &["sym = ", "not a symmetric address"]),
            ("file-beyond", "shmemx_file_read_ordered", &["sym = ", "past the end"]),
            ("file-offset", "shmemx_file_write_at_nb", &["offset = -8"]),
            ("file-append", "shmemx_file_open", &["would be ignored"]),
            ("file-path", "shmemx_file_open", &["path is a null pointer"]),
            ("handler-team", "shmemx_errhandler_set", &["team = 0x"]),
            ("state-pe", "shmemx_pe_state", &["pe = N"]),
            ("failed-null", "shmemx_failed_pes", &["list is a null pointer"]),
            ("space-null", "shmemx_space_malloc", &["is no space"]),
            ("space-ended", "shmemx_space_calloc", &["space = 0x", "was destroyed already"]),
            ("space-ended-twice", "shmemx_space_destroy", &["was destroyed already"]),
            ("space-wild", "shmemx_space_free", &["is not a space"]),
            ("space-heap", "shmemx_space_destroy", &["the symmetric heap stays"]),
            ("space-mask", "shmemx_space_create", &["mask = 64"]),
            ("space-config", "shmemx_space_create", &["config is a null pointer"]),
            ("space-page", "shmemx_space_create", &["config = 3", "a power of two"]),
            ("space-kind", "shmemx_space_create", &["config = 7", "SHMEMX_SPACE_HOST"]),
            ("space-place", "shmemx_space_create", &["space is a null pointer"]),
            ("space-foreign", "shmemx_space_free", &["ptr = 0x"]),
            ("space-twice", "shmemx_space_free", &["freed already"]),
            ("space-free", "shmem_free", &["ptr = 0x"]),
            ("space-align", "shmemx_space_align", &["alignment = 24"]),
            ("space-beyond", "shmem_putmem", &["dest = 0x", "run past the end of space \"small\""]),
            ("space-beyond-sum", "shmem_long_sum_reduce", &["dest = 0x", "run past the end of space \"small\""]),
            ("space-of", "shmemx_space_of", &["space is a null pointer"]),
            ("locality", "shmemx_locality", &["pe = N"]),
            ("numa", "shmem_team_destroy", &["team = 3"]),
        ],
    );
}

/// Of a space only its members reach anything, and all that is said of it names it: on one host, and where PEs share no
/// memory.
#[test]
fn a_space_is_its_members_alone() {
    let binary = Build::program("misuse/isolation.c").build();
    for transport in ["auto", "ofi"] {
        for (case, routine) in [
            ("put", "shmem_long_put"),
            ("p", "shmem_long_p"),
            ("get", "shmem_long_get"),
            ("g", "shmem_long_g"),
            ("put-nbi", "shmem_putmem_nbi"),
            ("iput", "shmem_long_iput"),
            ("add", "shmem_long_atomic_add"),
            ("fetch", "shmem_long_atomic_fetch"),
            ("signal", "shmem_long_put_signal"),
            ("fadd", "shmemx_long_fadd_nb"),
        ] {
            for (who, words) in [
                ("to", "lies in space \"halo\", and PE 2 is none of its 2 members"),
                ("by", "lies in space \"halo\", and the calling PE 2 is none of its 2 members"),
            ] {
                let job = Job::oshrun(3).env("SHMEM_TRANSPORT", transport).arg(&binary).args([who, case]);
                let outcome = job.limit(20).run().expect_code(1);
                let said = [format!("{routine}: "), words.to_owned()];
                let line = outcome.stderr.lines().find(|line| line.contains(&said[0])).unwrap_or_default();
                assert!(line.contains(&said[1]), "{transport} {who} {case}: {}", outcome.describe());
            }
        }
        // A collective whose team has others, and a wait: no PE is named there that could be asked for the space.
        let words = if transport == "ofi" { "is not a symmetric address" } else { "lies in space \"halo\"" };
        for case in ["sum", "wait"] {
            let job = Job::oshrun(3).env("SHMEM_TRANSPORT", transport).arg(&binary).args(["by", case]);
            job.limit(20).run().expect_code(1).expect_text(&[words]);
        }
        let job = Job::oshrun(3).env("SHMEM_TRANSPORT", transport).arg(&binary).args(["by", "ask"]);
        assert_eq!(job.limit(20).run().expect_code(0).stdout, "none\n");
    }
}

#[test]
fn a_handle_that_names_nothing() {
    check(
        "misuse/misuse.c",
        &[
            ("ctx-invalid", "shmem_ctx_long_p", &["ctx"]),
            ("team-wild", "shmem_team_my_pe", &["team = 0x1234560"]),
            ("ctx-wild", "shmem_ctx_long_p", &["ctx = 0x1234560"]),
            ("team-destroyed", "shmem_team_my_pe", &["team = 0x"]),
            ("ctx-destroyed", "shmem_ctx_long_p", &["ctx = 0x"]),
        ],
    );
}

#[test]
fn mistakes_with_the_heap() {
    check(
        "misuse/memory.c",
        &[
            ("double-free", "shmem_free", &["ptr = 0x", "freed already"]),
            ("inside", "shmem_free", &["ptr = 0x"]),
            ("stack", "shmem_free", &["ptr = 0x"]),
            ("static", "shmem_free", &["ptr = 0x"]),
            ("private", "shmem_free", &["ptr = 0x"]),
            ("realloc-foreign", "shmem_realloc", &["ptr = 0x"]),
            ("realloc-freed", "shmem_realloc", &["ptr = 0x"]),
            ("alignment", "shmem_align", &["alignment = 24"]),
        ],
    );
}

#[test]
fn calls_after_the_last_finalize() {
    let binary = Build::program("misuse/ended.c").build();
    for (case, routine) in [
        ("barrier", "shmem_barrier_all"),
        ("again", "shmem_sync_all"),
        ("put", "shmem_long_put"),
        ("g", "shmem_long_g"),
        ("add", "shmem_long_atomic_add"),
        ("malloc", "shmem_malloc"),
        ("free", "shmem_free"),
        ("quiet", "shmem_quiet"),
        ("ptr", "shmem_ptr"),
        ("test", "shmem_long_test"),
        ("team", "shmem_team_my_pe"),
        ("lock", "shmem_set_lock"),
    ] {
        for level in ["0", "1"] {
            let outcome = Job::oshrun(2).env("SHMEM_PROFILE", level).arg(&binary).arg(case).limit(15).run();
            let said = format!("{routine}: called after the last shmem_finalize");
            let named = outcome.stderr.contains(&said) && !outcome.stdout.contains("went on");
            assert!(outcome.code() == 1 && named, "{case}: {}", outcome.describe());
        }
    }
    Job::oshrun(2).arg(&binary).arg("nothing").limit(15).run().expect_code(0).expect_text(&["went on"]);
}

#[test]
fn a_crash_says_where_it_was() {
    let binary = Build::program("misuse/misuse.c").build();
    let outcome = Job::oshrun(3).arg(&binary).arg("segv").limit(15).run();
    assert_eq!(outcome.code(), 128 + 11, "{}", outcome.describe());
    outcome.expect_text(&["PE 2 of 3", "signal 11", "in main at misuse.c:", ", address 0x0"]);
}

#[test]
fn an_environment_value_that_cannot_be_used() {
    let binary = Build::program("misuse/plain.c").build();
    for value in ["lots", "-5", "12q", " ", "1e", "nan", "0xg", "999999999t"] {
        let outcome = Job::oshrun(2).env("SHMEM_SYMMETRIC_SIZE", value).arg(&binary).limit(15).run();
        assert!(outcome.code() > 0 && outcome.code() < 128, "SHMEM_SYMMETRIC_SIZE=\"{value}\"\n{}", outcome.describe());
        let named = outcome.stderr.contains("SHMEM_SYMMETRIC_SIZE") && outcome.stderr.contains(value);
        assert!(named, "SHMEM_SYMMETRIC_SIZE=\"{value}\" is not named\n{}", outcome.describe());
        // The old name is named where it is the one that is set.
        let outcome = Job::oshrun(1).env("SMA_SYMMETRIC_SIZE", value).arg(&binary).limit(15).run();
        assert!(outcome.code() > 0, "SMA_SYMMETRIC_SIZE=\"{value}\"\n{}", outcome.describe());
        assert!(outcome.stderr.contains("SMA_SYMMETRIC_SIZE"), "{}", outcome.describe());
    }
    for value in ["1m", "1.5M", "2097152", "0.25g", "3K", "1e6", "2048kk", ".5m", "64m"] {
        Job::oshrun(2).env("SHMEM_SYMMETRIC_SIZE", value).arg(&binary).limit(15).run().expect_code(0);
    }
    // The new name wins.
    Job::oshrun(1)
        .env("SHMEM_SYMMETRIC_SIZE", "8m")
        .env("SMA_SYMMETRIC_SIZE", "nonsense")
        .arg(&binary)
        .limit(15)
        .run()
        .expect_code(0);
}

#[test]
fn pes_that_do_different_things() {
    let binary = Build::program("misuse/mismatch.c").build();
    let mut failures = Vec::new();
    for (case, routine) in [
        ("routine", "shmem_long_"),
        ("size", "shmem_long_sum_reduce"),
        ("root", "shmem_long_broadcast"),
        ("operation", "shmem_long_m"),
        ("malloc", "shmem_malloc"),
        ("malloc-barrier", "shmem_"),
    ] {
        for pes in [2, 3] {
            let outcome = Job::oshrun(pes).arg("--check").arg(&binary).arg(case).limit(10).run();
            let told = outcome.stderr.lines().any(|line| line.starts_with("pellucid: PE ") && line.contains(routine));
            if outcome.code() <= 0 || outcome.code() >= 128 || !told {
                failures.push(format!("{case}: no explanation\n{}", outcome.describe()));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
