//! One collective of a hierarchical team.

use super::{Hierarchy, Peers, Ranks, sync};
use crate::base::{Cause, Fault};
use crate::memory::Map;
use crate::team::finalizing::{self, Waiting};
use crate::team::{Team, World};
use crate::transport::Transport;
use std::ops::Range;
use std::sync::Arc;

/// This PE's part in it. Every member makes one, in the same order, whether it speaks to other hosts or not.
#[derive(Debug)]
pub struct InterHostCall<'w> {
    /// Map and algorithms.
    pub w: &'w World,
    /// The team.
    pub team: &'w Team,
    /// Its hosts.
    pub hierarchy: &'w Hierarchy,
    number: u32,
    signature: u64,
}

/// What a hierarchical team is there without: never, since nothing makes one then.
pub(super) fn transport(map: &Map) -> Result<&'static dyn Transport, Fault> {
    map.transport.ok_or_else(|| Fault::from(Cause::Network("this job has no network".into())))
}

impl<'w> InterHostCall<'w> {
    /// Begins the next collective.
    pub fn begin(w: &'w World, team: &'w Team, hierarchy: &'w Hierarchy, signature: u64) -> Result<Self, Fault> {
        if hierarchy.counter.is_ahead() {
            sync(w, team, hierarchy)?;
        }
        Ok(Self::next(w, team, hierarchy, signature))
    }

    /// As [`Self::begin`], where all members meet anyway.
    pub(super) fn next(w: &'w World, team: &'w Team, hierarchy: &'w Hierarchy, signature: u64) -> Self {
        Self { w, team, hierarchy, number: hierarchy.counter.next(), signature }
    }

    /// Whether this PE is the first of its host.
    pub fn leads(&self) -> bool {
        self.hierarchy.local.me == 0
    }

    /// Members on this host, by their numbers in the team.
    pub fn local_members(&self) -> Range<usize> {
        let ranks = self.hierarchy.layout.ranks(self.hierarchy.layout.host);
        ranks.start as usize..ranks.end as usize
    }

    /// What the collective is ([`crate::team::contribution`]).
    pub fn signature(&self) -> u64 {
        self.signature
    }

    /// Every member has heard of every other in this collective.
    pub fn all_synchronized(&self) {
        self.hierarchy.counter.all_synchronized();
    }

    fn peers(&self, ranks: Ranks<'w>, me: usize) -> Result<Peers<'w>, Fault> {
        let transport = transport(&self.w.map)?;
        Ok(Peers {
            map: &self.w.map,
            transport: Some(transport),
            mail: None,
            channel: self.w.common.channel(transport),
            ranks,
            pes: self.team.pes(),
            me,
            group: self.team.id as u64,
            number: self.number,
            signature: self.signature,
            waiting: Waiting {
                times: finalizing::next(self.w),
                group: finalizing::group_of(self.team),
                number: self.number,
            },
            event: None,
            waits: Arc::default(),
        })
    }

    fn heads(&self, place: u32, instead: Option<(usize, u32)>) -> Result<Peers<'w>, Fault> {
        let (pes, layout) = (self.team.pes(), &self.hierarchy.layout);
        self.peers(Ranks::Heads { pes, heads: &layout.heads, place, instead }, layout.host)
    }

    /// The first members of all hosts.
    pub fn hosts(&self) -> Result<Peers<'w>, Fault> {
        self.heads(0, None)
    }

    /// As [`Self::hosts`], but that a host is represented by one given member of it.
    pub fn hosts_with(&self, rank: i32) -> Result<Peers<'w>, Fault> {
        self.heads(0, Some((self.hierarchy.layout.host_of(rank), rank as u32)))
    }

    /// The members of all hosts that have this one's place there, of those that every host has.
    pub fn same_place(&self) -> Result<Peers<'w>, Fault> {
        self.heads(self.hierarchy.local.me as u32, None)
    }

    /// The last members of all hosts.
    pub fn tails(&self) -> Result<Peers<'w>, Fault> {
        let pes = self.team.pes();
        self.peers(Ranks::Tails { pes, layout: &self.hierarchy.layout }, self.hierarchy.layout.host)
    }

    /// All members.
    pub fn all(&self) -> Result<Peers<'w>, Fault> {
        self.peers(Ranks::All(self.team.pes()), self.team.me as usize)
    }
}
