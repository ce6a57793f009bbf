//! `pshmem/src/generated/<group>.rs`: for each function the two entry points, written out so that they can be found and
//! read, and one `routine!` line for the code behind them.

use std::fmt::Write;

use super::{BY, File};
use crate::expand::{Expanded, Routine};
use crate::table::Timing;

/// What stands before the name in the Rust symbol of `shmem_X`; the weak symbol without it is set in assembly.
pub const EXPORT: &str = "pellucid_";

/// One file a group that has functions.
pub fn files(groups: &[Expanded]) -> Vec<File> {
    let mut op = 0;
    let mut files = Vec::new();
    for group in groups.iter().filter(|group| !group.routines.is_empty()) {
        let mut text = format!("// {BY}\n//! {}.\n\n", group.group.title);
        text.push_str("use crate::routine::prelude::*;\n");
        for path in uses(group) {
            writeln!(text, "use {path};").expect("writing to a string");
        }
        for routine in &group.routines {
            text.push_str(&entry(routine, op));
            op += 1;
        }
        files.push(File { path: path(group.group.name), text });
    }
    files
}

/// The generated Rust file of a group.
pub fn path(group: &str) -> String {
    format!("pshmem/src/generated/{group}.rs")
}

/// The group's imports, without those that none of the functions present uses.
fn uses(group: &Expanded) -> Vec<String> {
    let used = |name: &str| {
        let word = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        group.routines.iter().any(|routine| {
            let call = routine.expression(routine.row.call);
            call.split(word).any(|found| found == name)
        })
    };
    let mut paths = Vec::new();
    for import in group.group.uses {
        let name = import.rsplit([' ', ':']).next().expect("an import names something");
        if used(name) {
            paths.push((*import).to_owned());
        }
    }
    paths
}

fn entry(routine: &Routine, op: usize) -> String {
    let (params, ret) = (routine.rust_params(), routine.rust_return());
    let (name, twin) = (&routine.name, &routine.profiling_name);
    let through_c = routine.needs_shim() || routine.variadic;
    let (imp, probe) = if through_c {
        (format!("pellucid_c_imp_{name}"), format!("pellucid_c_probe_{name}"))
    } else {
        (format!("imp_{name}"), format!("probe_{name}"))
    };
    let probe = if is_brief(routine) { format!("brief_{name}, kept_{name}") } else { probe };
    let attributes = "#[unsafe(naked)] #[unsafe(link_section = \"pellucid_entry\")]";
    let mut text = format!(
        "\n#[unsafe(export_name = \"{EXPORT}{name}\")] {attributes}\n\
         pub unsafe extern \"C\" fn {name}({params}){ret} {{\n    weak!(\"{name}\", {op}, {imp}, {probe})\n}}\n\
         #[unsafe(no_mangle)] {attributes}\n\
         pub unsafe extern \"C\" fn {twin}({params}){ret} {{\n    strong!({op}, {imp}, {probe})\n}}\n"
    );
    text.push_str(&body(routine, op, through_c));
    text
}

/// Whether most calls of a routine need no more than being counted: transfers that may be short.
fn is_brief(routine: &Routine) -> bool {
    let row = routine.row;
    matches!(row.timing, Timing::Sampled | Timing::Sized)
        && matches!(row.class, "Put" | "Get" | "Amo")
        && row.failed.is_empty()
        && !(routine.ctx || routine.needs_shim() || routine.variadic)
}

/// The team that a routine is called on by all its members, as the `peer` of its record.
fn team(routine: &Routine) -> Option<&'static str> {
    let params = routine.row.params;
    if !matches!(routine.row.class, "Collective" | "Barrier") {
        None
    } else if params.contains("shmem_team_t team") {
        Some("of_team(m, team)")
    } else if params.contains("int PE_start") {
        Some("of_set(PE_start, logPE_stride, PE_size)")
    } else if params.contains("shmemx_aset *aset") {
        Some("of_aset(aset)")
    } else {
        None
    }
}

/// The `routine!` line.
fn body(routine: &Routine, op: usize, through_c: bool) -> String {
    let row = routine.row;
    let name = &routine.name;
    let (mut params, mut ret) = (routine.rust_params(), routine.rust_return());
    let mut call = routine.expression(row.call);
    if routine.needs_shim() {
        // The C side passes `long double` values by address.
        params = params.replace("value: LongDouble", "value: *const LongDouble");
        call = call.replace("word(value)", "word(value.read())");
        if ret == " -> LongDouble" {
            params = format!("result: *mut LongDouble, {params}");
            ret = String::new();
            call = call.replace(".map(word)", ".map(|value| result.write(word(value)))");
        }
    }
    if routine.variadic {
        // The C side reads what the level takes.
        params.push_str(", name: *const c_char, value: f64, number: c_long");
        call = call.replace("(level)", "(level, name, value, number)");
    }
    let (mut peer, addr, bytes) =
        (routine.expression(row.peer), routine.expression(row.addr), routine.expression(row.bytes));
    if let Some(team) = team(routine) {
        peer =
            if row.params.contains("int PE_root") { format!("rooted({op}, {team}, PE_root)") } else { team.to_owned() };
    } else if params.starts_with("ctx: ") || params.contains(", ctx: ") {
        // What is done on a context is counted by context too.
        if matches!(row.class, "Put" | "Get" | "Amo" | "Signal" | "Order") {
            peer = format!("on(ctx, {op}, {bytes}, {peer})");
        }
    }
    let uses_map = [&call, &peer].iter().any(|text| text.contains("(m, ") || text.contains("(m)"));
    let map = if uses_map { "|m| " } else { "" };
    let failed = if row.failed.is_empty() { String::new() } else { format!(", failed |r| {}", row.failed) };
    let (kind, prefix) = match through_c {
        true => (format!("exported pellucid_through_{name}, "), "pellucid_"),
        false => (String::new(), ""),
    };
    let kind = if is_brief(routine) { format!("brief brief_{name}, kept_{name}, ") } else { kind };
    let kind = if row.ret == "noreturn" { "never ".to_owned() } else { kind };
    format!(
        "routine!({kind}{prefix}imp_{name}, {prefix}probe_{name}, {prefix}intercepted_{name}, {op}, {}, ({params}){ret}, \
         {map}[{peer}, {addr}, {bytes}] {call}, args [{}]{failed});\n",
        routine.timing(),
        arguments(routine),
    )
}

/// What a callback is told beyond peer and bytes: local and remote address, context and team, as numbers.
fn arguments(routine: &Routine) -> String {
    let pointer = |names: &[&str]| {
        let found = routine.params.iter().find(|param| param.pointer && names.contains(&param.name.as_str()));
        found.map_or("0".to_owned(), |param| format!("{}.addr()", param.name))
    };
    let handle = |base: &str| {
        let found = routine.params.iter().find(|param| !param.pointer && param.base == base);
        found.map(|param| format!("word({})", param.name))
    };
    let ctx = match handle("shmem_ctx_t") {
        Some(ctx) => ctx,
        None if routine.row.call.contains("CTX") => format!("word({})", routine.expression("CTX")),
        None => "0".to_owned(),
    };
    format!(
        "{}, {}, {ctx}, {}",
        pointer(&["dest", "target", "ptr", "ivar", "ivars", "lock", "sig_addr", "addr"]),
        pointer(&["source"]),
        handle("shmem_team_t").unwrap_or("0".to_owned()),
    )
}
