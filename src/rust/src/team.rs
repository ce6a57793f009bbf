//! PEs and teams of them.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ops::Deref;

use crate::ffi::{self, TeamHandle};
use crate::{Error, Shmem, runtime};

/// A PE of the job, whatever teams it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pe(pub(crate) i32);

impl Pe {
    /// Its number in the world.
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

/// The PEs of a team and contexts on them, without the calls that are collective: what any thread may use. A [`Team`]
/// dereferences to its own; threads get that of all PEs from [`crate::Shared::world`].
#[derive(Debug)]
pub struct Members<'s> {
    handle: TeamHandle,
    _shmem: PhantomData<&'s Shmem>,
    /// Not `Send`: of a library that is initialized for one thread, it stays there.
    _here: PhantomData<*const ()>,
}

/// PEs that make collective calls together. One that was split is destroyed, by all its PEs together, when it is
/// dropped. What is not collective is in [`Members`], to which this dereferences.
///
/// It is neither `Send` nor `Sync`, and other threads are given none: two of them may not make collective calls on one
/// team.
#[derive(Debug)]
pub struct Team<'s> {
    members: Members<'s>,
}

impl<'s> Members<'s> {
    pub(crate) fn of(handle: TeamHandle) -> Members<'s> {
        Members { handle, _shmem: PhantomData, _here: PhantomData }
    }

    pub(crate) fn handle(&self) -> TeamHandle {
        self.handle
    }

    /// This PE.
    #[inline(always)]
    pub fn me(&self) -> Pe {
        self.pe(self.rank()).expect("this PE is in its team")
    }

    /// This PE's place in the team, from 0.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        // SAFETY: a team that is there; so in all functions here.
        unsafe { ffi::shmem_team_my_pe(self.handle) as usize }
    }

    /// How many PEs it has.
    #[inline(always)]
    pub fn size(&self) -> usize {
        // SAFETY: see rank.
        unsafe { ffi::shmem_team_n_pes(self.handle) as usize }
    }

    /// The PE with this place in the team. `None`: there is none.
    #[inline(always)]
    pub fn pe(&self, rank: usize) -> Option<Pe> {
        if rank >= self.size() {
            return None;
        }
        // SAFETY: see rank.
        Some(Pe(unsafe { ffi::shmem_team_translate_pe(self.handle, rank as i32, ffi::TEAM_WORLD) }))
    }

    /// The place of a PE. `None`: it is not in the team.
    #[inline(always)]
    pub fn rank_of(&self, pe: Pe) -> Option<usize> {
        // SAFETY: see rank.
        let rank = unsafe { ffi::shmem_team_translate_pe(ffi::TEAM_WORLD, pe.0, self.handle) };
        usize::try_from(rank).ok()
    }

    /// The PE some places after this one, in a ring of all.
    #[inline(always)]
    pub fn neighbour(&self, distance: usize) -> Pe {
        // Either number is less than the size, an int in C.
        self.pe((self.rank() + distance % self.size()) % self.size()).expect("a place in the team")
    }

    /// Its PEs in their order.
    pub fn pes(&self) -> impl Iterator<Item = Pe> + '_ {
        (0..self.size()).filter_map(|rank| self.pe(rank))
    }
}

impl<'s> Deref for Team<'s> {
    type Target = Members<'s>;

    fn deref(&self) -> &Members<'s> {
        &self.members
    }
}

impl<'s> Team<'s> {
    pub(crate) fn of(handle: TeamHandle) -> Team<'s> {
        Team { members: Members::of(handle) }
    }

    /// Waits for all of the team.
    #[inline(always)]
    pub fn sync(&self) {
        // SAFETY: see rank.
        unsafe { ffi::shmem_team_sync(self.handle) };
    }

    /// Those at `start`, `start + stride` ...: `size` of them. `Ok(None)`: this PE is not one of them. All PEs of
    /// this team call it.
    ///
    /// # Errors
    /// [`Error::NoTeam`].
    #[inline(always)]
    pub fn split_strided(&self, start: usize, stride: usize, size: usize) -> Result<Option<Team<'_>>, Error> {
        let mut handle = ffi::TEAM_INVALID;
        let number = |number: usize| i32::try_from(number).map_err(|_| Error::NoTeam);
        let (first, step, size) = (number(start)?, number(stride)?, number(size)?);
        let last = i64::from(first) + i64::from(step) * (i64::from(size) - 1);
        if size < 1 || (step == 0 && size > 1) || last >= self.size() as i64 {
            return Err(Error::NoTeam);
        }
        // SAFETY: see rank; a null pointer is no configuration.
        let failed = unsafe {
            let none = std::ptr::null();
            ffi::shmem_team_split_strided(self.handle, first, step, size, none, 0, &raw mut handle)
        };
        // A PE that is not to be in the team is told by 0 that there is one.
        if failed != 0 {
            return Err(Error::NoTeam);
        }
        Ok((handle != ffi::TEAM_INVALID).then(|| Self::of(handle)))
    }

    /// Rows of `width` PEs: the team of this PE's row, and that of its column. All PEs of this team call it.
    ///
    /// # Errors
    /// [`Error::NoTeam`].
    #[inline(always)]
    pub fn split_2d(&self, width: usize) -> Result<(Team<'_>, Team<'_>), Error> {
        let (mut row, mut column) = (ffi::TEAM_INVALID, ffi::TEAM_INVALID);
        let width = i32::try_from(width).ok().filter(|width| *width > 0).ok_or(Error::NoTeam)?;
        // SAFETY: see split_strided.
        let failed = unsafe {
            let none = std::ptr::null();
            ffi::shmem_team_split_2d(self.handle, width, none, 0, &raw mut row, none, 0, &raw mut column)
        };
        if failed != 0 || row == ffi::TEAM_INVALID || column == ffi::TEAM_INVALID {
            return Err(Error::NoTeam);
        }
        Ok((Self::of(row), Self::of(column)))
    }
}

impl Drop for Team<'_> {
    fn drop(&mut self) {
        if ![ffi::TEAM_WORLD, ffi::TEAM_SHARED].contains(&self.handle()) {
            runtime::end_the_job_in_a_panic();
            // SAFETY: made by a split, and destroyed once.
            unsafe { ffi::shmem_team_destroy(self.handle()) };
        }
    }
}
