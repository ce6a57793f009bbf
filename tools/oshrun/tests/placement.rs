//! Where PEs run and write: `--bind`, `--cores-per-pe`, `--wdir`, `--output`, and the variables that tell a script
//! which PE it is.
mod common;

use common::{Folder, oshrun, shell};

const ALLOWED: &str = "sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status";

/// A CPU that this process may use.
fn a_cpu() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim();
    list.split([',', '-']).next().unwrap().to_owned()
}

#[test]
fn pes_run_on_the_cpus_of_a_list() {
    let cpu = a_cpu();
    let list = format!("list:{cpu}");
    let result = shell(&["-n", "3", "--bind", &list], ALLOWED);
    assert_eq!((result.status, result.out), (0, format!("{cpu}\n").repeat(3)), "{}", result.err);
    assert!(result.err.contains("PEs 0 and 1 share a core"), "{}", result.err);
    let result = shell(&["-n", "2", "--bind", "list:8000"], "true");
    assert_eq!(result.status, 2);
    assert!(result.err.contains("--bind list: oshrun may not use CPU 8000, only "), "{}", result.err);
    let result = oshrun(&["-n", "2", "--bind", &list, "--info"]);
    assert!(result.out.contains(&format!("binding: PE 0: CPU {cpu}; PE 1: CPU {cpu}\n")), "{}", result.out);
}

#[test]
fn more_cores_than_there_are_and_odd_mixtures_are_refused() {
    let result = shell(&["--cores-per-pe", "8000"], "true");
    assert_eq!(result.status, 2);
    assert!(result.err.contains("--cores-per-pe 8000: oshrun may use "), "{}", result.err);
    let result = shell(&["--cores-per-pe", "1", "--bind", "numa"], "true");
    assert!(result.status == 2 && result.err.contains("not with --bind numa"), "{}", result.err);
}

#[test]
fn threads_without_cores_are_announced() {
    let result = shell(&["-n", "2", "--cores-per-pe", "1", "-x", "OMP_NUM_THREADS=5000"], "true");
    assert_eq!(result.status, 0, "{}", result.err);
    assert!(result.err.contains("OMP_NUM_THREADS is 5000, and a PE has "), "{}", result.err);
}

#[test]
fn pes_run_in_the_directory_that_is_named() {
    let folder = Folder::new("wdir");
    let there = folder.0.canonicalize().unwrap().display().to_string();
    folder.file("own.sh", "#!/bin/sh\npwd\n", true);
    assert_eq!(shell(&["-n", "2", "--wdir", &there], "pwd").out, format!("{there}\n").repeat(2));
    // Its program is meant from there, as after cd.
    assert_eq!(oshrun(&["-wdir", &there, "./own.sh"]).out, format!("{there}\n"));
    let result = shell(&["--wdir", "/no/such"], "pwd");
    assert!(result.status == 2 && result.err.contains("option --wdir: /no/such: No such file"), "{}", result.err);
}

#[test]
fn each_pe_writes_to_files_of_its_own() {
    let folder = Folder::new("files");
    let name = |pattern: &str| folder.0.join(pattern).display().to_string();
    let read = |name: &str| std::fs::read_to_string(folder.0.join(name)).unwrap();
    let script = "echo out $PMI_RANK of $PMI_SIZE at $PELLUCID_LOCAL_PE; echo err >&2";
    let result = shell(&["-n", "3", "--output", &name("a/%p.%s")], script);
    assert_eq!((result.status, result.out.as_str(), result.err.as_str()), (0, "", ""));
    for pe in 0..3 {
        assert_eq!(read(&format!("a/{pe}.out")), format!("out {pe} of 3 at {pe}\n"));
        assert_eq!(read(&format!("a/{pe}.err")), "err\n");
    }
    // What was there is begun anew; both streams in one file keep their order.
    shell(&["--output", &name("a/%p.out")], "echo 1; echo 2 >&2; echo 3");
    assert_eq!(read("a/0.out"), "1\n2\n3\n");
    let result = shell(&["--output", "/proc/none/%p"], "echo never");
    assert!(result.status == 2 && result.err.contains("option --output: /proc/none/0: "), "{}", result.err);
}

#[test]
fn the_number_of_pes_may_be_that_of_a_host() {
    assert_eq!(shell(&["-N", "3"], "echo $PMI_SIZE").out, "3\n3\n3\n");
}
