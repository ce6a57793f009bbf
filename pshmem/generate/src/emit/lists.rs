//! Lists that go with the entry points: modules, constants, addresses, operations.

use std::fmt::Write;

use super::{BY, File, entry};
use crate::constants::{LEVELS, SECTIONS};
use crate::expand::Expanded;

/// `pshmem/src/generated/mod.rs`.
pub fn modules(groups: &[Expanded]) -> File {
    let mut text = format!("// {BY}\n//! Entry points, one file a group of the specification.\n\n");
    for group in groups.iter().filter(|group| !group.routines.is_empty()) {
        writeln!(text, "#[rustfmt::skip]\npub mod {};", group.group.name).expect("writing to a string");
    }
    text.push_str("#[rustfmt::skip]\npub mod addresses;\npub mod constants;\n");
    File { path: entry::path("mod"), text }
}

/// `pshmem/src/generated/constants.rs`: the numbers of `shmem.h` and `shmemx.h`.
pub fn constants() -> File {
    let mut text =
        format!("// {BY}\n//! Constants of `shmem.h` and `shmemx.h`.\n\nuse std::ffi::{{CStr, c_int, c_long}};\n");
    for section in SECTIONS {
        let rows: Vec<_> = section.constants.iter().filter_map(|c| Some((c.name, c.rust()?))).collect();
        for (name, (kind, value)) in rows {
            write!(text, "\n/// {}.\npub const {name}: {kind} = {value};", section.title).expect("writing to a string");
        }
    }
    for level in LEVELS {
        write!(
            text,
            "\n/// Level of shmem_pcontrol: {}\npub const {}: c_int = {};",
            level.help, level.name, level.value
        )
        .expect("writing to a string");
    }
    text.push('\n');
    File { path: entry::path("constants"), text }
}

/// `pshmem/src/generated/addresses.rs`: where each `shmem_X` of the running process is.
pub fn addresses(groups: &[Expanded]) -> File {
    let names: Vec<_> = groups.iter().flat_map(|group| &group.routines).map(|routine| &routine.name).collect();
    let mut text = format!(
        "// {BY}\n//! What each `shmem_X` is bound to in the running process, by operation id.\n\n\
         use pellucid_profile::op::COUNT;\n\nuse crate::tool::Address;\n\nunsafe extern \"C\" {{\n"
    );
    for name in &names {
        writeln!(text, "    fn {name}();").expect("writing to a string");
    }
    text.push_str(
        "}\n\n/// A tool's function where the process has one, else the library's own.\n\
         pub static BOUND: [Address; COUNT] = [\n",
    );
    for name in &names {
        writeln!(text, "    Address({name} as *const ()),").expect("writing to a string");
    }
    text.push_str("];\n");
    File { path: entry::path("addresses"), text }
}

/// `src/profile/src/generated/ops.rs`.
pub fn ops(groups: &[Expanded]) -> File {
    let count: usize = groups.iter().map(|group| group.routines.len()).sum();
    let mut text = format!(
        "// {BY}\nuse crate::op::{{Class, Op, Timing}};\n\n\
         /// Number of operations.\npub const COUNT: usize = {count};\n\n\
         /// The operation table.\n#[rustfmt::skip]\npub static OPS: [Op; COUNT] = [\n"
    );
    for routine in groups.iter().flat_map(|group| &group.routines) {
        let row = routine.row;
        let mut timing = routine.timing().to_owned();
        timing[..1].make_ascii_uppercase();
        writeln!(
            text,
            "    Op {{ name: \"{}\", class: Class::{}, section: \"{}\", elem: {}, timing: Timing::{timing} }},",
            routine.name,
            row.class,
            row.section,
            routine.element.map_or(0, |element| element.bytes),
        )
        .expect("writing to a string");
    }
    text.push_str("];\n");
    File { path: "src/profile/src/generated/ops.rs".to_owned(), text }
}
