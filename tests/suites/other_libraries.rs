//! People who come from other libraries: their extensions by their names, and the Python package that builds on any library.

use harness::compile::Build;
use harness::run::Job;

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
