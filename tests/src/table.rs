//! The tables of OpenSHMEM 1.6 in `tests/tables`: every function, generic form and constant.

use std::sync::OnceLock;

/// One linkable C function of the specification.
#[derive(Debug, Clone)]
pub struct Function {
    /// C name, `shmem_long_put`.
    pub name: String,
    /// C return type.
    pub returns: String,
    /// C parameter list, without parentheses.
    pub parameters: String,
    /// Section of the specification.
    pub section: String,
    /// Name with the type left open, `shmem_TYPENAME_put` or `shmem_putSIZE`.
    pub template: String,
    /// What stands for TYPENAME or SIZE in this function; empty where the name has neither.
    pub typename: String,
    /// C type that goes with `typename`; `void` for sizes.
    pub c_type: String,
    /// Whether the function is not deprecated.
    pub current: bool,
    /// Name of the profiling entry point.
    pub pshmem: String,
}

/// The 1788 functions, in the order of the specification.
pub fn functions() -> &'static [Function] {
    static TABLE: OnceLock<Vec<Function>> = OnceLock::new();
    TABLE.get_or_init(|| {
        records(include_str!("../tables/api-1.6.csv"))
            .map(|field| Function {
                name: field("name"),
                returns: field("return_type"),
                parameters: field("parameters"),
                section: field("section"),
                template: field("template"),
                typename: field("typename"),
                c_type: field("c_type"),
                current: field("status") == "current",
                pshmem: field("pshmem_name"),
            })
            .collect()
    })
}

/// One form of a C11 type-generic macro.
#[derive(Debug, Clone)]
pub struct Generic {
    /// Macro name, `shmem_put`.
    pub name: String,
    /// What stands before the pointer: `none`, `ctx` or `team`.
    pub leading: String,
    /// C parameter list with `TYPE` open.
    pub parameters: String,
    /// Return type with `TYPE` open.
    pub returns: String,
    /// Function the macro maps to, with TYPENAME open.
    pub template: String,
    /// Type names that the macro accepts; empty where the argument count selects.
    pub typenames: Vec<String>,
    /// Functions that the macro reaches.
    pub functions: Vec<String>,
}

/// The 112 generic forms.
pub fn generics() -> &'static [Generic] {
    static TABLE: OnceLock<Vec<Generic>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let list = |text: String| text.split(';').filter(|item| !item.is_empty()).map(String::from).collect();
        records(include_str!("../tables/generics-1.6.csv"))
            .map(|field| Generic {
                name: field("macro"),
                leading: field("leading"),
                parameters: field("parameters"),
                returns: field("return_type"),
                template: field("function_template"),
                typenames: list(field("typenames")),
                functions: list(field("functions")),
            })
            .collect()
    })
}

/// A constant, handle, type, field, header or environment variable.
#[derive(Debug, Clone)]
pub struct Constant {
    /// Name.
    pub name: String,
    /// `constant`, `handle`, `type`, `field`, `header`, `environment` or `required-macro`.
    pub kind: String,
    /// C type.
    pub c_type: String,
    /// What the specification asks of the value.
    pub constraint: String,
}

/// Constants, handles, types, headers and environment variables of the specification.
pub fn constants() -> &'static [Constant] {
    static TABLE: OnceLock<Vec<Constant>> = OnceLock::new();
    TABLE.get_or_init(|| {
        records(include_str!("../tables/constants-1.6.csv"))
            .map(|field| Constant {
                name: field("name"),
                kind: field("kind"),
                c_type: field("c_type"),
                constraint: field("constraint"),
            })
            .collect()
    })
}

/// C type of a type name of the specification (`ulonglong` is `unsigned long long`).
pub fn c_type(typename: &str) -> Option<&'static str> {
    functions()
        .iter()
        .find(|function| function.typename == typename && !function.c_type.is_empty())
        .map(|function| function.c_type.as_str())
}

/// Records of a CSV text as functions from column name to value.
fn records(text: &'static str) -> impl Iterator<Item = impl Fn(&str) -> String> {
    let mut lines = text.lines();
    let header = fields(lines.next().unwrap_or_default());
    lines.filter(|line| !line.is_empty()).map(move |line| {
        let header = header.clone();
        let values = fields(line);
        move |column: &str| {
            let index = header.iter().position(|name| name == column);
            index.and_then(|index| values.get(index).cloned()).unwrap_or_default()
        }
    })
}

/// Fields of one CSV line: quotes protect commas, a doubled quote is a quote.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let field = fields.last_mut().expect("starts with one field");
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            other => field.push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        assert_eq!(functions().len(), 1788);
        assert_eq!(generics().len(), 112);
        assert_eq!(c_type("ulonglong"), Some("unsigned long long"));
        assert!(functions().iter().all(|function| !function.pshmem.is_empty()));
    }

    #[test]
    fn quotes_protect_commas() {
        assert_eq!(fields(r#"a,"b, ""c""",d"#), ["a", "b, \"c\"", "d"]);
    }
}
