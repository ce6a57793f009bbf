use super::*;
use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Barrier, Mutex};

/// What a launcher of threads offers to them.
struct Space {
    key_values: Mutex<HashMap<(u32, String), Vec<u8>>>,
    fence: Barrier,
}

struct Thread {
    space: Arc<Space>,
    pe: u32,
    npes: u32,
    job: String,
    placement: OnceLock<Placement>,
    /// Another machine that it pretends to be on.
    elsewhere: bool,
}

impl Wireup for Thread {
    fn name(&self) -> &'static str {
        "threads"
    }
    fn pe(&self) -> u32 {
        self.pe
    }
    fn npes(&self) -> u32 {
        self.npes
    }
    fn local(&self) -> std::ops::Range<u32> {
        self.placement.get().unwrap().local.clone()
    }
    fn publish(&self, key: &str, value: &[u8]) -> Result<(), Fault> {
        let mut value = value.to_vec();
        if self.elsewhere {
            value.extend_from_slice(b"-other");
        }
        self.space.key_values.lock().unwrap().insert((self.pe, key.into()), value);
        Ok(())
    }
    fn fence(&self) -> Result<(), Fault> {
        self.space.fence.wait();
        Ok(())
    }
    fn lookup(&self, pe: u32, key: &str) -> Result<Vec<u8>, Fault> {
        self.space.key_values.lock().unwrap().get(&(pe, key.into())).cloned().ok_or_else(|| startup("no value".into()))
    }
    fn abort(&self, _: i32, _: &str) {}
}

impl Member for Thread {
    fn job(&self) -> String {
        self.job.clone()
    }
    fn placement(&self) -> &OnceLock<Placement> {
        &self.placement
    }
}

/// Runs a job of threads on hosts of so many PEs; the last of them may be elsewhere.
fn run<T: Send>(job: &str, hosts: &[u32], elsewhere: bool, f: impl Fn(&Thread) -> T + Sync) -> Vec<T> {
    let npes = hosts.iter().sum();
    let space = Arc::new(Space { key_values: Mutex::default(), fence: Barrier::new(npes as usize) });
    let f = &f;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..npes)
            .map(|pe| {
                let ends = hosts.iter().scan(0, |end, pes| {
                    *end += pes;
                    Some(*end - pes..*end)
                });
                let local = ends.clone().find(|host| host.contains(&pe)).unwrap();
                let thread = Thread {
                    space: space.clone(),
                    pe,
                    npes,
                    job: format!("{job}-{}", std::process::id()),
                    placement: Placement { local, hosts: None }.into(),
                    elsewhere: elsewhere && pe + 1 == npes,
                };
                scope.spawn(move || f(&thread))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn profile(pes: std::ops::Range<u32>, npes: u32) -> Option<OwnedFd> {
    let mut file = std::fs::File::from(mmap::memfd(c"profile").ok()?);
    write!(file, "{pes:?} of {npes}").ok()?;
    Some(file.into())
}

#[test]
fn the_pes_of_each_host_share_what_its_first_makes() {
    let pids = run("share", &[3, 1, 2], false, |thread| {
        let Shared { job, profile } = share_job(thread, profile).unwrap_or_else(|fault| panic!("{fault}"));
        let mut text = String::new();
        let mut file = std::fs::File::from(profile.unwrap());
        thread.fence().unwrap();
        if thread.pe == job.pes().start {
            file.seek(SeekFrom::Start(0)).unwrap();
            file.read_to_string(&mut text).unwrap();
            assert_eq!(text, format!("{:?} of 6", thread.local()));
        }
        assert_eq!((job.pes(), job.npes()), (thread.local(), 6));
        job.pe(thread.pe).claim(100 + thread.pe as i32).unwrap();
        job.host_barrier();
        job.pes().map(|pe| job.pe(pe).pid()).collect::<Vec<_>>()
    });
    assert_eq!(pids[..3], [[100, 101, 102], [100, 101, 102], [100, 101, 102]]);
    assert_eq!(pids[3], [103]);
    assert_eq!(pids[4..], [[104, 105], [104, 105]]);
}

#[test]
fn two_jobs_on_one_host_do_not_meet() {
    std::thread::scope(|scope| {
        for job in ["one", "two"] {
            scope.spawn(move || run(job, &[2], false, |thread| share_job(thread, profile).map(drop).unwrap()));
        }
    });
}

#[test]
fn a_pe_that_is_elsewhere_is_named() {
    let results = run("elsewhere", &[2], true, |thread| {
        // The first of the host is the one that publishes.
        thread.publish(MACHINE, &machine::identity())?;
        thread.fence()?;
        check_machine(thread, 1)
    });
    let text = results.into_iter().next().unwrap().unwrap_err().to_string();
    let host = crate::os::process::host_name();
    assert!(text.starts_with("the launcher says that PE 1 and PE 0 are on one host"), "{text}");
    assert!(text.contains(&format!("they are on {host}-other and {host}, or")), "{text}");
}

#[test]
fn where_the_launcher_says_nothing_the_pes_ask_each_other() {
    for (elsewhere, expected) in [(false, [0..3, 0..3, 0..3]), (true, [0..2, 0..2, 2..3])] {
        let found = run("ask", &[3], elsewhere, |thread| {
            let blank =
                Thread { placement: OnceLock::new(), space: thread.space.clone(), job: String::new(), ..*thread };
            locate(&blank).unwrap();
            blank.placement.get().unwrap().local.clone()
        });
        assert_eq!(found, expected);
    }
}

/// Told of their host's PEs, told nothing, on one machine: whoever knows nothing takes nobody of another host in.
#[test]
fn some_pes_are_told_and_others_are_not() {
    type Told = Option<Range<u32>>;
    let cases: [([Told; 4], [Range<u32>; 4]); 4] = [
        ([Some(0..2), Some(0..2), None, None], [0..2, 0..2, 2..4, 2..4]),
        ([None, None, Some(2..4), Some(2..4)], [0..2, 0..2, 2..4, 2..4]),
        ([None, Some(1..3), Some(1..3), None], [0..1, 1..3, 1..3, 3..4]),
        ([Some(0..4), None, None, Some(0..4)], [0..4, 0..4, 0..4, 0..4]),
    ];
    for (told, expected) in cases {
        let found = run("some", &[4], false, |thread| {
            let placement = OnceLock::new();
            if let Some(local) = &told[thread.pe as usize] {
                let _ = placement.set(Placement { local: local.clone(), hosts: None });
            }
            let one = Thread { placement, space: thread.space.clone(), job: String::new(), ..*thread };
            locate(&one).unwrap();
            one.placement.get().unwrap().local.clone()
        });
        assert_eq!(found, expected, "{told:?}");
    }
}
