//! What a member does grows as the logarithm of the members.

use crate::counting::{ROWS, addresses, bound, depth, doublings, most, runners, sample};

#[test]
fn messages_are_waited_for_and_chains_are_short() {
    for size in (1..70).chain([127, 128, 129, 500, 1024]) {
        for row in ROWS {
            let steps = depth(row, size);
            assert!(steps <= row.steps * doublings(size), "{}: {steps} steps with {size} members", row.name);
        }
    }
}

#[test]
fn messages_of_a_member_grow_as_the_logarithm() {
    for power in 1..=20 {
        for size in [1 << power, (1 << power) - 1, (1 << power) / 4 * 3].into_iter().filter(|size| *size > 1) {
            let members = sample(size, 64);
            // Those take their time; the example runs them with a million, too.
            for row in ROWS.iter().filter(|row| !row.long || size <= 1 << 14) {
                let most = most(row, size, &runners(row, size, 64));
                let bound = bound(row, size, &most);
                assert!(most.sent <= bound, "{}: {} messages with {size} members", row.name, most.sent);
                assert!(most.received <= bound, "{}: {} messages with {size} members", row.name, most.received);
                assert!(most.operations <= bound, "{}: {} puts with {size} members", row.name, most.operations);
            }
            let addresses = members.iter().step_by(9).map(|me| addresses(size, *me)).max().unwrap();
            assert!(addresses <= 1 + 4 * doublings(size), "{addresses} addresses with {size} members");
        }
    }
}
