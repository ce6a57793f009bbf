//! Collectives among the members of a group that reach each other by messages and by puts and gets only: what the hosts
//! of a team do between them.
//!
//! The algorithms see a [`Net`] and nothing else, so that they run over a fabric, among threads of a test, and alone as
//! one of a million members whose messages are counted. A member sends O(log n) messages in each of them, but where it
//! has much for each of the others.
//!
//! Every result is the same to the last bit on all members: contributions are combined in one order, lower members on
//! the left, whatever the algorithm.

mod broadcast;
mod dissemination;
mod exchange;
mod fold;
mod gather;
mod hosts;
mod net;
mod object;
mod scan;
mod schedule;
mod tree;

pub use broadcast::{broadcast_puts, broadcast_scatter, broadcast_small};
pub use dissemination::dissemination;
pub use exchange::{exchange, exchange_passing, messages_passing};
pub use fold::{fold_doubling, fold_halving};
pub use gather::{By, gather};
pub use hosts::hosts;
pub use net::{Net, PART, Phase, Turned, step};
pub use object::{Buffer, Fold, Object};
pub use scan::exscan;
pub use schedule::{BoxedSchedule, advance, both, finish};
