//! A profiling tool that defines `shmem_X` has X recorded where it goes on, `pshmem_X` too, however it got into the
//! process.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{SYSTEM, cc, library, scratch, source, succeed};
use pellucid_profile::op;

const TOOL: &str = r#"
#include <pshmem.h>
int tool_calls;
void shmem_long_p(long *dest, long value, int pe)
{
    tool_calls++;
    pshmem_long_p(dest, value, pe);
}
"#;

/// Shows what only the library sees: linked into it.
const WINDOW: &str = r#"
extern unsigned char ARM[] __asm__(ARM_NAME), PARM[] __asm__(PARM_NAME);
#pragma GCC visibility push(default)
int armed(int op);
int parmed(int op);
int armed(int op) { return ARM[op]; }
int parmed(int op) { return PARM[op]; }
"#;

/// Prints where `shmem_long_p` and `shmem_long_g` are armed: at `shmem_X`, at `pshmem_X`.
const PROGRAM: &str = r#"
#include <shmem.h>
#include <stdio.h>
int armed(int op), parmed(int op);
static long x;
int main(void)
{
    shmem_init();
#ifdef TAKES_ADDRESS
    void (*volatile address)(long *, long, int) = shmem_long_p;
    address(&x, 1, 0);
#endif
    shmem_long_p(&x, 2, 0);
    printf("p %d %d g %d %d x %ld\n", armed(P), parmed(P), armed(G), parmed(G), x);
    shmem_finalize();
    return 0;
}
"#;

const AT_SHMEM: &str = "p 1 0 g 1 0 x 2\n";
/// At both: a tool goes on to either. Behind `pshmem_X` the dispatcher tells its own calls from the program's.
const AT_PSHMEM: &str = "p 1 3 g 1 0 x 2\n";
/// A tool in a shared object is taken into the row of tools: through the dispatcher, and what it calls itself is its
/// own.
const AT_THE_GATE: &str = "p 3 0 g 1 0 x 2\n";

/// The symbol of a static of the profile: not exported, but to be found in the archive.
fn symbol(name: &str) -> String {
    let result = succeed(Command::new("nm").args(["--defined-only", "--format=posix"]).arg(library()));
    let text = String::from_utf8_lossy(&result.stdout).into_owned();
    let mangled = format!("pellucid_profile3arm{}{name}", name.len());
    let mut names = text.lines().filter_map(|line| line.split(' ').next()).filter(|symbol| symbol.contains(&mangled));
    names.next().unwrap_or_else(|| panic!("no symbol of {name}")).to_owned()
}

/// The object that goes into the library.
fn window(name: &str) -> PathBuf {
    let object = scratch(name).with_extension("o");
    let mut command = cc();
    for name in ["ARM", "PARM"] {
        command.arg(format!("-D{name}_NAME=\"{}\"", symbol(name)));
    }
    command.args(["-c", "-fPIC", "-fvisibility=hidden"]).arg(source(&format!("{name}.c"), WINDOW));
    succeed(command.arg("-o").arg(&object));
    object
}

/// The compiler, set up for the program.
fn program() -> Command {
    let mut command = cc();
    let id = |name: &str| op::find(name).unwrap();
    command.arg(format!("-DP={}", id("shmem_long_p"))).arg(format!("-DG={}", id("shmem_long_g")));
    command
}

fn output(program: &Path, preload: Option<&Path>) -> String {
    let mut command = Command::new(program);
    command.env("SHMEM_PROFILE", "1");
    if let Some(tool) = preload {
        command.env("LD_PRELOAD", tool);
    }
    String::from_utf8(succeed(&mut command).stdout).unwrap()
}

#[test]
fn static_link() {
    let main = source("tool-static.c", PROGRAM);
    let tool = source("tool-static-tool.c", TOOL);
    let window = window("tool-static-window");
    let (plain, with_tool) = (scratch("tool-static-plain"), scratch("tool-static-tool"));
    succeed(program().arg(&main).arg(&window).arg(library()).args(SYSTEM).arg("-o").arg(&plain));
    assert_eq!(output(&plain, None), AT_SHMEM);
    succeed(program().arg(&main).arg(&tool).arg(&window).arg(library()).args(SYSTEM).arg("-o").arg(&with_tool));
    assert_eq!(output(&with_tool, None), AT_PSHMEM);
}

#[test]
fn dynamic_link() {
    let folder = scratch("tool-dynamic");
    std::fs::create_dir_all(&folder).unwrap();
    let mut shared = cc();
    shared.args(["-shared", "-Wl,--whole-archive"]).arg(library()).arg("-Wl,--no-whole-archive");
    shared.arg(window("tool-dynamic-window"));
    succeed(shared.args(SYSTEM).arg("-o").arg(folder.join("libsma.so")));
    let tool = source("tool-dynamic-tool.c", TOOL);
    let preload = folder.join("tool.so");
    succeed(cc().args(["-shared", "-fPIC"]).arg(&tool).arg("-o").arg(&preload));
    let main = source("tool-dynamic.c", PROGRAM);
    let build = |name: &str, options: &[&str]| {
        let path = folder.join(name);
        let rpath = format!("-Wl,-rpath,{}", folder.display());
        let link = [format!("-L{}", folder.display()), "-lsma".to_owned(), rpath];
        succeed(program().args(options).arg(&main).args(link).arg("-o").arg(&path));
        path
    };
    let plain = build("plain", &[]);
    assert_eq!(output(&plain, None), AT_SHMEM);
    assert_eq!(output(&plain, Some(&preload)), AT_THE_GATE);
    let own = build("own", &[tool.to_str().unwrap()]);
    assert_eq!(output(&own, None), AT_PSHMEM);
    // The address of a function is then a jump in the program, which is no tool.
    let pointer = build("pointer", &["-DTAKES_ADDRESS", "-no-pie", "-fno-pic"]);
    assert_eq!(output(&pointer, None), AT_SHMEM);
}
