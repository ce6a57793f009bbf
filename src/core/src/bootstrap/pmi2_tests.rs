use super::*;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

/// Lengths as they are written: right-aligned, or, by Slurm, left-aligned.
#[derive(Clone, Copy)]
enum Aligned {
    Right,
    Left,
}

/// A launcher that answers requests of a script, then closes. Gives the requests.
fn launcher(aligned: Aligned, script: &'static [(&'static str, &'static str)]) -> (Socket, JoinHandle<Vec<String>>) {
    let (here, mut there) = UnixStream::pair().unwrap();
    let server = std::thread::spawn(move || {
        let mut line = Vec::new();
        let mut byte = [0];
        while line.last() != Some(&b'\n') {
            there.read_exact(&mut byte).unwrap();
            line.push(byte[0]);
        }
        assert_eq!(line, b"cmd=init pmi_version=2 pmi_subversion=0\n");
        there.write_all(b"cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n").unwrap();
        let mut heard = Vec::new();
        for (expected, answer) in script {
            let mut length = [0; 6];
            there.read_exact(&mut length).unwrap();
            let length: usize = std::str::from_utf8(&length).unwrap().trim().parse().unwrap();
            let mut request = vec![0; length];
            there.read_exact(&mut request).unwrap();
            let request = String::from_utf8(request).unwrap();
            assert!(request.starts_with(expected), "{request} where {expected} was to come");
            heard.push(request);
            let length = match aligned {
                Aligned::Right => format!("{:6}", answer.len()),
                Aligned::Left => format!("{:<6}", answer.len()),
            };
            if !answer.is_empty() {
                // In two parts, as a stream may come.
                there.write_all(length.as_bytes()).unwrap();
                there.write_all(answer.as_bytes()).unwrap();
            }
        }
        heard
    });
    (Socket::new("PMI-2 (PMI_FD=9)".into(), OwnedFd::from(here)), server)
}

fn message<T>(result: Result<T, Fault>) -> String {
    result.err().expect("a fault").to_string()
}

const FULLINIT: (&str, &str) = (
    "cmd=fullinit;pmijobid=7.0;pmirank=2;threaded=TRUE;",
    "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=2;size=4;appnum=-1;debugged=FALSE;",
);
const JOB: (&str, &str) = ("cmd=job-getid;", "cmd=job-getid-response;rc=0;jobid=7.0;");

#[test]
fn a_whole_life() {
    const SCRIPT: &[(&str, &str)] = &[
        FULLINIT,
        JOB,
        (
            "cmd=info-getjobattr;key=PMI_process_mapping;",
            "cmd=info-getjobattr-response;rc=0;found=TRUE;value=(vector,(0,2,2));",
        ),
        ("cmd=kvs-put;key=fabric-2;value=1.", "cmd=kvs-put-response;rc=0;"),
        ("cmd=kvs-fence;", "cmd=kvs-fence-response;rc=0;"),
        ("cmd=kvs-get;jobid=7.0;srcid=1;key=fabric-1;", "cmd=kvs-get-response;rc=0;found=TRUE;value=1.aGVsbG8;"),
        ("cmd=kvs-get;jobid=7.0;srcid=3;key=fabric-3;", "cmd=kvs-get-response;rc=0;flag=FALSE;"),
        ("cmd=abort;isworld=TRUE;msg=PE 2: a,b=c ;", ""),
        ("cmd=finalize;", "cmd=finalize-response;rc=0;"),
    ];
    for aligned in [Aligned::Right, Aligned::Left] {
        let (socket, server) = launcher(aligned, SCRIPT);
        let pmi = Pmi2::begin(socket, 2, "7.0").unwrap();
        assert_eq!((pmi.pe(), pmi.npes(), pmi.local(), pmi.hosts()), (2, 4, 2..4, Some(vec![0, 2])));
        assert_eq!(pmi.job(), "7.0");
        pmi.publish("fabric", &[7; 400]).unwrap();
        pmi.fence().unwrap();
        assert_eq!(pmi.lookup(1, "fabric").unwrap(), b"hello");
        assert!(message(pmi.lookup(3, "fabric")).contains("PE 3 has published no fabric-3"));
        pmi.abort(1, "PE 2: a;b=c\n");
        pmi.finish();
        server.join().unwrap();
    }
}

#[test]
fn refusals_and_nonsense_become_messages() {
    for (script, expected) in [
        (
            &[("cmd=fullinit", "cmd=fullinit-response;rc=14;errmsg=no such job;")][..],
            "refuses fullinit: rc=14, no such job",
        ),
        (&[("cmd=fullinit", "cmd=fullinit-response;rc=0;rank=2;")], "did not say which PE this is"),
        (&[("cmd=fullinit", "cmd=fullinit-response;rc=0;rank=4;size=4;")], "did not say which PE this is"),
        (&[("cmd=fullinit", "cmd=kvs-put-response;rc=0;")], "is kvs-put-response, not fullinit-response"),
        (&[("cmd=fullinit", "")], "PMI-2 (PMI_FD=9): the launcher has closed the connection"),
        (&[FULLINIT, ("cmd=job-getid;", "")], "closed the connection"),
    ] {
        let (socket, server) = launcher(Aligned::Right, script);
        assert!(message(Pmi2::begin(socket, 2, "7.0")).contains(expected), "{expected}");
        server.join().unwrap();
    }
}

#[test]
fn a_launcher_of_version_1_is_told_from_one_of_version_2() {
    let (here, there) = UnixStream::pair().unwrap();
    (&there).write_all(b"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n").unwrap();
    let text = message(Pmi2::begin(Socket::new("PMI-2".into(), OwnedFd::from(here)), 0, "7.0"));
    assert!(text.contains("speaks version 1 of PMI, not 2 (SHMEM_BOOTSTRAP=pmi1"), "{text}");
}

#[test]
fn a_length_that_is_none_is_said() {
    let (here, there) = UnixStream::pair().unwrap();
    (&there).write_all(b"cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\nwhat's up?").unwrap();
    let text = message(Pmi2::begin(Socket::new("PMI-2".into(), OwnedFd::from(here)), 0, "7.0"));
    assert!(text.contains("the answer to fullinit has the length \"what's\""), "{text}");
    let (here, there) = UnixStream::pair().unwrap();
    (&there).write_all(b"cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n999999").unwrap();
    drop(there);
    let text = message(Pmi2::begin(Socket::new("PMI-2".into(), OwnedFd::from(here)), 0, "7.0"));
    assert!(text.contains("broken") || text.contains("closed"), "{text}");
}
