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

/// What kind of number an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Scalar {
    Integer,
    Real,
    Complex,
}

/// Combines arrays element by element.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// Bytes of an element.
    pub elem: usize,
    /// What an element is.
    pub scalar: Scalar,
    /// What it does.
    pub op: Op,
    /// `acc[i] = acc[i] op src[i]` for i < n.
    pub combine: unsafe fn(acc: *mut u8, src: *const u8, n: usize),
}

/// A type that can be added, multiplied and ordered. Integers wrap, as C's unsigned ones do.
pub trait Number: Copy {
    /// Sum.
    const SUM_KERNEL: Kernel;
    /// Product.
    const PROD_KERNEL: Kernel;
    /// The smaller one.
    const MIN_KERNEL: Kernel;
    /// The larger one.
    const MAX_KERNEL: Kernel;
}

/// An integer: bits can be combined.
pub trait Bits: Copy {
    /// Bitwise and.
    const AND_KERNEL: Kernel;
    /// Bitwise or.
    const OR_KERNEL: Kernel;
    /// Bitwise exclusive or.
    const XOR_KERNEL: Kernel;
}

/// The kernel of a type that makes `value` of `a` and `b`.
macro_rules! kernel {
    ($t:ty, $scalar:ident, $op:ident, |$a:ident, $b:ident| $value:expr) => {{
        #[inline(never)]
        unsafe fn combine(acc: *mut u8, src: *const u8, n: usize) {
            let (acc, src) = (acc.cast::<$t>(), src.cast::<$t>());
            for i in 0..n {
                // SAFETY: the caller gives n elements in both; C arrays may have any alignment.
                unsafe {
                    let ($a, $b) = (acc.add(i).read_unaligned(), src.add(i).read_unaligned());
                    acc.add(i).write_unaligned($value);
                }
            }
        }
        Kernel { elem: size_of::<$t>(), scalar: Scalar::$scalar, op: Op::$op, combine }
    }};
}

macro_rules! integers {
    ($($t:ty)*) => { $(
        impl Number for $t {
            const SUM_KERNEL: Kernel = kernel!($t, Integer, Sum, |a, b| a.wrapping_add(b));
            const PROD_KERNEL: Kernel = kernel!($t, Integer, Prod, |a, b| a.wrapping_mul(b));
            const MIN_KERNEL: Kernel = kernel!($t, Integer, Min, |a, b| a.min(b));
            const MAX_KERNEL: Kernel = kernel!($t, Integer, Max, |a, b| a.max(b));
        }
        impl Bits for $t {
            const AND_KERNEL: Kernel = kernel!($t, Integer, And, |a, b| a & b);
            const OR_KERNEL: Kernel = kernel!($t, Integer, Or, |a, b| a | b);
            const XOR_KERNEL: Kernel = kernel!($t, Integer, Xor, |a, b| a ^ b);
        }
    )* };
}

macro_rules! floats {
    ($($t:ty)*) => { $(
        impl Number for $t {
            const SUM_KERNEL: Kernel = kernel!($t, Real, Sum, |a, b| a + b);
            const PROD_KERNEL: Kernel = kernel!($t, Real, Prod, |a, b| a * b);
            const MIN_KERNEL: Kernel = kernel!($t, Real, Min, |a, b| if b < a { b } else { a });
            const MAX_KERNEL: Kernel = kernel!($t, Real, Max, |a, b| if b > a { b } else { a });
        }
    )* };
}

integers! { i8 i16 i32 i64 u8 u16 u32 u64 }
floats! { f32 f64 }

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
        run(i16::SUM_KERNEL, &mut acc);
        assert_eq!(acc, [8, -11, i16::MIN]);
        run(i16::MAX_KERNEL, &mut acc);
        assert_eq!(acc, [8, -6, 1]);
        run(i16::XOR_KERNEL, &mut acc);
        assert_eq!(acc, [15, 0, 0]);
    }
}
