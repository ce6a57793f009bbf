//! A sample sort of random numbers over all PEs: each PE ends up with a range of the values, in order.
//!
//! `oshrun -n 4 --profile target/release/examples/sort 1000000`

use pellucid::{Error, Pe, Shmem, Symmetric, region};

/// Samples of each PE.
const SAMPLES: usize = 64;

fn random(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// Values that divide the numbers of all PEs into as many parts of about one size.
fn splitters(shmem: &Shmem, keys: &[u64]) -> Result<Vec<u64>, Error> {
    let (world, step) = (shmem.world(), (keys.len() / SAMPLES).max(1));
    let mut mine: Vec<_> = keys.iter().copied().step_by(step).take(SAMPLES).collect();
    mine.resize(SAMPLES, u64::MAX);
    let (mine, all) = (shmem.alloc_from(&mine)?, shmem.alloc(SAMPLES * world.size())?);
    world.gather_all(&all, &mine);
    let mut samples: Vec<u64> = all.local().to_vec();
    samples.sort_unstable();
    Ok((1..world.size()).map(|pe| samples[pe * SAMPLES]).collect())
}

/// Where this PE's numbers for each PE begin there, and how many come here in all.
fn places(shmem: &Shmem, counts: &[u64]) -> Result<(Vec<u64>, u64), Error> {
    let world = shmem.world();
    let counts = shmem.alloc_from(counts)?;
    let (before, totals) = (shmem.alloc(counts.len())?, shmem.alloc(counts.len())?);
    world.exclusive_scan(&before, &counts);
    world.sum(&totals, &counts);
    let most = totals.local().iter().max().unwrap_or(0);
    let mut begins = before.local().to_vec();
    begins.push(totals.local().get(world.rank()));
    Ok((begins, most))
}

fn sort(shmem: &Shmem, mut keys: Vec<u64>) -> Result<Vec<u64>, Error> {
    let world = shmem.world();
    region("local sort", || keys.sort_unstable());
    let splitters = region("splitters", || splitters(shmem, &keys))?;
    let mut ends: Vec<_> = splitters.iter().map(|value| keys.partition_point(|key| key < value)).collect();
    ends.push(keys.len());
    let starts: Vec<_> = std::iter::once(0).chain(ends.iter().copied()).take(ends.len()).collect();
    let counts: Vec<_> = starts.iter().zip(&ends).map(|(start, end)| (end - start) as u64).collect();
    let (begins, most) = region("counts", || places(shmem, &counts))?;
    let received: Symmetric<'_, u64> = shmem.alloc(most as usize)?;
    region("exchange", || {
        shmem.nonblocking(|scope| {
            // Each begins with its neighbour, so that not all write to one PE.
            for distance in 0..world.size() {
                let pe: Pe = world.neighbour(distance);
                let to = pe.number();
                scope.put(&received, begins[to] as usize, &keys[starts[to]..ends[to]], pe);
            }
        });
        shmem.barrier_all();
    });
    let mut sorted = vec![0; begins[world.size()] as usize];
    received.local().copy_to(0, &mut sorted);
    region("merge", || sorted.sort_unstable());
    Ok(sorted)
}

fn main() -> Result<(), Error> {
    let count = std::env::args().nth(1).map_or(200_000, |count| count.parse().expect("a number of keys"));
    let shmem = pellucid::init()?;
    let world = shmem.world();
    let keys = random(world.rank() as u64 + 1, count);
    let checksum = |keys: &[u64]| keys.iter().fold(0u64, |sum, key| sum.wrapping_add(*key));
    let before = shmem.alloc_from(&[keys.len() as u64, checksum(&keys)])?;
    let sorted = sort(&shmem, keys)?;

    // In order here and across PEs, and none lost.
    let after = shmem.alloc_from(&[sorted.len() as u64, checksum(&sorted)])?;
    let edges = shmem.alloc_from(&[*sorted.first().unwrap_or(&u64::MAX), *sorted.last().unwrap_or(&0)])?;
    let (had, have) = (shmem.alloc::<u64>(2)?, shmem.alloc::<u64>(2)?);
    world.sum(&had, &before);
    world.sum(&have, &after);
    let next = (world.rank() + 1 < world.size()).then(|| shmem.get_one(&edges, 0, world.neighbour(1)));
    let last = edges.local().get(1);
    let is_ordered = sorted.is_sorted() && next.is_none_or(|next| sorted.is_empty() || last <= next);
    if !is_ordered || had.local().to_vec() != have.local().to_vec() {
        eprintln!("sort: FAILED on PE {}", world.rank());
        shmem.exit_all(1);
    }
    shmem.barrier_all();
    if world.rank() == 0 {
        println!("sort: OK, {} keys on {} PEs", have.local().get(0), world.size());
    }
    Ok(())
}
