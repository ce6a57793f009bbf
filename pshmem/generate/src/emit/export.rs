//! The names that the library shows, for the linker (`export.map`) and for objcopy (`export.list`).

use super::extensions::FUNCTIONS;
use super::{BY, File, fortran_library};
use crate::expand::Expanded;

/// Both lists.
pub fn files(groups: &[Expanded]) -> Vec<File> {
    let routines = || groups.iter().flat_map(|group| &group.routines);
    let names = routines()
        .map(|routine| routine.name.as_str())
        .chain(routines().map(|routine| routine.profiling_name.as_str()));
    let fortran = fortran_library::private();
    let names = names.chain(FUNCTIONS.iter().copied()).chain(fortran.iter().map(String::as_str));
    let names: Vec<_> = names.collect();
    let mut map = format!("/* {BY} */\n{{\n  global:\n");
    let mut list = format!("# {BY}\n");
    for name in names {
        map.push_str(&format!("    {name};\n"));
        list.push_str(&format!("{name}\n"));
    }
    map.push_str("  local:\n    *;\n};\n");
    vec![
        File { path: "pshmem/export.map".to_owned(), text: map },
        File { path: "pshmem/export.list".to_owned(), text: list },
    ]
}
