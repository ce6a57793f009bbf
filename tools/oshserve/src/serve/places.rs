//! Places for jobs that are handed over, and whose they are: nobody can take those of other users.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Jobs at a time. While there are fewer, each user may have one more.
pub const MOST: usize = 1024;
/// Jobs of a user that have a place whatever others have.
const SHARE: usize = 128;
/// Jobs of all users but the exporter's own: somebody who has numbers of users to give away (`/etc/subuid`) can come as
/// many users.
const MOST_OF_OTHERS: usize = 4 * MOST;

/// All places.
#[derive(Debug)]
pub struct Places {
    /// The exporter's own user, who has as many places as if there were no others.
    own: u32,
    taken: Mutex<BTreeMap<u32, Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    count: usize,
    /// That there are no more was said.
    is_told: bool,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Place {
    of: Arc<Places>,
    user: u32,
}

impl Places {
    /// All are free.
    pub fn new(own: u32) -> Arc<Places> {
        Arc::new(Places { own, taken: Mutex::default() })
    }

    /// One for a job of this user.
    ///
    /// # Errors
    /// There is none; what is to be said of that, unless it was since the user had no place.
    pub fn take(self: &Arc<Self>, user: u32) -> Result<Place, Option<String>> {
        let mut taken = self.taken();
        let of = |user| taken.get(&user).map_or(0, |taken: &Taken| taken.count);
        let (mine, all) = (of(user), taken.values().map(|taken| taken.count).sum::<usize>());
        let is_sure = mine < SHARE && all - of(self.own) < MOST_OF_OTHERS;
        let is_free = if user == self.own { mine < MOST } else { is_sure || all < MOST };
        if is_free {
            taken.entry(user).or_default().count += 1;
            return Ok(Place { of: Arc::clone(self), user });
        }
        let is_told = taken.get_mut(&user).is_some_and(|taken| std::mem::replace(&mut taken.is_told, true));
        let text =
            || format!("{all} jobs are handed over, {mine} of them by user {user}: no more of that user's are taken");
        Err((!is_told).then(text))
    }

    fn taken(&self) -> MutexGuard<'_, BTreeMap<u32, Taken>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.of.taken();
        if let Some(mine) = taken.get_mut(&self.user) {
            mine.count -= 1;
            if mine.count == 0 {
                taken.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: u32 = 0;

    /// As many as this user gets.
    fn all_of(places: &Arc<Places>, user: u32) -> Vec<Place> {
        std::iter::from_fn(|| places.take(user).ok()).collect()
    }

    #[test]
    fn the_only_user_has_all_places_and_others_have_their_share_all_the_same() {
        let places = Places::new(ROOT);
        let first = all_of(&places, 7);
        assert_eq!(first.len(), MOST);
        let others = [8, 9].map(|user| all_of(&places, user));
        assert_eq!(others.each_ref().map(Vec::len), [SHARE; 2]);
        assert_eq!(all_of(&places, ROOT).len(), MOST);
        drop(first);
        // There is room again, for whoever comes first.
        assert_eq!(all_of(&places, 8).len(), MOST - 2 * SHARE);
    }

    #[test]
    fn many_users_leave_room_for_the_exporters_own() {
        let places = Places::new(ROOT);
        let many: Vec<Place> = (1000..2000).flat_map(|user| all_of(&places, user)).collect();
        assert_eq!(many.len(), MOST_OF_OTHERS);
        assert!(places.take(5000).is_err());
        assert_eq!(all_of(&places, ROOT).len(), MOST);
    }

    #[test]
    fn a_user_is_told_once_until_all_places_are_given_back() {
        let places = Places::new(ROOT);
        let mut held = all_of(&places, 7);
        let told = || places.take(7).expect_err("full");
        assert_eq!(told(), None, "when the last was refused");
        held.pop();
        held.push(places.take(7).unwrap());
        assert_eq!(told(), None);
        drop(held);
        let _held: Vec<Place> = (0..MOST).map(|_| places.take(7).unwrap()).collect();
        let text = "1024 jobs are handed over, 1024 of them by user 7: no more of that user's are taken";
        assert_eq!(told().as_deref(), Some(text));
        assert_eq!(told(), None);
    }
}
