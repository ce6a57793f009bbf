//! The headers under every language standard, and what they declare against the tables of the specification.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

use pellucid_generate::csv::Table;
use pellucid_generate::expand;

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];
const C: [&str; 4] = ["c99", "c11", "c17", "gnu11"];
const CXX: [&str; 5] = ["c++11", "c++14", "c++17", "c++20", "gnu++17"];

/// The compilers of this machine, as (C, C++).
fn compilers() -> Vec<(&'static str, &'static str)> {
    let there = |name: &str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    let all: Vec<_> =
        [("gcc", "g++"), ("clang", "clang++")].into_iter().filter(|(c, cxx)| there(c) && there(cxx)).collect();
    assert!(!all.is_empty(), "neither gcc and g++ nor clang and clang++ are installed");
    all
}

fn include() -> String {
    format!("{}/../../include", env!("CARGO_MANIFEST_DIR"))
}

fn write(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Compiles without a single warning.
fn compile(compiler: &str, standard: &str, source: &PathBuf) {
    let result = Command::new(compiler)
        .arg(format!("-std={standard}"))
        .args(WARNINGS)
        .arg(format!("-I{}", include()))
        .arg("-fsyntax-only")
        .arg(source)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&result.stderr);
    let first: Vec<_> = errors.lines().take(12).collect();
    assert!(result.status.success(), "{compiler} -std={standard} {}:\n{}", source.display(), first.join("\n"));
}

#[test]
fn headers_compile_alone_and_in_any_order() {
    let headers = ["shmem.h", "pshmem.h", "shmemx.h", "mpp/shmem.h", "mpp/pshmem.h", "mpp/shmemx.h"];
    let alone: Vec<_> = headers.iter().map(|header| format!("#include <{header}>\n")).collect();
    let together = alone.concat() + &alone.iter().rev().cloned().collect::<String>();
    let nested = "#ifdef __cplusplus\nextern \"C\" {\n#endif\n#include <shmem.h>\n#ifdef __cplusplus\n}\n#endif\n";
    let handles = "#include <shmem.h>\nextern shmem_ctx_t c[2]; extern shmem_team_t t[3]; extern size_t most;\n\
        shmem_ctx_t c[2] = {SHMEM_CTX_DEFAULT, SHMEM_CTX_INVALID};\n\
        shmem_team_t t[3] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED, SHMEM_TEAM_INVALID};\n\
        shmem_team_config_t team = {1}; shmem_ctx_session_config_t session = {SIZE_MAX};\n\
        size_t most = SIZE_MAX; long psync[SHMEM_SYNC_SIZE] = {SHMEM_SYNC_VALUE};\n\
        #if SHMEM_MAJOR_VERSION != 1 || SHMEM_MINOR_VERSION != 6\n#error version\n#endif\n";
    // Every header by itself under one standard of each language, all of them together under every standard.
    let mut sources: Vec<_> = alone.into_iter().map(|text| (text, &C[1..2], &CXX[2..3])).collect();
    sources.push((nested.to_owned(), &C[1..2], &CXX[2..3]));
    sources.extend([together, handles.to_owned()].map(|text| (text, &C[..], &CXX[..])));
    for (index, (text, c_standards, cxx_standards)) in sources.iter().enumerate() {
        let (c, cxx) = (write(&format!("alone{index}.c"), text), write(&format!("alone{index}.cc"), text));
        for (gcc, gxx) in compilers() {
            c_standards.iter().for_each(|standard| compile(gcc, standard, &c));
            cxx_standards.iter().for_each(|standard| compile(gxx, standard, &cxx));
        }
    }
}

#[test]
fn prototypes_are_those_of_the_specification() {
    let api =
        std::fs::read_to_string(format!("{}/../../tests/tables/api-1.6.csv", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut groups = expand::expand();
    // Routines of older specifications and extensions are not in the table.
    groups.retain(|group| group.group.name != "cache");
    let routines = groups.iter().flat_map(|group| &group.routines);
    let emitted: Vec<_> = routines.map(|routine| &routine.name).filter(|name| !name.starts_with("shmemx_")).collect();
    let mut text = "#include <pshmem.h>\n#include <complex>\n".to_owned();
    let mut used = 0;
    for row in Table::parse(&api).unwrap().rows().filter(|row| emitted.iter().any(|name| *name == row.get("name"))) {
        for name in [row.get("name"), row.get("pshmem_name")] {
            let (ret, params) = (row.get("return_type"), row.get("parameters"));
            writeln!(text, "extern {ret} (*const at_{name})({params});").unwrap();
            writeln!(text, "{ret} (*const at_{name})({params}) = &{name};").unwrap();
        }
        used += 1;
    }
    assert_eq!(used, emitted.len());
    let cxx = text.replace("double _Complex", "std::complex<double>").replace("float _Complex", "std::complex<float>");
    let c = text.replace("#include <complex>", "#include <complex.h>");
    let (c, cxx) = (write("prototypes.c", &c), write("prototypes.cc", &cxx));
    for (gcc, gxx) in compilers() {
        for standard in ["c99", "c11"] {
            compile(gcc, standard, &c);
        }
        compile(gxx, "c++17", &cxx);
    }
}

/// Section 5: besides the names of the specification only those with one prefix of the implementation's own.
#[test]
fn headers_hold_no_other_names() {
    let table = |name: &str| {
        let path = format!("{}/../../tests/tables/{name}", env!("CARGO_MANIFEST_DIR"));
        Table::parse(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let mut known = HashSet::new();
    for (file, columns) in [
        ("api-1.6.csv", &["name", "pshmem_name"][..]),
        ("generics-1.6.csv", &["macro"]),
        ("constants-1.6.csv", &["name"]),
    ] {
        for row in table(file).rows() {
            known.extend(columns.iter().map(|column| row.get(column).to_owned()));
        }
    }
    // Of older specifications.
    let cache = expand::expand().into_iter().filter(|group| group.group.name == "cache");
    for routine in cache.flat_map(|group| group.routines) {
        known.extend([routine.name, routine.profiling_name]);
    }
    for header in ["shmem.h", "pshmem.h", "shmemx.h"] {
        let text = std::fs::read_to_string(format!("{}/{header}", include())).unwrap();
        // Names of the extensions' paper are there for those who ask for them.
        let unasked = text.split("#ifdef SHMEMX_PAPER_NAMES").next().unwrap_or(&text);
        for line in unasked.lines().filter(|line| !line.ends_with('{')) {
            let declared = match line.strip_prefix("#define ") {
                Some(rest) => rest.split([' ', '(']).next(),
                None if line.starts_with("typedef ") && line.contains("(*") => {
                    line.split("(*").nth(1).and_then(|rest| rest.split(')').next())
                }
                None if line.ends_with(");") => line.split('(').next().and_then(|head| head.rsplit([' ', '*']).next()),
                None => line
                    .strip_prefix("} ")
                    .or(line.strip_prefix("typedef struct "))
                    .map(|rest| rest.trim_end_matches(';').rsplit([' ', '*']).next().unwrap_or(rest)),
            };
            let Some(name) = declared else { continue };
            let own = ["pellucid_", "PELLUCID_"].iter().any(|prefix| name.starts_with(prefix));
            // The last is what programs that use shmemx_wtime ask for.
            let prefixes = ["SHMEMX_", "shmemx_", "pshmemx_", "HAVE_SHMEMX_"];
            let extension = header == "shmemx.h" && prefixes.iter().any(|prefix| name.starts_with(prefix));
            // What shmem4py asks of a library, where Python's own header came first.
            let asked = header == "shmem.h" && name.starts_with("PySHMEM_HAVE_");
            // A name of Open MPI's header, whose examples do not compile without.
            let asked = asked || header == "shmem.h" && name == "OSHMEM_SPEC_VERSION";
            assert!(own || extension || asked || known.contains(name), "{header}: {name}");
        }
    }
}
