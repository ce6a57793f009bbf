//! What `./x package` makes is unpacked somewhere else and used from there; projects of CMake; the recipe for Spack.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use harness::run::Job;
use harness::{system, tree};

/// The packages of the tree under test, made once.
fn made() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = tree::fresh("packages-made");
        let script = tree::workspace().join("tools/packages/package.sh");
        Job::new(script).arg(tree::prefix()).arg(version()).arg(&folder).limit(300).run().expect_code(0);
        folder
    })
}

fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The one package whose name ends so; `None` where there is none.
fn package(end: &str) -> Option<PathBuf> {
    system::entries(made()).into_iter().find(|name| name.ends_with(end)).map(|name| made().join(name))
}

/// A program is compiled and runs with what is in a tree, and nothing of it is found by another path.
fn use_tree(root: &Path) {
    let folder = tree::fresh(&format!("packages-use-{}", root.file_name().unwrap_or_default().to_string_lossy()));
    let source = tree::workspace().join("examples/hello/hello.c");
    Job::new(root.join("bin/oshcc")).arg(&source).args(["-o", "hello"]).directory(&folder).run().expect_code(0);
    let needed = Job::new("ldd").arg(folder.join("hello")).run().expect_code(0).stdout;
    assert!(needed.contains(&format!("{}/lib/libsma.so.1", root.display())), "{needed}");
    let job = Job::new(root.join("bin/oshrun")).args(["-n", "2", "--profile-dir", "profile", "./hello"]);
    job.directory(&folder).run().expect_code(0).expect_text(&["hello: OK, all 2 PEs signed"]);
    let report = Job::new(root.join("bin/oshprof")).args(["report", "profile"]).directory(&folder).run();
    report.expect_code(0).expect_text(&["shmem_barrier_all"]);
    for file in ["share/man/man1/oshrun.1", "share/bash-completion/completions/oshrun", "include/mpp/shmem.h"] {
        assert!(root.join(file).exists(), "{file} is missing in {}", root.display());
    }
}

#[test]
fn the_tarball_can_be_unpacked_anywhere() {
    let file = package(".tar.gz").expect("a tarball");
    let folder = tree::fresh("packages-tar");
    Job::new("tar").arg("-xzf").arg(&file).arg("-C").arg(&folder).limit(120).run().expect_code(0);
    let moved = folder.join("moved once");
    std::fs::rename(folder.join(format!("pellucid-{}", version())), &moved).expect("the tree can be moved");
    use_tree(&moved);
}

#[test]
fn the_debian_package() {
    let Some(file) = package(".deb") else { return println!("no dpkg-deb here: no Debian package was made") };
    let dpkg = || Job::new("dpkg-deb").limit(120);
    let field = |name: &str| dpkg().arg("-f").arg(&file).arg(name).run().expect_code(0).stdout.trim().to_owned();
    assert_eq!((field("Package").as_str(), field("Version").as_str()), ("pellucid", version()));
    let depends = field("Depends");
    assert!(depends.starts_with("libc6 (>= 2.") && depends.ends_with("), libgcc-s1"), "{depends}");
    // Others' files stay as they are: all is in one folder, and belongs to root.
    let list = dpkg().arg("-c").arg(&file).run().expect_code(0).stdout;
    for line in list.lines() {
        let path = line.split_whitespace().nth(5).unwrap_or_default();
        assert!(["./", "./opt/"].contains(&path) || path.starts_with("./opt/pellucid/"), "{line}");
        assert!(line.contains(" root/root "), "{line}");
    }
    let folder = tree::fresh("packages-deb");
    dpkg().arg("-x").arg(&file).arg(&folder).run().expect_code(0);
    use_tree(&folder.join("opt/pellucid"));
}

/// The example is configured with oshcc in PATH, built, and its tests run, Fortran among them where it is installed.
#[test]
fn a_project_of_cmake() {
    let Some(cmake) = system::find(&["cmake"]) else { return println!("not tested: cmake is not installed") };
    let build = tree::fresh("packages-cmake");
    let path = format!("{}:{}", tree::prefix().join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let run = |program: &Path| Job::new(program).env("PATH", &path).directory(&build).limit(120);
    let source = tree::workspace().join("examples/cmake");
    run(&cmake).arg("-S").arg(&source).args(["-B", "."]).run().expect_code(0);
    run(&cmake).args(["--build", "."]).run().expect_code(0);
    let programs = if system::find(&["gfortran"]).is_some() { 3 } else { 2 };
    let outcome = run(&cmake.with_file_name("ctest")).arg("--output-on-failure").run().expect_code(0);
    outcome.expect_text(&[&format!("0 tests failed out of {programs}")]);
    without_modules(&cmake);
    let installed = build.join("installed");
    run(&cmake).args(["--install", ".", "--prefix"]).arg(&installed).run().expect_code(0);
    Job::oshrun(2).arg(installed.join("bin/hello")).run().expect_code(0);
    // The other ways to ask.
    let of = |mode: &str| {
        let mode = format!("-DMODE={mode}");
        run(&cmake).args(["--find-package", "-DNAME=OpenSHMEM", "-DCOMPILER_ID=GNU", "-DLANGUAGE=C", &mode]).run()
    };
    of("EXIST").expect_code(0).expect_text(&["OpenSHMEM found."]);
    of("COMPILE").expect_code(0).expect_text(&[&format!("-I{}", tree::prefix().join("include").display())]);
    what_is_asked_for(&cmake);
}

/// Versions, ranges of them and components that projects ask for, and what those are told who ask for others.
fn what_is_asked_for(cmake: &Path) {
    let folder = tree::fresh("packages-asked");
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", tree::prefix().display());
    let asks = |words: &str| {
        let project =
            format!("cmake_minimum_required(VERSION 3.16)\nproject(asks NONE)\nfind_package(OpenSHMEM {words})\n");
        std::fs::write(folder.join("CMakeLists.txt"), project).expect("a project");
        _ = std::fs::remove_dir_all(folder.join("build"));
        Job::new(cmake).args(["-S", ".", "-B", "build", &prefix]).directory(&folder).limit(120).run()
    };
    let languages = "1.6 REQUIRED COMPONENTS C CXX Fortran static";
    for words in
        ["REQUIRED", "1.4 REQUIRED", "1.6 EXACT REQUIRED", "1.4...1.6 REQUIRED", "1.4...<2 REQUIRED", languages]
    {
        asks(words).expect_code(0);
    }
    asks("REQUIRED COMPONENTS C OPTIONAL_COMPONENTS nonsense").expect_code(0);
    for words in ["9.9", "1.4 EXACT", "1.4...<1.6", "1.4...1.5", "1.7...2"] {
        asks(&format!("{words} REQUIRED")).expect_code(1).expect_text(&["version: 1.6"]);
    }
    asks("REQUIRED COMPONENTS C nonsense").expect_code(1).expect_text(&["no component nonsense"]);
}

/// What the library needs is no target of the project's.
#[test]
fn a_static_library_beside_a_target_called_m() {
    let Some(cmake) = system::find(&["cmake"]) else { return println!("not tested: cmake is not installed") };
    let folder = tree::fresh("packages-m");
    let project = "cmake_minimum_required(VERSION 3.16)\nproject(asks C)\nfind_package(OpenSHMEM REQUIRED)\n\
                   add_executable(m m.c)\nadd_executable(prog prog.c)\n\
                   target_link_libraries(prog PRIVATE OpenSHMEM::static)\n";
    let program = "#include <shmem.h>\nint main(void) { shmem_init(); shmem_finalize(); return 0; }\n";
    for (name, text) in [("CMakeLists.txt", project), ("m.c", "int main(void) { return 1; }\n"), ("prog.c", program)] {
        std::fs::write(folder.join(name), text).expect("a file of the project");
    }
    let run = || Job::new(&cmake).directory(&folder).limit(120);
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", tree::prefix().display());
    run().args(["-S", ".", "-B", "build", &prefix]).run().expect_code(0);
    run().args(["--build", "build"]).run().expect_code(0);
    Job::oshrun(2).arg(folder.join("build/prog")).run().expect_code(0);
}

/// With static libraries alone, a program of Fortran has its own target as one of C has.
#[test]
fn a_static_program_of_fortran_with_cmake() {
    let (Some(cmake), Some(_)) = (system::find(&["cmake"]), system::find(&["gfortran"])) else {
        return println!("not tested: cmake or gfortran is not installed");
    };
    let folder = tree::fresh("packages-static-fortran");
    let project = "cmake_minimum_required(VERSION 3.16)\nproject(asks Fortran)\nfind_package(OpenSHMEM REQUIRED)\n\
                   add_executable(prog prog.f90)\ntarget_link_options(prog PRIVATE -static)\n\
                   target_link_libraries(prog PRIVATE OpenSHMEM::Fortran_static)\n";
    let program = "program prog\n  use shmem\n  call shmem_init()\n  print *, 'pe', shmem_my_pe()\n  \
                   call shmem_finalize()\nend program\n";
    for (name, text) in [("CMakeLists.txt", project), ("prog.f90", program)] {
        std::fs::write(folder.join(name), text).expect("a file of the project");
    }
    let run = || Job::new(&cmake).directory(&folder).limit(120);
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", tree::prefix().display());
    run().args(["-S", ".", "-B", "build", &prefix]).run().expect_code(0);
    run().args(["--build", "build"]).run().expect_code(0);
    Job::oshrun(2).arg(folder.join("build/prog")).run().expect_code(0).expect_text(&["pe"]);
}

/// Module files of another compiler are looked for where `oshfort` looks for them, too: by its name.
fn modules_of_another_compiler(cmake: &Path, folder: &Path) {
    let modules = folder.join("prefix/lib/pellucid/modules/otherfc");
    std::fs::create_dir_all(&modules).expect("a folder");
    let project = "cmake_minimum_required(VERSION 3.16)\nset(CMAKE_Fortran_COMPILER /nowhere/otherfc)\n\
                   set(CMAKE_Fortran_COMPILER_ID Other)\nproject(asks NONE)\nfind_package(OpenSHMEM REQUIRED)\n\
                   message(STATUS \"modules: ${OpenSHMEM_Fortran_MODULES}\")\n";
    std::fs::create_dir_all(folder.join("other")).expect("a folder");
    std::fs::write(folder.join("other/CMakeLists.txt"), project).expect("a project");
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", folder.join("prefix").display());
    let job = Job::new(cmake).args(["-S", "other", "-B", "other/build", &prefix]).directory(folder).limit(120);
    job.run().expect_code(0).expect_text(&["modules: ", "/lib/pellucid/modules/otherfc"]);
}

/// An old program: Cray pointers, and one routine for buffers of several types.
const OLD: &str = "      program old
      include 'shmem.fh'
      integer*8 whole(2), first(2)
      real*8 number(2), second(2)
      pointer (at, whole), (there, number)
      call shmem_init()
      call shpalloc(at, 4, ierr, 0)
      call shpalloc(there, 4, ierr, 0)
      first = 7
      second = 8.0
      next = mod(shmem_my_pe() + 1, shmem_n_pes())
      call shmem_put8(whole, first, 2, next)
      call shmem_put8(number, second, 2, next)
      call shmem_barrier_all()
      if (whole(2) .ne. 7 .or. number(1) .ne. 8.0) then
        call shmem_global_exit(3)
      endif
      call shmem_finalize()
      end
";

#[test]
fn an_old_program_with_cmake() {
    let (Some(cmake), Some(_)) = (system::find(&["cmake"]), system::find(&["gfortran"])) else {
        return println!("not tested: cmake or gfortran is not installed");
    };
    let folder = tree::fresh("packages-old");
    let project = "cmake_minimum_required(VERSION 3.16)\nproject(old Fortran)\nfind_package(OpenSHMEM REQUIRED)\n\
                   add_executable(old old.f)\ntarget_link_libraries(old PRIVATE OpenSHMEM::Fortran)\n";
    std::fs::write(folder.join("CMakeLists.txt"), project).expect("a project");
    std::fs::write(folder.join("old.f"), OLD).expect("a program");
    let run = || Job::new(&cmake).directory(&folder).limit(120);
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", tree::prefix().display());
    run().args(["-S", ".", "-B", "build", &prefix]).run().expect_code(0);
    run().args(["--build", "build"]).run().expect_code(0);
    Job::oshrun(2).arg(folder.join("build/old")).run().expect_code(0);
}

/// Where there are no module files of the Fortran compiler, that is said, and the example leaves out what uses them.
fn without_modules(cmake: &Path) {
    if system::find(&["gfortran"]).is_none() {
        return;
    }
    let folder = tree::fresh("packages-no-modules");
    std::fs::create_dir_all(folder.join("prefix/lib")).expect("a folder");
    let link = |to: &Path, path: &str| std::os::unix::fs::symlink(to, folder.join(path)).expect("a link");
    for part in ["bin", "include", "share"] {
        link(&tree::prefix().join(part), &format!("prefix/{part}"));
    }
    for name in system::entries(&tree::prefix().join("lib")) {
        if !["pellucid", "cmake"].contains(&name.as_str()) {
            link(&tree::prefix().join("lib").join(&name), &format!("prefix/lib/{name}"));
        }
    }
    let config = "lib/cmake/OpenSHMEM";
    std::fs::create_dir_all(folder.join("prefix").join(config)).expect("a folder");
    for name in system::entries(&tree::prefix().join(config)) {
        let file = tree::prefix().join(config).join(&name);
        std::fs::copy(file, folder.join("prefix").join(config).join(&name)).expect("a copy");
    }
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", folder.join("prefix").display());
    let source = tree::workspace().join("examples/cmake");
    let run = || Job::new(cmake).directory(&folder).limit(120);
    let outcome = run().arg("-S").arg(&source).args(["-B", "build", &prefix]).run().expect_code(0);
    outcome.expect_text(&["OpenSHMEM has no module files of GNU"]);
    run().args(["--build", "build"]).run().expect_code(0);
    modules_of_another_compiler(cmake, &folder);
}

/// Spack itself is not needed to see that the recipe installs with `./x`, from the checkout that it is in.
#[test]
fn the_recipe_for_spack() {
    let Some(python) = system::find(&["python3"]) else { return println!("not tested: python3 is not installed") };
    let recipe = tree::workspace().join("tools/packages/spack/packages/pellucid/package.py");
    let folder = tree::fresh("packages-spack");
    let stub = r#"
__all__ = ["Package", "Executable", "join_path", "license", "version", "variant", "provides", "depends_on", "conflicts"]
import os
said = []
Package = type("Package", (), {})
join_path = os.path.join
def directive(name):
    return lambda *args, **options: said.append((name, args, options))
license, version, variant, provides, depends_on, conflicts = map(
    directive, ["license", "version", "variant", "provides", "depends_on", "conflicts"])
class Executable:
    def __init__(self, name):
        self.name = name
    def __call__(self, *args):
        said.append((self.name, args, {}))
"#;
    std::fs::create_dir_all(folder.join("spack")).expect("a folder");
    std::fs::write(folder.join("spack/__init__.py"), "").expect("a package of Python");
    std::fs::write(folder.join("spack/package.py"), stub).expect("a module of Python");
    let script = "import runpy, sys, spack.package as p\n\
                  names = runpy.run_path(sys.argv[1])\n\
                  recipe = names['Pellucid']()\n\
                  recipe.install(None, '/prefix')\n\
                  print(p.said[-1]); print(names['CHECKOUT']); print([s[1] for s in p.said if s[0] == 'depends_on'])\n";
    let job = Job::new(python).args(["-B", "-c", script]).arg(&recipe).directory(&folder);
    let root = tree::workspace().canonicalize().expect("the checkout");
    let outcome = job.env("PYTHONPATH", &folder.to_string_lossy()).run().expect_code(0);
    let rust = format!("rust@{}:", env!("CARGO_PKG_RUST_VERSION"));
    outcome.expect_text(&["('./x', ('install', '--prefix', '/prefix'), {})", &root.to_string_lossy(), &rust]);
}

/// Meson reads what CMake finds, and takes options of the linker one by one.
#[test]
fn options_of_the_linker_are_plain_unless_the_folder_has_a_comma() {
    let Some(cmake) = system::find(&["cmake"]) else { return println!("not tested: cmake is not installed") };
    for (name, is_plain) in [("plain", true), ("a,b", false)] {
        let folder = tree::fresh("packages-linker");
        let config = folder.join(name).join("lib/cmake/OpenSHMEM");
        std::fs::create_dir_all(&config).expect("a folder");
        for file in system::entries(&tree::prefix().join("lib/cmake/OpenSHMEM")) {
            let from = tree::prefix().join("lib/cmake/OpenSHMEM").join(&file);
            std::fs::copy(from, config.join(&file)).expect("a copy");
        }
        for file in system::entries(&tree::prefix().join("lib")).iter().filter(|file| file.starts_with("libsma.")) {
            let to = folder.join(name).join("lib").join(file);
            std::os::unix::fs::symlink(tree::prefix().join("lib").join(file), to).expect("a link");
        }
        std::os::unix::fs::symlink(tree::prefix().join("include"), folder.join(name).join("include")).expect("a link");
        let project = "cmake_minimum_required(VERSION 3.16)\nproject(asks C)\nfind_package(OpenSHMEM REQUIRED)\n\
                       get_target_property(options OpenSHMEM::OpenSHMEM INTERFACE_LINK_OPTIONS)\n\
                       message(STATUS \"they are ${options}\")\nadd_executable(asks asks.c)\n\
                       target_link_libraries(asks PRIVATE OpenSHMEM::OpenSHMEM)\ninstall(TARGETS asks)\n";
        std::fs::write(folder.join("CMakeLists.txt"), project).expect("a project");
        let program = "#include <shmem.h>\nint main(void) { shmem_init(); shmem_finalize(); return 0; }\n";
        std::fs::write(folder.join("asks.c"), program).expect("a program");
        let run = || Job::new(&cmake).directory(&folder).limit(120);
        let prefix = format!("-DCMAKE_PREFIX_PATH={}", folder.join(name).display());
        let outcome = run().args(["-S", ".", "-B", "build", &prefix]).run().expect_code(0);
        let plain = format!("they are -Wl,-rpath,{}", folder.join(name).join("lib").display());
        assert_eq!(outcome.stdout.contains(&plain), is_plain, "{}", outcome.describe());
        // CMake's own option for where programs of the build find libraries has no form for such a folder.
        if !is_plain {
            continue;
        }
        run().args(["--build", "build"]).run().expect_code(0);
        run().args(["--install", "build", "--prefix", "installed"]).run().expect_code(0);
        Job::oshrun(2).arg(folder.join("installed/bin/asks")).run().expect_code(0);
    }
}

#[test]
fn a_project_of_meson() {
    let (Some(meson), Some(ninja)) = (system::find(&["meson"]), system::find(&["ninja"])) else {
        return println!("not tested: meson or ninja is not installed");
    };
    let folder = tree::fresh("packages-meson");
    let project = "project('asks', 'c')\n\
                   found = dependency('OpenSHMEM', method: 'cmake', modules: ['OpenSHMEM::OpenSHMEM'])\n\
                   executable('asks', 'asks.c', dependencies: [found])\n";
    std::fs::write(folder.join("meson.build"), project).expect("a project");
    let program = "#include <shmem.h>\nint main(void) { shmem_init(); shmem_finalize(); return 0; }\n";
    std::fs::write(folder.join("asks.c"), program).expect("a program");
    let run = |program: &Path| Job::new(program).directory(&folder).limit(120);
    let prefix = format!("-Dcmake_prefix_path={}", tree::prefix().display());
    run(&meson).args(["setup", "build", &prefix]).run().expect_code(0);
    run(&ninja).args(["-C", "build"]).run().expect_code(0);
    Job::oshrun(2).arg(folder.join("build/asks")).run().expect_code(0);
}
