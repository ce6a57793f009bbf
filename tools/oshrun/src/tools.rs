//! The tools of `--tool`: what can be told before anything is started. Whether they load is seen in the PEs.

use crate::options::Options;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The value of `SHMEM_TOOLS`; `None` without `--tool`. Error: a file that is not there.
pub fn list(options: &Options) -> Result<Option<OsString>, String> {
    let mut paths = Vec::new();
    for tool in &options.tools {
        paths.push(locate(tool, options.tool_optional)?);
    }
    let names: Vec<&OsStr> = paths.iter().map(|path| path.as_os_str()).collect();
    Ok((!names.is_empty()).then(|| names.join(OsStr::new(":"))))
}

/// Files by their absolute path, since a PE may start elsewhere; other names are left to the loader's search path.
fn locate(tool: &Path, optional: bool) -> Result<PathBuf, String> {
    let problem = |what: &str| Err(format!("option --tool: {:?}: {what}", tool.to_string_lossy()));
    match tool.metadata() {
        Ok(file) if file.is_dir() => problem("it is a directory"),
        Ok(_) => std::path::absolute(tool).or_else(|error| problem(&error.to_string())),
        Err(error) if tool.components().count() > 1 && !optional => problem(&error.to_string()),
        Err(_) => Ok(tool.to_path_buf()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_and_other_names_left_alone() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(locate(Path::new("Cargo.toml"), false), Ok(here.join("Cargo.toml")));
        assert_eq!(locate(Path::new("libtool-of-the-site.so"), false), Ok("libtool-of-the-site.so".into()));
        let text = locate(Path::new("./no-such.so"), false).unwrap_err();
        assert!(text.starts_with("option --tool: \"./no-such.so\": No such file"), "{text}");
        assert_eq!(locate(Path::new("./no-such.so"), true), Ok("./no-such.so".into()));
        assert!(locate(Path::new("/"), false).is_err());
    }
}
