//! `--output`: a file for what each PE writes.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use pellucid_core::os::process::host_name;

/// Checks a name: each PE has a file of its own, and nothing else stands behind a `%`.
pub fn pattern(text: &str) -> Result<String, String> {
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '%' && !letters.next().is_some_and(|next| "pjhs%".contains(next)) {
            return Err("after % there is p (PE), h (host), j (job), s (out or err) or %".into());
        }
    }
    if text.replace("%%", "").contains("%p") {
        Ok(text.to_owned())
    } else {
        Err("expected %p in the name: a file a PE".into())
    }
}

/// Standard output and error of each PE; files that are there are begun anew. Error: what cannot be written.
pub fn open(pattern: &str, pes: Range<u32>, job: String) -> Result<Vec<[File; 2]>, String> {
    let host = host_name();
    let file = |pe: u32, stream: &str| {
        let name = name(pattern, pe, stream, &job, &host);
        create(Path::new(&name)).map_err(|error| format!("option --output: {name}: {error}"))
    };
    pes.map(|pe| {
        let out = file(pe, "out")?;
        let is_one = name(pattern, pe, "out", &job, &host) == name(pattern, pe, "err", &job, &host);
        let err = if is_one { out.try_clone().map_err(|error| error.to_string())? } else { file(pe, "err")? };
        Ok([out, err])
    })
    .collect()
}

/// What is said of a name that is a link.
const LINK: &str = "is a symbolic link, and output goes through none";

/// Through no link: what stands behind it may be somebody else's.
fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).create(folder)?;
    }
    // Both streams may have one file: each write goes to its end.
    let file = OpenOptions::new().create(true).append(true).custom_flags(libc::O_NOFOLLOW).open(path);
    let file = file.map_err(|error| if path.is_symlink() { io::Error::other(LINK) } else { error })?;
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}

fn name(pattern: &str, pe: u32, stream: &str, job: &str, host: &str) -> String {
    let mut name = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match if letter == '%' { letters.next() } else { None } {
            Some('p') => name += &pe.to_string(),
            Some('s') => name += stream,
            Some('j') => name += job,
            Some('h') => name += host,
            Some(other) => name.push(other),
            None => name.push(letter),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn names_are_made_of_patterns() {
        assert_eq!(name("d%%/%j-%h-%p.%s", 7, "err", "job", "node"), "d%/job-node-7.err");
        assert!(pattern("a%p").is_ok() && pattern("%h/%p.%s").is_ok());
        for wrong in ["a", "a%", "a%x%p", "%%p"] {
            assert!(pattern(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn both_streams_are_in_one_file_or_in_two() {
        let folder = std::env::temp_dir().join(format!("oshrun-files-{}", std::process::id()));
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let write = |pattern: &str| {
            let pattern = folder.join(pattern).display().to_string();
            for (pe, [mut out, mut err]) in open(&pattern, 3..5, "j".into()).unwrap().into_iter().enumerate() {
                writeln!(out, "out {pe}").unwrap();
                writeln!(err, "err {pe}").unwrap();
            }
        };
        (0..2).for_each(|_| write("a/%p"));
        assert_eq!((read("a/3"), read("a/4")), ("out 0\nerr 0\n".into(), "out 1\nerr 1\n".into()));
        write("b-%p.%s");
        assert_eq!((read("b-4.out"), read("b-4.err")), ("out 1\n".into(), "err 1\n".into()));
        std::os::unix::fs::symlink("b-4.out", folder.join("c-3")).unwrap();
        let pattern = folder.join("c-%p").display().to_string();
        let refused = open(&pattern, 3..4, String::new()).unwrap_err();
        assert!(refused.ends_with("c-3: is a symbolic link, and output goes through none"), "{refused}");
        assert!(open("/proc/none/%p", 0..1, String::new()).unwrap_err().starts_with("option --output: /proc/none/0: "));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
