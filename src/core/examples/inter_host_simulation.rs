//! Prints what one PE does in start-up and collectives between up to 1,048,576 hosts with a PE each.
//!
//! `cargo run --release -p pellucid-core --example inter_host_simulation`

#[path = "../tests/hierarchical/counting.rs"]
mod counting;

use counting::{ROWS, addresses, bound, depth, doublings, most, runners, sample};
use pellucid_core::inter_host::PART;

/// Members up to which all of them are run together.
const TOGETHER: usize = 1 << 12;
/// Members that are run of larger groups, about.
const SAMPLE: usize = 256;

fn main() {
    println!(
        "Most that one PE does, of {SAMPLE} and more that were run. steps: the longest chain of messages and round"
    );
    println!("trips from the first PE to the last, where all PEs were run together.\n");
    for row in ROWS {
        println!(
            "{}: at most {} messages a doubling, and one for each {PART} bytes of messages",
            row.name, row.messages
        );
        println!("{:>10} {:>10} {:>10} {:>10} {:>14} {:>6}", "PEs", "sent", "received", "puts, gets", "bytes", "steps");
        for power in 1..=20 {
            let size = 1 << power;
            let most = most(row, size, &runners(row, size, SAMPLE));
            assert!(most.sent.max(most.received) <= bound(row, size, &most));
            let steps = (size <= TOGETHER).then(|| depth(row, size));
            assert!(steps.is_none_or(|steps| steps <= row.steps * doublings(size)));
            let steps = steps.map_or(String::new(), |steps| steps.to_string());
            println!(
                "{size:>10} {:>10} {:>10} {:>10} {:>14} {steps:>6}",
                most.sent, most.received, most.operations, most.bytes
            );
        }
        println!();
    }
    println!("endpoint addresses that a PE fetches for all of these");
    println!("{:>10} {:>10}", "PEs", "endpoint addresses");
    for power in 1..=20 {
        let size = 1 << power;
        let most = sample(size, 16).into_iter().map(|me| addresses(size, me)).max().unwrap_or(0);
        println!("{size:>10} {most:>10}");
    }
}
