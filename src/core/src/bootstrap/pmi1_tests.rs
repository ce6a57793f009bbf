use super::*;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

/// A launcher that answers each line that begins as a row of the script does, and ends with it. Gives the lines.
fn launcher(script: &'static [(&'static str, &'static str)]) -> (Socket, JoinHandle<Vec<String>>) {
    let (here, there) = UnixStream::pair().unwrap();
    let server = std::thread::spawn(move || {
        let mut lines = BufReader::new(there.try_clone().unwrap()).lines();
        let mut heard = Vec::new();
        for (expected, answer) in script {
            let line = lines.next().unwrap().unwrap();
            assert!(line.starts_with(expected), "{line} where {expected} was to come");
            heard.push(line);
            (&there).write_all(answer.as_bytes()).unwrap();
        }
        heard
    });
    (Socket::new("PMI-1 (PMI_FD=9)".into(), OwnedFd::from(here)), server)
}

const BEGIN: [(&str, &str); 4] = [
    ("cmd=init pmi_version=1 pmi_subversion=1", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"),
    ("cmd=get_maxes", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=64\n"),
    ("cmd=get_my_kvsname", "cmd=my_kvsname kvsname=kvs_1_0\n"),
    ("cmd=get kvsname=kvs_1_0 key=PMI_process_mapping", "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))\n"),
];

fn message<T>(result: Result<T, Fault>) -> String {
    result.err().expect("a fault").to_string()
}

#[test]
fn a_whole_life() {
    const SCRIPT: &[(&str, &str)] = &[
        BEGIN[0],
        BEGIN[1],
        BEGIN[2],
        BEGIN[3],
        ("cmd=put kvsname=kvs_1_0 key=fabric-1 value=2.", "cmd=put_result rc=0 msg=success\n"),
        ("cmd=put kvsname=kvs_1_0 key=fabric-1-1 value=", "cmd=put_result rc=0\n"),
        ("cmd=barrier_in", "cmd=barrier_out rc=0\n"),
        ("cmd=get kvsname=kvs_1_0 key=fabric-3", "cmd=get_result rc=0 msg=success value=2.aGVs\n"),
        ("cmd=get kvsname=kvs_1_0 key=fabric-3-1", "cmd=get_result rc=0 value=bG8\n"),
        ("cmd=finalize", "cmd=finalize_ack\n"),
    ];
    let (socket, server) = launcher(SCRIPT);
    let pmi = Pmi1::begin(socket, Some((1, 4))).unwrap();
    assert_eq!((pmi.pe(), pmi.npes(), pmi.local(), pmi.hosts()), (1, 4, 0..2, Some(vec![0, 2])));
    pmi.publish("fabric", &[7; 60]).unwrap();
    pmi.fence().unwrap();
    assert_eq!(pmi.lookup(3, "fabric").unwrap(), b"hello");
    pmi.finish();
    for line in server.join().unwrap() {
        assert!(line.split("value=").nth(1).is_none_or(|value| value.len() < 64), "{line}");
    }
}

#[test]
fn refusals_and_nonsense_become_messages() {
    for (script, expected) in [
        (&[("cmd=init", "cmd=response_to_init rc=-1\n")][..], "the launcher refuses init: rc=-1"),
        (&[("cmd=init", "cmd=response_to_init pmi_version=3 rc=0\n")], "speaks version 3 of PMI, not 1"),
        (&[("cmd=init", "hello\n")], "the answer to init is something else, not response_to_init"),
        (&[("cmd=init", "cmd=barrier_out\n")], "the answer to init is barrier_out, not response_to_init"),
        (&[("cmd=init", "")], "PMI-1 (PMI_FD=9): the launcher has closed the connection"),
        (&[("cmd=init", "cmd=response")], "the launcher has closed the connection"),
        (&[BEGIN[0], ("cmd=get_maxes", "cmd=maxes rc=1 msg=not_now\n")], "refuses get_maxes: rc=1, not_now"),
    ] {
        let (socket, server) = launcher(script);
        assert!(message(Pmi1::begin(socket, Some((0, 2)))).contains(expected), "{expected}");
        server.join().unwrap();
    }
    let (socket, server) = launcher(&[]);
    server.join().unwrap();
    assert!(message(Pmi1::begin(socket, Some((2, 2)))).contains("neither PMI_RANK and PMI_SIZE nor the launcher say"));
}

#[test]
fn what_fails_later_names_the_request() {
    const SCRIPT: &[(&str, &str)] = &[
        BEGIN[0],
        BEGIN[1],
        BEGIN[2],
        ("cmd=get", "cmd=get_result rc=-1 msg=key_PMI_process_mapping_not_found value=unknown\n"),
        ("cmd=put", "cmd=put_result rc=-1 msg=full\n"),
        ("cmd=get kvsname=kvs_1_0 key=fabric-0", "cmd=get_result rc=-1 msg=key_fabric-0_not_found value=unknown\n"),
        ("cmd=get kvsname=kvs_1_0 key=fabric-0", "cmd=get_result rc=0 value=garbage\n"),
        ("cmd=barrier_in", ""),
    ];
    let (socket, server) = launcher(SCRIPT);
    let pmi = Pmi1::begin(socket, Some((1, 2))).unwrap();
    // Without a mapping, nothing is known of other hosts.
    assert_eq!((pmi.local(), pmi.hosts(), pmi.placement().get()), (1..2, None, None));
    assert!(message(pmi.publish("fabric", b"x")).contains("refuses put: rc=-1, full"));
    assert!(message(pmi.lookup(0, "fabric")).contains("refuses get: rc=-1, key_fabric-0_not_found"));
    assert!(message(pmi.lookup(0, "fabric")).contains("what PE 0 published as fabric is damaged"));
    assert!(message(pmi.fence()).contains("closed"));
    server.join().unwrap();
}

#[test]
fn an_abort_does_not_wait_its_turn() {
    let (waits, is_waiting) = std::sync::mpsc::channel();
    let (here, there) = UnixStream::pair().unwrap();
    let server = std::thread::spawn(move || {
        let mut lines = BufReader::new(there.try_clone().unwrap()).lines();
        for (_, answer) in BEGIN {
            lines.next().unwrap().unwrap();
            (&there).write_all(answer.as_bytes()).unwrap();
        }
        assert_eq!(lines.next().unwrap().unwrap(), "cmd=barrier_in");
        // No answer: whoever waits for it keeps the connection locked.
        waits.send(()).unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "cmd=abort exitcode=7");
    });
    let pmi = Pmi1::begin(Socket::new("PMI-1".into(), OwnedFd::from(here)), Some((0, 4))).unwrap();
    std::thread::scope(|scope| {
        let fence = scope.spawn(|| pmi.fence());
        is_waiting.recv().unwrap();
        pmi.abort(7, "");
        // The launcher has gone away.
        assert!(message(fence.join().unwrap()).contains("closed"));
    });
    server.join().unwrap();
}

#[test]
fn a_launcher_with_a_port_says_who_this_is() {
    const SCRIPT: &[(&str, &str)] =
        &[("cmd=initack pmiid=5", "cmd=initack rc=0\ncmd=set size=6\ncmd=set rank=5\ncmd=set debug=0\n")];
    let (socket, server) = launcher(SCRIPT);
    assert_eq!(introduce(&socket, "5").unwrap(), (5, 6));
    server.join().unwrap();
    let (socket, server) =
        launcher(&[("cmd=initack", "cmd=initack\ncmd=set size=6\ncmd=set debug=0\ncmd=set debug=0\n")]);
    assert!(message(introduce(&socket, "5")).contains("did not say which PE this is"));
    server.join().unwrap();
}

#[test]
fn a_descriptor_that_is_no_connection_is_left_alone() {
    use std::os::fd::AsRawFd;
    let file = std::fs::File::open("/dev/null").unwrap();
    let given = Given { door: Door::Descriptor(file.as_raw_fd()), rank: Some((0, 1)) };
    let text = message(Pmi1::connect(&given));
    assert!(text.contains(&format!("(PMI_FD={}): no connection to a launcher", file.as_raw_fd())), "{text}");
    assert!(file.metadata().is_ok(), "it is open still");
}
