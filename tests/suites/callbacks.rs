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
fn a_callback_may_be_left_by_a_jump_or_an_exception() {
    let folder = tree::fresh("callbacks-left");
    let source = tree::package().join("programs/tools/left.c");
    for (name, compiler, language) in [("jump", "oshcc", "c"), ("throw", "oshc++", "c++")] {
        let binary = folder.join(name);
        let job =
            Job::new(tree::tool(compiler)).args(["-O1", "-pthread", "-x", language]).arg(&source).args(["-x", "none"]);
        job.arg("-o").arg(&binary).run().expect_code(0);
        for options in [&[][..], &["--profile", "off"]] {
            let outcome = Job::oshrun(1).args(options).arg(&binary).limit(20).run().expect_code(0);
            assert_eq!(outcome.stdout, "left and went on\n");
        }
    }
    // One that is left in a thread that makes no call afterwards is waited for, but not for ever.
    let outcome = Job::oshrun(1).arg(folder.join("jump")).arg("away").limit(30).run().expect_code(0);
    assert!(outcome.stderr.contains("shmemx_callback_unregister: a thread"), "{}", outcome.describe());
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
