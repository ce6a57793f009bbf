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
