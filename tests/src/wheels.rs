//! What `./x test` installs from Python packages: launchers and a libfabric that are newer than the distribution's, the
//! programs that read what `oshprof export` writes, and shmem4py.

use std::path::PathBuf;

use crate::{system, tree};

/// Where a package is: its `bin` and `lib` lie there. Error: why it is not there.
fn package(name: &str) -> Result<PathBuf, String> {
    let folder = tree::scratch("../wheels").join(name);
    if folder.join("bin").exists() {
        return Ok(folder.canonicalize().unwrap_or(folder));
    }
    let why = std::fs::read_to_string(tree::scratch("../wheels").join(format!("{name}.why"))).unwrap_or_default();
    let why = why.lines().last().unwrap_or("./x test installs it");
    Err(format!("the Python package {name} is not installed: {why}"))
}

/// Open MPI 5: `mpirun` with PMIx 5. Error: why there is none.
pub fn open_mpi() -> Result<PathBuf, String> {
    package("openmpi")
}

/// MPICH 5: `mpiexec`. Error: why there is none.
pub fn mpich() -> Result<PathBuf, String> {
    package("mpich")
}

/// A libfabric 2: the path of its library. Error: why there is none.
pub fn libfabric() -> Result<PathBuf, String> {
    let in_package = |(folder, name): (PathBuf, &str)| {
        let file = folder.join("lib").join(name).join("libfabric.so.1");
        if file.exists() { Ok(file) } else { Err(format!("{} is missing", file.display())) }
    };
    open_mpi()
        .map(|folder| (folder, "openmpi"))
        .or_else(|_| mpich().map(|folder| (folder, "mpich")))
        .and_then(in_package)
}

/// Variables by which PEs use a libfabric that starts in 4 ms: Debian's looks for a driver in the kernel's table of
/// symbols first, 0.1 s in each PE. None with `./x test --long`, and where the package is not installed.
pub fn quick_libfabric() -> Vec<(&'static str, String)> {
    let library = mpich().map(|folder| folder.join("lib/mpich/libfabric.so.1")).unwrap_or_default();
    if system::is_long() || !library.exists() {
        return Vec::new();
    }
    // Providers that are files of their own may look for the driver as well.
    let folder = "/nonexistent".to_owned();
    vec![("SHMEM_OFI_LIBRARY", library.display().to_string()), ("FI_PROVIDER_PATH", folder)]
}

/// The folder with `python3` and `otava` that have the readers of exports. Error: why there is none.
pub fn readers() -> Result<PathBuf, String> {
    package("readers").map(|folder| folder.join("bin"))
}

/// A collector of OpenTelemetry: the program. Error: why there is none.
pub fn collector() -> Result<PathBuf, String> {
    let folder = package("rotel")?;
    let versions = std::fs::read_dir(folder.join("lib")).into_iter().flatten().flatten();
    let mut places = versions.map(|version| version.path().join("site-packages/rotel/rotel-agent"));
    places.find(|file| file.is_file()).ok_or_else(|| "the Python package rotel has no program".to_owned())
}

/// The folder of a Python with shmem4py: `bin/python3`, and the sources with their tests in `source`. Error: why there
/// is none.
pub fn shmem4py() -> Result<PathBuf, String> {
    package("shmem4py")
}
