//! Whether all PEs allocate the same array.
#![allow(unsafe_code)]

use std::ptr::NonNull;

use crate::{Error, Pe, Shmem, ffi};

/// Elements of an array, bytes of each, and where it begins: the distance from a block that is alike on all PEs.
type Shape = [u64; 3];

/// A symmetric block, by which the PEs compare.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Shapes {
    /// This PE's, and its complement: the greatest complement is that of the least.
    own: [Shape; 2],
    /// The greatest of these among all PEs.
    greatest: [Shape; 2],
}

impl Shmem {
    /// Made with the first array, by all PEs, and there until the library is finalized.
    pub(crate) fn shapes(&self) -> Result<NonNull<Shapes>, Error> {
        if let Some(shapes) = self.shapes.get() {
            return Ok(shapes);
        }
        // SAFETY: initialized, as self is there.
        let made = unsafe { ffi::shmem_calloc(1, size_of::<Shapes>()) };
        self.shapes.set(NonNull::new(made.cast()));
        self.shapes.get().ok_or(Error::NoRoom { bytes: size_of::<Shapes>() })
    }

    /// Panics on all PEs where these give different shapes: an index that is checked against this PE's length has to be
    /// one on every PE, and an address one of the same array. `start`: of this one, or null.
    #[track_caller]
    pub(crate) fn compare_shapes(&self, shapes: NonNull<Shapes>, [len, size]: [usize; 2], start: *const u8) {
        let place = if start.is_null() { 0 } else { start.addr().wrapping_sub(shapes.as_ptr().addr()) };
        if all_have(shapes.as_ptr(), [len, size, place].map(|word| word as u64)) {
            return;
        }
        let world = self.world();
        let mut all = world.pes().map(|pe| (pe.number(), shape_of(shapes.as_ptr(), pe)));
        let (pe, shape) = all.next().expect("a job has a PE 0");
        let other = all.find(|(_, other)| *other != shape);
        // Nobody ends the job before all have read.
        self.sync_all();
        let (other_pe, [other_len, other_size, _]) = other.expect("one that differs from PE 0");
        let [len, size, _] = shape;
        assert!(
            [other_len, other_size] != [len, size],
            "an array of {len} elements of {size} bytes begins elsewhere on PE {pe} than on PE {other_pe}: all PEs \
             drop arrays in the same order, and these have not"
        );
        panic!(
            "all PEs allocate an array together, but PE {pe} one of {len} elements of {size} bytes, and PE {other_pe} \
             one of {other_len} elements of {other_size} bytes"
        )
    }
}

/// Whether this PE's shape is that of all.
fn all_have(shapes: *mut Shapes, own: Shape) -> bool {
    let complement = own.map(|word| !word);
    // SAFETY: a block of these words on every PE, which nobody writes to meanwhile but the reduction.
    let greatest = unsafe {
        (*shapes).own = [own, complement];
        let (dest, source) = ((&raw mut (*shapes).greatest).cast(), (&raw const (*shapes).own).cast());
        ffi::shmem_uint64_max_reduce(ffi::TEAM_WORLD, dest, source, 2 * size_of::<Shape>() / size_of::<u64>());
        (*shapes).greatest
    };
    greatest == [own, complement]
}

/// What a PE has given.
fn shape_of(shapes: *const Shapes, pe: Pe) -> Shape {
    let mut shape = Shape::default();
    // SAFETY: a block that all PEs have, and as many bytes here.
    unsafe {
        let from = (&raw const (*shapes).own[0]).cast();
        ffi::shmem_ctx_getmem(ffi::CTX_DEFAULT, shape.as_mut_ptr().cast(), from, size_of::<Shape>(), pe.0);
    }
    shape
}
