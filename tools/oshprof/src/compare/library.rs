//! Which library a program ran with.

use std::time::UNIX_EPOCH;

use pellucid_profile::report::build_id;
use pellucid_profile::tables::Module;
use pellucid_profile::text::path_of;

/// The build id of the shared library among the loaded objects of a job that started at this time (nanoseconds since
/// 1970); `None` where it is part of the program, gone, or another since.
pub fn build_id(modules: &[Module], started_ns: u64) -> Option<String> {
    let is_library = |module: &&Module| {
        let name = module.path.rsplit('/').next().unwrap_or_default();
        ["libsma.", "libpsma.", "libopenshmem.", "libshmem."].iter().any(|begin| name.starts_with(begin))
    };
    let module = modules.iter().find(is_library)?;
    if !module.build_id.is_empty() {
        return Some(module.build_id.clone());
    }
    let path = path_of(&module.path);
    let written = path.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    // What was written later is not what ran.
    if written.as_nanos() > u128::from(started_ns) { None } else { build_id::build_id(&path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_libraries_have_one() {
        assert_eq!(build_id(&[], u64::MAX), None);
        let of = |path: &str| build_id(&[Module { path: path.into(), ..Module::default() }], u64::MAX);
        assert_eq!((of("/bin/sh"), of("/no/libsma.so.1"), of("/dev/libsma.so"), of("")), (None, None, None, None));
        let recorded = Module { path: "/no/libsma.so.1".into(), build_id: "0aff".into(), ..Module::default() };
        assert_eq!(build_id(&[recorded], u64::MAX), Some("0aff".into()));
    }
}
