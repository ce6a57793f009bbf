//! Type-generic macros of C11.

use std::fmt::Write;

use crate::ctype::Param;
use crate::expand::{Expanded, Routine};
use crate::table::Generic;

/// One argument list of a macro.
pub struct Form<'a> {
    /// Number of arguments.
    pub arity: usize,
    /// The functions behind it, each with the base type that selects it; without a type where the count alone selects.
    pub functions: Vec<(Option<&'static str>, &'a Routine)>,
}

/// One macro.
pub struct Macro<'a> {
    /// `shmem_put`.
    pub name: String,
    /// Its argument lists.
    pub forms: Vec<Form<'a>>,
}

/// Every macro, in the order of the table.
pub fn macros(groups: &[Expanded]) -> Vec<Macro<'_>> {
    let mut all: Vec<Macro<'_>> = Vec::new();
    for routine in groups.iter().flat_map(|group| &group.routines) {
        let Some(name) = routine.macro_name() else { continue };
        let at = all.iter().position(|found| found.name == name).unwrap_or_else(|| {
            all.push(Macro { name, forms: Vec::new() });
            all.len() - 1
        });
        let forms = &mut all[at].forms;
        let arity = routine.params.len();
        let at = forms.iter().position(|form| form.arity == arity).unwrap_or_else(|| {
            forms.push(Form { arity, functions: Vec::new() });
            forms.len() - 1
        });
        let base = match routine.row.generic {
            Generic::ByType => routine.element.map(|element| element.base),
            _ => None,
        };
        // `_Generic` takes each type once: int32_t is int on every system this library runs on.
        if !forms[at].functions.iter().any(|(found, _)| *found == base) {
            forms[at].functions.push((base, routine));
        }
    }
    all
}

/// The macros as C text.
pub fn text(groups: &[Expanded]) -> String {
    let macros = macros(groups);
    let mut counts: Vec<usize> =
        macros.iter().filter(|m| m.forms.len() > 1).filter_map(|m| m.forms.iter().map(|f| f.arity).max()).collect();
    counts.sort_unstable();
    counts.dedup();
    let mut text = String::new();
    for count in counts {
        let names: Vec<_> = (1..=count).map(|n| format!("a{n}")).collect();
        writeln!(text, "#define PELLUCID_PICK_{count}({}, name, ...) name", names.join(", ")).expect("string");
    }
    for found in &macros {
        text.push('\n');
        match &found.forms[..] {
            [only] => text.push_str(&definition(&found.name, only)),
            forms => text.push_str(&by_count(&found.name, forms)),
        }
    }
    text
}

/// A macro whose number of arguments tells its forms apart.
fn by_count(name: &str, forms: &[Form<'_>]) -> String {
    let most = forms.iter().map(|form| form.arity).max().unwrap_or(0);
    let mut text = String::new();
    let mut picks = Vec::new();
    for count in (1..=most).rev() {
        picks.push(match forms.iter().find(|form| form.arity == count) {
            None => "pellucid_wrong_number_of_arguments".to_owned(),
            Some(form) => match &form.functions[..] {
                [(None, routine)] => routine.name.clone(),
                _ => {
                    let name = format!("{}_{count}", name.replacen("shmem_", "pellucid_", 1));
                    text.push_str(&definition(&name, form));
                    name
                }
            },
        });
    }
    let picks = picks.join(", ");
    writeln!(text, "#define {name}(...) PELLUCID_PICK_{most}(__VA_ARGS__, {picks}, 0)(__VA_ARGS__)").expect("string");
    text
}

/// One form: selects by what the first pointer to the element type points to.
fn definition(name: &str, form: &Form<'_>) -> String {
    let (base, routine) = form.functions[0];
    let params: Vec<_> = routine.params.iter().map(|param| param.name.as_str()).collect();
    let params = params.join(", ");
    let mut text = String::new();
    if base.is_none() {
        writeln!(text, "#define {name}({params}) {}({params})", routine.name).expect("string");
        return text;
    }
    writeln!(text, "#define {name}({params}) _Generic(*({}), \\", selector(routine).name).expect("string");
    let last = form.functions.len() - 1;
    for (index, (base, routine)) in form.functions.iter().enumerate() {
        let end = if index == last { format!(")({params})") } else { ", \\".to_owned() };
        writeln!(text, "    {}: {}{end}", base.unwrap_or_default(), routine.name).expect("string");
    }
    text
}

/// The parameter that `_Generic` looks at.
fn selector(routine: &Routine) -> &Param {
    let element = routine.element.map_or("", |element| element.c);
    routine
        .params
        .iter()
        .find(|param| param.pointer && param.base == element)
        .expect("a generic routine has a pointer to its element")
}
