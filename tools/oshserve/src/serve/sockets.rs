//! Sockets in the file system: made where there is nothing or an old socket, and gone with the process.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Makes room for a socket: one that nobody listens at is removed.
///
/// # Errors
/// Somebody listens there, or what is there is no socket: it may be anything, and stays.
pub fn clear(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(facts) if !facts.file_type().is_socket() => {
            Err(io::Error::new(io::ErrorKind::AlreadyExists, "what is there is no socket, and is left as it is"))
        }
        Ok(_) if UnixStream::connect(path).is_ok() => {
            Err(io::Error::new(io::ErrorKind::AddrInUse, "another exporter listens there"))
        }
        Ok(_) => fs::remove_file(path),
    }
}

/// The sockets that this process has made.
#[derive(Clone, Debug, Default)]
pub struct Sockets(Arc<Mutex<Vec<Made>>>);

#[derive(Debug)]
struct Made {
    path: PathBuf,
    /// Device and number, by which another one of the name is told.
    file: (u64, u64),
}

impl Sockets {
    /// This process has made a socket there.
    pub fn add(&self, path: &Path) {
        let Ok(facts) = fs::symlink_metadata(path) else { return };
        // It may go to another directory in the meantime.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.list().push(Made { path, file: (facts.dev(), facts.ino()) });
    }

    /// Removes them, but for those that somebody else has replaced.
    pub fn remove(&self) {
        for made in self.list().drain(..) {
            if fs::symlink_metadata(&made.path).is_ok_and(|facts| (facts.dev(), facts.ino()) == made.file) {
                let _ = fs::remove_file(&made.path);
            }
        }
    }

    fn list(&self) -> std::sync::MutexGuard<'_, Vec<Made>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_what_is_an_old_socket_makes_room() {
        let folder = std::env::temp_dir().join(format!("pellucid-sockets-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [file, link, socket] = ["results.csv", "link", "serve.sock"].map(|name| folder.join(name));
        clear(&socket).unwrap();
        fs::write(&file, "a,b\n").unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        std::os::unix::fs::symlink(&socket, &link).unwrap();
        for (path, kind) in [
            (&file, io::ErrorKind::AlreadyExists),
            (&link, io::ErrorKind::AlreadyExists),
            (&folder, io::ErrorKind::AlreadyExists),
            (&socket, io::ErrorKind::AddrInUse),
        ] {
            assert_eq!(clear(path).unwrap_err().kind(), kind, "{}", path.display());
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "a,b\n");
        drop(listener);
        clear(&socket).unwrap();
        assert!(!socket.exists());

        let sockets = Sockets::default();
        let _first = UnixListener::bind(&socket).unwrap();
        sockets.add(&socket);
        fs::remove_file(&socket).unwrap();
        let _second = UnixListener::bind(&socket).unwrap();
        sockets.remove();
        assert!(socket.exists(), "another one's");
        sockets.add(&socket);
        sockets.remove();
        assert!(!socket.exists());
        fs::remove_dir_all(&folder).unwrap();
    }
}
