//! The C side (`shim/*.c`): what stable Rust cannot sign or compute.
#![allow(unsafe_code)]

use pellucid_core::collectives::{Kernel, Op, Scalar};

use crate::types::{ComplexDouble, ComplexFloat, LongDouble, Real16};

/// Functions of `shim/by_value.c`, named by entries only: they take what Rust has no type for, and call the
/// `pellucid_imp_` and `pellucid_probe_` functions with its address. Their true signatures are in C.
pub mod by_value {
    use crate::dispatcher::Tool;
    use crate::types::LongDouble;
    use pellucid_core::context::Ctx;
    use std::ffi::{c_char, c_int, c_long};

    unsafe extern "C" {
        #![allow(missing_docs)]
        pub fn pellucid_c_imp_shmem_longdouble_p();
        pub fn pellucid_c_probe_shmem_longdouble_p();
        pub fn pellucid_c_intercepted_shmem_longdouble_p();
        pub fn pellucid_c_imp_shmem_ctx_longdouble_p();
        pub fn pellucid_c_probe_shmem_ctx_longdouble_p();
        pub fn pellucid_c_intercepted_shmem_ctx_longdouble_p();
        pub fn pellucid_c_imp_shmem_longdouble_g();
        pub fn pellucid_c_probe_shmem_longdouble_g();
        pub fn pellucid_c_intercepted_shmem_longdouble_g();
        pub fn pellucid_c_imp_shmem_ctx_longdouble_g();
        pub fn pellucid_c_probe_shmem_ctx_longdouble_g();
        pub fn pellucid_c_intercepted_shmem_ctx_longdouble_g();
        pub fn pellucid_c_imp_shmem_pcontrol();
        pub fn pellucid_c_probe_shmem_pcontrol();
        pub fn pellucid_c_intercepted_shmem_pcontrol();

        pub fn pellucid_through_shmem_longdouble_p(
            tool: Tool,
            dest: *mut LongDouble,
            value: *const LongDouble,
            pe: c_int,
        );
        pub fn pellucid_through_shmem_ctx_longdouble_p(
            tool: Tool,
            ctx: Ctx,
            dest: *mut LongDouble,
            value: *const LongDouble,
            pe: c_int,
        );
        pub fn pellucid_through_shmem_longdouble_g(
            tool: Tool,
            result: *mut LongDouble,
            source: *const LongDouble,
            pe: c_int,
        );
        pub fn pellucid_through_shmem_ctx_longdouble_g(
            tool: Tool,
            result: *mut LongDouble,
            ctx: Ctx,
            source: *const LongDouble,
            pe: c_int,
        );
        pub fn pellucid_through_shmem_pcontrol(
            tool: Tool,
            level: c_int,
            name: *const c_char,
            value: f64,
            number: c_long,
        );
    }

    /// Bytes of code of one of these, at most.
    const CODE: usize = 128;

    /// Whether an address is in one of those above that call a tool.
    pub fn is_return(address: usize) -> bool {
        let calls_tool = [
            pellucid_through_shmem_longdouble_p as *const (),
            pellucid_through_shmem_ctx_longdouble_p as *const (),
            pellucid_through_shmem_longdouble_g as *const (),
            pellucid_through_shmem_ctx_longdouble_g as *const (),
            pellucid_through_shmem_pcontrol as *const (),
        ];
        calls_tool.iter().any(|function| (function.addr()..function.addr() + CODE).contains(&address))
    }
}

/// `name(): kernel`, over a C function `pellucid_name(acc, source, n)` that does `acc[i] = acc[i] op source[i]`.
macro_rules! kernels {
    ($($name:ident, $c:ident, $type:ty, $scalar:ident, $op:ident;)*) => {
        unsafe extern "C" {
            $(fn $c(acc: *mut $type, source: *const $type, n: usize);)*
        }
        $(
            /// The reduction kernel of this type and operation.
            pub const fn $name() -> Kernel {
                /// # Safety
                /// `acc` and `source` are `n` elements each, aligned for the type, and do not overlap.
                unsafe fn combine(acc: *mut u8, source: *const u8, n: usize) {
                    // SAFETY: as the caller promises.
                    unsafe { $c(acc.cast(), source.cast(), n) }
                }
                Kernel { elem: size_of::<$type>(), scalar: Scalar::$scalar, op: Op::$op, combine }
            }
        )*
    };
}

kernels! {
    longdouble_sum, pellucid_longdouble_sum, LongDouble, Real, Sum;
    longdouble_prod, pellucid_longdouble_prod, LongDouble, Real, Prod;
    longdouble_min, pellucid_longdouble_min, LongDouble, Real, Min;
    longdouble_max, pellucid_longdouble_max, LongDouble, Real, Max;
    real16_sum, pellucid_real16_sum, Real16, Real, Sum;
    real16_prod, pellucid_real16_prod, Real16, Real, Prod;
    real16_min, pellucid_real16_min, Real16, Real, Min;
    real16_max, pellucid_real16_max, Real16, Real, Max;
    complexd_sum, pellucid_complexd_sum, ComplexDouble, Complex, Sum;
    complexd_prod, pellucid_complexd_prod, ComplexDouble, Complex, Prod;
    complexf_sum, pellucid_complexf_sum, ComplexFloat, Complex, Sum;
    complexf_prod, pellucid_complexf_prod, ComplexFloat, Complex, Prod;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complex_kernels_combine_in_place() {
        let (mut acc, source) = ([[1.0f64, 2.0], [3.0, 0.0]], [[0.5f64, -1.0], [2.0, 1.0]]);
        // SAFETY: two elements each, of the kernel's type.
        unsafe { (complexd_prod().combine)(acc.as_mut_ptr().cast(), source.as_ptr().cast(), 2) };
        assert_eq!(acc, [[2.5, 0.0], [6.0, 3.0]]);
        // SAFETY: as above.
        unsafe { (complexd_sum().combine)(acc.as_mut_ptr().cast(), source.as_ptr().cast(), 1) };
        assert_eq!(acc, [[3.0, -1.0], [6.0, 3.0]]);
        assert_eq!((complexd_sum().elem, complexf_sum().elem, longdouble_min().elem), (16, 8, 16));
    }
}
