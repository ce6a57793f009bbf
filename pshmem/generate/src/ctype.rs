//! C declarations of the table, as text and as Rust types.

use crate::types::Type;

/// One parameter, taken apart: `const long *source`.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Points to `const`.
    pub constant: bool,
    /// The base type in C: `long`, `shmem_ctx_t`.
    pub base: String,
    /// Stars: 0 or 1.
    pub pointer: bool,
    /// Name as in the specification.
    pub name: String,
}

impl Param {
    /// Reads one C parameter; `TYPE` becomes the element type.
    pub fn parse(text: &str, element: Option<&Type>) -> Self {
        let (constant, text) = match text.strip_prefix("const ") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let split = text.rfind([' ', '*']).unwrap_or_else(|| panic!("parameter without a name: {text}"));
        let (base, name) = text.split_at(split + 1);
        let pointer = base.ends_with('*');
        let base = base.trim_end_matches('*').trim();
        let base = match (base, element) {
            ("TYPE", Some(element)) => element.c,
            ("TYPE", None) => panic!("TYPE in a routine without types: {text}"),
            _ => base,
        };
        Self { constant, base: base.to_owned(), pointer, name: name.to_owned() }
    }

    /// The declaration in C, spaced as the specification's tables do.
    pub fn c(&self) -> String {
        let constant = if self.constant { "const " } else { "" };
        let star = if self.pointer { "*" } else { "" };
        format!("{constant}{} {star}{}", self.base, self.name)
    }

    /// The type in C, without the name.
    pub fn c_type(&self) -> String {
        let constant = if self.constant { "const " } else { "" };
        let star = if self.pointer { " *" } else { "" };
        format!("{constant}{}{star}", self.base)
    }

    /// The type in Rust.
    pub fn rust(&self, element: Option<&Type>) -> String {
        let base = rust_base(&self.base, element);
        match (self.pointer, self.constant) {
            (true, true) => format!("*const {base}"),
            (true, false) => format!("*mut {base}"),
            (false, _) => base.to_owned(),
        }
    }
}

/// Splits a C parameter list; the variable part `...` is left out.
pub fn params(list: &str, element: Option<&Type>) -> Vec<Param> {
    list.split(',')
        .map(|param| param.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|param| !param.is_empty() && param != "...")
        .map(|param| Param::parse(&param, element))
        .collect()
}

/// The Rust type of a C return type; empty for `void`.
pub fn rust_return(ret: &str, element: Option<&Type>) -> String {
    match ret {
        "void" => String::new(),
        "noreturn" => " -> !".to_owned(),
        "void *" => " -> *mut c_void".to_owned(),
        "const char *" => " -> *const c_char".to_owned(),
        "shmemx_aset *" => " -> *mut Aset".to_owned(),
        "TYPE" => format!(" -> {}", element.expect("TYPE needs an element").rust),
        _ => format!(" -> {}", rust_base(ret, element)),
    }
}

fn rust_base<'a>(base: &'a str, element: Option<&'a Type>) -> &'a str {
    match base {
        "void" => "c_void",
        "char" => "c_char",
        "int" => "c_int",
        "long" => "c_long",
        "size_t" => "usize",
        "ptrdiff_t" => "isize",
        "uint64_t" => "u64",
        "shmem_ctx_t" => "Ctx",
        "shmem_team_t" => "Team",
        "shmem_team_config_t" => "TeamConfig",
        "shmem_ctx_session_config_t" => "SessionConfig",
        "shmemx_aset" => "Aset",
        "shmemx_offset_fn" => "OffsetFunction",
        "shmemx_request_handle_t" => "RequestHandle",
        "shmemx_req_h" => "ReqHandle",
        "shmemx_file_t" => "File",
        "shmemx_space_t" => "Space",
        "shmemx_space_config_t" => "SpaceConfig",
        "shmemx_errhandler_t" => "ErrorHandler",
        "shmemx_error_t" => "ErrorInfo",
        "off_t" => "Offset",
        "ssize_t" => "SignedSize",
        _ => match element {
            Some(element) if element.c == base => element.rust,
            _ => panic!("no Rust type for C type {base}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_taken_apart() {
        let param = Param::parse("const TYPE *source", crate::types::RMA.first());
        assert_eq!(param.c(), "const float *source");
        assert_eq!(param.rust(crate::types::RMA.first()), "*const f32");
        let list = params("int level, ...", None);
        assert_eq!(list.len(), 1);
        assert_eq!(list[0].c(), "int level");
    }
}
