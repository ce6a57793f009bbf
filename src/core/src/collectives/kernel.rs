//! What reductions and scans do to elements.
#![allow(unsafe_code)]

/// What a kernel does to two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Op {
    Sum,
    Prod,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// Combines arrays element by element.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// Bytes of an element.
    pub elem: usize,
    /// What it does.
    pub op: Op,
    /// `acc[i] = acc[i] op src[i]` for i < n.
    pub combine: unsafe fn(acc: *mut u8, src: *const u8, n: usize),
}

/// A type that can be added, multiplied and ordered. Integers wrap, as C's unsigned ones do.
pub trait Number: Copy {
    /// Sum.
    fn sum(self, other: Self) -> Self;
    /// Product.
    fn prod(self, other: Self) -> Self;
    /// The smaller one.
    fn min(self, other: Self) -> Self;
    /// The larger one.
    fn max(self, other: Self) -> Self;
}

/// An integer: bits can be combined.
pub trait Bits: Copy {
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Bitwise or.
    fn or(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($t:ty)*) => { $(
        impl Number for $t {
            #[inline(always)]
            fn sum(self, other: Self) -> Self { self.wrapping_add(other) }
            #[inline(always)]
            fn prod(self, other: Self) -> Self { self.wrapping_mul(other) }
            #[inline(always)]
            fn min(self, other: Self) -> Self { Ord::min(self, other) }
            #[inline(always)]
            fn max(self, other: Self) -> Self { Ord::max(self, other) }
        }
        impl Bits for $t {
            #[inline(always)]
            fn and(self, other: Self) -> Self { self & other }
            #[inline(always)]
            fn or(self, other: Self) -> Self { self | other }
            #[inline(always)]
            fn xor(self, other: Self) -> Self { self ^ other }
        }
    )* };
}

macro_rules! floats {
    ($($t:ty)*) => { $(
        impl Number for $t {
            #[inline(always)]
            fn sum(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn prod(self, other: Self) -> Self { self * other }
            #[inline(always)]
            fn min(self, other: Self) -> Self { if other < self { other } else { self } }
            #[inline(always)]
            fn max(self, other: Self) -> Self { if other > self { other } else { self } }
        }
    )* };
}

integers! { i8 i16 i32 i64 u8 u16 u32 u64 }
floats! { f32 f64 }

macro_rules! kernels {
    ($($name:ident: $bound:ident, $op:ident;)*) => { $(
        #[doc = concat!("The kernel of `", stringify!($name), "` for a type.")]
        pub const fn $name<T: $bound>() -> Kernel {
            unsafe fn combine<T: $bound>(acc: *mut u8, src: *const u8, n: usize) {
                let (acc, src) = (acc.cast::<T>(), src.cast::<T>());
                for i in 0..n {
                    // SAFETY: the caller gives n elements in both; C arrays may have any alignment.
                    unsafe {
                        let value = acc.add(i).read_unaligned().$name(src.add(i).read_unaligned());
                        acc.add(i).write_unaligned(value);
                    }
                }
            }
            Kernel { elem: size_of::<T>(), op: Op::$op, combine: combine::<T> }
        }
    )* };
}

kernels! {
    sum: Number, Sum;
    prod: Number, Prod;
    min: Number, Min;
    max: Number, Max;
    and: Bits, And;
    or: Bits, Or;
    xor: Bits, Xor;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_combine() {
        let mut acc = [1i16, -5, i16::MAX];
        let src = [7i16, -6, 1];
        let run = |k: Kernel, acc: &mut [i16; 3]| {
            assert_eq!(k.elem, 2);
            // SAFETY: three elements each.
            unsafe { (k.combine)(acc.as_mut_ptr().cast(), src.as_ptr().cast(), 3) };
        };
        run(sum::<i16>(), &mut acc);
        assert_eq!(acc, [8, -11, i16::MIN]);
        run(max::<i16>(), &mut acc);
        assert_eq!(acc, [8, -6, 1]);
        run(xor::<i16>(), &mut acc);
        assert_eq!(acc, [15, 0, 0]);
    }
}
