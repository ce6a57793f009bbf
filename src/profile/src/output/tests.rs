//! Other users are played by a child that changes its user, where these tests run as root.
#![allow(unsafe_code)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::sync::Barrier;

use super::*;

/// A user that is not the one who runs the tests.
const STRANGER: u32 = 65_534;

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("pellucid-output-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn is_root(scratch: &Scratch) -> bool {
    fs::metadata(&scratch.0).unwrap().uid() == 0
}

fn left(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_pipe_that_nobody_reads_is_an_error_where_nobody_waits() {
    let scratch = Scratch::new("pipe");
    let pipe = scratch.0.join("page.prom");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let error = OutputFile::create_at_once(&pipe).unwrap_err().to_string();
    assert!(error.contains("page.prom: nobody reads it"), "{error}");
    let reader = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    let mut file = OutputFile::create_at_once(&pipe).unwrap();
    file.write_all(b"x").unwrap();
    file.finish().unwrap();
    drop(reader);
    let plain = scratch.0.join("plain");
    OutputFile::create_at_once(&plain).and_then(OutputFile::finish).unwrap();
    assert!(plain.is_file());
}

#[test]
fn nothing_is_overwritten() {
    let scratch = Scratch::new("numbers");
    let wanted = scratch.0.join("a/b.prof");
    let first = OutputDir::take(&wanted).unwrap();
    assert_eq!(first.path(), wanted);
    let second = OutputDir::take(&wanted).unwrap();
    assert_eq!(second.path(), scratch.0.join("a/b.prof.2"), "an empty directory that a job has is not taken");
    first.create("file").unwrap();
    drop(first);
    drop(second);
    assert_eq!(left(&scratch.0.join("a")), ["b.prof"], "what was made for nothing goes");
    assert_eq!(left(&wanted), ["file"]);
    let again = OutputDir::take(&wanted).unwrap();
    assert_eq!(again.path(), scratch.0.join("a/b.prof.2"));
    fs::create_dir(scratch.0.join("empty")).unwrap();
    let empty = OutputDir::take(&scratch.0.join("empty")).unwrap();
    assert_eq!(empty.path(), scratch.0.join("empty"), "an empty directory serves");
    drop(empty);
    assert!(scratch.0.join("empty").exists(), "what was there stays");
    fs::write(scratch.0.join("plain"), "").unwrap();
    assert_eq!(OutputDir::take(&scratch.0.join("plain")).unwrap().path(), scratch.0.join("plain.2"));
    let below = OutputDir::take(&scratch.0.join("plain/below")).unwrap_err().to_string();
    assert!(below.starts_with("cannot make"), "{below}");
}

/// Does something in a thread in which the system refuses to list directories, as some sandboxes do. `None`: there are
/// no such threads here.
fn without_listing<T: Send>(act: impl FnOnce() -> T + Send) -> Option<T> {
    let step = |code: u32, jf, k| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut steps = [
        // The number of the call is the first word of what is known of it.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, libc::SYS_getdents64 as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, refused),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let mut install = move || {
        let filter = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
        // SAFETY: plain system calls for this thread; the filter and its steps live until they return.
        unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) == 0
        }
    };
    std::thread::scope(|scope| scope.spawn(move || install().then(act)).join().unwrap())
}

#[test]
fn a_directory_that_cannot_be_listed_is_an_error_and_not_one_of_many() {
    let scratch = Scratch::new("unlisted");
    let empty = scratch.0.join("empty");
    fs::create_dir(&empty).unwrap();
    for wanted in [scratch.0.join("new"), empty] {
        let Some(taken) = without_listing(|| OutputDir::take(&wanted)) else {
            eprintln!("no filter of system calls here: not tested");
            return;
        };
        let message = taken.unwrap_err().to_string();
        let name = wanted.display().to_string();
        assert!(message.contains(&format!("{name}: ")) && message.contains("not permitted"), "{message}");
    }
    assert_eq!(left(&scratch.0), ["empty"], "what was made for nothing goes, and nothing else is made");
    assert!(left(&scratch.0.join("empty")).is_empty());
}

#[test]
fn jobs_that_begin_at_once_have_directories_of_their_own() {
    let scratch = Scratch::new("race");
    let rounds = if std::env::var_os("PELLUCID_TEST_LONG").is_some() { 2000 } else { 40 };
    for round in 0..rounds {
        let wanted = scratch.0.join(format!("job{round}"));
        if round % 2 == 0 {
            fs::create_dir(&wanted).unwrap();
        }
        let (barrier, wanted) = (&Barrier::new(6), &wanted);
        let mut taken: Vec<PathBuf> = std::thread::scope(|scope| {
            let jobs = (0..6).map(|_| {
                scope.spawn(move || {
                    barrier.wait();
                    let dir = OutputDir::take(wanted).unwrap();
                    dir.create("pe-00000.prof").expect("nobody else has the directory");
                    dir.path().to_owned()
                })
            });
            jobs.collect::<Vec<_>>().into_iter().map(|job| job.join().unwrap()).collect()
        });
        taken.sort();
        taken.dedup();
        assert_eq!(taken.len(), 6);
    }
}

#[test]
fn what_others_could_write_to_is_refused() {
    let scratch = Scratch::new("others");
    let path = scratch.0.join("open");
    fs::create_dir(&path).unwrap();
    for (mode, part) in [(0o777, "can be written to by every user (mode 0777)"), (0o1757, "chmod o-w")] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let text = OutputDir::take(&path).unwrap_err().to_string();
        assert!(text.contains(part), "{text}");
        assert!(left(&path).is_empty(), "nothing is left in it");
    }
    if !is_root(&scratch) {
        eprintln!("skipped: other users are played by root only");
        return;
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o775)).unwrap();
    assert_eq!(OutputDir::take(&path).unwrap().path(), path, "a group of the user's own is no other user");
    chown(&path, None, Some(STRANGER)).unwrap();
    let text = OutputDir::take(&path).unwrap_err().to_string();
    assert!(text.contains("group 65534 (mode 0775)") && text.contains("chmod g-w"), "{text}");
    chown(&path, Some(STRANGER), None).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let text = OutputDir::take(&path).unwrap_err().to_string();
    assert!(text.contains("belongs to user 65534"), "{text}");
    assert!(left(&path).is_empty(), "nothing is left in it");
}

#[test]
fn no_link_is_followed_in_a_directory() {
    let scratch = Scratch::new("links");
    let victim = scratch.0.join("victim");
    fs::write(&victim, "precious").unwrap();
    let dir = OutputDir::take(&scratch.0.join("d")).unwrap();
    for name in ["pe-00000.prof", "job.json"] {
        symlink(&victim, dir.path().join(name)).unwrap();
        assert!(dir.create(name).is_err() && dir.open(name, true).is_err());
        dir.replace(name, b"new").unwrap();
        assert_eq!(fs::read(dir.path().join(name)).unwrap(), b"new");
    }
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    assert!(dir.open(".", false).is_err(), "only plain files are files");
}

#[test]
fn a_directory_is_found_by_its_claim() {
    let scratch = Scratch::new("claim");
    let wanted = scratch.0.join("d");
    let dir = OutputDir::take(&wanted).unwrap();
    let joined = OutputDir::join(&wanted, dir.claim()).unwrap();
    joined.create("x").unwrap();
    assert_eq!(numbered(&wanted, dir.claim().number), wanted);
    let other = Claim { token: dir.claim().token ^ 2, ..dir.claim() };
    assert!(matches!(OutputDir::join(&wanted, other), Err(Error::NotClaimed { .. })));
    assert!(matches!(OutputDir::join(&scratch.0, dir.claim()), Err(Error::NotClaimed { .. })));
    drop(joined);
    assert!(OutputDir::join(&wanted, dir.claim()).is_ok(), "only who took it lets it go");
    dir.release();
    assert!(OutputDir::join(&wanted, dir.claim()).is_err());
}

#[test]
fn a_directory_that_was_replaced_is_not_written_to() {
    let scratch = Scratch::new("replaced");
    let dir = OutputDir::take(&scratch.0.join("d")).unwrap();
    fs::rename(dir.path(), scratch.0.join("moved")).unwrap();
    fs::create_dir(dir.path()).unwrap();
    dir.create("x").unwrap();
    assert_eq!(left(dir.path()), [""; 0]);
    assert!(scratch.0.join("moved/x").exists());
}

#[test]
fn a_file_has_its_name_when_it_is_whole() {
    let scratch = Scratch::new("file");
    let path = scratch.0.join("report.html");
    let mut file = OutputFile::create(&path).unwrap();
    file.write_all(b"part").unwrap();
    assert!(!path.exists());
    drop(file);
    assert!(left(&scratch.0).is_empty(), "nothing of 0 bytes is left");
    fs::write(&path, "old").unwrap();
    let mut file = OutputFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    file.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(left(&scratch.0), ["report.html"]);
    OutputFile::create(Path::new("/dev/null")).unwrap().finish().unwrap();
    let text = OutputFile::create(&scratch.0).unwrap_err().to_string();
    assert!(text.contains("irectory"), "{text}");
    let text = OutputFile::create(&scratch.0.join("none/x")).unwrap_err().to_string();
    assert!(text.starts_with("cannot write") && text.contains("none/x"), "{text}");
}

#[test]
fn descriptors_are_written_to_where_they_stand() {
    use std::io::{Read, Seek};
    use std::os::fd::AsRawFd;
    let scratch = Scratch::new("descriptors");
    let mut file = fs::OpenOptions::new().read(true).write(true).create_new(true).open(scratch.0.join("file")).unwrap();
    let (mut here, there) = std::os::unix::net::UnixStream::pair().unwrap();
    file.write_all(b"HEADER").unwrap();
    for (fd, made) in [
        (file.as_raw_fd(), OutputFile::create as fn(&Path) -> _),
        (there.as_raw_fd(), OutputFile::create_at_once),
        (file.as_raw_fd(), OutputFile::create_at_once),
    ] {
        let mut to = made(&PathBuf::from(format!("/dev/fd/{fd}"))).unwrap();
        to.write_all(b"page").unwrap();
        to.finish().unwrap();
    }
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "HEADERpagepage");
    let mut bytes = [0; 4];
    here.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"page");
    assert!(OutputFile::create(Path::new("/dev/fd/1000000")).is_err());
}

#[test]
fn links_of_others_are_not_followed() {
    let scratch = Scratch::new("link");
    let (target, link) = (scratch.0.join("target"), scratch.0.join("link"));
    fs::write(&target, "old").unwrap();
    symlink(&target, &link).unwrap();
    let mut file = OutputFile::create(&link).unwrap();
    file.write_all(b"new").unwrap();
    file.finish().unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"new", "the user's own links lead where they lead");
    if !is_root(&scratch) {
        eprintln!("skipped: other users are played by root only");
        return;
    }
    std::os::unix::fs::lchown(&link, Some(STRANGER), None).unwrap();
    let text = OutputFile::create(&link).unwrap_err().to_string();
    assert!(text.contains("is a symbolic link of user 65534: it is not followed"), "{text}");
}

#[test]
fn a_directory_of_the_users_own_serves_with_what_is_in_it() {
    let scratch = Scratch::new("own");
    let path = scratch.0.join("a/tables");
    let dir = OutputDir::own(&path).unwrap();
    dir.create("one.csv").unwrap();
    let dir = OutputDir::own(&path).unwrap();
    assert!(dir.create("one.csv").is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists));
    symlink(scratch.0.join("elsewhere"), path.join("two.csv")).unwrap();
    assert!(dir.create("two.csv").is_err() && dir.append("two.csv").is_err());
    assert!(!scratch.0.join("elsewhere").exists());
    drop(dir);
    assert_eq!(left(&path), ["one.csv", "two.csv"], "no claim, and nothing goes");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(OutputDir::own(&path), Err(Error::OpenToOthers { .. })));
    // Users may share one, as a store of a project.
    let shared = OutputDir::shared(&path).unwrap();
    for line in ["one\n", "two\n"] {
        shared.append("lines").unwrap().write_all(line.as_bytes()).unwrap();
    }
    assert_eq!(fs::read_to_string(path.join("lines")).unwrap(), "one\ntwo\n");
    shared.replace_for_good("lines", b"three").unwrap();
    assert_eq!(fs::read_to_string(path.join("lines")).unwrap(), "three");
    if is_root(&scratch) {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        chown(&path, Some(STRANGER), Some(STRANGER)).unwrap();
        assert!(matches!(OutputDir::own(&path), Err(Error::Owner { uid: STRANGER, .. })));
    }
}

#[test]
fn a_tree_gets_its_name_when_it_is_complete() {
    let scratch = Scratch::new("tree");
    let path = scratch.0.join("archive");
    let tree = OutputTree::create(&path).unwrap();
    fs::create_dir(tree.place()).unwrap();
    fs::write(tree.place().join("file"), "x").unwrap();
    let names = left(&scratch.0);
    assert!(names.len() == 1 && names[0].starts_with(".archive.new-"), "{names:?}");
    assert_eq!(fs::metadata(scratch.0.join(&names[0])).unwrap().mode() & 0o777, 0o700, "nobody else gets in");
    tree.finish().unwrap();
    assert_eq!((left(&scratch.0), left(&path)), (vec!["archive".to_owned()], vec!["file".to_owned()]));
    assert!(OutputTree::create(&path).is_err(), "nothing is overwritten");
    // What was not finished is gone, and what got the name meanwhile stays.
    let other = scratch.0.join("other");
    let tree = OutputTree::create(&other).unwrap();
    fs::create_dir(tree.place()).unwrap();
    fs::write(tree.place().join("file"), "x").unwrap();
    symlink(&path, &other).unwrap();
    assert!(OutputTree::create(&other).is_err());
    assert!(tree.finish().is_err());
    assert_eq!(
        (left(&scratch.0), left(&path)),
        (vec!["archive".to_owned(), "other".to_owned()], vec!["file".to_owned()])
    );
}
