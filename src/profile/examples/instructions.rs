//! Calls of one kind, for whoever counts the instructions of recording:
//!
//! ```text
//! cargo build --release -p pellucid-profile --example instructions
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/examples/instructions barrier 200000
//! ```
//!
//! The difference between two numbers of calls, by the difference of the numbers, is what a call takes.

use std::hint::black_box;

use pellucid_profile::op;
use pellucid_profile::recorder::{self, sampled, sized, timed};

fn main() {
    let mut args = std::env::args().skip(1);
    let kind = args.next().unwrap_or_default();
    let calls: u64 = args.next().and_then(|calls| calls.parse().ok()).unwrap_or(100_000);
    let is_kept = args.next().is_some_and(|arg| arg == "kept");
    let _segment = recorder::attach_private(0, 2, !is_kept).expect("a private segment needs memfd_create");
    recorder::set_level(1);
    let find = |name: &str| op::find(name).expect("a routine of the table");
    let (p, put, barrier) = (find("shmem_long_p"), find("shmem_putmem"), find("shmem_barrier_all"));
    let mut word = 0;
    for call in 0..calls {
        let word = black_box(&mut word);
        let addr = std::ptr::from_mut(word).addr();
        match kind.as_str() {
            "p" => sampled(p, 0, addr, 8, || *word = call),
            "put" => sized(put, 0, addr, black_box(64), || *word = call),
            "large" => sized(put, 0, addr, black_box(65_536), || *word = call),
            "barrier" => timed(barrier, -1, 0, 0, || *word = call),
            _ => panic!("p, put, large or barrier, not `{kind}`"),
        }
    }
    println!("{word}");
}
