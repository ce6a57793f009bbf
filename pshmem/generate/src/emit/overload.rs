//! C++ overloads under the names of the C11 macros.

use std::collections::HashSet;
use std::fmt::Write;

use super::generic;
use crate::expand::{Expanded, Routine};

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
        "inline {} {name}({}) {{ {give}{}({}); }}",
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
