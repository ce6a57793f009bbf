//! C prototypes, made by cbindgen from the generated Rust signatures.

use std::collections::HashMap;

use cbindgen::{Builder, Config, Language, Layout};

use crate::expand::Expanded;

/// Marks a function that does not return; cbindgen writes it behind the declaration, C wants it in front.
const NO_RETURN: &str = "PELLUCID_NORETURN";

/// Prototypes by function name, one line each, for every function that Rust can sign.
pub fn all(groups: &[Expanded], sources: &[String]) -> Result<HashMap<String, String>, String> {
    let folder = std::env::temp_dir().join(format!("pellucid-generate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut found = HashMap::new();
    let mut result = Ok(());
    for (index, source) in sources.iter().enumerate() {
        let path = folder.join(format!("{index}.rs"));
        result = std::fs::write(&path, source)
            .map_err(|e| format!("{}: {e}", path.display()))
            .and_then(|()| declarations(&path))
            .map(|lines| found.extend(lines));
        if result.is_err() {
            break;
        }
    }
    // The folder is ours alone; what cannot be removed stays in the system's temporary folder.
    let _ = std::fs::remove_dir_all(&folder);
    result?;
    for routine in groups.iter().flat_map(|group| &group.routines) {
        for name in [&routine.name, &routine.profiling_name] {
            if routine.variadic {
                found.insert(name.clone(), by_hand(name, &routine.ret, &routine.c_params()));
            } else if !found.contains_key(name) {
                return Err(format!("cbindgen made no prototype of {name}"));
            }
        }
    }
    Ok(found)
}

/// Stable Rust cannot sign a function with a variable argument list, so cbindgen has nothing to read: the prototype of
/// `shmem_pcontrol(int level, ...)` comes straight from the table.
fn by_hand(name: &str, ret: &str, params: &str) -> String {
    format!("{ret} {name}({params});")
}

fn declarations(source: &std::path::Path) -> Result<Vec<(String, String)>, String> {
    let bindings =
        Builder::new().with_config(config()).with_src(source).generate().map_err(|e| format!("cbindgen: {e}"))?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).map_err(|e| format!("cbindgen: {e}"))?;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let name = line
            .split_once('(')
            .and_then(|(head, _)| head.rsplit([' ', '*']).next())
            .filter(|_| line.ends_with(';'))
            .ok_or_else(|| format!("cbindgen: not a prototype: {line}"))?;
        // Rust sees them in an `extern` block.
        let line = line.strip_prefix("extern ").unwrap_or(line).to_owned();
        let marked = line.strip_suffix(';').and_then(|line| line.strip_suffix(NO_RETURN));
        let line = match marked {
            Some(line) => format!("{NO_RETURN} {};", line.trim_end()),
            None => line.clone(),
        };
        found.push((name.to_owned(), line));
    }
    Ok(found)
}

fn config() -> Config {
    let mut config = Config {
        language: Language::C,
        no_includes: true,
        usize_is_size_t: true,
        documentation: false,
        line_length: 1000,
        ..Config::default()
    };
    config.function.args = Layout::Horizontal;
    config.function.no_return = Some(NO_RETURN.to_owned());
    let names = [
        ("Ctx", "shmem_ctx_t"),
        ("Team", "shmem_team_t"),
        ("TeamConfig", "shmem_team_config_t"),
        ("SessionConfig", "shmem_ctx_session_config_t"),
        ("Aset", "shmemx_aset"),
        ("OffsetFunction", "shmemx_offset_fn"),
        ("RequestHandle", "shmemx_request_handle_t"),
        ("ReqHandle", "shmemx_req_h"),
        ("File", "shmemx_file_t"),
        ("Space", "shmemx_space_t"),
        ("SpaceConfig", "shmemx_space_config_t"),
        ("ErrorHandler", "shmemx_errhandler_t"),
        ("ErrorInfo", "shmemx_error_t"),
        ("Offset", "off_t"),
        ("SignedSize", "ssize_t"),
        ("LongDouble", "long double"),
        ("ComplexDouble", "PELLUCID_COMPLEX(double)"),
        ("ComplexFloat", "PELLUCID_COMPLEX(float)"),
    ];
    config.export.rename = names.map(|(rust, c)| (rust.to_owned(), c.to_owned())).into();
    config
}
