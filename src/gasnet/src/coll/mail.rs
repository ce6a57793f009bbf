//! Data that members of a team send each other: it waits here until the receiver's schedule takes it.
#![allow(unsafe_code)]

use crate::am::{limits, number};
use crate::fail::{need, refuse};
use crate::team::Team;
use crate::types::Rank;
use pellucid_core::am::Message;
use pellucid_core::runtime;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Names data among all that a process receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// The team.
    pub team: u64,
    /// Number of the collective on it.
    pub number: u32,
    /// Step of its schedule.
    pub step: u32,
    /// Rank of the sender.
    pub from: Rank,
    /// Rank of the receiver: a process may have several members.
    pub to: Rank,
}

/// What has come of some data.
struct Parcel {
    data: Vec<u8>,
    have: usize,
}

static BOX: LazyLock<Mutex<HashMap<Key, Parcel>>> = LazyLock::new(Mutex::default);

fn parcels() -> MutexGuard<'static, HashMap<Key, Parcel>> {
    BOX.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes data that is there as a whole.
pub fn take(key: Key) -> Option<Vec<u8>> {
    let mut parcels = parcels();
    let is_whole = parcels.get(&key).is_some_and(|parcel| parcel.have == parcel.data.len());
    if is_whole { parcels.remove(&key).map(|parcel| parcel.data) } else { None }
}

fn put(key: Key, total: usize, offset: usize, part: &[u8]) -> bool {
    let mut parcels = parcels();
    let parcel = match parcels.entry(key) {
        Entry::Occupied(parcel) => parcel.into_mut(),
        Entry::Vacant(place) => {
            let mut data = Vec::new();
            if data.try_reserve_exact(total).is_err() {
                return false;
            }
            data.resize(total, 0);
            place.insert(Parcel { data, have: 0 })
        }
    };
    let Some(room) = parcel.data.get_mut(offset..).filter(|room| part.len() <= room.len()) else { return false };
    room[..part.len()].copy_from_slice(part);
    parcel.have += part.len();
    true
}

fn halves(word: u64) -> [i32; 2] {
    [word as u32 as i32, (word >> 32) as u32 as i32]
}

/// Sends data to a member, which takes it as the same key says.
pub fn send(team: &Team, key: Key, data: &[u8]) {
    const R: &str = "collective";
    let pe = team.member(key.to).map_or(-1, |peer| peer.pe);
    if pe == runtime::map().me {
        put(key, data.len(), 0, data);
        return;
    }
    let most = limits::medium(R, pe);
    let mut offset = 0;
    loop {
        let part = &data[offset..data.len().min(offset + most)];
        let ([team_low, team_high], [low, high]) = (halves(key.team), halves(data.len() as u64));
        let [at_low, at_high] = halves(offset as u64);
        let [number, step, from, to] = [key.number, key.step, key.from, key.to].map(|word| word as i32);
        let args = [team_low, team_high, number, step, from, to, low, high, at_low, at_high];
        need(R, runtime::messages().request_medium(pe, number::MAIL, &args, part));
        offset += part.len();
        if offset == data.len() {
            return;
        }
    }
}

/// Data has come.
pub fn arrive(message: &mut Message<'_>, _: usize) {
    let whole = |low: i32, high: i32| u64::from(low as u32) | u64::from(high as u32) << 32;
    let &[team_low, team_high, number, step, from, to, low, high, at_low, at_high] = message.args() else {
        damaged(message)
    };
    let [number, step, from, to] = [number, step, from, to].map(|word| word as u32);
    let key = Key { team: whole(team_low, team_high), number, step, from, to };
    let (total, offset) = (whole(low, high) as usize, whole(at_low, at_high) as usize);
    if total > isize::MAX as usize || !put(key, total, offset, message.payload()) {
        damaged(message)
    }
}

fn damaged(message: &Message<'_>) -> ! {
    refuse("collective", format!("a message of rank {} is damaged", message.source()))
}
