//! Memory that collectives work on: a user's objects, which other members may write to at the same time, by address.
#![allow(unsafe_code)]

/// Bytes of this member's memory. Accesses are copies, checked against its size; no reference into it ever exists.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    at: *mut u8,
    bytes: usize,
}

/// What a reduction does to elements.
#[derive(Debug, Clone, Copy)]
pub struct Fold {
    /// Bytes of an element.
    pub elem: usize,
    /// `acc[i] = acc[i] op src[i]` for i < n.
    pub combine: unsafe fn(acc: *mut u8, src: *const u8, n: usize),
}

impl Object {
    /// The object at an address.
    ///
    /// # Safety
    /// `bytes` bytes at `at` are readable, and writable where the collective writes to the object, while it lasts.
    pub const unsafe fn new(at: *mut u8, bytes: usize) -> Self {
        Self { at, bytes }
    }

    /// Its address.
    pub fn at(&self) -> *mut u8 {
        self.at
    }

    /// Its size.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Address of `bytes` bytes from `at` on, which must be its own.
    pub fn range(&self, at: usize, bytes: usize) -> *mut u8 {
        assert!(at <= self.bytes && bytes <= self.bytes - at, "{at} + {bytes} in {} bytes", self.bytes);
        self.at.wrapping_add(at)
    }

    /// A part of it.
    pub fn part(&self, at: usize, bytes: usize) -> Self {
        Self { at: self.range(at, bytes), bytes }
    }

    /// Copies out of it.
    pub fn read(&self, at: usize, into: &mut [u8]) {
        // SAFETY: a range of the object; the other side is a slice of this process's.
        unsafe { std::ptr::copy(self.range(at, into.len()), into.as_mut_ptr(), into.len()) };
    }

    /// Copies into it.
    pub fn write(&self, at: usize, from: &[u8]) {
        // SAFETY: as above.
        unsafe { std::ptr::copy(from.as_ptr(), self.range(at, from.len()), from.len()) };
    }

    /// Copies the whole of another object to `at`; nothing where that is what lies there.
    pub fn copy_from(&self, at: usize, other: &Self) {
        let to = self.range(at, other.bytes);
        if to != other.at {
            // SAFETY: both are ranges of objects.
            unsafe { std::ptr::copy(other.at, to, other.bytes) };
        }
    }

    /// Combines what lies at `at` with as many elements of another member's, which stand on the left where it is the
    /// lower one.
    pub fn fold(&self, at: usize, theirs: &mut [u8], left: bool, fold: Fold) {
        let mine = self.range(at, theirs.len());
        let n = theirs.len() / fold.elem;
        // SAFETY: both have n elements.
        unsafe {
            if left {
                (fold.combine)(theirs.as_mut_ptr(), mine, n);
                std::ptr::copy(theirs.as_ptr(), mine, theirs.len());
            } else {
                (fold.combine)(mine, theirs.as_ptr(), n);
            }
        }
    }
}

/// Private memory that is aligned for every type.
#[derive(Debug)]
pub struct Buffer {
    words: Vec<u128>,
    bytes: usize,
}

impl Buffer {
    /// Zeros.
    pub fn new(bytes: usize) -> Self {
        Self { words: vec![0; bytes.div_ceil(16)], bytes }
    }

    /// Its bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the words have at least as many bytes, and bytes have any value.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.bytes) }
    }

    /// It as an object; it must live as long as that is used.
    pub fn object(&mut self) -> Object {
        Object { at: self.words.as_mut_ptr().cast(), bytes: self.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe fn minus(acc: *mut u8, src: *const u8, n: usize) {
        for i in 0..n {
            // SAFETY: n elements each, aligned.
            unsafe { *acc.cast::<i32>().add(i) -= *src.cast::<i32>().add(i) };
        }
    }

    #[test]
    fn the_lower_member_stands_on_the_left() {
        let fold = Fold { elem: 4, combine: minus };
        let mut mine = Buffer::new(8);
        let object = mine.object();
        object.write(4, &5i32.to_ne_bytes());
        let mut theirs = Buffer::new(4);
        theirs.bytes().copy_from_slice(&7i32.to_ne_bytes());
        object.fold(4, theirs.bytes(), false, fold);
        object.fold(4, theirs.bytes(), true, fold);
        let mut result = [0; 8];
        object.read(0, &mut result);
        assert_eq!(result[4..], (7i32 + 2).to_ne_bytes());
        assert_eq!(result[..4], [0; 4]);
    }

    #[test]
    #[should_panic(expected = "5 + 4 in 8 bytes")]
    fn ranges_are_checked() {
        Buffer::new(8).object().range(5, 4);
    }
}
