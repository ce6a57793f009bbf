//! Loops over elements: what reductions and strided copies spend their time in.
//!
//! A package of its own, with functions that are compiled here: the library's other packages are optimized for size,
//! and these loops are to be unrolled and vectorized.

pub mod reduction;
pub mod strided;
