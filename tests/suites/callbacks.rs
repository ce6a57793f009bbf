//! The callback interface and the variables of `shmemx.h`.

use harness::compile::Build;
use harness::run::Job;
use harness::tree;

#[test]
fn every_defined_case() {
    for (name, options) in [("shared", &["-pthread"][..]), ("static", &["-pthread", "-static"])] {
        let binary = Build::program("tools/events.c").named(&format!("events-{name}")).options(options).build();
        for pes in [1, 4] {
            let outcome = Job::oshrun(pes).arg(&binary).run().expect_code(0);
            assert_eq!(outcome.stdout.matches("events in order on").count(), pes, "{}", outcome.describe());
        }
    }
}

#[test]
fn the_same_with_a_tool_in_the_row() {
    // Events are of the program's calls, whoever has them afterwards.
    let tool = tree::scratch("programs").join("few-under-events.so");
    Job::new(tree::tool("oshcc"))
        .args(["-O1", "-shared", "-fPIC", "-DNAME=\"few\""])
        .arg(tree::package().join("programs/tools/few.c"))
        .arg("-o")
        .arg(&tool)
        .run()
        .expect_code(0);
    let binary = Build::program("tools/events.c").named("events-shared").options(["-pthread"]).build();
    let outcome = Job::oshrun(4).arg("--tool").arg(&tool).arg(&binary).run().expect_code(0);
    assert_eq!(outcome.stdout.matches("events in order on").count(), 4, "{}", outcome.describe());
    assert_eq!(outcome.stdout.matches("few on").count(), 4, "{}", outcome.describe());
}

#[test]
fn the_header_is_c99_and_cpp() {
    let folder = tree::fresh("callbacks");
    let text = "#include <shmemx.h>\nint main(void) { return shmemx_var_count() > 0 ? 0 : 1; }\n";
    for (name, compiler, standard) in [("a.c", "oshcc", "-std=c99"), ("a.cpp", "oshc++", "-std=c++11")] {
        std::fs::write(folder.join(name), text).expect("target/tests can be written");
        Job::new(tree::tool(compiler))
            .args([standard, "-Wall", "-Wextra", "-pedantic", "-Werror", name, "-o", "a"])
            .directory(&folder)
            .run()
            .expect_code(0);
        Job::new(folder.join("a")).run().expect_code(0);
    }
}
