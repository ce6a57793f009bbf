//! `oshprof serve` as a process: what it leaves in the file system, and what becomes of it when nobody listens to it.
#![cfg(feature = "metrics")]

mod scratch;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use scratch::Scratch;

/// An exporter, ended with the value.
struct Exporter {
    child: Child,
    address: String,
}

impl Exporter {
    fn start(socket: &Path, stderr: Stdio) -> Exporter {
        let mut child = command(socket).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("oshprof: serving metrics at http://");
        let address = address.and_then(|url| url.strip_suffix("/metrics")).unwrap_or_else(|| panic!("{line}"));
        Exporter { child, address: address.to_owned() }
    }

    /// Whether it answers.
    fn is_healthy(&self) -> bool {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(b"GET /-/healthy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.starts_with("HTTP/1.1 200 ")
    }

    fn end_by(&mut self, signal: &str) -> Option<i32> {
        assert!(Command::new("kill").arg(signal).arg(self.child.id().to_string()).status().unwrap().success());
        self.child.wait().unwrap().signal()
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(socket: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oshprof"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--socket"]).arg(socket).stdin(Stdio::null());
    command
}

#[test]
fn a_socket_goes_with_its_exporter() {
    let folder = Scratch::new("serve-socket");
    std::fs::create_dir_all(folder.path()).unwrap();
    let socket = folder.path().join("serve.sock");
    for (signal, number) in [("-TERM", libc::SIGTERM), ("-INT", libc::SIGINT), ("-KILL", libc::SIGKILL)] {
        // The first after one that was killed finds its socket.
        let mut exporter = Exporter::start(&socket, Stdio::inherit());
        assert!(socket.exists() && exporter.is_healthy());
        assert_eq!(exporter.end_by(signal), Some(number));
        assert_eq!(socket.exists(), number == libc::SIGKILL, "{signal}");
    }
    let exporter = Exporter::start(&socket, Stdio::inherit());
    assert!(exporter.is_healthy());
}

#[test]
fn a_file_in_the_place_of_the_socket_stays() {
    let folder = Scratch::new("serve-file");
    std::fs::create_dir_all(folder.path()).unwrap();
    let file = folder.path().join("results.csv");
    std::fs::write(&file, "a,b\n").unwrap();
    let mut exporter = Exporter::start(&file, Stdio::piped());
    assert!(exporter.is_healthy());
    assert_eq!(exporter.end_by("-TERM"), Some(libc::SIGTERM));
    let mut said = String::new();
    exporter.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("results.csv: what is there is no socket, and is left as it is"), "{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "a,b\n");
}

#[test]
fn an_exporter_whose_reader_has_gone_goes_on() {
    let folder = Scratch::new("serve-silent");
    std::fs::create_dir_all(folder.path()).unwrap();
    let socket = folder.path().join("serve.sock");
    let mut exporter = Exporter::start(&socket, Stdio::piped());
    drop(exporter.child.stderr.take());
    for _ in 0..3 {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(b"nonsense\n\n").unwrap();
        // The end of the connection comes after what there is to complain of.
        let _ = stream.read(&mut [0]);
    }
    assert!(exporter.is_healthy());
}

#[test]
fn an_output_that_is_full_is_told_at_the_start() {
    let folder = Scratch::new("serve-full");
    std::fs::create_dir_all(folder.path()).unwrap();
    let socket = folder.path().join("serve.sock");
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let output = command(&socket).stdout(full()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("oshprof: serve: standard output: No space left on device"), "{said}");
    assert!(!socket.exists());
    let help = Command::new(env!("CARGO_BIN_EXE_oshprof")).args(["serve", "--help"]).stdout(full()).output().unwrap();
    assert_eq!(help.status.code(), Some(1));
}
