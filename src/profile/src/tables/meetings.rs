//! Calls that all PEs of a team make, and the phases between them.

/// Collectives of a team, on one PE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Team {
    /// World number of its first PE.
    pub start: i32,
    /// Distance between members.
    pub stride: i32,
    /// Members; 0 for teams that found no room.
    pub size: i32,
    /// Number that members agree on.
    pub id: u32,
    /// Barriers, syncs and collectives.
    pub calls: u64,
    /// Time in them in nanoseconds.
    pub ns: u64,
    /// Bytes of them.
    pub bytes: u64,
}

/// What tells teams apart: number, first PE, stride, members.
pub type TeamKey = (u32, i32, i32, i32);

/// Which member of a team a PE is.
pub fn place_in((_, start, stride, size): TeamKey, pe: u32) -> Option<u64> {
    let from_first = i64::from(pe) - i64::from(start);
    match i64::from(stride) {
        0 => (from_first == 0).then_some(0),
        stride => {
            let place = from_first / stride;
            (from_first % stride == 0 && (0..i64::from(size)).contains(&place)).then_some(place as u64)
        }
    }
}

impl Team {
    /// What tells teams apart.
    pub fn key(&self) -> TeamKey {
        (self.id, self.start, self.stride, self.size)
    }
}

/// One call of a barrier, sync or collective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sync {
    /// The team, an index of [`super::PeTables::teams`].
    pub team: u8,
    /// Number of the region, an index of [`super::PeTables::regions`].
    pub region: u8,
    /// Operation id.
    pub op: u16,
    /// Return address.
    pub address: u64,
    /// Its number among the calls of the team.
    pub number: u64,
    /// When the PE arrived, in nanoseconds since the job's start.
    pub arrived_ns: u64,
    /// When it left.
    pub left_ns: u64,
    /// What the thread did before.
    pub phase: Phase,
    /// Where the function that called returns to; 0: not known, as of a call that did not wait for long.
    pub caller: u64,
}

/// What a thread did between two calls of barriers, syncs and collectives, or before the first or after the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// Return address and operation of the call before it; `None`: it begins with the end of initialization.
    pub from: Option<(u64, u16)>,
    /// When it began, in nanoseconds since the job's start; 0: not known, as in profiles of earlier versions.
    pub begin_ns: u64,
    /// Time in the library, in nanoseconds.
    pub library_ns: u64,
    /// That of it in waits and locks, to some hundred thousandth of it; 0 in profiles of earlier versions.
    pub waits_ns: u64,
}

/// What a thread did after its last barrier, sync or collective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastPhase {
    /// What it did.
    pub phase: Phase,
    /// Begin of finalization, or when it was seen last, in nanoseconds since the job's start.
    pub end_ns: u64,
}

/// How often the calls of a routine have taken an algorithm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Algorithm {
    /// C name of the routine; empty for what found no room.
    pub routine: String,
    /// Collective and name, as in `SHMEM_COLLECTIVES`; empty for what found no room.
    pub name: String,
    /// How often. A call may take several, each more than once.
    pub calls: u64,
}
