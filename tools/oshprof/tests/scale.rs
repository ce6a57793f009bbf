//! Many PEs: folded without loss, and with the same result in whatever order the files are named.

mod cases;
mod scratch;

use std::fs;
use std::process::Command;

use pellucid_profile::file;
use pellucid_profile::model::{Pe, Profile};
use pellucid_profile::output::OutputDir;
use pellucid_profile::tables::{PeTables, Peer, Sync, Team, Traffic};
use scratch::Scratch;

const PES: u32 = 512;

/// The first case, with many PEs: each has the routines of one of its four, 16 peers and 16 barriers.
fn crowd() -> Profile {
    let mut profile = cases::all().remove(0).1;
    let models = profile.pes.clone();
    profile.job.npes = PES;
    profile.pes = (0..PES)
        .map(|pe| {
            let model = models[pe as usize % models.len()].clone();
            let traffic = Traffic { calls: 10, bytes: 80 };
            let peer = |k: u32| Peer { pe: Some((pe + k * 32) % PES), put: traffic, ..Peer::default() };
            let sync = |number: u64| Sync {
                op: pellucid_profile::op::find("shmem_barrier_all").unwrap_or(0),
                number,
                arrived_ns: number * 1_000_000 + u64::from(pe),
                ..Sync::default()
            };
            let tables = PeTables {
                peers: (0..16).map(peer).collect(),
                teams: vec![Team { stride: 1, size: PES as i32, calls: 16, ..Team::default() }],
                syncs: (0..16).map(sync).collect(),
                sync_every: 1,
                ..model.tables
            };
            Pe { pe, host: format!("node{:03}", pe / 8), tables, ..model }
        })
        .collect();
    profile
}

fn oshprof(args: &[&str], dir: &Scratch) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_oshprof")).args(args).arg(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn many_pes_in_any_order() {
    let dir = Scratch::new("scale");
    file::write(&crowd(), &OutputDir::take(dir.path()).unwrap()).unwrap();
    let views = ["routines", "matrix", "imbalance"];
    let first = views.map(|view| oshprof(&["report", "--json", "--view", view], &dir));
    let value: serde_json::Value = serde_json::from_slice(&first[1]).unwrap();
    // Folded to hosts of 8 PEs, and nothing is lost.
    let rows = value["matrix"]["bytes"].as_array().unwrap();
    assert_eq!(rows.len(), 64);
    let cells = rows.iter().flat_map(|row| row.as_array().unwrap()).map(|cell| cell.as_u64().unwrap());
    assert_eq!(cells.sum::<u64>(), 80 * 16 * u64::from(PES));
    let value: serde_json::Value = serde_json::from_slice(&first[2]).unwrap();
    assert_eq!(value["imbalance"][0]["late_pe"], PES - 1);

    // The same files, named in the opposite order.
    let path = dir.path().join("job.json");
    let mut job: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    job["files"].as_array_mut().unwrap().reverse();
    fs::write(&path, job.to_string()).unwrap();
    for (view, first) in views.iter().zip(&first) {
        assert!(oshprof(&["report", "--json", "--view", view], &dir) == *first, "{view} depends on the order");
    }
}
