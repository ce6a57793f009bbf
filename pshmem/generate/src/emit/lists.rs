//! Lists that go with the entry points: modules, constants, addresses, operations.

use std::fmt::Write;

use super::intercepted::Intercepted;
use super::{BY, File, entry};
use crate::body::{self, Body};
use crate::constants::{LEVELS, SECTIONS};
use crate::expand::Expanded;

/// `pshmem/src/generated/mod.rs`.
pub fn modules(groups: &[Expanded]) -> File {
    let mut text = format!("// {BY}\n//! Entry points, one file a group of the specification.\n\n");
    for group in groups.iter().filter(|group| !group.routines.is_empty()) {
        writeln!(text, "#[rustfmt::skip]\npub mod {};", group.group.name).expect("writing to a string");
    }
    for name in ["intercepted", "addresses", "arguments", "kernels"] {
        writeln!(text, "#[rustfmt::skip]\npub mod {name};").expect("writing to a string");
    }
    text.push_str("pub mod constants;\n");
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
pub fn addresses(groups: &[Expanded], intercepted: &Intercepted) -> File {
    let mut text = format!(
        "// {BY}\n//! The functions of each operation, by operation id.\n\n\
         use pellucid_profile::op::COUNT;\n\nuse crate::dispatcher::{{Address, Intercepted}};\n\n\
         /// What each `shmem_X` is bound to in the running process.\npub static BOUND: [Address; COUNT] = [\n"
    );
    let (mut list, mut of, mut variadic) = (String::new(), String::new(), Vec::new());
    let mut ways = Vec::new();
    let (mut op, mut count) = (0, 0);
    for group in groups.iter().filter(|group| !group.routines.is_empty()) {
        let name = group.group.name;
        let (of_group, index) = body::bodies(group, op);
        for (routine, body) in group.routines.iter().zip(index) {
            writeln!(text, "    Address(super::{name}::{} as *const ()),", routine.name).expect("writing to a string");
            writeln!(list, "    {},", count + body).expect("writing to a string");
            if routine.variadic {
                variadic.push(op.to_string());
            }
            op += 1;
        }
        for body in &of_group {
            writeln!(of, "    {},", place(&mut ways, way(name, body, intercepted))).expect("writing to a string");
        }
        count += of_group.len();
    }
    let list_of_ways: String = ways.iter().map(|way| format!("    Intercepted::{way},\n")).collect();
    write!(
        text,
        "];\n\n/// Number of bodies.\npub const BODIES_COUNT: usize = {count};\n\n\
         /// Index of the body of each operation.\npub static BODY: [u16; COUNT] = [\n{list}];\n\n\
         /// How bodies take calls past tools and callbacks.\n\
         pub static INTERCEPTED: [Intercepted; {}] = [\n{list_of_ways}];\n\n\
         /// Index of the way of each body.\npub static INTERCEPTED_OF: [u8; BODIES_COUNT] = [\n{of}];\n\n\
         /// Operations whose further arguments only a jump passes on.\npub const VARIADIC: &[u16] = &[{}];\n",
        ways.len(),
        variadic.join(", ")
    )
    .expect("writing to a string");
    File { path: entry::path("addresses"), text }
}

/// `pshmem/src/generated/kernels.rs`: what reductions and scans do.
pub fn kernels(groups: &[Expanded]) -> File {
    let mut kernels: Vec<String> = Vec::new();
    let mut of = String::new();
    for routine in groups.iter().flat_map(|group| &group.routines) {
        let index = routine.kernel().map_or(0, |kernel| place(&mut kernels, kernel));
        writeln!(of, "    {index},").expect("writing to a string");
    }
    let list: String = kernels.iter().map(|kernel| format!("    {kernel},\n")).collect();
    let text = format!(
        "// {BY}\n//! What reductions and scans do to elements.\n\n\
         use std::ffi::c_char;\n\nuse pellucid_core::collectives::Kernel;\n\
         use pellucid_core::collectives::kernel::{{Bits, Number}};\n\
         use pellucid_profile::op::COUNT;\n\nuse crate::shim;\n\n\
         /// The kernels.\npub static KERNELS: [Kernel; {}] = [\n{list}];\n\n\
         /// Index of the kernel of each operation that has one.\npub static OF: [u8; COUNT] = [\n{of}];\n",
        kernels.len()
    );
    File { path: entry::path("kernels"), text }
}

/// `pshmem/src/generated/arguments.rs`: the names of each operation's arguments.
pub fn arguments(groups: &[Expanded]) -> File {
    let mut lists: Vec<String> = Vec::new();
    let mut of = String::new();
    for routine in groups.iter().flat_map(|group| &group.routines) {
        let params: Vec<_> = routine.params.iter().map(|param| param.name.as_str()).collect();
        let index = place(&mut lists, params.join(" "));
        writeln!(of, "    {index},").expect("writing to a string");
    }
    let names: String = lists.iter().map(|list| format!("    \"{list}\",\n")).collect();
    let text = format!(
        "// {BY}\n//! The names of arguments, as headers have them.\n\nuse pellucid_profile::op::COUNT;\n\n\
         /// Lists of names in their order.\npub static NAMES: [&str; {}] = [\n{names}];\n\n\
         /// Index of the list of each operation.\npub static OF: [u8; COUNT] = [\n{of}];\n",
        lists.len()
    );
    File { path: entry::path("arguments"), text }
}

/// Where a text is in a list, which it is added to where it is not there yet.
fn place(list: &mut Vec<String>, text: String) -> usize {
    list.iter().position(|other| *other == text).unwrap_or_else(|| {
        list.push(text);
        list.len() - 1
    })
}

/// How a body takes calls past tools and callbacks.
fn way(group: &str, body: &Body, intercepted: &Intercepted) -> String {
    let (_, routine) = body.first();
    let name = &routine.name;
    if !entry::is_jumped_to(routine) {
        return format!("Frame({})", intercepted.path(routine));
    }
    let (place, prefix) = match routine.needs_shim() || routine.variadic {
        true => ("crate::shim::by_value".to_owned(), "pellucid_c_"),
        false => (format!("super::{group}"), "pellucid_"),
    };
    format!("Jump(Address({place}::{prefix}intercepted_{name} as *const ()))")
}

/// `src/profile/src/generated/ops.rs`.
pub fn ops(groups: &[Expanded]) -> File {
    let count: usize = groups.iter().map(|group| group.routines.len()).sum();
    let mut text = format!(
        "// {BY}\nuse crate::op::traits::*;\nuse crate::op::{{Class, Row, Timing}};\n\n\
         /// Number of operations.\npub const COUNT: usize = {count};\n\n\
         /// The operation table.\n#[rustfmt::skip]\npub(super) static ROWS: [Row; COUNT] = [\n"
    );
    for routine in groups.iter().flat_map(|group| &group.routines) {
        let row = routine.row;
        let mut timing = routine.timing().to_owned();
        timing[..1].make_ascii_uppercase();
        let traits = [routine.traits(), routine.traits_for_reports()].concat();
        let traits = if traits.is_empty() { "0".to_owned() } else { traits.join(" | ") };
        writeln!(
            text,
            "    Row {{ name: \"{}\", class: Class::{}, section: \"{}\", elem: {}, timing: Timing::{timing}, \
             traits: {traits} }},",
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
