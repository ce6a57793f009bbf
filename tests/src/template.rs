//! Type templates: C text between `//@each TEMPLATE...` and `//@end` is repeated for every type that has them all.
//!
//! ```c
//! //@each shmem_{put} shmem_{get}
//! static void round_trip_TYPENAME(TYPE *dest, const TYPE *source) { shmem_{put}(dest, source, 1, 0); }
//! //@end
//! ```
//!
//! `shmem_{put}` stands for three families of the API table: `shmem_TYPENAME_put`, `shmem_putSIZE` and `shmem_putmem`;
//! a template may also name one family alone, `shmem_TYPENAME_p`. `TYPENAME` and `SIZE` become the name of the type,
//! the word `TYPE` its C type (for sizes an unsigned integer of that many bits, for `mem` a byte). Only rows that the
//! built header declares count, so a template grows with the library. `//@and` continues a long list of templates.

use crate::{declared, table};

/// Expands every block of `text`.
///
/// # Panics
/// Panics on an unknown template name, a block without end, or an end without block.
pub fn expand(text: &str) -> String {
    let mut output = String::new();
    let mut block: Option<(Vec<&str>, String)> = None;
    for line in text.lines() {
        if let Some(names) = line.trim().strip_prefix("//@each ") {
            assert!(block.is_none(), "blocks do not nest: {line}");
            block = Some((names.split_whitespace().collect(), String::new()));
        } else if let Some(names) = line.trim().strip_prefix("//@and ") {
            let block = block.as_mut().expect("//@and continues an //@each");
            block.0.extend(names.split_whitespace());
        } else if line.trim() == "//@end" {
            let (names, body) = block.take().expect("//@end closes an //@each");
            for (typename, c_type) in types(&names) {
                output.push_str(&replace(&body, &typename, &c_type));
            }
        } else {
            let target = block.as_mut().map_or(&mut output, |block| &mut block.1);
            target.push_str(line);
            target.push('\n');
        }
    }
    assert!(block.is_none(), "//@each without //@end");
    output
}

/// Type names, with their C types, for which this build declares each of the templates.
fn types(templates: &[&str]) -> Vec<(String, String)> {
    let families = |kind: &Kind| -> Vec<String> { templates.iter().map(|name| kind.fill(name, kind.open())).collect() };
    let mut types = Vec::new();
    let mut known = false;
    for kind in [Kind::Typed, Kind::Sized, Kind::Mem] {
        if kind != Kind::Typed && !templates.iter().any(|name| name.contains('{')) {
            continue;
        }
        let families = families(&kind);
        let current = |name: &String| {
            table::functions().iter().any(|row| row.template == *name && (kind == Kind::Typed || row.current))
        };
        if !families.iter().all(current) {
            continue;
        }
        known = true;
        for row in declared::rows(&families[0]) {
            let twin = |family: &String| declared::rows(family).any(|twin| twin.typename == row.typename);
            if families.iter().all(twin) {
                let typename = if kind == Kind::Mem { "mem" } else { &row.typename };
                types.push((typename.to_string(), element(typename, &row.c_type)));
            }
        }
    }
    assert!(known, "no such templates in the API table: {templates:?}");
    types
}

/// How a family of functions names its type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `shmem_TYPENAME_put`
    Typed,
    /// `shmem_putSIZE`
    Sized,
    /// `shmem_putmem`
    Mem,
}

impl Kind {
    /// What stands for the type in the names of the API table.
    fn open(self) -> &'static str {
        match self {
            Kind::Typed => "TYPENAME",
            Kind::Sized => "SIZE",
            Kind::Mem => "mem",
        }
    }

    fn of(typename: &str) -> Kind {
        match typename {
            "mem" => Kind::Mem,
            "8" | "16" | "32" | "64" | "128" => Kind::Sized,
            _ => Kind::Typed,
        }
    }

    /// Replaces each `{operation}` by its name for one type.
    fn fill(self, text: &str, typename: &str) -> String {
        let mut output = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            let operation: &str = &rest[at + 1..];
            let length = operation.bytes().take_while(u8::is_ascii_lowercase).count();
            output.push_str(&rest[..at]);
            // In C text braces also hold initializers: an operation stands in a name.
            if length > 0 && output.ends_with('_') && operation[length..].starts_with('}') {
                let operation = &operation[..length];
                match self {
                    Kind::Typed => output.extend([typename, "_", operation]),
                    Kind::Sized | Kind::Mem => output.extend([operation, typename]),
                }
                rest = &rest[at + length + 2..];
            } else {
                output.push('{');
                rest = &rest[at + 1..];
            }
        }
        output.push_str(rest);
        output
    }
}

/// C type to test a row with.
fn element(typename: &str, c_type: &str) -> String {
    match typename {
        "8" | "16" | "32" | "64" => format!("uint{typename}_t"),
        "128" => "unsigned __int128".to_string(),
        "mem" => "unsigned char".to_string(),
        _ => c_type.to_string(),
    }
}

/// `body` with the operation names, TYPENAME, SIZE and the word TYPE filled in.
fn replace(body: &str, typename: &str, c_type: &str) -> String {
    let kind = Kind::of(typename);
    let mut body = kind.fill(body, typename).replace("TYPENAME", typename);
    if kind == Kind::Sized {
        body = body.replace("SIZE", typename);
    }
    let word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let mut output = String::new();
    let mut rest = body.as_str();
    while let Some(at) = rest.find("TYPE") {
        let (before, after) = (&rest[..at], &rest[at + 4..]);
        output.push_str(before);
        let alone = !output.ends_with(word) && !after.starts_with(word);
        output.push_str(if alone { c_type } else { "TYPE" });
        rest = after;
    }
    output.push_str(rest);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_word_type_is_replaced() {
        let text = replace("TYPE a_TYPENAME; MYTYPE b; shmem_putSIZE(TYPE)", "64", "uint64_t");
        assert_eq!(text, "uint64_t a_64; MYTYPE b; shmem_put64(uint64_t)");
    }

    #[test]
    fn an_operation_is_named_after_its_kind() {
        assert_eq!(replace("shmem_{put}_nbi({0}, {false})", "long", "long"), "shmem_long_put_nbi({0}, {false})");
        assert_eq!(replace("shmem_ctx_{iput}", "16", "uint16_t"), "shmem_ctx_iput16");
        assert_eq!(replace("shmem_{put}_signal", "mem", "unsigned char"), "shmem_putmem_signal");
    }
}
