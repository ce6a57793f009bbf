//! C++ overloads under the names of the C11 macros.

use std::collections::HashSet;
use std::fmt::Write;

use super::generic;
use crate::ctype::Param;
use crate::expand::{Expanded, Routine};

/// Inlined without optimization as well: a call is to be one of the program's line, not of the header's.
pub const INLINE: &str = "PELLUCID_INLINE";

/// The overloads as C++ text.
pub fn text(groups: &[Expanded]) -> String {
    // A C function of the same name and parameters is there already and serves the call.
    let taken: HashSet<(&str, String)> = groups
        .iter()
        .flat_map(|group| &group.routines)
        .map(|routine| (routine.name.as_str(), types(routine)))
        .collect();
    let mut text = String::new();
    for found in generic::macros(groups) {
        let start = text.len();
        for (_, routine) in found.forms.iter().flat_map(|form| &form.functions) {
            if !taken.contains(&(found.name.as_str(), types(routine))) {
                text.push_str(&overload(&found.name, routine));
            }
        }
        if text.len() > start {
            text.insert(start, '\n');
        }
    }
    text
}

/// Where C++ has `_Complex` as an extension, the functions on complex numbers take it as well as `std::complex`: other
/// libraries declare them so.
pub fn complex_text(groups: &[Expanded]) -> String {
    let mut text = String::new();
    let complex = |routine: &&Routine| routine.params.iter().any(|param| param.base.contains("_Complex"));
    let specified = |routine: &&Routine| !routine.row.is_extension();
    for routine in groups.iter().flat_map(|group| &group.routines).filter(specified).filter(complex) {
        let params: Vec<_> = routine.params.iter().map(|param| own(&param.c())).collect();
        let args: Vec<_> = routine.params.iter().map(cast).collect();
        let give = if routine.ret == "void" { "" } else { "return " };
        let (ret, name) = (&routine.ret, &routine.name);
        writeln!(text, "{INLINE} {ret} {name}({}) {{ {give}{name}({}); }}", params.join(", "), args.join(", "))
            .expect("writing to a string");
    }
    text
}

fn own(param: &str) -> String {
    param.replace("double _Complex", "pellucid_complexd").replace("float _Complex", "pellucid_complexf")
}

fn cast(param: &Param) -> String {
    if param.base.contains("_Complex") {
        let constant = if param.constant { "const " } else { "" };
        format!("reinterpret_cast<{constant}{} *>({})", complex(&param.base), param.name)
    } else {
        param.name.clone()
    }
}

fn types(routine: &Routine) -> String {
    // uint64_t is unsigned long wherever this library runs.
    let types: Vec<_> = routine.params.iter().map(|param| param.c_type()).collect();
    types.join(", ")
}

fn overload(name: &str, routine: &Routine) -> String {
    let params: Vec<_> = routine.params.iter().map(|param| complex(&param.c())).collect();
    let args: Vec<_> = routine.params.iter().map(|param| param.name.as_str()).collect();
    let give = if routine.ret == "void" { "" } else { "return " };
    let mut text = String::new();
    writeln!(
        text,
        "{INLINE} {} {name}({}) {{ {give}{}({}); }}",
        routine.ret,
        params.join(", "),
        routine.name,
        args.join(", ")
    )
    .expect("writing to a string");
    text
}

fn complex(param: &str) -> String {
    param.replace("double _Complex", "std::complex<double>").replace("float _Complex", "std::complex<float>")
}
