//! Which program is run, with which arguments, environment and input; and what is said where none can be.
mod common;

use common::{Folder, command, oshrun, shell, shell_with_input};

#[test]
fn a_wrong_command_line_is_explained() {
    for (args, words) in [
        (&["-n", "0", "true"][..], "oshrun: invalid value '0' for '--np <N>': a job needs at least 1 PE"),
        (&["-n", "x", "true"], "'x' for '--np <N>'"),
        (&["--labels", "true"], "'--labels' found\n\n  tip: a similar argument exists: '--label'"),
        (&["--bind", "sun", "true"], "'sun' for '--bind <WHERE>': expected core, numa"),
        (&["--heap", "12q", "true"], "'12q' for '--heap <SIZE>'"),
        (&["--timeout", "-1", "true"], "'-1' for '--timeout <TIME>'"),
        (&["-n", "2"], "no program given"),
        (&[], "no program given"),
    ] {
        let result = oshrun(args);
        assert_eq!(result.status, 2, "{args:?}");
        assert!(result.err.contains(words) && result.err.contains("'--help'"), "{args:?}: {}", result.err);
        assert_eq!(result.out, "");
    }
}

#[test]
fn a_program_that_cannot_be_run_is_explained() {
    let folder = Folder::new("cannot-run");
    let plain = folder.file("plain", "text", false);
    let no_interpreter = folder.file("script", "#!/no/such/interpreter\n", true);
    for (program, status, words) in [
        ("no-such-program-anywhere", 127, "program \"no-such-program-anywhere\" not found in PATH"),
        ("./no/such/program", 127, "program \"./no/such/program\" not found"),
        ("/etc", 126, "it is a directory"),
        (&plain, 126, "it is not executable"),
        (&no_interpreter, 126, "its interpreter"),
    ] {
        let result = oshrun(&["-n", "2", program]);
        assert_eq!(result.status, status, "{program}: {}", result.err);
        assert!(result.err.contains(words), "{program}: {}", result.err);
        assert_eq!(result.err.lines().count(), 1, "{}", result.err);
    }
}

#[test]
fn names_are_looked_up_and_paths_are_not() {
    let folder = Folder::new("look-up");
    folder.file("my-program", "#!/bin/sh\necho here \"$@\"\n", true);
    let path = format!("{}:/usr/bin:/bin", folder.0.display());
    let run = |args: &[&str], path: Option<&str>| {
        let mut command = command(args);
        command.current_dir(&folder.0);
        path.map(|path| command.env("PATH", path));
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    assert_eq!(run(&["my-program", "a", "-n", "--x"], Some(&path)).1, "here a -n --x\n");
    assert_eq!(run(&["./my-program", "b"], None).1, "here b\n");
    assert_eq!(run(&["--", "./my-program"], None).1, "here\n");
    let (status, _, err) = run(&["my-program"], None);
    assert_eq!(status, 127);
    assert!(err.contains("there is one in the current directory: ./my-program"), "{err}");
}

#[test]
fn a_script_without_a_first_line_runs() {
    let folder = Folder::new("no-shebang");
    let script = folder.file("script", "echo ran\n", true);
    let result = oshrun(&[&script]);
    assert_eq!((result.status, result.out.as_str()), (0, "ran\n"), "{}", result.err);
}

#[test]
fn the_environment_of_a_pe() {
    let result = shell(
        &["-n", "2", "-x", "A=b c", "--heap", "3m", "--check", "--profile", "off"],
        "echo $PMI_RANK $PMI_SIZE $PMIX_RANK $A $SHMEM_SYMMETRIC_SIZE $SHMEM_DEBUG $SHMEM_PROFILE",
    );
    let mut lines: Vec<&str> = result.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0 2 0 b c 3m 1 0", "1 2 1 b c 3m 1 0"]);
}

#[test]
fn an_unset_variable_is_named() {
    let result = shell(&["-x", "NO_SUCH_VARIABLE_IS_SET"], "true");
    assert_eq!(result.status, 0);
    assert!(result.err.contains("option -x: NO_SUCH_VARIABLE_IS_SET is not set"), "{}", result.err);
}

#[test]
fn pe_0_alone_reads_the_input() {
    let result = shell_with_input(&["-n", "3", "--label"], "cat", b"one\ntwo\n");
    assert_eq!(result.out, "[0] one\n[0] two\n");
    let large = b"0123456789abcde\n".repeat(1 << 16);
    let result = shell_with_input(&["-n", "2"], "cat", &large);
    assert_eq!(result.out.as_bytes(), large);
    assert_eq!(shell_with_input(&["-n", "2"], "read line; echo $line", &large).status, 0);
}

#[test]
fn a_terminal_reaches_pe_0_too() {
    // `script` makes a terminal and types what it reads.
    let line = format!("{} -n 2 --label sh -c 'cat; tty; true'", env!("CARGO_BIN_EXE_oshrun"));
    let mut child = std::process::Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"typed\n\x04").unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    assert!(text.contains("[0] typed\n"), "{text}");
    assert!(text.contains("[0] not a tty\n") && text.contains("[1] not a tty\n"), "{text}");
}

#[test]
fn a_question_is_shown_before_its_line_ends() {
    let line = format!(
        "{} -n 2 sh -c 'if [ $PMI_RANK = 0 ]; then printf \"name? \" && read n && echo $n; fi'",
        env!("CARGO_BIN_EXE_oshrun")
    );
    let mut child = std::process::Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut question = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut question).unwrap();
    assert_eq!(&question, b"name? ");
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"me\n").unwrap();
    child.wait().unwrap();
}

#[test]
fn binding() {
    let cpus = std::thread::available_parallelism().unwrap().get();
    let script = "sed -n 's/Cpus_allowed_list:\t//p' /proc/self/status";
    let bound = shell(&["-n", "2", "--bind", "core"], script);
    assert!(bound.out.lines().all(|line| line.parse::<u32>().is_ok() || cpus > 2), "{}", bound.out);
    if cpus >= 2 {
        let mut lines: Vec<&str> = bound.out.lines().collect();
        lines.dedup();
        assert_eq!(lines.len(), 2, "{}", bound.out);
    }
    let free = shell(&["-n", "2", "--bind", "none"], script);
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    let own = own.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:\t")).unwrap();
    assert!(free.out.lines().all(|line| line == own), "{}", free.out);
}

#[test]
fn pes_have_the_limits_of_the_user() {
    let script = format!("ulimit -Sn 64; {} -n 40 sh -c 'ulimit -Sn'", env!("CARGO_BIN_EXE_oshrun"));
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "64\n".repeat(40));
    let script = format!("ulimit -n 64; {} -n 40 true", env!("CARGO_BIN_EXE_oshrun"));
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("option -n: 40 PEs need") && err.contains("the hard limit is 64"), "{err}");
}

/// A sandbox in which a system call is refused, as container runtimes make it: from here on and in all that is started.
#[allow(unsafe_code)]
fn refuse(call: libc::c_long) -> std::io::Result<()> {
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let (load, equal, give) =
        (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, libc::BPF_JMP | libc::BPF_JEQ, libc::BPF_RET);
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut steps = [
        step(load, 0, 0, 0),
        step(equal, 0, 1, call as u32),
        step(give, 0, 0, refused),
        step(give, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: 4, filter: steps.as_mut_ptr() };
    // SAFETY: a filter of so many steps, which the kernel copies.
    let made = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) == 0
    };
    if made { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[test]
#[allow(unsafe_code)]
fn a_sandbox_that_hides_the_limit_of_open_files_is_named() {
    use std::os::unix::process::CommandExt;
    let mut command = command(&["-n", "3", "true"]);
    // SAFETY: system calls only.
    unsafe { command.pre_exec(|| refuse(libc::SYS_prlimit64)) };
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("limit of open files") && err.contains("prlimit64"), "{err}");
    assert!(err.contains("Operation not permitted") && !err.contains("ulimit"), "{err}");
}
