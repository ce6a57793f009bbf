//! Goes wrong at places that are known: where WAY. Lines are looked for by their marks.

use std::hint::black_box;

fn deeper(n: u64) -> u64 {
    let room = [n; 100];
    if black_box(n) == 0 { 0 } else { deeper(n + 1) + black_box(room)[3] }
}

fn main() {
    let shmem = pellucid::init().unwrap();
    let world = shmem.world();
    let array = shmem.alloc::<u64>(4).unwrap();
    let sums = shmem.alloc::<u64>(4).unwrap();
    for _ in 0..100 {
        shmem.put_one(&array, 1, 7, world.neighbour(1)); // put
    }
    shmem.barrier_all();
    match std::env::args().nth(1).as_deref() {
        Some("abort") => std::process::abort(), // abort
        // SAFETY: none; it is to crash.
        Some("segv") => unsafe { std::ptr::null_mut::<u32>().write_volatile(5) }, // segv
        Some("deep") => println!("{}", deeper(1)),
        Some("panic") => shmem.put(&array, 3, &[1, 2], world.me()), // panic
        Some("waits") if world.rank() == 0 => shmem.barrier_all(),  // barrier
        Some("waits") => world.sum(&sums, &array),                  // sum
        _ => {}
    }
}
