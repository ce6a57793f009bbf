//! Snapshots of the profile on a PE's request, in a daemon: read here, written by the head.

use crate::sys::file;
use pellucid_profile::companion::Companions;
use pellucid_profile::model::Profile;
use pellucid_profile::segment::{Segment, SnapshotRequests};
use pellucid_profile::snapshot::{self, Outcome};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a request waits at most when its wake-up is lost, and the end of the thread.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// How long a PE waits at most for the head.
const PATIENCE: Duration = Duration::from_secs(10);

/// The thread that reads snapshots. Dropping it ends it.
pub struct HostSnapshots {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    wake: OwnedFd,
}

#[derive(Default)]
struct State {
    /// Read, and not sent yet.
    ready: Option<(u32, Profile)>,
    /// The last one that the head has written.
    kept: u32,
    over: bool,
}

impl HostSnapshots {
    /// Serves the PEs of this segment.
    pub fn serve(fd: BorrowedFd<'_>, companions: &Arc<Companions>) -> io::Result<Self> {
        let requests = SnapshotRequests::serve(fd)?;
        let segment = Segment::map(fd)?;
        let shared = Shared { state: Mutex::default(), changed: Condvar::new(), wake: file::eventfd()? };
        let shared = Arc::new(shared);
        let thread = std::thread::Builder::new().name("snapshots".into()).spawn({
            let (shared, companions) = (Arc::clone(&shared), Arc::clone(companions));
            move || shared.work(&requests, &segment, &companions)
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Readable when [`Self::take`] has something.
    pub fn wake(&self) -> &OwnedFd {
        &self.shared.wake
    }

    /// A snapshot and its number.
    pub fn take(&self) -> Option<(u32, Profile)> {
        let _ = file::read(self.shared.wake.as_raw_fd(), &mut [0; 8]);
        self.shared.lock().ready.take()
    }

    /// The head has written a snapshot.
    pub fn written(&self, number: u32) {
        self.shared.lock().kept = number;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, requests: &SnapshotRequests, segment: &Segment, companions: &Companions) {
        while !self.lock().over {
            let Some(number) = requests.next(LOOK_AGAIN) else { continue };
            let profile = snapshot::take(segment, &Outcome::default());
            companions.snapshot();
            let mut state = self.lock();
            state.ready = Some((number, profile));
            let _ = file::write(self.wake.as_raw_fd(), &1u64.to_ne_bytes());
            let waits = |state: &mut State| state.kept != number && !state.over;
            let waited = self.changed.wait_timeout_while(state, PATIENCE, waits);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
            requests.done(number);
        }
        requests.end();
    }
}

impl Drop for HostSnapshots {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
