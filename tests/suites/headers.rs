//! The headers: they compile alone in every language version, hold specified names only, and agree with the API table.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use harness::run::{Job, Outcome};
use harness::{declared, table, tree};

const HEADERS: &[&str] = &["shmem.h", "pshmem.h", "shmemx.h", "mpp/shmem.h", "mpp/pshmem.h", "mpp/shmemx.h"];

/// Names of our own begin with one of these.
const OWN: &[&str] = &["pellucid_", "PELLUCID_"];

/// A name of Open MPI's header, whose examples do not compile without.
const SPEC_VERSION: &str = "OSHMEM_SPEC_VERSION";

/// Names that the specification had (Annex F.2.7), and older programs ask for.
const REMOVED: &[&str] = &[
    "shmem_clear_cache_inv",
    "shmem_set_cache_inv",
    "shmem_clear_cache_line_inv",
    "shmem_set_cache_line_inv",
    "shmem_udcflush",
    "shmem_udcflush_line",
];

/// Compilers and language versions that users have.
fn languages() -> Vec<(&'static str, &'static str)> {
    let mut list = vec![];
    for (compilers, versions) in [
        (["gcc", "clang"], ["c99", "c11", "c17", "gnu17"].as_slice()),
        (["g++", "clang++"], ["c++11", "c++14", "c++17", "c++20"].as_slice()),
    ] {
        for compiler in compilers {
            let present = Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success());
            if present {
                list.extend(versions.iter().map(|version| (compiler, *version)));
            }
        }
    }
    assert!(list.len() >= 4, "no compiler: {list:?}");
    list
}

/// Compiles `text` without output.
fn compile(compiler: &str, version: &str, name: &str, text: &str, options: &[&str]) -> Outcome {
    let extension = if version.contains("++") { "cpp" } else { "c" };
    let source = tree::scratch("headers").join(format!("{name}.{extension}"));
    std::fs::write(&source, text).expect("target/tests can be written");
    Job::new(PathBuf::from(compiler))
        .args([&format!("-std={version}"), "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I"])
        .arg(tree::prefix().join("include"))
        .args(options)
        .arg(&source)
        .run()
}

#[test]
fn every_header_compiles_alone_and_twice() {
    for (compiler, version) in languages() {
        // C++ brings in <complex>, which takes its time: the oldest and the usual version do.
        let usual = ["c99", "c11", "c++11", "c++17"].contains(&version);
        for header in HEADERS.iter().filter(|header| usual || **header == "shmem.h") {
            let name = format!("alone-{}", header.replace(['/', '.'], "-"));
            let text = format!("#include <{header}>\n#include <{header}>\nint main(void) {{ return 0; }}\n");
            compile(compiler, version, &name, &text, &[]).expect_code(0);
        }
    }
}

/// Types that the oldest languages do not have are declared all the same, and warned of in the program alone.
#[test]
fn headers_are_quiet_in_old_languages() {
    let own = "int main(void) { long long own = 1; return own != 1; }\n";
    for (compiler, version) in [("gcc", "c89"), ("clang", "gnu89"), ("g++", "c++98"), ("clang++", "gnu++98")] {
        if !languages().iter().any(|(present, _)| *present == compiler) {
            continue;
        }
        for header in HEADERS {
            let name = format!("old-{}", header.replace(['/', '.'], "-"));
            let includes = format!("#include <{header}>\n#include <{header}>\n");
            let options = ["-DSHMEMX_PAPER_NAMES", "-DSHMEMX_CRAY_NAMES"];
            let quiet = format!("{includes}int main(void) {{ return 0; }}\n");
            compile(compiler, version, &name, &quiet, &[]).expect_code(0);
            compile(compiler, version, &name, &quiet, &options).expect_code(0);
            compile(compiler, version, &name, &(includes + own), &[]).expect_code(1).expect_text(&["long long"]);
        }
    }
}

/// Names of other libraries with more than one list of arguments.
#[test]
fn other_names_take_each_list_of_arguments_in_c_plus_plus() {
    let text = "#include <shmemx.h>\nlong psync;\nshmemx_aset *none;\nshmemx_request_handle_t request;\n\
                int main() {\n    uint64_t count;\n    \
                shmemx_pcntr_get_completed_target(&count);\n    \
                shmemx_pcntr_get_completed_target(SHMEM_CTX_DEFAULT, &count);\n    \
                shmem_broadcast32_nb(&count, &count, 1, 0, none, &psync, &request);\n    \
                shmem_broadcast64_nb(&count, &count, 1, none, &psync, &request);\n    \
                return count != 0;\n}\n";
    for (compiler, _) in languages().into_iter().filter(|(_, version)| *version == "c++17") {
        for version in ["c++98", "c++17"] {
            compile(compiler, version, "other-names", text, &["-DSHMEMX_PAPER_NAMES"]).expect_code(0);
        }
    }
}

/// Projects in C++ have these warnings as errors, also in what a macro of a header becomes.
#[test]
fn headers_have_no_casts_of_c_in_c_plus_plus() {
    let text = "#include <pshmem.h>\n#include <shmemx.h>\nshmem_ctx_t contexts[2];\nshmem_team_t teams[3];\n\
                shmemx_space_t spaces[2];\nint main() {\n    \
                contexts[0] = SHMEM_CTX_INVALID, contexts[1] = SHMEM_CTX_DEFAULT;\n    \
                teams[0] = SHMEM_TEAM_INVALID, teams[1] = SHMEM_TEAM_WORLD, teams[2] = SHMEMX_TEAM_NUMA;\n    \
                spaces[0] = SHMEMX_SPACE_INVALID, spaces[1] = SHMEMX_SPACE_DEFAULT;\n    \
                constexpr shmem_ctx_t none = SHMEM_CTX_INVALID;\n    \
                shmemx_errhandler_t handlers[] = {SHMEMX_ERRORS_FATAL, SHMEMX_ERRORS_LOG};\n    \
                return none != contexts[0] || handlers[0] == handlers[1] || SHMEMX_REQ_INVALID != 0;\n}\n";
    for (compiler, version) in languages().into_iter().filter(|(_, version)| version.starts_with("c++")) {
        for names in ["-DSHMEMX_NO_CRAY_NAMES", "-DSHMEMX_CRAY_NAMES"] {
            let options = ["-Wold-style-cast", "-Wzero-as-null-pointer-constant", names];
            compile(compiler, version, "casts", text, &options).expect_code(0);
        }
    }
}

#[test]
fn shmem_h_brings_in_what_the_specification_uses() {
    let text = "#include <shmem.h>\nstatic size_t most = SIZE_MAX;\nstatic uint64_t word;\nstatic ptrdiff_t step;\n\
                int main(void) { return most == 0 && word == 0 && step == 0; }\n";
    for (compiler, version) in languages() {
        compile(compiler, version, "brings-in", text, &[]).expect_code(0);
    }
}

#[test]
fn shmem_h_brings_in_no_other_names() {
    // What the headers that the specification has it bring in define anyway.
    let with = macros("#include <shmem.h>\n");
    let without = macros("#include <stddef.h>\n#include <stdint.h>\n");
    let known: BTreeSet<&str> = table::constants()
        .iter()
        .map(|constant| constant.name.as_str())
        .chain(table::generics().iter().map(|generic| generic.name.as_str()))
        .collect();
    let is_known = |name: &str| name == SPEC_VERSION || REMOVED.contains(&name);
    let own = |name: &&String| is_known(name) || OWN.iter().any(|prefix| name.starts_with(prefix));
    let strange: Vec<&String> =
        with.difference(&without).filter(|name| !known.contains(name.as_str()) && !own(name)).collect();
    assert!(strange.is_empty(), "macros that are not of the specification: {strange:?}");
    let strange: Vec<&String> = declared::functions()
        .iter()
        .filter(|name| name.contains("shmem") || name.starts_with("start_pes"))
        .filter(|name| !table::functions().iter().any(|function| function.name == **name) && !own(name))
        .collect();
    // The specification lets a library offer more datatypes (5): the names must then follow its templates.
    let extra: Vec<&&String> = strange.iter().filter(|name| !is_more_of_a_template(name)).collect();
    assert!(extra.is_empty(), "functions that are not of the specification: {extra:?}");
}

/// Whether a name fits a template of the API table with another type name.
fn is_more_of_a_template(name: &str) -> bool {
    table::functions().iter().filter_map(|function| function.template.split_once("TYPENAME")).any(|(before, after)| {
        name.strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|typename| table::functions().iter().any(|function| function.typename == typename))
    })
}

/// Names of the macros that are defined after `text` in C11.
fn macros(text: &str) -> BTreeSet<String> {
    let source = tree::scratch("headers").join("macros.c");
    std::fs::write(&source, text).expect("target/tests can be written");
    let outcome = Job::new(PathBuf::from("cc"))
        .args(["-std=c11", "-dM", "-E", "-I"])
        .arg(tree::prefix().join("include"))
        .arg(&source)
        .run()
        .expect_code(0);
    outcome
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("#define "))
        .filter_map(|line| line.split([' ', '(']).next())
        .map(String::from)
        .collect()
}

#[test]
fn constants_are_all_there() {
    let defined = macros("#include <shmem.h>\n");
    for constant in table::constants() {
        if matches!(constant.kind.as_str(), "constant" | "handle" | "required-macro") {
            assert!(defined.contains(&constant.name), "{} is not defined", constant.name);
        }
    }
    let text = std::fs::read_to_string(tree::header("shmem.h")).expect("shmem.h can be read");
    // Build systems look for these two lines.
    assert!(text.contains("#define SHMEM_MAJOR_VERSION 1\n"), "SHMEM_MAJOR_VERSION is not literal");
    assert!(text.contains("#define SHMEM_MINOR_VERSION 6\n"), "SHMEM_MINOR_VERSION is not literal");
}

#[test]
fn prototypes_agree_with_the_table() {
    for (header, profiling) in [("shmem.h", false), ("pshmem.h", true)] {
        // The macros of C11 have the names of functions: C99 sees the functions. A second declaration that differs from
        // the first is an error.
        let mut text = format!("#include <{header}>\n");
        let mut count = 0;
        for function in table::functions() {
            if !declared::functions().contains(&function.name) {
                continue;
            }
            let name = if profiling { &function.pshmem } else { &function.name };
            text.push_str(&format!("extern {} {name}({});\n", function.returns, function.parameters));
            // A declaration of our own would hide a missing one.
            text.push_str(&format!("static const void *const use_{name} = (const void *)&{name};\n"));
            count += 1;
        }
        text.push_str("int main(void) { return 0; }\n");
        let options = ["-Wno-pedantic", "-Wno-unused-variable", "-Wno-unused-const-variable"];
        compile("cc", "c99", &format!("prototypes-{profiling}"), &text, &options).expect_code(0);
        let uses: String =
            text.lines().filter(|line| !line.starts_with("extern")).map(|line| format!("{line}\n")).collect();
        compile("cc", "c99", &format!("uses-{profiling}"), &uses, &options).expect_code(0);
        println!("{header}: {count} of {} prototypes agree", table::functions().len());
        assert!(count > 0);
    }
}

#[test]
fn global_exit_does_not_return() {
    let text = "#include <shmem.h>\nint main(void);\nint main(void) { shmem_global_exit(1); }\n\
                int f(int x);\nint f(int x) { if (x) return 1; shmem_global_exit(2); }\n";
    for version in ["c11", "c17"] {
        compile("cc", version, "noreturn", text, &["-Wreturn-type", "-Werror=return-type"]).expect_code(0);
    }
    for (compiler, version) in languages() {
        if version.starts_with("c++") {
            compile(compiler, version, "noreturn", text, &["-Wreturn-type"]).expect_code(0);
        }
    }
}

#[test]
fn generic_forms_take_every_type() {
    let have = declared::functions();
    let mut text = String::from("#include <shmem.h>\n");
    let mut calls = 0;
    for (number, generic) in table::generics().iter().enumerate() {
        for typename in &generic.typenames {
            let function = generic.template.replace("TYPENAME", typename);
            let c_type = table::c_type(typename).expect("a type of the table");
            if !have.contains(&function) {
                continue;
            }
            let parameters = generic.parameters.replace("TYPE", c_type);
            let names: Vec<&str> =
                parameters.split(',').filter_map(|parameter| parameter.rsplit([' ', '*']).next()).collect();
            let returns = generic.returns.replace("TYPE", c_type);
            let result = if returns == "void" { "" } else { "return " };
            text.push_str(&format!(
                "{returns} f{number}_{typename}({parameters});\n{returns} f{number}_{typename}({parameters}) {{ \
                 {result}{}({}); }}\n",
                generic.name,
                names.join(", ")
            ));
            calls += 1;
        }
    }
    for (compiler, version) in languages() {
        if version == "c11" || version == "gnu17" {
            compile(compiler, version, &format!("generic-{compiler}-{version}"), &text, &[]).expect_code(0);
        }
    }
    println!("{calls} generic calls compile");
    // A type that no association has must not compile.
    let wrong = "#include <shmem.h>\nstruct s { int a; };\nvoid f(struct s *p);\n\
                 void f(struct s *p) { shmem_put(p, p, 1, 0); }\n";
    compile("cc", "c11", "generic-wrong", wrong, &[]).expect_failure();
}
