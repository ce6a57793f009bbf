//! Copies of a kilobyte and more.
//!
//! Processors with fast short `rep movsb` (FSRM) copy fastest with that instruction as long as the caches hold the
//! data. It has one weakness, measured on Zen 4: where the destination is a few bytes further on in its page than the
//! source in its, it goes byte by byte, 20 times slower (and with it the C library's memcpy). Such copies go through
//! vector registers; the largest ones too, with stores that go past the caches. Other processors use the C library's
//! copy.
#![allow(unsafe_code)]

use std::ptr;

/// Copies below this many bytes are the C library's.
pub const FROM: usize = 1024;

/// # Safety
/// `source` is readable and `dest` writable for `bytes` bytes, and they do not overlap.
pub unsafe fn copy(dest: *mut u8, source: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    if x86::fast_rep_movsb() {
        // SAFETY: the caller's.
        return unsafe { x86::copy(dest, source, bytes) };
    }
    // SAFETY: the caller's.
    unsafe { ptr::copy_nonoverlapping(source, dest, bytes) }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::asm;
    use std::arch::x86_64::{
        __cpuid, __cpuid_count, __m256i, _mm_sfence, _mm256_loadu_si256, _mm256_store_si256, _mm256_stream_si256,
    };
    use std::sync::atomic::{AtomicU8, Ordering};

    /// Distances of destination behind source, in a page, at which `rep movsb` is slow.
    const SLOW: std::ops::Range<usize> = 1..64;
    const PAGE: usize = 4096;
    const VECTOR: usize = 32;
    /// Copies of this size and more go past the caches.
    const STREAM: usize = 8 << 20;

    /// Whether this processor has fast `rep movsb`, and vectors for where it is slow. Asked once: in a virtual machine
    /// the question costs microseconds.
    #[inline]
    pub fn fast_rep_movsb() -> bool {
        static ANSWER: AtomicU8 = AtomicU8::new(0);
        match ANSWER.load(Ordering::Relaxed) {
            0 => {
                const FSRM: u32 = 1 << 4;
                let has = __cpuid(0).eax >= 7
                    && __cpuid_count(7, 0).edx & FSRM != 0
                    && std::arch::is_x86_feature_detected!("avx");
                ANSWER.store(1 + u8::from(has), Ordering::Relaxed);
                has
            }
            answer => answer == 2,
        }
    }

    /// # Safety
    /// See [`super::copy`]; [`fast_rep_movsb`] holds.
    #[inline]
    pub unsafe fn copy(dest: *mut u8, source: *const u8, bytes: usize) {
        let behind = (dest as usize).wrapping_sub(source as usize) % PAGE;
        // SAFETY: the caller's.
        unsafe {
            if bytes >= STREAM {
                vectors::<true>(dest, source, bytes);
            } else if SLOW.contains(&behind) {
                vectors::<false>(dest, source, bytes);
            } else {
                asm!(
                    "rep movsb",
                    inout("rcx") bytes => _, inout("rdi") dest => _, inout("rsi") source => _,
                    options(nostack, preserves_flags),
                );
            }
        }
    }

    /// # Safety
    /// See [`copy`]; at least two vectors long.
    #[target_feature(enable = "avx")]
    pub unsafe fn vectors<const STREAMING: bool>(dest: *mut u8, source: *const u8, bytes: usize) {
        // SAFETY: every access lies within `bytes` bytes; the last vector may overlap the one before it.
        unsafe {
            let load = |at: usize| _mm256_loadu_si256(source.add(at).cast());
            let last = load(bytes - VECTOR);
            let first = load(0);
            // From the first aligned vector of the destination on.
            let mut at = VECTOR - dest as usize % VECTOR;
            let store = |at: usize, value: __m256i| {
                let to = dest.add(at).cast();
                if STREAMING { _mm256_stream_si256(to, value) } else { _mm256_store_si256(to, value) }
            };
            while at + 4 * VECTOR <= bytes {
                let (a, b) = (load(at), load(at + VECTOR));
                let (c, d) = (load(at + 2 * VECTOR), load(at + 3 * VECTOR));
                store(at, a);
                store(at + VECTOR, b);
                store(at + 2 * VECTOR, c);
                store(at + 3 * VECTOR, d);
                at += 4 * VECTOR;
            }
            while at + VECTOR <= bytes {
                store(at, load(at));
                at += VECTOR;
            }
            dest.cast::<[u8; VECTOR]>().write_unaligned(std::mem::transmute::<__m256i, [u8; VECTOR]>(first));
            dest.add(bytes - VECTOR)
                .cast::<[u8; VECTOR]>()
                .write_unaligned(std::mem::transmute::<__m256i, [u8; VECTOR]>(last));
            if STREAMING {
                // Streaming stores are not ordered with others.
                _mm_sfence();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every distance of source and destination in a page that matters, against a plain copy.
    #[test]
    fn all_distances() {
        let source: Vec<u8> = (0..40_000u32).map(|i| (i * 31 + i / 256) as u8).collect();
        for bytes in [FROM, FROM + 1, FROM + 31, 4096, 4097, 16_385] {
            for (from, to) in [(0, 0), (0, 1), (0, 8), (5, 37), (8, 0), (0, 63), (0, 64), (33, 32), (7, 4000)] {
                let mut dest = vec![0u8; bytes + 8192];
                let base = dest.as_ptr().align_offset(4096);
                let start = source.as_ptr().align_offset(4096).min(4096) + from;
                // SAFETY: both have room for `bytes` bytes from there.
                unsafe { copy(dest.as_mut_ptr().add(base + to), source.as_ptr().add(start), bytes) };
                assert_eq!(dest[base + to..base + to + bytes], source[start..start + bytes], "{bytes} {from} {to}");
                assert!(dest[base + to + bytes..].iter().all(|b| *b == 0));
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn vectors_of_both_kinds() {
        if !std::arch::is_x86_feature_detected!("avx") {
            return;
        }
        let source: Vec<u8> = (0..9_000u32).map(|i| (i * 13) as u8).collect();
        for bytes in (64..400).chain([4095, 8999]) {
            let (mut plain, mut streamed) = (vec![0u8; bytes], vec![0u8; bytes]);
            // SAFETY: all have `bytes` bytes, at least two vectors; AVX is there.
            unsafe {
                x86::vectors::<false>(plain.as_mut_ptr(), source.as_ptr(), bytes);
                x86::vectors::<true>(streamed.as_mut_ptr(), source.as_ptr(), bytes);
            }
            assert!(plain == source[..bytes] && streamed == source[..bytes], "{bytes}");
        }
    }
}
