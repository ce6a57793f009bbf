//! A binomial tree with member 0 at its root.

use super::Net;

/// A member's place in it.
pub(super) struct Tree {
    me: usize,
    size: usize,
    /// Members of a full branch that this one would head, itself among them.
    span: usize,
}

impl Tree {
    pub(super) fn of(net: &dyn Net) -> Self {
        let (me, size) = (net.me(), net.size());
        let span = if me == 0 { size.next_power_of_two() } else { 1 << me.trailing_zeros() };
        Self { me, size, span }
    }

    pub(super) fn parent(&self) -> Option<usize> {
        (self.me != 0).then(|| self.me - self.span)
    }

    /// Heads of the branches below with the end of their members, the largest branch first.
    pub(super) fn children(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let spans = std::iter::successors(Some(self.span / 2), |span| Some(span / 2)).take_while(|span| *span > 0);
        spans.map(|span| (self.me + span, (self.me + 2 * span).min(self.size))).filter(|(child, _)| *child < self.size)
    }
}
