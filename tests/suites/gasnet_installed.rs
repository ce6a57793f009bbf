//! What is installed of GASNet-EX: headers, their names and numbers, libraries, fragments of makefiles.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use harness::gasnet::{all_is_well, good};
use harness::run::{Job, Outcome};
use harness::tree;
use libtest_mimic::{Arguments, Failed, Trial};

const HEADERS: [&str; 9] = [
    "gasnet_portable_platform.h",
    "gasnet_fwd.h",
    "gasnetex.h",
    "gasnet_vis.h",
    "gasnet_ratomic.h",
    "gasnet_coll.h",
    "gasnet_mk.h",
    "gasnet_tools.h",
    "gasnet.h",
];

fn main() -> ExitCode {
    let trials = vec![
        Trial::test("headers compile alone", headers_compile),
        Trial::test("every name is declared", names_are_declared),
        Trial::test("macros are macros", macros_are_macros),
        Trial::test("tools", tools),
        Trial::test("binary facts", binary_facts),
        Trial::test("modes do not mix", modes_do_not_mix),
        Trial::test("makefiles", makefiles),
        Trial::test("under the name of a conduit", as_a_conduit),
        Trial::test("static library", static_library),
        Trial::test("with OpenSHMEM", with_openshmem),
        Trial::test("with OpenSHMEM and its tools", with_tools),
        Trial::test("a client that is an OpenSHMEM library", own_openshmem),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn compile(compiler: &str, version: &str, name: &str, text: &str) -> Outcome {
    let extension = if version.contains("++") { "cpp" } else { "c" };
    let source = tree::scratch("gasnet-installed").join(format!("{name}.{extension}"));
    std::fs::write(&source, text).expect("target/tests can be written");
    let job = Job::new(compiler).args([&format!("-std={version}"), "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]);
    job.args(["-DGASNET_PAR", "-I"]).arg(tree::header("gasnet")).arg(&source).run()
}

fn headers_compile() -> Result<(), Failed> {
    let has = |compiler: &&str| Command::new(compiler).arg("--version").output().is_ok();
    for (compilers, version) in [(["gcc", "clang"], "c11"), (["g++", "clang++"], "c++17")] {
        for compiler in compilers.iter().filter(|compiler| has(compiler)) {
            for header in HEADERS {
                let name = format!("{compiler}-{header}");
                let text = format!("#include <{header}>\n#include <{header}>\nint main(void) {{ return 0; }}\n");
                good(&compile(compiler, version, &name, &text))?;
            }
            let all: String =
                HEADERS.iter().rev().fold(String::new(), |text, header| text + &format!("#include <{header}>\n"));
            good(&compile(compiler, version, &format!("{compiler}-all"), &all))?;
            // The tools alone, of no thread mode: for versions and the like.
            let tools = "#undef GASNET_PAR\n#define GASNETT_LITE_MODE 1\n#include <gasnet_tools.h>\n\
                         GASNETT_IDENT(version, _STRINGIFY(GASNET_RELEASE_VERSION_MAJOR));\n\
                         int main(void) { return sizeof version != 5; }\n";
            good(&compile(compiler, version, &format!("{compiler}-lite"), tools))?;
        }
    }
    Ok(())
}

/// Types, constants and functions each have a line that does not compile without them.
fn names_are_declared() -> Result<(), Failed> {
    let mut text = String::new();
    for header in HEADERS {
        writeln!(text, "#include <{header}>").expect("a string");
    }
    let (mut macros, mut body) = (String::new(), String::new());
    for file in ["gasnet-ex-names.txt", "gasnet-1-names.txt", "gasnet-tools-names.txt"] {
        let names = std::fs::read_to_string(tree::package().join("tables").join(file))?;
        for name in names.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            if name.ends_with("_t") {
                writeln!(body, "    (void)sizeof({name});").expect("a string");
            } else if name.starts_with("GEX_MK_CLASS_") {
                writeln!(body, "    (void){name};").expect("a string");
            } else if name.starts_with(|c: char| c.is_ascii_uppercase()) {
                writeln!(macros, "#ifndef {name}\n#error {name}\n#endif").expect("a string");
            } else {
                writeln!(body, "#ifndef {name}\n    (void)(uintptr_t)&{name};\n#endif").expect("a string");
            }
        }
    }
    write!(text, "{macros}int main(void)\n{{\n{body}    return 0;\n}}\n").expect("a string");
    good(&compile("gcc", "c11", "names", &text))
}

/// Clients ask the preprocessor for these, in C++ as UPC++ does when it is configured; what is not so has no name,
/// instead of the value 0.
fn macros_are_macros() -> Result<(), Failed> {
    let there = "GASNETT_NEVER_INLINE GASNETT_NORETURN GASNETT_PURE GASNETT_CONST GASNET_MAXEPS gasnett_spinloop_hint \
        gasneti_builtin_unreachable GASNETT_PREDICT_TRUE GASNETT_PREDICT_FALSE gasnett_assume gasnett_unreachable \
        gasnett_fatalerror_nopos PLATFORM_COMPILER_VERSION_GE PRIuSZ MIN GASNET_BARRIERFLAG_UNNAMED";
    let absent = "GASNETT_USING_GETTIMEOFDAY GASNETT_STRONGATOMIC_NOT_SIGNALSAFE GASNETT_CONFIGURE_MISMATCH \
        GASNET_RCV_THREAD GASNET_HAVE_MK_CLASS_CUDA_UVA GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM PLATFORM_OS_DARWIN";
    let mut text =
        String::from("#include <gasnetex.h>\n#include <gasnet_portable_platform.h>\n#include <gasnet_mk.h>\n");
    for (names, directive) in [(there, "ifndef"), (absent, "ifdef")] {
        for name in names.split_whitespace() {
            writeln!(text, "#{directive} {name}\n#error {name}\n#endif").expect("a string");
        }
    }
    // The C library has some of them, too; and the barrier of GASNet-1 needs no other header.
    text += "#include <sys/param.h>\n";
    text += "int main(void) { return sizeof(gasnet_barrier(0, GASNET_BARRIERFLAG_UNNAMED)) != sizeof(int); }\n";
    good(&compile("g++", "c++17", "macros", &text))?;
    // A header of the same names that came first has said what there is to say.
    let first = "#define PLATFORM_HEADER_VERSION 99\n#define PLATFORM_COMPILER_FAMILYNAME FIRST\n\
                 #define PLATFORM_OS_LINUX 2\n#include <gasnetex.h>\nint main(void) { return 0; }\n";
    good(&compile("gcc", "c11", "second", first))
}

/// A program that needs the tools alone, with the shared library and with the static one.
fn tools() -> Result<(), Failed> {
    let source = tree::package().join("programs/gasnet/tools.c");
    for library in ["libgasnet-pellucid-par.so", "libgasnet-pellucid-par.a", "libgasnet-pellucid-seq.a"] {
        let to = tree::scratch("gasnet-installed").join(format!("tools-{library}"));
        let built = Job::new("cc").args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-DGASNETT_THREAD_SAFE=1", "-I"]);
        let built = built.arg(tree::header("gasnet")).arg(&source).arg("-o").arg(&to);
        good(&built.arg(tree::library(library)).args(["-lpthread", "-lm"]).run())?;
        let job = || Job::new(&to).env("LD_LIBRARY_PATH", &tree::library("").display().to_string());
        let outcome = job().run();
        let waited = outcome.stderr.contains("waits for a debugger to set frozen to 0");
        if outcome.code() != 5 || outcome.stdout != "12 all is well\n" || !waited {
            return Err(outcome.describe().into());
        }
        let outcome = job().arg("a bad end").run();
        if outcome.code() != 1 || !outcome.stderr.contains("a bad end") {
            return Err(outcome.describe().into());
        }
    }
    Ok(())
}

/// What a client that was compiled against published numbers asserts.
fn binary_facts() -> Result<(), Failed> {
    let facts = "sizeof(gex_Flags_t) == 4, sizeof(gex_Rank_t) == 4, sizeof(gex_EP_Index_t) == 2, sizeof(gex_DT_t) == \
        4, \
        sizeof(gex_OP_t) == 4, sizeof(gex_AM_Arg_t) == 4, sizeof(gex_EP_Capabilities_t) == 4, sizeof(gex_AM_Index_t) \
        == 1, sizeof(gex_Client_t) == 8, sizeof(gex_EP_t) == 8, sizeof(gex_TM_t) == 8, sizeof(gex_Segment_t) == 8, \
        sizeof(gex_Event_t) == 8, sizeof(gex_Token_t) == 8, sizeof(gex_AM_SrcDesc_t) == 8, sizeof(gex_MK_t) == 8, \
        GASNET_OK == 0, GASNET_ERR_NOT_READY == 10004, GEX_DT_U64 == 1 << 3, GEX_OP_ADD == 1 << 3, \
        GEX_EP_CAPABILITY_RMA == 1 << 0, GEX_FLAG_IMMEDIATE == 1 << 0, GEX_FLAG_AM_PREPARE_LEAST_CLIENT == 1 << 11, \
        GEX_FLAG_AM_PREPARE_LEAST_ALLOC == 1 << 12";
    let values = "GEX_EP_INVALID, 0; GEX_MK_INVALID, 0; GEX_SEGMENT_INVALID, 0; GEX_EVENT_INVALID, 0; GEX_EVENT_NO_OP, \
        1; GEX_EVENT_NOW, 1; GEX_EVENT_DEFER, 2; GEX_EVENT_GROUP, 3; GEX_MK_HOST, 1";
    let mut text = String::from("#include <gasnetex.h>\n#include <gasnet_ratomic.h>\n");
    for fact in facts.split(", ") {
        writeln!(text, "_Static_assert({fact}, \"{fact}\");").expect("a string");
    }
    good(&compile("gcc", "gnu11", "facts", &text))?;
    // Pointers are no constants of the compiler's: the program tells.
    text += "int main(void)\n{\n    return ";
    for (name, value) in values.split("; ").filter_map(|pair| pair.split_once(", ")) {
        write!(text, "(uintptr_t){name} != {value} || ").expect("a string");
    }
    text += "0;\n}\n";
    let source = tree::scratch("gasnet-installed").join("values.c");
    let program = source.with_extension("");
    std::fs::write(&source, text)?;
    let built =
        Job::new("cc").args(["-DGASNET_PAR", "-I"]).arg(tree::header("gasnet")).arg(&source).arg("-o").arg(&program);
    let libraries = ["-L", &tree::library("").display().to_string(), "-lgasnet-pellucid-par"];
    good(&built.args(libraries).run())?;
    good(&Job::new(program).env("LD_LIBRARY_PATH", &tree::library("").display().to_string()).run())
}

fn modes_do_not_mix() -> Result<(), Failed> {
    let to = tree::scratch("gasnet-installed").join("mixed");
    let source = tree::package().join("programs/gasnet/rma.c");
    let outcome = Job::new("cc").args(["-DGASNET_SEQ", "-I"]).arg(tree::header("gasnet")).arg(source).arg("-o").arg(to);
    let outcome = outcome.arg("-L").arg(tree::library("")).arg("-lgasnet-pellucid-par").run();
    let named = outcome.stderr.contains("gex_Client_Init_of_the_SEQ_library");
    if outcome.code() != 0 && named { Ok(()) } else { Err(outcome.describe().into()) }
}

fn makefiles() -> Result<(), Failed> {
    let folder = tree::scratch("gasnet-installed").join("makefile");
    std::fs::create_dir_all(&folder)?;
    let fragment = tree::header("pellucid-conduit/pellucid-seq.mak");
    let text = format!(
        "include {}\nprogram: {}\n\t$(GASNET_CC) $(GASNET_CPPFLAGS) $(GASNET_CFLAGS) -o $@ $< $(GASNET_LDFLAGS) \
         $(GASNET_LIBS)\n",
        fragment.display(),
        tree::package().join("programs/gasnet/team.c").display()
    );
    std::fs::write(folder.join("Makefile"), text)?;
    good(&Job::new("make").arg("-B").directory(&folder).run())?;
    let outcome = Job::oshrun(2).arg(folder.join("program")).run();
    all_is_well(&outcome, 2)
}

/// The tree of an installation under the name of a conduit.
fn conduit_tree() -> Result<PathBuf, Failed> {
    let prefix = tree::scratch("gasnet-installed").join("conduit");
    let _ = std::fs::remove_dir_all(&prefix);
    good(&install_as_smp(&prefix))?;
    Ok(prefix)
}

fn install_as_smp(prefix: &Path) -> Outcome {
    let install = Job::new(tree::workspace().join("x")).args(["install", "--gasnet-as", "smp", "--prefix"]);
    install.arg(prefix).limit(600).run()
}

/// Clients that know conduits by name find headers and libraries where they look, and are told which it is when they
/// are compiled.
fn as_a_conduit() -> Result<(), Failed> {
    let prefix = conduit_tree()?;
    let source = tree::package().join("programs/gasnet/team.c");
    let text = "#include <gasnetex.h>\n#if !GASNET_CONDUIT_SMP\n#error none\n#endif\nint main(void) { return 0; }\n";
    let asks = prefix.join("asks.c");
    std::fs::write(&asks, text)?;
    let fragment = prefix.join("include/smp-conduit/smp-par.mak");
    let rule = "\t$(GASNET_CC) $(GASNET_CPPFLAGS) -o $@ $< $(GASNET_LIBS)";
    let (asks, source) = (asks.display(), source.display());
    let makefile = format!(
        "include {}\nall: asks team\nasks: {asks}\n{rule}\nteam: {source}\n{rule}\n\
         told:\n\t@echo $(GASNET_LIBS) $(GASNET_DEFINES) $(GASNET_CFLAGS)\n",
        fragment.display()
    );
    std::fs::write(prefix.join("Makefile"), makefile)?;
    good(&Job::new("make").arg("all").directory(&prefix).run())?;
    let told = Job::new("make").args(["-s", "told"]).directory(&prefix).run();
    let words = ["-lgasnet-smp-par ", "-DGASNET_PAR ", "-DGASNET_CONDUIT_SMP=1", "-fPIC"];
    if !words.iter().all(|word| told.stdout.contains(word)) || told.stdout.contains("-lgasnet-pellucid") {
        return Err(told.describe().into());
    }
    let line = format!("cc -fsyntax-only {asks} $(PKG_CONFIG_PATH=lib/pkgconfig pkg-config --cflags gasnet-smp-seq)");
    good(&Job::new("sh").arg("-c").arg(line).directory(&prefix).run())?;
    all_is_well(&Job::oshrun(2).arg(prefix.join("team")).run(), 2)?;
    files_of_a_conduit(&prefix)?;
    by_cmake(&prefix)?;
    // Another GASNet in the same place stays.
    std::fs::remove_file(prefix.join("include/gasnet.h"))?;
    std::fs::write(prefix.join("include/gasnet.h"), "another")?;
    let refused = install_as_smp(&prefix);
    let told = refused.stderr.contains("include/gasnet.h is of another GASNet");
    if refused.code() != 0 && told { without_the_name(&prefix) } else { Err(refused.describe().into()) }
}

/// An installation without the name has nothing of it, but for the other GASNet's file. `DESTDIR` is relative to where
/// the user is, as the prefix is.
fn without_the_name(prefix: &Path) -> Result<(), Failed> {
    // The one that was refused had removed the names.
    std::fs::remove_file(prefix.join("include/gasnet.h"))?;
    good(&install_as_smp(prefix))?;
    let (stage, path) = (prefix.parent().and_then(Path::file_name).ok_or("no folder")?, prefix.file_name().ok_or("")?);
    let install = Job::new(tree::workspace().join("x")).args(["install", "--prefix"]).arg(Path::new("/").join(path));
    let folder = prefix.parent().and_then(Path::parent).ok_or("no folder")?;
    good(&install.env("DESTDIR", &stage.to_string_lossy()).directory(folder).limit(600).run())?;
    let is_there = |file: &str| std::fs::symlink_metadata(prefix.join(file)).is_ok();
    let names = ["lib/libgasnet-smp-par.so", "lib/libgasnet-smp-par.a", "lib/pkgconfig/gasnet-smp-par.pc"];
    let others = ["include/gasnet.h", "include/pellucid_gex_am.h", "include/smp-conduit"];
    let left: Vec<_> = names.iter().chain(&others).filter(|file| is_there(file)).collect();
    if left.is_empty() && is_there("lib/libgasnet-pellucid-par.so") {
        return Ok(());
    }
    Err(format!("left of the name: {left:?}").into())
}

/// What clients read without asking a tool: headers in `include`, libraries by name, a folder and compilers by paths.
fn files_of_a_conduit(prefix: &Path) -> Result<(), Failed> {
    let text = HEADERS.iter().fold(String::new(), |text, header| text + &format!("#include <{header}>\n"));
    let source = prefix.join("headers.c");
    std::fs::write(&source, text + "int main(void) { return 0; }\n")?;
    let library = prefix.join("lib/libgasnet-smp-seq.a");
    let built = Job::new("cc").args(["-DGASNET_SEQ", "-I"]).arg(prefix.join("include")).arg(source).arg("-o");
    good(&built.arg(prefix.join("headers")).arg(library).args(["-lpthread", "-lm"]).run())?;
    let file = std::fs::read_to_string(prefix.join("lib/pkgconfig/gasnet-smp-par.pc"))?;
    let value =
        |name: &str| file.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default();
    let right = Path::new(value("prefix")) == prefix
        && !file.contains("pcfiledir")
        && value("GASNET_LIBS").contains("-lgasnet-smp-par ")
        && value("GASNET_DEFINES") == "-DGASNET_PAR -DGASNET_CONDUIT_SMP=1"
        && value("GASNET_CFLAGS").contains("-fPIC")
        && Path::new(value("GASNET_CC")).is_absolute()
        && Path::new(value("GASNET_CXX")).is_absolute();
    if right { Ok(()) } else { Err(file.into()) }
}

/// CMake finds what it looks for where Legion has it look: beside a `gasnet.h`.
fn by_cmake(prefix: &Path) -> Result<(), Failed> {
    if Command::new("cmake").arg("--version").output().is_err() {
        println!("not tested: CMake is not here");
        return Ok(());
    }
    let folder = prefix.join("cmake");
    std::fs::create_dir_all(&folder)?;
    let text = format!(
        "cmake_minimum_required(VERSION 3.13)\nproject(client C)\n\
         find_path(HERE gasnet.h PATHS {0}/include NO_DEFAULT_PATH)\n\
         file(GLOB FRAGMENT ${{HERE}}/smp-conduit/smp-par.mak)\n\
         file(STRINGS ${{FRAGMENT}} LIBS REGEX -lgasnet)\n\
         string(REGEX MATCH \"-l(gasnet-smp-par)\" NAME \"${{LIBS}}\")\n\
         find_library(PLACE ${{CMAKE_MATCH_1}} PATHS {0}/lib NO_DEFAULT_PATH)\n\
         add_library(GASNet UNKNOWN IMPORTED)\n\
         set_target_properties(GASNet PROPERTIES IMPORTED_LOCATION ${{PLACE}} \
         INTERFACE_COMPILE_DEFINITIONS GASNET_PAR INTERFACE_INCLUDE_DIRECTORIES ${{HERE}})\n\
         add_executable(client {1})\ntarget_link_libraries(client GASNet)\n",
        prefix.display(),
        tree::package().join("programs/gasnet/team.c").display()
    );
    std::fs::write(folder.join("CMakeLists.txt"), text)?;
    good(&Job::new("cmake").args(["-S", ".", "-B", "made"]).directory(&folder).limit(120).run())?;
    good(&Job::new("cmake").args(["--build", "made"]).directory(&folder).limit(120).run())?;
    all_is_well(&Job::oshrun(2).arg(folder.join("made/client")).run(), 2)
}

fn static_library() -> Result<(), Failed> {
    let to = tree::scratch("gasnet-installed").join("static");
    let source = tree::package().join("programs/gasnet/rma.c");
    let outcome =
        Job::new("cc").args(["-DGASNET_PAR", "-I"]).arg(tree::header("gasnet")).arg(source).arg("-o").arg(&to);
    good(&outcome.arg(tree::library("libgasnet-pellucid-par.a")).args(["-lpthread", "-lm"]).run())?;
    let outcome = Job::oshrun(3).arg(to).run();
    all_is_well(&outcome, 3)
}

/// The example that calls both, however the libraries are ordered; with that of OpenSHMEM first it says so.
fn with_openshmem() -> Result<(), Failed> {
    let to = tree::scratch("gasnet-installed").join("both");
    let source = tree::workspace().join("examples/gasnet/both.c");
    for (packages, works) in
        [("gasnet-pellucid-seq pellucid", true), ("gasnet-pellucid-seq", true), ("pellucid gasnet-pellucid-seq", false)]
    {
        let line = format!("cc -o \"$1\" \"$2\" $(PKG_CONFIG_PATH=\"$3\" pkg-config --cflags --libs {packages})");
        let built =
            Job::new("sh").arg("-c").arg(line).arg("sh").arg(&to).arg(&source).arg(tree::library("pkgconfig")).run();
        good(&built)?;
        let outcome = Job::oshrun(3).arg(&to).run();
        let told = outcome.stdout.matches("has put").count() == 3;
        let refused = outcome.stderr.contains("is to be linked before it");
        if (works && (outcome.code() != 0 || !told)) || (!works && !refused) {
            return Err(outcome.describe().into());
        }
    }
    Ok(())
}

/// A tool that was linked to `libsma` brings that along: it is of no use there, and keeps out of the program's calls.
fn with_tools() -> Result<(), Failed> {
    let folder = tree::scratch("gasnet-installed").join("tools");
    std::fs::create_dir_all(&folder)?;
    let line = "flags=$(PKG_CONFIG_PATH=\"$3\" pkg-config --cflags --libs gasnet-pellucid-seq) &&
        \"$4\" -shared -fPIC -DNAME='\"few\"' -o few.so \"$2\" &&
        cc -o plain \"$1\" $flags && cc -o linked \"$1\" \"$PWD/few.so\" $flags";
    let (source, tool) =
        (tree::workspace().join("examples/gasnet/both.c"), tree::package().join("programs/tools/few.c"));
    let built = Job::new("sh").arg("-c").arg(line).arg("sh").arg(source).arg(tool).arg(tree::library("pkgconfig"));
    good(&built.arg(tree::tool("oshcc")).directory(&folder).run())?;
    let few = folder.join("few.so");
    let preloaded = format!("LD_PRELOAD={}", few.display());
    for (options, program) in [
        (vec!["--tool".to_owned(), few.display().to_string()], "plain"),
        (vec!["-x".to_owned(), preloaded], "plain"),
        (Vec::new(), "linked"),
    ] {
        let outcome = Job::oshrun(3).args(options).arg(folder.join(program)).limit(30).run();
        good(&outcome)?;
        let told =
            [outcome.stdout.matches("has put"), outcome.stdout.matches(": put 0 p 1 mem 0 ")].map(Iterator::count);
        if told != [3, 3] {
            return Err(outcome.describe().into());
        }
    }
    Ok(())
}

/// A library of `shmem_` routines over GASNet-1 is called as any such library may be: it is no other job.
fn own_openshmem() -> Result<(), Failed> {
    let folder = tree::scratch("gasnet-installed").join("own");
    std::fs::create_dir_all(&folder)?;
    let line = "flags=$(PKG_CONFIG_PATH=\"$2\" pkg-config --cflags gasnet-pellucid-par) &&
        libs=$(PKG_CONFIG_PATH=\"$2\" pkg-config --libs gasnet-pellucid-par) &&
        cc -shared -fPIC -DPROFILED $flags -o libsma.so \"$1\" $libs &&
        cc -DPROGRAM -o program \"$1\" -L. -lsma -Wl,-rpath,\"$PWD\" $libs &&
        cc -DPROGRAM -c -o main.o \"$1\" &&
        cc $flags -o static main.o \"$1\" \"$2/../libgasnet-pellucid-par.a\" -lpthread -lm";
    let source = tree::package().join("programs/gasnet/own_shmem.c");
    let built = Job::new("sh").arg("-c").arg(line).arg("sh").arg(source).arg(tree::library("pkgconfig"));
    good(&built.directory(&folder).run())?;
    for program in ["program", "static"] {
        all_is_well(&Job::oshrun(3).arg(folder.join(program)).run(), 3)?;
    }
    Ok(())
}
