//! A histogram of numbers that all PEs draw, with bins divided among them: each PE counts what falls into everybody's
//! bins and hands the counts over. Work is given out by a counter on PE 0, so that a fast PE does more.

use rust_heap::{Counter, NoRoom, Shmem, Slice};

/// Pieces of work.
const PIECES: u64 = 64;
/// Numbers in a piece.
const NUMBERS: u64 = 5000;
/// Bins of a PE.
const BINS: usize = 8;

/// The numbers of a piece, the same whoever draws them.
fn draw(piece: u64) -> impl Iterator<Item = u64> {
    let mut state = piece.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 11
    })
    .take(NUMBERS as usize)
}

fn main() -> Result<(), NoRoom> {
    let shmem = Shmem::new();
    let (me, pes) = (shmem.me(), shmem.pes());
    let first = shmem.pe(0).expect("a job has a PE 0");
    let next_piece = Counter::new(&shmem)?;
    // For each PE: what it counted into the bins of this one.
    let received: Slice<'_, u64> = Slice::new(&shmem, pes * BINS)?;
    let total: Slice<'_, u64> = Slice::new(&shmem, 2)?;

    let mut counts = vec![0u64; pes * BINS];
    let mut pieces = 0;
    loop {
        let piece = next_piece.add(1, first);
        if piece >= PIECES {
            break;
        }
        pieces += 1;
        for number in draw(piece) {
            counts[(number % (pes * BINS) as u64) as usize] += 1;
        }
    }
    for distance in 0..pes {
        let pe = shmem.neighbour(distance);
        let bins = &counts[pe.number() * BINS..][..BINS];
        received.put(me.number() * BINS, bins, pe);
    }
    shmem.barrier();

    let mine: u64 = received.to_vec().iter().sum();
    total.put(0, &[mine, pieces], me);
    shmem.barrier();
    total.sum_over_pes();
    let sums = total.to_vec();
    let expected = [PIECES * NUMBERS, PIECES];
    if sums != expected || next_piece.value(first) != PIECES + pes as u64 {
        eprintln!("PE {}: {sums:?} where {expected:?} are due", me.number());
        shmem.exit_all(1);
    }
    if me == first {
        println!("{} numbers in {} bins on {pes} PEs", sums[0], pes * BINS);
    }
    Ok(())
}
