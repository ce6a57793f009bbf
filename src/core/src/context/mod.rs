//! Contexts and what runs on them: RMA, AMO, signals, ordering, waiting, locks.

pub mod amo;
mod handle;
pub mod lock;
mod lock_owners;
pub mod lost;
pub mod near;
pub mod nonblocking;
pub mod order;
mod owned_lock;
mod remote;
pub mod rma;
mod session;
pub mod signal;
pub mod strided;
pub mod unmapped;
pub mod wait;

pub(crate) use handle::forget_all;
pub use handle::{Ctx, check_private, world_pe};
pub use session::{SessionConfig, session_start, session_stop};

/// Bytes of `nelems` elements of `elem` bytes; a product that does not fit becomes a size that no segment has.
#[inline(always)]
pub fn bytes(elem: usize, nelems: usize) -> usize {
    nelems.saturating_mul(elem)
}
