//! What the PEs write arrives whole.
mod common;

use common::{SOON, command, oshrun, shell};
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A writer whose buffer ends anywhere in a line.
const WRITER: &str = r#"awk 'BEGIN {
    for (i = 0; i < 10000; i++)
        printf "pe %d line %d %s\n", ENVIRON["PMI_RANK"], i, substr("abcdefghijklmnopqrstuvwxyz", 1, i % 26 + 1)
}'"#;

fn check_lines(text: &str, pes: usize, label: bool) {
    let mut next = vec![0; pes];
    for line in text.lines() {
        let (labelled, rest) = match label {
            true => {
                let (number, rest) = line.strip_prefix('[').and_then(|l| l.split_once("] ")).expect(line);
                (Some(number.parse::<usize>().expect(line)), rest)
            }
            false => (None, line),
        };
        let words: Vec<&str> = rest.split(' ').collect();
        assert!(words.len() == 5 && words[0] == "pe" && words[2] == "line", "{line:?}");
        let pe: usize = words[1].parse().expect(line);
        let number: usize = words[3].parse().expect(line);
        assert!(labelled.is_none_or(|l| l == pe), "{line:?}");
        assert_eq!(number, next[pe], "{line:?}");
        assert_eq!(words[4], &"abcdefghijklmnopqrstuvwxyz"[..number % 26 + 1], "{line:?}");
        next[pe] += 1;
    }
    assert!(next.iter().all(|count| *count == 10000), "{next:?}");
}

#[test]
fn lines_of_many_pes_stay_whole_and_in_order() {
    let result = shell(&["-n", "16"], WRITER);
    assert_eq!((result.status, result.err.as_str()), (0, ""));
    check_lines(&result.out, 16, false);
}

#[test]
fn labels_name_the_pe_that_wrote_the_line() {
    let result = shell(&["-n", "8", "--label"], &format!("{WRITER} >&2"));
    assert_eq!((result.status, result.out.as_str()), (0, ""));
    check_lines(&result.err, 8, true);
}

#[test]
fn both_streams_into_one_file_keep_their_lines() {
    let script = format!("exec {} -n 4 sh -c \"$0\" 2>&1", env!("CARGO_BIN_EXE_oshrun"));
    let writer = format!("if [ $((PMI_RANK % 2)) = 0 ]; then {WRITER}; else {WRITER} >&2; fi");
    let output = std::process::Command::new("sh").args(["-c", &script, &writer]).output().unwrap();
    check_lines(&String::from_utf8(output.stdout).unwrap(), 4, false);
}

#[test]
fn streams_stay_apart() {
    let result = shell(&["-n", "2"], "echo out; echo err >&2");
    assert_eq!((result.out.as_str(), result.err.as_str()), ("out\nout\n", "err\nerr\n"));
}

#[test]
fn an_unterminated_line_arrives_as_it_is() {
    assert_eq!(shell(&[], "printf abc").out, "abc");
    assert_eq!(shell(&["--label"], "printf abc").out, "[0] abc\n");
}

#[test]
fn a_line_of_any_length_arrives() {
    let result = shell(&["-n", "1"], "head -c 5000000 /dev/zero | tr '\\0' x; echo; echo end");
    assert_eq!(result.out.len(), 5_000_005);
    assert!(result.out.ends_with("x\nend\n"));
}

#[test]
fn bytes_arrive_unchanged() {
    let mut child = command(&["sh", "-c", r"printf '\000\377\n\200'"]).spawn().unwrap();
    let mut bytes = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut bytes).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(bytes, [0, 255, b'\n', 128]);
}

#[test]
fn a_reader_who_leaves_ends_the_writers() {
    let oshrun = env!("CARGO_BIN_EXE_oshrun");
    let script = format!("{oshrun} -n 2 yes | head -n 2; echo ${{PIPESTATUS[0]}}");
    let started = Instant::now();
    let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "y\ny\n141\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(started.elapsed() < SOON);
}

#[test]
fn a_full_disk_is_reported_once() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = command(&["-n", "2", "sh", "-c", WRITER]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(err, "oshrun: cannot write standard output: No space left on device (os error 28)\n");
}

#[test]
fn a_slow_reader_holds_up_neither_signals_nor_memory() {
    let mut child = command(&["-n", "2", "yes"]).stderr(Stdio::inherit()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let resident = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kilobytes: u64 = resident.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kilobytes < 40 << 10, "{resident}");
    let started = Instant::now();
    common::signal(&child, libc::SIGTERM);
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(143));
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}

/// The job was ended before its time: what nobody reads does not keep it for ever. Whoever reads slowly gets all.
#[test]
fn a_reader_who_has_stopped_does_not_keep_a_job_that_was_ended() {
    let started = Instant::now();
    let mut child = command(&["--timeout", "1", "-n", "2", "yes"]).spawn().unwrap();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(124), "{err}");
    assert!(err.contains("output was dropped: nothing was read of standard output for 10 s"), "{err}");
    assert!(started.elapsed() < common::LONG, "{:?}", started.elapsed());
}

#[test]
fn a_slow_reader_gets_all_of_a_job_that_was_ended() {
    let script = "awk 'BEGIN { for (i = 0; i < 20000; i++) print \"line\", i }'; echo end; kill -9 $$";
    let mut child = common::start(&[], script);
    let mut out = child.stdout.take().unwrap();
    let mut text = vec![0; 8 << 10];
    for begin in [0, 4 << 10] {
        std::thread::sleep(Duration::from_secs(6));
        out.read_exact(&mut text[begin..begin + (4 << 10)]).unwrap();
    }
    out.read_to_end(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(137));
    assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), 20_001);
    assert!(text.ends_with(b"\nend\n"));
}

#[test]
fn everything_written_before_a_death_comes_before_its_report() {
    let result = shell(&["-n", "1"], "echo last words >&2; kill -ABRT $$");
    assert!(result.err.starts_with("last words\noshrun: PE 0 of 1 (pid "), "{}", result.err);
}

#[test]
fn help_and_version() {
    let help = oshrun(&["--help"]);
    assert_eq!((help.status, help.err.as_str()), (0, ""));
    assert!(help.out.contains("--profile-dir <DIR>"));
    assert!(oshrun(&["--version"]).out.contains("OpenSHMEM 1.6"));
}
