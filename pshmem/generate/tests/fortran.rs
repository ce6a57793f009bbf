//! The Fortran rows against the table of the 1.4 interface.

use std::collections::BTreeMap;

use pellucid_generate::csv::Table;
use pellucid_generate::expand;
use pellucid_generate::fortran::{self, Answer};

#[test]
fn every_routine_has_its_arguments_and_result() {
    let path = format!("{}/../../tests/tables/fortran-1.4.csv", env!("CARGO_MANIFEST_DIR"));
    let table = Table::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut found = BTreeMap::new();
    for routine in fortran::groups().into_iter().flat_map(|(_, routines)| routines) {
        let args: Vec<_> = routine.args.iter().map(|arg| arg.official_name().to_owned()).collect();
        let result = match routine.row.answer {
            Answer::Nothing => String::new(),
            Answer::Integer | Answer::Both => "INTEGER".to_owned(),
            Answer::Logical => "LOGICAL".to_owned(),
            Answer::Pointer => "pointer-sized INTEGER".to_owned(),
            Answer::Element => routine.kind.expect("a type").fortran.to_ascii_uppercase(),
        };
        let row = (result, args.join(","), routine.row.extension);
        assert!(found.insert(routine.name.clone(), row).is_none(), "{} is there twice", routine.name);
    }
    let mut count = 0;
    for row in table.rows() {
        let expected = (row.get("function_result").to_owned(), row.get("arguments").to_owned(), false);
        assert_eq!(found.get(row.get("routine")), Some(&expected), "{}", row.get("routine"));
        count += 1;
    }
    assert_eq!((count, found.values().filter(|row| !row.2).count()), (172, 172));
}

/// Each routine goes on to a C function that is there, with as many arguments.
#[test]
fn every_routine_goes_on_to_a_c_function() {
    let groups = expand::expand();
    let c: BTreeMap<_, _> = groups
        .iter()
        .flat_map(|group| &group.routines)
        .map(|routine| (routine.name.as_str(), routine.params.len()))
        .collect();
    for routine in fortran::groups().into_iter().flat_map(|(_, routines)| routines) {
        let is_own = routine.c.starts_with("pellucid_");
        assert!(is_own || c.get(routine.c.as_str()) == Some(&routine.args.len()), "{}: {}", routine.name, routine.c);
    }
}
