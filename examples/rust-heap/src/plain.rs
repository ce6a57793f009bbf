//! What can be copied between PEs.
#![allow(unsafe_code)]

/// A type without padding of which every bit pattern is a value: other PEs may send any.
///
/// # Safety
/// It is as the line above says, and at most 16-byte aligned.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($type:ty)*) => { $(
        // SAFETY: a number.
        unsafe impl Plain for $type {}
    )* };
}

plain! { u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64 }
