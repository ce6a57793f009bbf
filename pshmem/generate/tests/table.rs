//! The table of the generator against the tables of the specification.

use std::collections::{BTreeMap, BTreeSet};

use pellucid_generate::constants::{self, SECTIONS, Value};
use pellucid_generate::csv::Table;
use pellucid_generate::emit::generic;
use pellucid_generate::expand::{self, Expanded, Routine};

fn read(name: &str) -> Table {
    let path = format!("{}/../../tests/tables/{name}", env!("CARGO_MANIFEST_DIR"));
    Table::parse(&std::fs::read_to_string(&path).expect(&path)).expect(&path)
}

/// What the specification has.
fn specified() -> Vec<Expanded> {
    let mut groups = expand::expand();
    groups.iter_mut().for_each(|group| group.routines.retain(|routine| !routine.row.is_extension()));
    groups
}

fn routines(groups: &[Expanded]) -> impl Iterator<Item = (&Expanded, &Routine)> {
    groups.iter().flat_map(|group| group.routines.iter().map(move |routine| (group, routine)))
}

#[test]
fn every_function_has_its_row_of_the_specification() {
    let groups = specified();
    let mut found = BTreeMap::new();
    for (group, routine) in routines(&groups) {
        let status = if routine.row.deprecated { "deprecated" } else { "current" };
        let row = [
            routine.ret.clone(),
            routine.c_params(),
            routine.row.section.to_owned(),
            group.group.name.to_owned(),
            status.to_owned(),
            routine.profiling_name.clone(),
        ];
        assert!(found.insert(routine.name.clone(), row).is_none(), "{} is there twice", routine.name);
    }
    let table = read("api-1.6.csv");
    let mut count = 0;
    for row in table.rows() {
        let columns = ["return_type", "parameters", "section", "group", "status", "pshmem_name"];
        let expected = columns.map(|column| row.get(column).to_owned());
        assert_eq!(found.get(row.get("name")), Some(&expected), "{}", row.get("name"));
        count += 1;
    }
    // What was removed before this version is offered, and not in its table.
    let removed = found.values().filter(|row| row[2] == "F.2.7").count();
    assert_eq!((found.len(), count, removed), (1788 + 6, 1788, 6));
}

#[test]
fn every_form_of_every_generic_macro_is_there() {
    let groups = specified();
    // By macro and number of arguments: what selects which function. Deprecated and current types share a form.
    let mut expected: BTreeMap<(String, usize), BTreeSet<String>> = BTreeMap::new();
    let mut forms = 0;
    for row in read("generics-1.6.csv").rows() {
        let key = (row.get("macro").to_owned(), row.get("arity").parse().unwrap());
        let functions = expected.entry(key).or_default();
        if row.get("select_on") == "argument count" {
            functions.insert(row.get("functions").to_owned());
        } else {
            functions.extend(row.get("lp64_associations").split(';').map(str::to_owned));
        }
        forms += 1;
    }
    assert_eq!(forms, 112);
    let mut found: BTreeMap<(String, usize), BTreeSet<String>> = BTreeMap::new();
    for entry in generic::macros(&groups) {
        for form in entry.forms {
            let functions = form.functions.iter().map(|(base, routine)| match base {
                Some(base) => format!("{base}:{}", routine.name),
                None => routine.name.clone(),
            });
            found.insert((entry.name.clone(), form.arity), functions.collect());
        }
    }
    assert_eq!(found, expected);
}

#[test]
fn every_constant_is_there_with_its_type() {
    let mut found = BTreeMap::new();
    for constant in SECTIONS.iter().flat_map(|section| section.constants) {
        found.insert(constant.name, constant);
    }
    let mut count = 0;
    for row in read("constants-1.6.csv").rows().filter(|row| ["constant", "handle"].contains(&row.get("kind"))) {
        let constant = found[row.get("name")];
        let mut value = &constant.value;
        if let Value::Same(other) = value {
            value = &found[other].value;
        }
        let fits = match row.get("c_type") {
            "int" => matches!(value, Value::Int(_)),
            "long" => matches!(value, Value::Long(_)),
            "shmem_team_t" => matches!(value, Value::Team(_)),
            "shmem_ctx_t" => matches!(value, Value::Ctx(_)),
            _ => matches!(value, Value::Vendor),
        };
        assert!(fits, "{} is not {}", constant.name, row.get("c_type"));
        count += 1;
    }
    assert_eq!(found.len(), count);
    assert!(constants::vendor().len() < constants::MAX_NAME_LEN as usize);
}

#[test]
fn every_parameter_is_used() {
    // Work arrays that shared memory does not need.
    let unused = ["pWrk", "npes"];
    // The cache routines of old do nothing with theirs.
    let of_today = expand::expand().into_iter().filter(|group| group.group.name != "cache").collect::<Vec<_>>();
    for (_, routine) in routines(&of_today) {
        let call = routine.expression(routine.row.call);
        let words: BTreeSet<_> = call.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        for param in &routine.params {
            let used = words.contains(param.name.as_str()) || unused.contains(&param.name.as_str());
            assert!(used, "{}: {} is not used in {call}", routine.name, param.name);
        }
    }
}

#[test]
fn every_row_says_what_the_profile_needs() {
    for (_, routine) in routines(&expand::expand()) {
        let row = routine.row;
        assert!(!row.class.is_empty() && !row.call.is_empty() && !row.section.is_empty(), "{}", routine.name);
        let moves = matches!(row.class, "Put" | "Get" | "Amo");
        assert!(!moves || (row.bytes != "0" && row.addr != "0" && row.peer != "-1"), "{}", routine.name);
    }
}
