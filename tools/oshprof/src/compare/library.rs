//! Which library a program ran with.

use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;

use pellucid_profile::detail::Module;

/// How much of a file is looked through: linkers put notes at the begin.
const HEAD: u64 = 1 << 16;
/// A note of the kind NT_GNU_BUILD_ID with 20 bytes, as far as all are equal.
const NOTE: [u8; 16] = [4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, b'G', b'N', b'U', 0];
const LENGTH: usize = 20;

/// The build id of the shared library among the loaded objects of a job that started at this time (nanoseconds since
/// 1970); `None` where it is part of the program, gone, or another since.
pub fn build_id(modules: &[Module], started_ns: u64) -> Option<String> {
    let is_library = |module: &&Module| {
        let name = module.path.rsplit('/').next().unwrap_or_default();
        ["libsma.", "libpsma.", "libopenshmem.", "libshmem."].iter().any(|begin| name.starts_with(begin))
    };
    let path = Path::new(&modules.iter().find(is_library)?.path);
    let written = path.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    // What was written later is not what ran.
    if written.as_nanos() > u128::from(started_ns) { None } else { read(path) }
}

fn read(path: &Path) -> Option<String> {
    // A path in a profile may be anything, and opening some things waits.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(HEAD).read_to_end(&mut bytes).ok()?;
    let at = bytes.windows(NOTE.len()).position(|window| window == NOTE)? + NOTE.len();
    let id = bytes.get(at..at + LENGTH)?;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_libraries_have_one() {
        assert_eq!(build_id(&[], u64::MAX), None);
        let of = |path: &str| build_id(&[Module { path: path.into(), ..Module::default() }], u64::MAX);
        assert_eq!((of("/bin/sh"), of("/no/libsma.so.1"), of("/dev/libsma.so"), of("")), (None, None, None, None));
        let id = read(Path::new("/bin/sh"));
        assert!(id.is_none_or(|id| id.len() == 2 * LENGTH));
    }
}
