//! Every form of every type-generic macro, with every type, calls the function that the specification names: seen in
//! the assembly that the compilers make of the calls. The same for the C++ overloads.

use std::collections::HashMap;
use std::fmt::Write;
use std::process::Command;

use pellucid_generate::csv::{Row, Table};
use pellucid_generate::expand;

/// One call and the function that it must reach.
struct Case {
    function: String,
    text: String,
}

fn cases(constant: bool) -> Vec<Case> {
    let path = format!("{}/../../tests/tables/generics-1.6.csv", env!("CARGO_MANIFEST_DIR"));
    let table = Table::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    let groups = expand::expand();
    let ready = |name: &str| groups.iter().flat_map(|group| &group.routines).any(|routine| routine.name == name);
    let mut cases = Vec::new();
    for row in table.rows() {
        let selected: Vec<_> = match row.get("select_on") {
            "argument count" => vec![("long", row.get("functions"))],
            _ => row.get("lp64_associations").split(';').map(|pair| pair.split_once(':').unwrap()).collect(),
        };
        for (base, function) in selected.into_iter().filter(|(_, function)| ready(function)) {
            cases.push(Case { function: function.to_owned(), text: call(row, base, constant, cases.len()) });
        }
    }
    cases
}

/// A function `case_N` that takes what the form takes and calls the macro.
fn call(row: Row<'_>, base: &str, constant: bool, number: usize) -> String {
    let mut params = row.get("parameters").replace("TYPE", base);
    if !constant {
        // A pointer without const converts to what is declared with it, and selects the same.
        params = params.replace("const ", "");
    }
    let args: Vec<_> = params.split(", ").map(|param| param.rsplit([' ', '*']).next().unwrap()).collect();
    let ret = row.get("return_type").replace("TYPE", base);
    let give = if ret == "void" { "" } else { "return " };
    let mut text = String::new();
    writeln!(text, "PLAIN {ret} case_{number}({params});").unwrap();
    writeln!(text, "{ret} case_{number}({params}) {{ {give}{}({}); }}", row.get("macro"), args.join(", ")).unwrap();
    text
}

/// Compiles the cases and reads from the assembly which function each calls.
fn check(compiler: &str, standard: &str, name: &str, cases: &[Case], cxx: bool) {
    let mut text = "#include <shmem.h>\n".to_owned();
    text.push_str(if cxx { "#define PLAIN extern \"C\"\n" } else { "#define PLAIN extern\n" });
    cases.iter().for_each(|case| text.push_str(&case.text));
    if cxx {
        text = text.replace("double _Complex", "std::complex<double>").replace("float _Complex", "std::complex<float>");
    }
    let path = format!("{}/{compiler}-{name}", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&path, text).unwrap();
    let result = Command::new(compiler)
        .args([&format!("-std={standard}"), "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-S", "-o", "-"])
        .arg(format!("-I{}/../../include", env!("CARGO_MANIFEST_DIR")))
        .arg(&path)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{compiler} {path}: {}", errors.lines().take(12).collect::<Vec<_>>().join("\n"));
    let reached = reached(&String::from_utf8(result.stdout).unwrap());
    for (number, case) in cases.iter().enumerate() {
        let found = reached.get(&number).map(String::as_str);
        // C++ has the deprecated C function of that name, which does the same.
        let function = match case.function.as_str() {
            "shmem_long_wait_until" if cxx => "shmem_wait_until",
            function => function,
        };
        assert_eq!(found, Some(function), "{compiler} -std={standard}: {}", case.text);
    }
}

/// The OpenSHMEM routine that each `case_N` calls or jumps to.
fn reached(assembly: &str) -> HashMap<usize, String> {
    let mut found = HashMap::new();
    let mut current = None;
    for line in assembly.lines() {
        if let Some(label) = line.strip_prefix("case_").and_then(|rest| rest.split(':').next()) {
            current = label.parse::<usize>().ok();
        }
        let mut words = line.split_whitespace();
        let (Some(_), Some(target)) = (words.next(), words.next()) else { continue };
        let target = target.split('@').next().unwrap_or(target);
        if let (Some(number), true) = (current, target.starts_with("shmem_")) {
            found.insert(number, target.to_owned());
        }
    }
    found
}

fn compilers() -> Vec<(&'static str, &'static str)> {
    let there = |name: &str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    [("gcc", "g++"), ("clang", "clang++")].into_iter().filter(|(c, cxx)| there(c) && there(cxx)).collect()
}

#[test]
fn c11_macros_reach_their_functions() {
    for (gcc, _) in compilers() {
        for standard in ["c11", "c17"] {
            check(gcc, standard, &format!("const-{standard}.c"), &cases(true), false);
        }
        check(gcc, "c11", "plain.c", &cases(false), false);
    }
}

#[test]
fn cxx_overloads_reach_their_functions() {
    for (_, gxx) in compilers() {
        for standard in ["c++11", "c++20"] {
            check(gxx, standard, &format!("const-{standard}.cc"), &cases(true), true);
        }
        check(gxx, "c++17", "plain.cc", &cases(false), true);
    }
}

#[test]
fn a_function_with_the_name_of_a_macro_stays_a_function() {
    let text = "#include <shmem.h>\n\
        extern void (*address)(long *, int, long);\n\
        void (*address)(long *, int, long) = &shmem_wait_until;\n\
        extern void call(long *v);\n\
        void call(long *v) { (shmem_wait_until)(v, SHMEM_CMP_EQ, 1); }\n";
    let path = format!("{}/function.c", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&path, text).unwrap();
    for (gcc, _) in compilers() {
        let result = Command::new(gcc)
            .args(["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-S", "-o", "-"])
            .arg(format!("-I{}/../../include", env!("CARGO_MANIFEST_DIR")))
            .arg(&path)
            .output()
            .unwrap();
        let assembly = String::from_utf8_lossy(&result.stdout);
        assert!(result.status.success(), "{gcc}: {}", String::from_utf8_lossy(&result.stderr));
        assert!(assembly.contains("shmem_wait_until") && !assembly.contains("shmem_long_wait_until"), "{gcc}");
    }
}
