//! Rows times types times forms: every C function of the interface.

use crate::ctype::{self, Param};
use crate::table::{Forms, GROUPS, Generic, Group, Row, Timing, Trait};
use crate::types::Type;

/// One C function.
pub struct Routine {
    /// The row it comes from.
    pub row: &'static Row,
    /// Its element type, if it has one.
    pub element: Option<&'static Type>,
    /// The form with a leading context.
    pub ctx: bool,
    /// `shmem_ctx_long_put`.
    pub name: String,
    /// `pshmem_ctx_long_put`.
    pub profiling_name: String,
    /// Return type in C.
    pub ret: String,
    /// Parameters.
    pub params: Vec<Param>,
    /// Ends in `...`.
    pub variadic: bool,
}

/// A group with its functions.
pub struct Expanded {
    /// The group.
    pub group: &'static Group,
    /// Its functions in the order of the table; op ids count through all groups.
    pub routines: Vec<Routine>,
}

/// Every function.
pub fn expand() -> Vec<Expanded> {
    GROUPS.iter().map(|group| Expanded { group, routines: group.rows.iter().flat_map(routines).collect() }).collect()
}

fn routines(row: &'static Row) -> Vec<Routine> {
    let mut all = Vec::new();
    let forms: &[bool] = if row.forms == Forms::WithCtx { &[false, true] } else { &[false] };
    for &ctx in forms {
        if row.types.is_empty() {
            all.push(routine(row, None, ctx));
        }
        all.extend(row.types.iter().map(|element| routine(row, Some(element), ctx)));
    }
    all
}

fn routine(row: &'static Row, element: Option<&'static Type>, ctx: bool) -> Routine {
    let mut name = row.name.to_owned();
    if let Some(element) = element {
        name = name.replace("TYPENAME", element.name).replace("SIZE", element.name);
    }
    let mut params = ctype::params(row.params, element);
    if ctx {
        let (prefix, rest) = name.split_once('_').expect("a routine has a prefix");
        name = format!("{prefix}_ctx_{rest}");
        params.insert(0, Param::parse("shmem_ctx_t ctx", None));
    }
    let ret = match (row.ret, element) {
        ("TYPE", Some(element)) => element.c,
        ("noreturn", _) => "void",
        (ret, _) => ret,
    };
    Routine {
        row,
        element,
        ctx,
        profiling_name: format!("p{name}"),
        name,
        ret: ret.to_owned(),
        params,
        variadic: row.params.contains("..."),
    }
}

impl Routine {
    /// Parameters of the Rust signature.
    pub fn rust_params(&self) -> String {
        let params: Vec<_> = self.params.iter().map(|p| format!("{}: {}", p.name, p.rust(self.element))).collect();
        params.join(", ")
    }

    /// Return type of the Rust signature with its arrow, or nothing.
    pub fn rust_return(&self) -> String {
        ctype::rust_return(self.row.ret, self.element)
    }

    /// Parameters in C, as `api-1.6.csv` writes them.
    pub fn c_params(&self) -> String {
        let mut params: Vec<_> = self.params.iter().map(Param::c).collect();
        if self.variadic {
            params.push("...".to_owned());
        }
        if params.is_empty() { "void".to_owned() } else { params.join(", ") }
    }

    /// Whether a `long double` travels by value, which stable Rust has no type for.
    pub fn needs_shim(&self) -> bool {
        let by_value = |base: &str, pointer: bool| base == "long double" && !pointer;
        by_value(&self.ret, false) || self.params.iter().any(|p| by_value(&p.base, p.pointer))
    }

    /// Replaces the words of the table's expressions by what they are for this function, whose operation is `OP` in
    /// what comes out.
    pub fn expression(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
            out.push_str(&rest[..start]);
            rest = &rest[start..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            rest = after;
            match (word, self.element) {
                ("W", Some(element)) => out.push_str(element.word),
                ("N", Some(element)) => out.push_str(element.number),
                ("U", Some(element)) => out.push_str(unsigned(element.number)),
                ("ELEM", Some(_)) => out.push_str("elem(OP)"),
                ("SIZE", Some(element)) => out.push_str(&element.bytes.to_string()),
                ("CTX", _) => out.push_str(if self.ctx { "ctx" } else { "Ctx::DEFAULT" }),
                ("PEER", _) if self.ctx => out.push_str("world_pe(m, ctx, pe)"),
                ("PEER", _) => out.push_str("pe"),
                ("KERNEL", Some(_)) => {
                    let (_, after) = rest.split_once(')').expect("KERNEL(operation) in the table");
                    rest = after;
                    out.push_str("kernel(OP)");
                }
                _ => out.push_str(word),
            }
        }
        out.push_str(rest);
        out
    }

    /// The kernel of a reduction or scan.
    pub fn kernel(&self) -> Option<String> {
        let (_, rest) = self.row.call.split_once("KERNEL(")?;
        let (operation, _) = rest.split_once(')').expect("KERNEL(operation) in the table");
        self.element.map(|element| kernel(element, operation))
    }

    /// Name of the C11 macro, if the function takes part in one.
    pub fn macro_name(&self) -> Option<String> {
        match self.row.generic {
            Generic::None => None,
            Generic::ByType => Some(self.row.name.replace("TYPENAME_", "")),
            Generic::ByCount(name) => Some(name.to_owned()),
        }
    }

    /// Bits of `pellucid_profile::op::TRAITS` that do not follow from class and timing, by their names.
    pub fn traits(&self) -> Vec<&'static str> {
        let row = self.row;
        let has = |wanted| row.traits.contains(&wanted);
        let changes = matches!(row.class, "Put" | "Signal" | "Amo") && !has(Trait::ReadsOnly);
        let is_ordered = matches!(row.class, "Put" | "Get" | "Signal" | "Amo" | "Order");
        [
            (has(Trait::Nonblocking), "NONBLOCKING"),
            (has(Trait::Completes), "COMPLETES"),
            (has(Trait::Together), "TOGETHER"),
            (is_ordered && self.params.iter().any(|param| param.base == "shmem_ctx_t"), "ON_CONTEXT"),
            (changes, "STORES"),
            (changes && row.class == "Signal", "SIGNALS"),
            (has(Trait::Waits), "WAITS"),
        ]
        .into_iter()
        .filter_map(|(is_there, name)| is_there.then_some(name))
        .collect()
    }

    /// Those that only reports ask for: routines in which they differ may share a body.
    pub fn traits_for_reports(&self) -> Vec<&'static str> {
        let row = self.row;
        let has = |wanted| row.traits.contains(&wanted);
        let takes = |name: &str| self.params.iter().any(|param| param.name == name);
        let is_request = |param: &Param| matches!(&*param.base, "shmemx_req_h" | "shmemx_request_handle_t");
        let has_request = self.params.iter().any(is_request);
        let is_strided = matches!(row.class, "Put" | "Get") && takes("dst") && takes("sst");
        [
            (has_request && !matches!(row.class, "Wait" | "Test"), "BY_REQUEST"),
            (has_request && row.class == "Wait", "AWAITS_REQUEST"),
            (has(Trait::OfAll), "OF_ALL"),
            (has(Trait::Initializes), "INITIALIZES"),
            (has(Trait::Finalizes), "FINALIZES"),
            (has(Trait::AnyTime), "ANY_TIME"),
            (is_strided, "STRIDED"),
            (is_strided && takes("bsize"), "OF_BLOCKS"),
            (row.class == "Signal" && takes("dest"), "PUTS"),
            (has(Trait::Swaps), "SWAPS"),
            (has(Trait::Asks), "ASKS"),
        ]
        .into_iter()
        .filter_map(|(is_there, name)| is_there.then_some(name))
        .collect()
    }

    /// The profile's word for how it is timed.
    pub fn timing(&self) -> &'static str {
        match self.row.timing {
            Timing::Sampled => "sampled",
            Timing::Sized => "sized",
            Timing::Timed => "timed",
        }
    }
}

/// Stable Rust computes with neither `long double` nor C complex numbers: those kernels are C.
fn kernel(element: &Type, operation: &str) -> String {
    if element.number.is_empty() {
        format!("shim::{}_{operation}()", element.name)
    } else {
        let is_ordered = matches!(operation, "min" | "max");
        let number = if is_ordered { element.number } else { unsigned(element.number) };
        format!("{number}::{}_KERNEL", operation.to_ascii_uppercase())
    }
}

/// The number type that gives the same bits wherever nothing is compared.
fn unsigned(number: &str) -> &str {
    match number {
        "c_char" | "i8" => "u8",
        "i16" => "u16",
        "i32" => "u32",
        "i64" => "u64",
        other => other,
    }
}
