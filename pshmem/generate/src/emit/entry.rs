//! `pshmem/src/generated/<group>.rs`: for each function the two entry points as Rust sees them, written out so that
//! they can be found and read, and one `routine!` line for each body behind them; `pshmem/src/generated/entries.s`:
//! the entry points.

use std::fmt::Write;

use super::{BY, File};
use crate::body::{self, Body, Number};
use crate::ctype::Param;
use crate::expand::{Expanded, Routine};
use crate::table::{Timing, Trait};

/// One file a group that has functions, and one for all their entries.
pub fn files(groups: &[Expanded]) -> Vec<File> {
    let mut op = 0;
    let mut files = Vec::new();
    let mut entries = format!("// {BY}\n// The macros are in `pshmem/src/entry`.\n");
    let (mut paths, mut imps) = (String::new(), String::new());
    for group in groups.iter().filter(|group| !group.routines.is_empty()) {
        let mut text = format!("// {BY}\n//! {}.\n\n", group.group.title);
        text.push_str("use crate::routine::prelude::*;\n");
        for path in uses(group) {
            writeln!(text, "use {path};").expect("writing to a string");
        }
        text.push_str("\nunsafe extern \"C\" {\n");
        for routine in &group.routines {
            text.push_str(&declarations(routine));
        }
        text.push_str("}\n\n");
        let (bodies, index) = body::bodies(group, op);
        for body in &bodies {
            text.push_str(&routine(body));
            paths.push_str(&path_to_probe(body));
            imps.push_str(&imp(body));
        }
        for (routine, body) in group.routines.iter().zip(index) {
            entries.push_str(&entry(routine, op, &bodies[body]));
            op += 1;
        }
        files.push(File { path: path(group.group.name), text });
    }
    entries.push_str(".text\n");
    entries.push_str(&paths);
    // Distances, which need no relocation when the library is loaded.
    entries.push_str(".section .rodata.pellucid_imps, \"a\"\n.balign 4\n");
    entries.push_str(".globl pellucid_imps\n.hidden pellucid_imps\npellucid_imps:\n");
    entries.push_str(&imps);
    files.push(File { path: "pshmem/src/generated/entries.s".to_owned(), text: entries });
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
            let is_elsewhere = is_short(routine) && !through_c(routine) && forms(&call).is_some();
            !is_elsewhere && call.split(word).any(|found| found == name)
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

/// What Rust is told of the two entries of a routine.
fn declarations(routine: &Routine) -> String {
    let (params, ret) = (routine.rust_params(), routine.rust_return());
    let of = |name: &str| format!("    pub fn {name}({params}){ret};\n");
    of(&routine.name) + &of(&routine.profiling_name)
}

/// Index of the register with the number of a routine, as the macros take it.
fn register(body: &Body) -> String {
    match body.number() {
        Number::Integer(index) => index.to_string(),
        Number::Float => "float".to_owned(),
        Number::None => "none".to_owned(),
    }
}

/// Symbols of the routine, of the probe around it, of what is in front of the probe where the profile has counts
/// only, and where it has call sites.
fn symbols(body: &Body) -> [String; 4] {
    let (_, routine) = body.first();
    let prefix = if through_c(routine) { "pellucid_c_" } else { "pellucid_" };
    let symbol = |kind: &str| format!("{prefix}{kind}_{}", routine.name);
    let [count, count_site] = match () {
        () if is_short(routine) => ["count", "count_site"].map(symbol),
        () => [placed(routine), symbol("probe")],
    };
    [symbol("imp"), symbol("probe"), count, count_site]
}

/// The symbol of the way to the probe that leaves the call site.
fn placed(routine: &Routine) -> String {
    format!("pellucid_placed_{}", routine.name)
}

/// Registers for integers and addresses in which C functions have their arguments, on every processor.
const REGISTERS: usize = 6;

/// Whether a body has arguments on the stack. It goes on to functions with the same ones by a call, not by a jump: then
/// the call site is no longer where the caller has left it.
fn has_stack_arguments(body: &Body) -> bool {
    let params = body.params();
    let integers = params.split(", ").filter(|param| !param.ends_with(": f32") && !param.ends_with(": f64"));
    integers.count() > REGISTERS
}

/// The symbol in front of what counts a call without its site, where that has to be noted before.
fn counted(body: &Body) -> Option<String> {
    let (_, routine) = body.first();
    (is_short(routine) && has_stack_arguments(body)).then(|| format!("pellucid_counted_{}", routine.name))
}

/// The entries of a routine.
fn entry(routine: &Routine, op: usize, body: &Body) -> String {
    let ([imp, _, count, _], first) = (symbols(body), &body.first().1.name);
    let count = counted(body).unwrap_or(count);
    format!("pellucid_entry {}, {op}, {}, {imp}, {count}, pellucid_site_{first}\n", routine.name, register(body))
}

/// The way from an entry to where the call site is recorded, or to the dispatcher.
fn path_to_probe(body: &Body) -> String {
    let ((op, routine), [_, probe, count, count_site]) = (body.first(), symbols(body));
    let site = format!("pellucid_site {}, {op}, {}, {count_site}, {probe}\n", routine.name, register(body));
    site + &counted(body).map_or(String::new(), |_| format!("pellucid_counted {}, {count}\n", routine.name))
}

/// How far the routine of a body is from this place.
fn imp(body: &Body) -> String {
    let [imp, ..] = symbols(body);
    format!(".long {imp} - .\n")
}

/// Whether the arguments of a routine are taken in C.
fn through_c(routine: &Routine) -> bool {
    routine.needs_shim() || routine.variadic
}

/// Whether most calls of a routine need no more than being counted: those that may be short.
fn is_short(routine: &Routine) -> bool {
    matches!(routine.row.timing, Timing::Sampled | Timing::Sized)
        && routine.row.failed.is_empty()
        && !is_jumped_to(routine)
}

/// Whether a routine is nothing but an answer, for which a jump is as long as what it does.
fn is_query(routine: &Routine) -> bool {
    routine.row.class == "Query" && routine.params.is_empty() && routine.row.ret != "void"
}

/// Whether another PE may wait for what this call does, which it does at once and on the default context.
fn is_waited_for(routine: &Routine, call: &str) -> bool {
    let is_update = ["amo::", "rma::p::", "signaling::"].iter().any(|path| call.starts_with(path));
    is_update && routine.row.ret == "void" && call.contains("Ctx::DEFAULT") && !call.contains("_nbi")
}

/// Whether a call on the default context is one access to memory, before which counting has no registers to save.
fn is_one_access(call: &str) -> bool {
    let calls = ["rma::g::", "amo::fetch::", "amo::fetch_inc", "amo::fetch_add", "amo::swap", "amo::compare_swap"];
    calls.iter().any(|path| call.starts_with(path)) && call.contains("Ctx::DEFAULT") && !call.contains("_nbi")
}

/// What kind of short routine it is, and what it calls where its object is not mapped here.
fn short(routine: &Routine, call: &str) -> (String, String) {
    let forms = forms(call);
    let kind = match &forms {
        None if is_waited_for(routine, call) || is_query(routine) => "whole".to_owned(),
        Some((near, _)) if is_waited_for(routine, call) || is_query(routine) || is_one_access(call) => {
            format!("near {near},")
        }
        _ => format!("short [{}]", forms.as_ref().map_or("", |(near, _)| near)),
    };
    (kind, forms.map_or_else(|| call.to_owned(), |(_, unmapped)| unmapped))
}

/// A call that is made of two: what does the same where memory is mapped here, or what is asked for is known, and all
/// of it out of line.
fn forms(call: &str) -> Option<(String, String)> {
    if let "runtime::my_pe()" | "runtime::n_pes()" = call {
        return Some((call.replace("runtime::", "map()."), call.to_owned()));
    }
    let rest = call.strip_prefix("amo::").or_else(|| call.strip_prefix("rma::"))?;
    let name = rest.split(['(', ':']).next()?;
    let has_both = matches!(name, "put_nbi" | "get_nbi") || !name.ends_with("_nbi");
    has_both.then(|| (format!("near::{rest}"), format!("unmapped::{rest}")))
}

/// The team that a routine is called on by all its members, as the `peer` of its record.
fn team(routine: &Routine) -> Option<&'static str> {
    let (params, class) = (routine.row.params, routine.row.class);
    match class {
        "Team" if params.starts_with("shmem_team_t parent_team,") => Some("of_team(m, parent_team)"),
        "Team" if params.starts_with("shmem_team_t parent,") => Some("of_team(m, parent)"),
        "Team" | "Io" if params.starts_with("shmem_team_t team") => Some("of_team(m, team)"),
        "Io" if routine.row.traits.contains(&Trait::Together) => Some("of_file(m, file)"),
        "Memory" | "Collective" | "Barrier" if params.contains("shmem_team_t team") => Some("of_team(m, team)"),
        "Memory" | "Collective" | "Barrier" if params.contains("shmemx_aset *aset") => Some("of_aset(aset)"),
        "Collective" | "Barrier" if params.contains("int PE_start") => Some("of_set(PE_start, logPE_stride, PE_size)"),
        _ => None,
    }
}

/// The thread or team of a call that may begin without a stamp, where it is known from the call before.
fn again(routine: &Routine, op: &str) -> Option<String> {
    match team(routine).filter(|_| matches!(routine.row.class, "Collective" | "Barrier")) {
        Some("of_team(m, team)") if routine.row.params.contains("int PE_root") => {
            Some(format!("rooted_again({op}, team_again(team), PE_root)"))
        }
        Some("of_team(m, team)") => Some("team_again(team)".to_owned()),
        None if routine.row.class == "Barrier" && routine.params.is_empty() => Some("world_again()".to_owned()),
        // Those for several words are too many for code of their own.
        None if routine.row.class == "Wait" && routine.params.iter().any(is_one_word) => {
            Some("thread_again()".to_owned())
        }
        _ => None,
    }
}

/// Whether this is the variable that a routine waits for.
fn is_one_word(param: &Param) -> bool {
    param.pointer && matches!(&*param.name, "ivar" | "sig_addr")
}

/// Whether the dispatcher jumps to a routine's own code for calls past tools: it has a side in C, or no way back.
pub fn is_jumped_to(routine: &Routine) -> bool {
    through_c(routine) || routine.row.ret == "noreturn"
}

/// The `routine!` line.
fn routine(body: &Body) -> String {
    let (first, routine) = body.first();
    let row = routine.row;
    let name = &routine.name;
    let (number, op) = match body.number() {
        Number::None => (format!("{first}_u16"), first.to_string()),
        _ => ("number".to_owned(), "op(number)".to_owned()),
    };
    let (mut params, mut ret) = (body.params(), body.ret());
    let mut call = of_operation(&routine.expression(row.call), &op);
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
    if name.contains("_nb") && routine.params.iter().any(|param| param.name == "request" && param.pointer) {
        call = format!("begun(request, {call})");
    }
    let on_team = |param: &Param| param.base == "shmem_team_t" && !param.pointer;
    if let Some(team) = routine.params.iter().find(|param| on_team(param)) {
        call = format!("on_team({}, {call})", team.name);
    }
    let [peer, addr, bytes] = record(routine, &op, &first.to_string());
    let map = map(&[&call, &peer]);
    let failed = failed(routine, &ret);
    let kind = match () {
        () if through_c(routine) => format!("exported pellucid_through_{name}, pellucid_intercepted_{name}, "),
        () if is_short(routine) => {
            let is_noted = peer.starts_with("on(");
            let noted = if is_noted { format!("note_if_kept(ctx, {first}, {bytes})") } else { "()".to_owned() };
            let known = routine.expression(row.peer);
            let (kind, elsewhere) = short(routine, &call);
            call = elsewhere;
            // Where the site is noted in front already, the probe itself.
            let [_, probe, ..] = symbols(body);
            let placed = if counted(body).is_some() { probe } else { placed(routine) };
            format!("{kind} pellucid_count_{name}, pellucid_count_site_{name}, {placed}, [{known}, {noted}], ")
        }
        () if let Some(again) = again(routine, &op) => format!("unstamped {again}, "),
        () if row.ret == "noreturn" => format!("never pellucid_intercepted_{name}, "),
        () => String::new(),
    };
    let args = if is_jumped_to(routine) { format!(", args [{}]", arguments(routine)) } else { String::new() };
    format!(
        "routine!({kind}pellucid_imp_{name}, pellucid_probe_{name}, {first}, {number}, {}, ({params}){ret}, \
         {map}[{peer}, {addr}, {bytes}] {call}{args}{failed});\n",
        routine.timing(),
    )
}

/// Peer, address and bytes of a call, as the profile is told of them; `op` is the operation there, and `alike` one that
/// is known when the library is compiled and has its traits.
pub fn record(routine: &Routine, op: &str, alike: &str) -> [String; 3] {
    let row = routine.row;
    let [mut peer, addr, bytes] =
        [row.peer, row.addr, row.bytes].map(|text| of_operation(&routine.expression(text), op));
    if let Some(team) = team(routine) {
        peer =
            if row.params.contains("int PE_root") { format!("rooted({op}, {team}, PE_root)") } else { team.to_owned() };
    } else if routine.params.iter().any(|param| param.name == "ctx" && !param.pointer)
        && matches!(row.class, "Put" | "Get" | "Amo" | "Signal" | "Order")
    {
        // What is done on a context is counted by context too.
        peer = format!("on(ctx, {alike}, {bytes}, {peer})");
    }
    [peer, addr, bytes]
}

/// An expression of a routine, whose operation this is.
fn of_operation(expression: &str, op: &str) -> String {
    expression.replace("(OP)", &format!("({op})"))
}

/// The name of the map of symmetric memory, where an expression has it.
pub fn map(texts: &[&str]) -> &'static str {
    if texts.iter().any(|text| text.contains("(m, ") || text.contains("(m)")) { "|m| " } else { "" }
}

/// Which results of this type are errors.
pub fn failed(routine: &Routine, ret: &str) -> String {
    match routine.row.failed {
        "" => String::new(),
        failed => format!(", failed |r: {}| {failed}", ret.trim_start_matches(" -> ")),
    }
}

/// What a callback is told beyond peer and bytes: local and remote address, context and team, as numbers.
pub fn arguments(routine: &Routine) -> String {
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
