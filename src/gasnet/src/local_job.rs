//! `GASNET_PSHM_NODES=n ./program`: a program that no launcher has started becomes a job on this host, by starting
//! again below oshrun.
#![allow(unsafe_code)]

use crate::fail::refuse;
use crate::settings;
use pellucid_core::bootstrap::detect::Launcher;
use std::ffi::{CStr, c_void};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Starts the program again, with as many PEs as asked for, and does not return then.
pub fn begin_again_if_asked(routine: &'static str) {
    let Some(count) = settings::pshm_nodes(routine) else { return };
    if !matches!(Launcher::find(), Ok(Launcher::None)) {
        return;
    }
    let Ok(program) = std::env::current_exe() else { refuse(routine, "the path of this program is not known") };
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    let launcher = launcher();
    let error = Command::new(&launcher)
        .args(["-n", &count.to_string()])
        .arg(program)
        .args(arguments)
        .env_remove("GASNET_PSHM_NODES")
        .exec();
    refuse(routine, format!("GASNET_PSHM_NODES={count}: {} cannot be started: {error}", launcher.display()))
}

/// That of the installation which this library is part of, else the one on the path.
fn launcher() -> PathBuf {
    let beside = library().and_then(|library| Some(library.parent()?.parent()?.join("bin/oshrun")));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| "oshrun".into())
}

fn library() -> Option<PathBuf> {
    // SAFETY: zeroes are a value of it; the address is one of code, and the name one of the loader's strings.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(launcher as *const c_void, &raw mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        let name = CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned();
        Path::new(&name).canonicalize().ok()
    }
}
