//! People who come from other libraries: their extensions by their names, and programs that are linked to them.

use std::path::PathBuf;

use harness::compile::Build;
use harness::run::Job;
use harness::tree;

#[test]
fn extensions_of_others_by_their_names() {
    for (name, language) in [("sandia", "-std=c11"), ("others", "-std=c99")] {
        let options = [language, "-Wall", "-Wextra", "-Werror"];
        let binary = Build::program(&format!("other_libraries/{name}.c")).options(options).build();
        for pes in [1, 2, 3, 8] {
            let line = format!("{name}: OK on {pes} PEs");
            Job::oshrun(pes).arg(&binary).run().expect_code(0).expect_text(&[&line]);
        }
    }
}

/// Its PEs would each be PE 0 of 1, or crash.
#[test]
fn a_program_of_another_library_is_refused() {
    let folder = tree::fresh("other-library");
    std::fs::write(folder.join("library.c"), "void shmem_init(void) {}\n").expect("a file");
    std::fs::write(folder.join("program.c"), "void shmem_init(void);\nint main(void) { shmem_init(); return 0; }\n")
        .expect("a file");
    let cc = |words: &[&str]| Job::new(PathBuf::from("cc")).args(words).directory(&folder).run().expect_code(0);
    cc(&["-shared", "-fPIC", "-Wl,-soname,liboshmem.so.40", "library.c", "-o", "liboshmem.so.40"]);
    cc(&["program.c", "liboshmem.so.40", "-Wl,-rpath,$ORIGIN", "-o", "program"]);
    let line = "program is linked to liboshmem.so.40 (Open MPI), not to libsma.so.1: compile it with ";
    let oshcc = tree::tool("oshcc").canonicalize().expect("oshcc").display().to_string();
    let outcome = Job::oshrun(2).arg("./program").directory(&folder).run().expect_code(126);
    outcome.expect_text(&[line, &oshcc]);
    // One that has both is ours.
    std::fs::write(folder.join("library.c"), "void no_routine(void) {}\n").expect("a file");
    cc(&["-shared", "-fPIC", "-Wl,-soname,liboshmem.so.40", "library.c", "-o", "liboshmem.so.40"]);
    let text = "#include <shmem.h>\nint main(void) { shmem_init(); shmem_finalize(); return 0; }\n";
    std::fs::write(folder.join("both.c"), text).expect("a file");
    let own = Build::source("both", &folder.join("both.c"));
    let library = folder.join("liboshmem.so.40").display().to_string();
    let rpath = format!("-Wl,-rpath,{}", folder.display());
    let both = own.options(["-Wl,--no-as-needed"]).libraries([library.as_str(), rpath.as_str()]).build();
    Job::oshrun(2).arg(&both).run().expect_code(0);
}
