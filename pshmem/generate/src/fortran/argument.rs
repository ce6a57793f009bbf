//! Arguments of the Fortran interface: their names tell what they are.

use super::Kind;

/// One argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// Its name in the specification.
    pub name: String,
    /// What it is.
    pub sort: Sort,
}

/// What an argument is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sort {
    /// Data of any type that is written.
    Buffer,
    /// Data of any type that is read.
    Source,
    /// `INTEGER` that is read: a PE, a stride ...
    Number,
    /// `INTEGER` that is read: how many elements.
    Count,
    /// `INTEGER` that is written.
    Result,
    /// A value of the element's type, or of `INTEGER` where there is none.
    Value,
    /// A variable of the element's type, or of `INTEGER` where there is none.
    Variable,
    /// The work array `pSync`.
    Sync,
    /// A Cray pointer.
    Address,
    /// `CHARACTER` of any length that is written; the length is a further argument.
    Text,
}

/// The argument of this name.
///
/// # Panics
/// On a name that the specification does not have.
pub fn argument(name: &str, kind: Option<&Kind>) -> Argument {
    let sort = match name {
        // Atomics have variables of a type, transfers and collectives any data.
        "dest" if kind.is_some_and(|kind| !kind.value.is_empty()) => Sort::Variable,
        "source" if kind.is_some_and(|kind| !kind.value.is_empty()) => Sort::Variable,
        "dest" | "pWrk" | "lock" => Sort::Buffer,
        "source" | "object" => Sort::Source,
        "addr" => Sort::Address,
        "nelems" => Sort::Count,
        "nreduce" | "pe" | "PE_root" | "PE_start" | "logPE_stride" | "PE_size" | "dst" | "sst" | "npes" | "cmp"
        | "length" | "abort" | "code" | "level" => Sort::Number,
        "errcode" | "status" | "MAJOR" | "MINOR" => Sort::Result,
        "ivar" => Sort::Variable,
        "cmp_value" | "value" => Sort::Value,
        _ if name.starts_with("value_") || name.starts_with("cond_") => Sort::Value,
        "pSync" => Sort::Sync,
        "NAME" => Sort::Text,
        _ => panic!("no argument of the Fortran interface is called {name}"),
    };
    Argument { name: name.to_owned(), sort }
}

impl Argument {
    /// What the specification calls it: two of its names are one word for two things.
    pub fn official_name(&self) -> &str {
        match self.name.as_str() {
            "object" => "addr",
            "code" => "status",
            name => name,
        }
    }

    /// Its declaration in the C source of the library; `element` is the C type of the kind.
    pub fn c_declaration(&self, element: &str) -> String {
        let name = self.official_name();
        match self.sort {
            Sort::Buffer | Sort::Variable | Sort::Sync => format!("void *{name}"),
            Sort::Source => format!("const void *{name}"),
            Sort::Number | Sort::Count => format!("const int *{name}"),
            Sort::Result => format!("int *{name}"),
            Sort::Value => format!("const {element} *{name}"),
            Sort::Address => format!("void **{name}"),
            Sort::Text => format!("char *{name}, int length"),
        }
    }

    /// How it is passed on.
    pub fn c_value(&self) -> String {
        let name = self.official_name();
        match self.sort {
            Sort::Buffer | Sort::Source | Sort::Variable | Sort::Result | Sort::Address => name.to_owned(),
            Sort::Number | Sort::Value => format!("*{name}"),
            Sort::Count => format!("(size_t)*{name}"),
            Sort::Sync => format!("pellucid_sync({name})"),
            Sort::Text => format!("{name}, length"),
        }
    }

    /// Its type in the module `shmem`, with the attributes that belong to it; `None`: data of any type.
    pub fn fortran_type(&self, element: &str) -> Option<String> {
        match self.sort {
            Sort::Buffer | Sort::Source | Sort::Sync | Sort::Address => None,
            Sort::Number | Sort::Count => Some("integer, intent(in)".to_owned()),
            Sort::Result => Some("integer, intent(out)".to_owned()),
            Sort::Value => Some(format!("{element}, intent(in)")),
            // Written by other PEs, too.
            Sort::Variable => Some(element.to_owned()),
            Sort::Text => Some("character(len=*), intent(out)".to_owned()),
        }
    }
}
