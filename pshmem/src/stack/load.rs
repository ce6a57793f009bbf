//! Loading the tools that `SHMEM_TOOLS` names.
#![allow(unsafe_code)]

use pellucid_core::base::text::visible_lines;
use std::ffi::{CStr, CString, OsStr, c_char, c_int};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use pellucid_core::base::env;
use pellucid_core::os::library;

use super::guard::{self, Loading};
use super::objects::{self, Object};
use super::{Tool, copies, functions, lookup};

const TOOLS: &str = "SHMEM_TOOLS";
/// Says that a copy of this library has loaded the tools of this process: a tool may bring another one.
const DONE: &str = "PELLUCID_TOOLS_LOADED";

/// The C library's `dlsym`, for those who have to jump to it.
pub static DLSYM: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// The C library's `dlopen`, alike.
pub static DLOPEN: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Whether the process can load anything: a static executable cannot.
pub fn has_loader() -> bool {
    // A static executable has its own dynamic section, or none, and the kernel's page.
    library::is_linked() && objects::all().iter().filter(|object| object.dynamic().is_some()).count() >= 3
}

/// The handle of an object that is loaded.
pub fn opened(name: &CStr) -> Option<usize> {
    // SAFETY: loads nothing.
    let handle = unsafe { library::open(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    (handle != 0).then_some(handle)
}

/// Makes `dlsym` and `dlopen` known to those who jump to them.
pub fn prepare() {
    for (function, name) in [(&DLSYM, "dlsym"), (&DLOPEN, "dlopen")] {
        function.store(symbol(libc::RTLD_DEFAULT as usize, name) as *mut (), Relaxed);
    }
}

/// Address of a symbol as `dlsym` finds it in a loaded object and its dependencies; 0 where there is none.
pub fn symbol(handle: usize, name: &str) -> usize {
    let Ok(name) = CString::new(name) else { return 0 };
    // SAFETY: a handle that dlopen gave or that dlsym knows.
    unsafe { library::symbol(handle, &name) }
}

fn who() -> String {
    std::env::var("PELLUCID_PE").map_or_else(|_| format!("process {}", std::process::id()), |pe| format!("PE {pe}"))
}

/// Says something of a tool.
pub fn tell(text: &str) {
    let line = visible_lines(&format!("pellucid: {}: {text}\n", who()));
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
}

/// Something is wrong with the tools: says so, and ends the process unless tools are optional.
fn wrong(optional: bool, text: &str) {
    tell(&format!("{text}{}", if optional { " (going on without it)" } else { "" }));
    if !optional {
        // SAFETY: does not return. Nothing of the program has run.
        unsafe { libc::_exit(1) }
    }
}

/// What tells this execution of a program from any other: 16 random bytes from the kernel.
fn this_execution() -> String {
    // SAFETY: asks for a value.
    let random = unsafe { libc::getauxval(libc::AT_RANDOM) } as *const [u8; 16];
    if random.is_null() {
        return std::process::id().to_string();
    }
    // SAFETY: the kernel put 16 bytes there.
    unsafe { random.read() }.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Loads every tool, or ends the process with a message.
pub fn all(argv: *const *const c_char, envp: *const *const c_char) -> Vec<Tool> {
    let Some(list) = std::env::var_os(TOOLS).filter(|list| !list.is_empty()) else { return Vec::new() };
    // A value that is neither is refused at the initialization.
    let optional = env::tools_optional().unwrap_or(false);
    let execution = this_execution();
    if std::env::var_os(DONE).is_some_and(|done| done == *execution) || copies::in_front().is_some() {
        return Vec::new();
    }
    if !has_loader() {
        wrong(
            optional,
            &format!(
                "{TOOLS}: this program is linked statically, so that no tool can be loaded into it: link the tool in \
                 (cc app.o -lmytool -lsma), or link the program to libsma.so"
            ),
        );
        return Vec::new();
    }
    // SAFETY: before main; a thread that an earlier library's constructor started would race with any setenv.
    unsafe { std::env::set_var(DONE, &execution) };
    guard::observe_exit();
    let names: Vec<&OsStr> =
        list.as_bytes().split(|byte| *byte == b':').filter(|name| !name.is_empty()).map(OsStr::from_bytes).collect();
    prepare();
    // The last first: each finds those behind it.
    let mut tools: Vec<Tool> = Vec::new();
    for (index, name) in names.iter().enumerate().rev() {
        let again = optional.then(|| (argv, without(&names, index, envp)));
        match load(name, again, &tools) {
            Ok(tool) => {
                tools.insert(0, tool);
                // Those before it may call it while they are loaded: what is not bound yet would be bound to itself.
                lookup::bind(&tools, 0);
            }
            Err(text) => wrong(optional, &text),
        }
    }
    tools
}

/// The environment without one of the tools. It is never freed: a process begins anew with it.
fn without(names: &[&OsStr], index: usize, envp: *const *const c_char) -> Vec<*const c_char> {
    let rest = names.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, name)| *name);
    let mut text = std::ffi::OsString::from(format!("{TOOLS}="));
    for (at, name) in rest.enumerate() {
        if at > 0 {
            text.push(":");
        }
        text.push(name);
    }
    let text = CString::new(text.into_vec()).unwrap_or_default().into_raw().cast_const();
    let mut environment = Vec::new();
    // SAFETY: the environment as the process was started with: an array of C strings that ends with null.
    unsafe {
        let mut at = envp;
        while !(*at).is_null() {
            let is_list = CStr::from_ptr(*at).to_bytes().starts_with(format!("{TOOLS}=").as_bytes());
            environment.push(if is_list { text } else { *at });
            at = at.add(1);
        }
    }
    environment.push(std::ptr::null());
    environment
}

/// A name without a slash is a file of the current directory, or else one of the loader's search path.
fn path(name: &OsStr) -> std::ffi::OsString {
    let here = std::path::Path::new(".").join(name);
    if !name.as_bytes().contains(&b'/') && here.is_file() { here.into_os_string() } else { name.to_owned() }
}

type Again = Option<(*const *const c_char, Vec<*const c_char>)>;

/// Loads a tool that comes before these.
fn load(name: &OsStr, again: Again, tools: &[Tool]) -> Result<Tool, String> {
    let shown = name.to_string_lossy().into_owned();
    let path = CString::new(path(name).into_vec()).map_err(|_| format!("{TOOLS}: {shown}: not a file name"))?;
    let open = |flags: c_int| {
        // SAFETY: runs the constructors of a tool that the user asked for.
        unsafe { library::open(&path, flags) }
    };
    // A constructor is not run twice, and references that the program has to its functions are not ours to change.
    if let Some(there) = opened(&path) {
        return Err(match tools.iter().any(|tool| tool.handle == there) {
            true => format!("tool {shown}: named twice in {TOOLS}"),
            false => format!(
                "tool {shown}: is in this program already, linked, preloaded or brought by another tool: \
                 leave it out of one of them"
            ),
        });
    }
    let before = objects::all();
    let loading = Loading::new(&who(), &shown, again);
    // As the loader does with preloaded ones: functions that nobody has, and nobody calls, do no harm.
    let open = || guard::while_loading(&loading, || open(libc::RTLD_LAZY | libc::RTLD_LOCAL));
    let handle = lookup::arrive(&before, tools, open);
    if handle == 0 {
        return Err(format!("tool {shown} ({TOOLS}): cannot be loaded: {}", library::error()));
    }
    let is_new = |object: &Object| !before.iter().any(|old| old.is(object));
    let mut objects = objects::all();
    objects.retain(is_new);
    // A program with the archive in it has its own copy of this library; one that the tool brings is no part of the
    // tool.
    let other = symbol(handle, "pshmem_init");
    objects.retain(|object| !object.contains(other));
    let functions = functions(handle, &objects);
    Ok(Tool { handle, objects, functions, needs: Vec::new(), adopted: false })
}
