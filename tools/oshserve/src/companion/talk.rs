//! What is said between a companion and whoever started it.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use pellucid_profile::segment::handover;

use crate::metrics::collect::STATES;
use crate::push::PushedJob;
use crate::serve::handover::{accept, first_message};
use crate::serve::jobs::Jobs;
use crate::serve::tracked::Key;

/// The socket, and what was read of it.
pub struct Talk(BufReader<UnixStream>);

/// What the launcher told.
#[derive(Debug, PartialEq, Eq)]
pub enum LauncherMessage {
    /// The numbers as they are now are to be written.
    Snapshot,
    /// The job has ended, perhaps as was said.
    End(Option<&'static str>),
}

impl Talk {
    /// Over this socket.
    pub fn new(stream: UnixStream) -> Talk {
        Talk(BufReader::new(stream))
    }

    /// There will be no metrics, and why.
    pub fn refuse(&mut self, why: &str) {
        self.say(&format!("error={}\n\n", why.replace('\n', " ")));
    }

    /// All is prepared; where the job will be served.
    pub fn ready(&mut self, url: Option<&str>) {
        self.say(&format!("ready={}\n\n", url.unwrap_or_default()));
    }

    /// What was asked for has been done.
    pub fn done(&mut self) {
        self.say("done\n");
    }

    fn say(&mut self, text: &str) {
        // Whoever does not listen any more does not need it.
        let _ = self.0.get_ref().write_all(text.as_bytes());
    }

    /// The job.
    ///
    /// # Errors
    /// What is wrong with it. `None`: there is none, after all.
    pub fn job(&mut self, jobs: &Jobs) -> io::Result<Option<(Key, PushedJob)>> {
        let user = handover::peer(self.0.get_ref().as_fd())?;
        let Some(message) = first_message(self.0.get_ref(), None)? else { return Ok(None) };
        accept(message, user, jobs).map(Some)
    }

    /// Waits for the next thing that is asked for. The end of the connection is that of the job.
    pub fn read_request(&mut self) -> LauncherMessage {
        let mut state = None;
        loop {
            let mut line = String::new();
            match self.0.read_line(&mut line) {
                Ok(0) | Err(_) => return LauncherMessage::End(state),
                Ok(_) => {}
            }
            match line.trim_end().split_once('=') {
                Some(("state", said)) => state = STATES.into_iter().find(|known| *known == said),
                None if line.trim_end() == "snapshot" => return LauncherMessage::Snapshot,
                _ if line.trim_end().is_empty() && state.is_some() => return LauncherMessage::End(state),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_heard() {
        let (mine, mut theirs) = UnixStream::pair().unwrap();
        let mut talk = Talk::new(mine);
        theirs.write_all(b"snapshot\n\nnonsense\nsnapshot\nstate=failed\n\n").unwrap();
        assert_eq!(
            [talk.read_request(), talk.read_request(), talk.read_request()],
            [LauncherMessage::Snapshot, LauncherMessage::Snapshot, LauncherMessage::End(Some("failed"))]
        );
        drop(theirs);
        assert_eq!(talk.read_request(), LauncherMessage::End(None));
    }
}
