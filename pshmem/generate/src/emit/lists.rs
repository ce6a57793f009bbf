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

/// `pshmem/src/generated/addresses.rs`: the functions of each operation.
pub fn addresses(groups: &[Expanded]) -> File {
    let routines = || groups.iter().flat_map(|group| group.routines.iter().map(move |routine| (group, routine)));
    let mut text = format!(
        "// {BY}\n//! The functions of each operation, by operation id.\n\n\
         use pellucid_profile::op::COUNT;\n\nuse crate::dispatcher::{{Address, Ways}};\n\nunsafe extern \"C\" {{\n"
    );
    for (_, routine) in routines() {
        writeln!(text, "    fn {}();", routine.name).expect("writing to a string");
    }
    text.push_str(
        "}\n\n/// What each `shmem_X` is bound to in the running process, and where its calls can go.\n\
         pub static WAYS: [Ways; COUNT] = [\n",
    );
    for (group, routine) in routines() {
        let name = &routine.name;
        let (place, prefix) = match routine.needs_shim() || routine.variadic {
            true => ("crate::shim::by_value".to_owned(), "pellucid_c_"),
            false => (format!("super::{}", group.group.name), ""),
        };
        let (imp, intercepted) =
            (format!("{place}::{prefix}imp_{name}"), format!("{place}::{prefix}intercepted_{name}"));
        writeln!(
            text,
            "    Ways {{ bound: Address({name} as *const ()), entry: Address(super::{group}::{name} as *const ()), \
             imp: Address({imp} as *const ()), \
             intercepted: Address({intercepted} as *const ()) }},",
            group = group.group.name,
        )
        .expect("writing to a string");
    }
    text.push_str(
        "];\n\n/// Operations whose further arguments only a jump passes on.\npub const VARIADIC: &[u16] = &[",
    );
    let variadic = routines().enumerate().filter(|(_, (_, routine))| routine.variadic).map(|(op, _)| op.to_string());
    text.push_str(&variadic.collect::<Vec<_>>().join(", "));
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
