//! Which profile is meant where none is named: the newest one in the current directory.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pellucid_profile::text::visible_path;

/// The directory that is named, or the newest profile here, which is told. The error says what to do.
pub fn profile(named: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(dir) = named {
        return if is_trace(dir) { Err(is_a_trace(dir)) } else { Ok(dir.to_owned()) };
    }
    let found = newest_in(Path::new(".")).ok_or(
        "no profile is named and there is none in this directory: `oshrun --profile` writes one, then `oshprof report \
         DIR`",
    )?;
    pellucid_profile::say!("oshprof: the newest profile here: {}", visible_path(&found));
    Ok(found)
}

/// Whether a directory has the files of a trace, and none of a profile.
fn is_trace(dir: &Path) -> bool {
    let has = |extension: &str| {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.path().extension() == Some(OsStr::new(extension)))
    };
    has("trace") && !has("prof")
}

fn is_a_trace(dir: &Path) -> String {
    let dir = visible_path(dir);
    format!(
        "{dir} is a trace, not a profile: `oshprof trace {dir}` is for it, `oshprof trace {dir} --to waits` for a table"
    )
}

/// The directory with the profile that was written last.
fn newest_in(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let written = |dir: &Path| -> Option<SystemTime> { fs::metadata(dir.join("job.json")).ok()?.modified().ok() };
    let profiles = entries.map(|entry| entry.path()).filter_map(|dir| Some((written(&dir)?, dir)));
    let (_, dir) = profiles.max()?;
    Some(dir.strip_prefix(".").map(Path::to_owned).unwrap_or(dir))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, FileTimes};
    use std::time::Duration;

    #[test]
    fn the_newest_is_found_and_a_trace_is_named() {
        let folder = std::env::temp_dir().join(format!("oshprof-newest-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(newest_in(&folder), None);
        for (name, age) in [("a.prof", 30), ("b.prof", 10), ("c.prof", 20)] {
            fs::create_dir(folder.join(name)).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age);
            let file = File::create(folder.join(name).join("job.json")).unwrap();
            file.set_times(FileTimes::new().set_modified(time)).unwrap();
        }
        assert_eq!(newest_in(&folder), Some(folder.join("b.prof")));
        let trace = folder.join("t");
        fs::create_dir(&trace).unwrap();
        File::create(trace.join("pe-00000-000.trace")).unwrap();
        assert!(profile(Some(&trace)).unwrap_err().contains("is a trace, not a profile: `oshprof trace "));
        assert_eq!(profile(Some(&folder.join("a.prof"))), Ok(folder.join("a.prof")));
        fs::remove_dir_all(&folder).unwrap();
    }
}
