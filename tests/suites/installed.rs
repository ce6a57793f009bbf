//! What is installed beside programs and headers: man pages, completion, licences, a module file, debug information
//! apart; and libraries of several versions beside each other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use harness::compile::Build;
use harness::run::Job;
use harness::{system, tree};

fn share(path: &str) -> PathBuf {
    tree::prefix().join("share").join(path)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What is installed as code: programs, libraries, and their debug information.
fn binaries() -> Vec<PathBuf> {
    let list = |folder: &str, name: &dyn Fn(&str) -> bool| -> Vec<PathBuf> {
        let folder = tree::prefix().join(folder);
        let files = system::entries(&folder).into_iter().filter(|file| name(file)).map(|file| folder.join(file));
        files.filter(|file| file.is_file() && !file.is_symlink()).collect()
    };
    let any = |_: &str| true;
    let mut all = list("bin", &any);
    all.extend(list("bin/.debug", &any));
    all.extend(list("lib", &|name| name.starts_with("libsma")));
    all.extend(list("lib/.debug", &any));
    assert!(all.len() >= 9, "{all:?}");
    all
}

#[test]
fn no_file_tells_where_it_was_built() {
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| home + "/.cargo"));
    let mut paths = vec![tree::workspace().to_string_lossy().into_owned()];
    paths.extend(home.ok().map(|home| home + "/registry"));
    for file in binaries() {
        let bytes = std::fs::read(&file).expect("an installed file can be read");
        for path in &paths {
            let at = bytes.windows(path.len()).position(|window| window == path.as_bytes());
            let shown = at.map(|at| String::from_utf8_lossy(&bytes[at..bytes.len().min(at + 120)]).into_owned());
            assert_eq!(shown, None, "{} names {path}", file.display());
        }
    }
}

#[test]
fn debug_information_is_apart() {
    let sections =
        |file: &Path| Job::new(PathBuf::from("readelf")).args(["-S", "-W"]).arg(file).run().expect_code(0).stdout;
    for (folder, name) in [("bin", "oshrun"), ("bin", "oshcc"), ("bin", "oshprof"), ("lib", "libsma.so.1")] {
        let folder = tree::prefix().join(folder);
        let (file, apart) = (sections(&folder.join(name)), sections(&folder.join(format!(".debug/{name}.debug"))));
        assert!(!file.contains(".debug_line") && file.contains(".gnu_debuglink"), "{name}: {file}");
        assert!(apart.contains(".debug_line") && apart.contains(".symtab"), "{name}: {apart}");
    }
}

/// The lines of a help text that begin with an option. Those of its text stand further to the right.
fn option_lines(help: &str) -> impl Iterator<Item = &str> {
    let lines = help.lines().map(|line| (line.len() - line.trim_start().len(), line.trim_start()));
    lines.filter(|(indent, line)| *indent <= 6 && line.starts_with('-')).map(|(_, line)| line)
}

/// Every page is well-formed, and has every option that the help has.
#[test]
fn man_pages_have_what_the_tools_say() {
    if system::find(&["groff"]).is_none() {
        return println!("no groff here: man pages are not tested");
    }
    let render = |page: &Path| {
        let groff = Job::new(PathBuf::from("groff")).args(["-man", "-t", "-ww", "-Tascii", "-P-cbou", "-rLL=200n"]);
        let outcome = groff.arg(page).run().expect_code(0);
        assert_eq!(outcome.stderr, "", "{}", page.display());
        outcome.stdout
    };
    let trace = ["trace"];
    for (page, words) in [("oshrun", &[][..]), ("oshprof", &[]), ("oshprof-trace", &trace), ("oshcc", &[])] {
        let tool = page.split('-').next().unwrap_or(page);
        let help = Job::new(tree::tool(tool)).args(words).arg("--help").run().expect_code(0).stdout;
        let help = help.split("The compiler's own help:").next().unwrap_or_default().to_owned();
        let text = render(&share(&format!("man/man1/{page}.1")));
        let mut count = 0;
        for option in option_lines(&help).filter_map(|line| line.split("  ").next()).flat_map(|line| line.split(", ")) {
            assert!(text.contains(option), "{page}.1 lacks {option}\n{text}");
            count += 1;
        }
        if page == "oshcc" {
            let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && !"-:".contains(letter));
            let own = words.filter(|word| word.starts_with("-showme"));
            own.for_each(|option| assert!(help.contains(option), "{option} of the page is unknown to oshcc"));
        }
        assert!(count > 0 || page == "oshprof", "{page}: no options in\n{help}");
        assert!(text.contains("NAME") && text.contains("SEE ALSO"), "{text}");
    }
    let library = render(&share("man/man7/libsma.7"));
    for name in ["SHMEM_SYMMETRIC_SIZE, SMA_SYMMETRIC_SIZE", "SHMEM_PROFILE", "SHMEM_TRANSPORT", "libsma.so.1"] {
        assert!(library.contains(name), "libsma.7 lacks {name}");
    }
    for alias in ["man1/oshc++.1", "man1/oshfort.1", "man7/shmem.7"] {
        assert!(read(&share("man").join(alias)).starts_with(".so man"), "{alias}");
    }
}

/// docs/oshprof.md is the one page with all options: every one of a command's help.
#[test]
fn a_page_has_the_options_of_oshprof() {
    let page = read(&tree::workspace().join("docs/oshprof.md"));
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || "-.".contains(letter);
    let options = |text: &str| -> BTreeSet<String> {
        let words = text.split(|letter| !is_of_name(letter)).map(|word| word.trim_end_matches('.'));
        words.filter(|word| word.starts_with("--") && word.len() > 2).map(str::to_owned).collect()
    };
    let usage = Job::new(tree::tool("oshprof")).arg("--help").run().expect_code(0).stdout;
    let (_, list) = usage.split_once("\nCommands:\n").expect("a list of commands");
    let commands = list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    let (mut count, mut known) = (0, BTreeSet::new());
    for command in commands.filter(|command| *command != "help") {
        assert!(page.contains(&format!("| `{command}")), "no {command} in docs/oshprof.md");
        let help = Job::new(tree::tool("oshprof")).args([command, "--help"]).run().expect_code(0).stdout;
        for option in option_lines(&help).filter_map(|line| line.split("  ").next()).flat_map(options) {
            assert!(page.contains(&option), "{command}: no {option} in docs/oshprof.md");
            count += 1;
        }
        known.extend(options(&help));
    }
    // Nor does it name what is not there. The older name of an option is no part of help.
    let table = page.lines().filter(|line| line.starts_with("| "));
    for option in table.filter_map(|line| line.split(" | ").nth(1)).flat_map(options) {
        assert!(known.contains(&option), "{option} of docs/oshprof.md is unknown to oshprof");
    }
    assert!(count > 50, "{count} options");
}

#[test]
fn bash_completes_options_values_and_commands() {
    let complete = |tool: &str, words: &[&str]| {
        // As bash calls it: with the command, the word, and the one before. There is no completion to set options of.
        let (last, before) = (words[words.len() - 1], words.iter().rev().nth(1).unwrap_or(&tool));
        let line = format!(
            "compopt() {{ :; }}; source {}/{tool}; COMP_WORDS=({tool} {}); COMP_CWORD={}; \
             _{tool} {tool} '{last}' '{before}'; \
             echo ${{COMPREPLY[@]}}",
            share("bash-completion/completions").display(),
            words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
            words.len()
        );
        let outcome = Job::new(PathBuf::from("bash")).args(["--norc", "-uc", &line]).run().expect_code(0);
        assert_eq!(outcome.stderr, "", "{line}");
        outcome.stdout.trim().to_owned()
    };
    assert_eq!(complete("oshrun", &["--ho"]), "--hosts --hostfile");
    assert_eq!(complete("oshrun", &["-n", "4", "--bind", "n"]), "numa none");
    assert_eq!(complete("oshprof", &["tr"]), "trace");
    assert_eq!(complete("oshprof", &["trace", "--to", "ot"]), "otlp otf2");
    assert_eq!(complete("oshprof", &["report", "dir", "--js"]), "--json");
    let actions = complete("oshprof", &["history", ""]);
    assert!(
        ["add", "list", "check", "plot"].iter().all(|word| actions.split(' ').any(|one| one == *word)),
        "{actions}"
    );
    assert_eq!(complete("oshprof", &["history", "--st"]), "--store");
    assert_eq!(complete("oshprof", &["gate", "--counts", ""]), "fail warn off");
    assert_eq!(complete("oshcc", &["-showme:c"]), "-showme:compile -showme:command");
    assert_eq!(complete("oshprof", &["help", "li"]), "line");
    assert_eq!(complete("oshrun", &["-x", "NAME", "--bi"]), "--bind");
    assert_eq!(complete("oshrun", &["-np", "4", "--bi"]), "--bind");
    assert!(complete("oshrun", &["-n", "4", "read"]).split(' ').any(|word| word == "readelf"), "no programs");
    assert_eq!(complete("oshprof", &["report", "--sort", "by"]), "bytes");
    assert_eq!(complete("oshprof", &["report", "--view", "callsit"]), "callsites");
    // Files, where no option is begun: bash completes them, where there is nothing else.
    assert_eq!(complete("oshprof", &["report", ""]), "");
    // Of a program that runs, its files are completed, not options of oshrun.
    assert_eq!(complete("oshrun", &["-n", "4", "./prog", "--ho"]), "");
}

/// Where these shells are installed; what the files contain is tested beside what writes them.
#[test]
fn zsh_and_fish_read_their_completion() {
    for tool in ["oshrun", "oshprof", "oshcc"] {
        let zsh = share(&format!("zsh/site-functions/_{tool}"));
        assert!(read(&zsh).starts_with(&format!("#compdef {tool}")), "{tool}");
        if let Some(shell) = system::find(&["zsh"]) {
            Job::new(shell).arg("-fn").arg(&zsh).run().expect_code(0);
        }
        let fish = share(&format!("fish/vendor_completions.d/{tool}.fish"));
        assert!(read(&fish).contains(&format!("complete -c {tool} ")), "{tool}");
        if let Some(shell) = system::find(&["fish"]) {
            let begin = if tool == "oshcc" { "-sh" } else { "--he" };
            let line = format!("source {}; complete -C '{tool} {begin}'", fish.display());
            Job::new(shell).args(["--no-config", "-c", &line]).run().expect_code(0).expect_text(&[begin]);
        }
    }
}

/// Pages are installed with what they lead to.
#[test]
fn links_of_installed_pages_lead_somewhere() {
    let (mut links, mut dead) = (0, Vec::new());
    for page in tree::files(&share("doc/pellucid"), &["third-party"], &[".md"]) {
        for rest in read(&page).split("](").skip(1) {
            let link = rest.split([')', '#']).next().unwrap_or_default();
            if link.is_empty() || link.contains("://") || link.contains(' ') {
                continue;
            }
            links += 1;
            if !page.with_file_name(link).exists() {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(links > 100, "{links} links");
    assert!(dead.is_empty(), "{dead:#?}");
    for file in
        ["dashboards/prometheus/alerts.yml", "dashboards/systemd/pellucid-exporter.service", "examples/gups/gups.c"]
    {
        assert!(share("doc/pellucid").join(file).exists(), "{file}");
    }
}

#[test]
fn licences_are_there() {
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        assert!(read(&share("doc/pellucid").join(name)).len() > 500, "{name}");
    }
    let list = read(&share("doc/pellucid/third-party/LIST"));
    assert!(list.lines().count() > 10 && list.lines().any(|line| line.starts_with("gimli ")), "{list}");
    for line in list.lines() {
        let (package, rest) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
        assert!(!rest.trim().is_empty(), "no licence: {line}");
        assert!(!package.starts_with("pellucid"), "{line}");
    }
    let folders = system::entries(&share("doc/pellucid/third-party")).len();
    assert!(folders * 10 > list.lines().count() * 9, "{folders} folders for {} packages", list.lines().count());
}

#[test]
fn the_module_file_can_be_loaded() {
    let Some(command) = [
        "/usr/lib/x86_64-linux-gnu/modulecmd.tcl",
        "/usr/lib/aarch64-linux-gnu/modulecmd.tcl",
        "/usr/share/modules/libexec/modulecmd.tcl",
    ]
    .into_iter()
    .find(|path| Path::new(path).exists()) else {
        return println!("no environment modules here: the module file is not tested");
    };
    let folder = share("modulefiles");
    let outcome = Job::new(PathBuf::from(command))
        .args(["bash", "load", "pellucid"])
        .env("MODULEPATH", &folder.to_string_lossy())
        .env("LOADEDMODULES", "")
        .run()
        .expect_code(0);
    let prefix = tree::prefix().to_string_lossy().into_owned();
    for part in [format!("PATH={prefix}/bin:"), format!("{prefix}/share/man"), format!("{prefix}/lib/pkgconfig")] {
        assert!(outcome.stdout.contains(&part), "no {part}: {}", outcome.describe());
    }
    // Programs have their library's directory in them: docs/install.md.
    assert!(!outcome.stdout.contains("LD_LIBRARY_PATH="), "{}", outcome.describe());
}

/// Programs that were linked before the library's name had a number.
#[test]
fn programs_that_ask_for_the_name_without_a_number_run() {
    let folder = tree::fresh("installed-old-name");
    let stub = "void shmem_init(void) {} void shmem_finalize(void) {} int shmem_my_pe(void) { return 0; }\n\
                int shmem_n_pes(void) { return 0; } void shmem_barrier_all(void) {}\n";
    let program = "#include <shmem.h>\n#include <stdio.h>\nint main(void) { shmem_init(); shmem_barrier_all();\n\
                   printf(\"PE %d of %d\\n\", shmem_my_pe(), shmem_n_pes()); shmem_finalize(); return 0; }\n";
    std::fs::write(folder.join("stub.c"), stub).expect("target/tests can be written");
    std::fs::write(folder.join("program.c"), program).expect("target/tests can be written");
    let cc = || Job::new(PathBuf::from("cc")).directory(&folder);
    cc().args(["-shared", "-fPIC", "-Wl,-soname,libsma.so", "stub.c", "-o", "libsma.so"]).run().expect_code(0);
    let include = tree::prefix().join("include");
    let rpath = format!("-Wl,-rpath,{}", tree::prefix().join("lib").display());
    cc().arg("-I").arg(&include).args(["program.c", "-L.", "-lsma", &rpath, "-o", "old"]).run().expect_code(0);
    let needed = Job::new(PathBuf::from("readelf")).args(["-d", "old"]).directory(&folder).run().expect_code(0);
    assert!(needed.stdout.contains("[libsma.so]"), "{}", needed.stdout);
    Job::oshrun(2).arg(folder.join("old")).run().expect_code(0).expect_text(&["PE 0 of 2", "PE 1 of 2"]);
    // A tool that was linked anew beside it brings no second library.
    let tool = tree::package().join("programs/interpose/tool.c");
    let build = Job::new(tree::tool("oshcc")).args(["-shared", "-fPIC"]).arg(tool).args(["-o", "tool.so"]);
    build.directory(&folder).run().expect_code(0);
    let preload = format!("LD_PRELOAD={}", folder.join("tool.so").display());
    let outcome = Job::oshrun(2).args(["-x", &preload]).arg(folder.join("old")).run().expect_code(0);
    outcome.expect_text(&["tool on PE 1: put 0, p 0, add 0, barrier 1"]);
}

/// Built by somebody with a umask of 077, the installation is everybody's to read and its installer's to write. What an
/// older one had and this one has not is gone, but for libraries that programs may run with, and what is of others.
#[test]
fn an_installation_has_modes_and_files_of_its_own() {
    let folder = tree::fresh("installed-modes");
    let script = tree::workspace().join("tools/packages/install.sh");
    let begin = "umask 077; mkdir -p tree/bin tree/include tree/lib/pellucid tree/share/pellucid; \
                 echo tool >tree/bin/tool; chmod +x tree/bin/tool; \
                 for file in include/old.h lib/libsma.so.1 share/pellucid/text; do \
                 echo one >tree/$file; done; ln -s libsma.so.1 tree/lib/libsma.so; chmod g+w tree/share/pellucid/text";
    let shell = |text: &str| {
        let job = Job::new(PathBuf::from("bash")).args(["-euc", text]).arg(&script).directory(&folder).run();
        job.expect_code(0).stdout
    };
    shell(&format!("{begin}; \"$0\" tree to/p; mkdir -m 2770 to/p/lib/pellucid/own; echo own >to/p/include/own.h"));
    let modes = shell("find to/p \\( -type f -o -type d \\) ! -name 'own*' -printf '%m %P\\n'");
    let kinds: BTreeSet<&str> = modes.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(kinds, BTreeSet::from(["644", "755"]), "{modes}");
    assert!(modes.contains("755 bin/tool\n") && modes.contains("644 share/pellucid/text\n"), "{modes}");
    // A file that a program runs with is replaced, not written to.
    shell(
        "exec 3<to/p/share/pellucid/text; rm tree/include/old.h tree/lib/libsma.so.1; echo two >tree/lib/libsma.so.2; \
         ln -sfn libsma.so.2 tree/lib/libsma.so; echo two >tree/share/pellucid/text; \"$0\" tree to/p; \
         [[ $(cat <&3) == one && $(cat to/p/share/pellucid/text) == two ]]; [[ ! -e to/p/include/old.h ]]; \
         [[ $(cat to/p/include/own.h to/p/lib/libsma.so.1 to/p/lib/libsma.so) == $'own\\none\\ntwo' ]]; \
         [[ $(stat -c %a to/p/lib/pellucid/own) == 2770 ]]",
    );
    // By the list, all of it can be removed: itself, and what is kept for older programs. Another GASNet's files stay.
    shell(
        "mkdir to/p/include/smp-conduit; echo pellucid >to/p/include/smp-conduit/smp-seq.mak; \
         echo own >to/p/include/gasnet.h; ln -s libgasnet-pellucid-seq.so to/p/lib/libgasnet-smp-seq.so; \
         printf '%s\\n' include/smp-conduit/smp-seq.mak include/gasnet.h lib/libgasnet-smp-seq.so \
         >>to/p/share/pellucid/installed-files; \"$0\" tree to/p; [[ ! -e to/p/include/smp-conduit ]]; \
         [[ ! -L to/p/lib/libgasnet-smp-seq.so && $(cat to/p/include/gasnet.h) == own ]]; \
         cd to/p; xargs rm <share/pellucid/installed-files",
    );
    assert_eq!(shell("cd to/p; find . ! -type d | sort"), "./include/gasnet.h\n./include/own.h\n");
}

#[test]
fn a_library_and_an_oshrun_of_different_versions_find_out() {
    let other = Build::program("launcher/other_release.c").build();
    let program = Build::program("tools/hello.c").named("installed-hello").build();
    let fixed = Build::program("tools/hello.c").named("installed-static").options(["-static"]).build();
    for (program, path) in [(&program, "libsma.so.1"), (&fixed, "its executable")] {
        let outcome = Job::oshrun(2).arg(&other).arg(program).limit(20).run().expect_code(1);
        let own = concat!("and this program has Pellucid ", env!("CARGO_PKG_VERSION"));
        let outcome = outcome.expect_text(&["this job was begun by Pellucid 9.9.9", own, path, "LD_LIBRARY_PATH"]);
        assert!(!outcome.stdout.contains("hello"), "{}", outcome.describe());
    }
}
