//! `src/fortran/generated`: the routines of the Fortran interface in C, and the names that its shared library shows.

use std::collections::HashSet;
use std::fmt::Write;

use super::extensions::FUNCTIONS;
use super::{BY, File};
use crate::expand::Expanded;
use crate::fortran::{Answer, Argument, Routine, Twin, groups};

/// The names of one routine.
#[derive(Debug, PartialEq, Eq)]
pub struct Names {
    /// The one definition: `pshmem_put64_`.
    pub strong: String,
    /// The others, which a tool or the program may define itself.
    pub weak: Vec<String>,
}

/// What the C interface calls its functions: no Fortran name may be one of these.
pub fn taken(groups: &[Expanded]) -> HashSet<String> {
    let routines = groups.iter().flat_map(|group| &group.routines);
    let names = routines.flat_map(|routine| [routine.name.clone(), routine.profiling_name.clone()]);
    names.chain(FUNCTIONS.iter().map(|name| (*name).to_owned())).collect()
}

/// Compilers write a name in lower case with an underscore behind it, by option with two (where it has one inside),
/// or with none; some write it in upper case.
pub fn names(routine: &str, taken: &HashSet<String>) -> Names {
    let twin = format!("p{routine}");
    let mut weak = vec![format!("{routine}_")];
    for name in [routine, &twin] {
        if name.contains('_') {
            weak.push(format!("{name}__"));
        }
        if !taken.contains(name) {
            weak.push(name.to_owned());
        }
        weak.push(name.to_ascii_uppercase());
    }
    Names { strong: format!("{twin}_"), weak }
}

/// Functions of `src/fortran/modules.c`, behind `pellucid_fortran_`.
const OF_MODULES: &[&str] = &["shmem_pcontrol", "same_team", "same_ctx", "other_team", "other_ctx"];

/// The sources, and the lists of names.
pub fn files(interface: &[Expanded]) -> Vec<File> {
    let taken = taken(interface);
    let mut files = Vec::new();
    let mut map = format!("/* {BY} */\n{{\n  global:\n");
    for (group, routines) in groups() {
        let mut text = format!("/* {BY} */\n/* {}. */\n#include \"../fortran.h\"\n", group.title);
        for routine in &routines {
            let names = names(&routine.name, &taken);
            text.push_str(&definition(routine, &names));
            for name in std::iter::once(&names.strong).chain(&names.weak) {
                writeln!(map, "    {name};").expect("writing to a string");
            }
        }
        files.push(File { path: format!("src/fortran/generated/{}.c", group.name), text });
    }
    for name in OF_MODULES {
        writeln!(map, "    pellucid_fortran_{name};").expect("writing to a string");
    }
    map.push_str("  local:\n    *;\n};\n");
    files.push(File { path: "src/fortran/generated/export.map".to_owned(), text: map });
    files
}

/// The C functions of this library's own that the routines go on to.
pub fn private() -> Vec<String> {
    let mut names = Vec::new();
    for routine in groups().into_iter().flat_map(|(_, routines)| routines) {
        if routine.c.starts_with("pellucid_fortran_") && !names.contains(&routine.c) {
            names.push(routine.c);
        }
    }
    names
}

fn element(routine: &Routine) -> &'static str {
    match routine.kind.map(|kind| kind.twin) {
        Some(Twin::Typed(word)) => word,
        _ => "int",
    }
}

fn definition(routine: &Routine, names: &Names) -> String {
    let element = element(routine);
    let declarations: Vec<_> = routine.args.iter().map(|arg| arg.c_declaration(element)).collect();
    let declarations = if declarations.is_empty() { "void".to_owned() } else { declarations.join(", ") };
    let values: Vec<_> = routine.args.iter().map(Argument::c_value).collect();
    let (ret, give) = match routine.row.answer {
        Answer::Nothing => ("void", ""),
        Answer::Integer | Answer::Logical => ("int", "return "),
        Answer::Both => ("struct pellucid_both", "return "),
        Answer::Pointer => ("void *", "return "),
        Answer::Element => (element, "return "),
    };
    let space = if ret.ends_with('*') { "" } else { " " };
    let mut text = format!(
        "\n{ret}{space}{strong}({declarations});\n{ret}{space}{strong}({declarations})\n{{\n    \
         {give}{c}({values});\n}}\n",
        strong = names.strong,
        c = routine.c,
        values = values.join(", "),
    );
    for name in &names.weak {
        writeln!(text, "ALSO({}, {name})", names.strong).expect("writing to a string");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_that_collides_with_nothing() {
        let taken = HashSet::from(["shmem_put64".to_owned(), "pshmem_put64".to_owned()]);
        let found = names("shmem_put64", &taken);
        assert_eq!(found.strong, "pshmem_put64_");
        assert_eq!(found.weak, ["shmem_put64_", "shmem_put64__", "SHMEM_PUT64", "pshmem_put64__", "PSHMEM_PUT64"]);
        let found = names("shpalloc", &taken);
        assert_eq!(found.weak, ["shpalloc_", "shpalloc", "SHPALLOC", "pshpalloc", "PSHPALLOC"]);
    }
}
