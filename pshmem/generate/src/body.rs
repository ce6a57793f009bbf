//! Routines that do the same share a body: the code behind their entries is there once.
//!
//! Routines are the same where they differ only in the names of types of one way of being passed, and in what is looked
//! up by the number of the routine: bytes of an element, the kernel of a reduction. Their body then has one parameter
//! more, by which each entry tells which routine it is: in the first free register for integers, or for routines with
//! six integer arguments and more, whose further ones are on the stack, in the first one for floating-point numbers.

use std::collections::HashMap;

use crate::expand::{Expanded, Routine};

/// Registers that carry integer arguments wherever the library runs.
const INTEGER_REGISTERS: usize = 6;

/// Code that one or more routines of a group share.
pub struct Body<'a> {
    /// The routines with their operation ids, in the order of the table. The first gives the body its name.
    pub routines: Vec<(usize, &'a Routine)>,
}

/// Where the number of a routine is when its body begins.
#[derive(Clone, Copy, PartialEq)]
pub enum Number {
    /// Nowhere: the body is one routine's.
    None,
    /// In the register of the integer argument with this index.
    Integer(usize),
    /// In the first register for floating-point arguments.
    Float,
}

impl<'a> Body<'a> {
    /// The routine that the body is written for.
    pub fn first(&self) -> (usize, &'a Routine) {
        self.routines[0]
    }

    /// Where its routines leave their numbers.
    pub fn number(&self) -> Number {
        let (_, routine) = self.first();
        let floats = routine.params.iter().filter(|param| is_float(param, routine)).count();
        match (self.routines.len(), routine.params.len() - floats) {
            (1, _) => Number::None,
            (_, integers) if integers < INTEGER_REGISTERS => Number::Integer(integers),
            _ => {
                assert!(floats == 0, "{}: too many arguments of both kinds", routine.name);
                Number::Float
            }
        }
    }

    /// Parameters of the Rust functions.
    pub fn params(&self) -> String {
        let (_, routine) = self.first();
        let number = match self.number() {
            Number::None => return routine.rust_params(),
            Number::Integer(_) => "number: u32",
            Number::Float => "number: f64",
        };
        let mut params = shape(routine).params;
        params.push(number.to_owned());
        params.join(", ")
    }

    /// Return type of the Rust functions, with its arrow.
    pub fn ret(&self) -> String {
        let (_, routine) = self.first();
        if self.number() == Number::None { routine.rust_return() } else { shape(routine).ret }
    }
}

/// The bodies of a group, whose first operation has this id, and for each of its routines the index of its body.
pub fn bodies(group: &Expanded, first_op: usize) -> (Vec<Body<'_>>, Vec<usize>) {
    let mut bodies: Vec<Body> = Vec::new();
    let mut known = HashMap::new();
    let mut index = Vec::new();
    for (at, routine) in group.routines.iter().enumerate() {
        let body = *known.entry(key(routine)).or_insert_with(|| {
            bodies.push(Body { routines: Vec::new() });
            bodies.len() - 1
        });
        bodies[body].routines.push((first_op + at, routine));
        index.push(body);
    }
    (bodies, index)
}

/// What routines with one body have in common: all that their body and the recorder make of a call.
fn key(routine: &Routine) -> String {
    let row = routine.row;
    if routine.needs_shim() || routine.variadic || row.ret == "noreturn" || routine.params.is_empty() {
        // Their bodies have a side in C, or no way back; or they do so little that finding their counters by a number
        // would be a part of it.
        return routine.name.clone();
    }
    let Shape { params, ret } = shape(routine);
    let texts = [row.call, row.peer, row.addr, row.bytes].map(|text| routine.expression(text));
    let (class, timing, traits) = (row.class, routine.timing(), routine.traits());
    format!("{params:?} {ret} {texts:?} {} {class} {timing} {traits:?} {}", row.failed, routine.ctx)
}

/// The parameters and the result of a body, with types that stand for all that travel the same way.
struct Shape {
    params: Vec<String>,
    ret: String,
}

fn shape(routine: &Routine) -> Shape {
    let row = routine.row;
    let text = [row.call, row.peer, row.addr, row.bytes].map(|text| routine.expression(text)).join(" ; ");
    let params = routine.params.iter().map(|param| {
        let given = param.rust(routine.element);
        let name = &param.name;
        let rust = match (param.pointer, param.constant) {
            (true, constant) if uses(&text, name).all(|(_, after)| is_address(after)) => {
                if constant {
                    "*const c_void"
                } else {
                    "*mut c_void"
                }
            }
            (false, _) if uses(&text, name).all(|(before, _)| before.ends_with("word(")) => same_way(&given),
            _ => &given,
        };
        format!("{name}: {rust}")
    });
    let params = params.collect();
    let given = routine.rust_return();
    let ret = match given.strip_prefix(" -> ") {
        Some(rust) if row.call.ends_with(".map(word)") => format!(" -> {}", same_way(rust)),
        _ => given,
    };
    Shape { params, ret }
}

/// Whether a pointer is used for its address only, or without the type that it points to.
fn is_address(after: &str) -> bool {
    after.starts_with(".cast()") || after.starts_with(".addr()")
}

/// What stands before and behind each use of a name.
fn uses<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name)
        .map(|(at, _)| (&text[..at], &text[at + name.len()..]))
        .filter(move |(before, after)| !before.ends_with(is_word) && !after.starts_with(is_word))
}

/// The type that stands for all which travel the same way as this one. Short integers do not: their upper bits depend
/// on the sign.
fn same_way(rust: &str) -> &str {
    match rust {
        "c_char" | "c_schar" => "i8",
        "c_uchar" => "u8",
        "c_short" => "i16",
        "c_ushort" => "u16",
        "c_int" | "c_uint" | "i32" => "u32",
        "c_long" | "c_longlong" | "c_ulong" | "c_ulonglong" | "i64" | "usize" | "isize" => "u64",
        other => other,
    }
}

/// Whether a parameter is in a register for floating-point numbers.
pub fn is_float(param: &crate::ctype::Param, routine: &Routine) -> bool {
    !param.pointer && matches!(param.rust(routine.element).as_str(), "f32" | "f64" | "ComplexFloat" | "ComplexDouble")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expand;

    /// The routines that share a body with this one.
    fn with(name: &str) -> Vec<String> {
        let groups = expand::expand();
        let is_it = |body: &&Body| body.routines.iter().any(|(_, routine)| routine.name == name);
        let of = |group| bodies(group, 0).0.iter().find(is_it).map(|body| names(body));
        groups.iter().find_map(of).expect(name)
    }

    fn names(body: &Body) -> Vec<String> {
        body.routines.iter().map(|(_, routine)| routine.name.clone()).collect()
    }

    #[test]
    fn routines_that_differ_in_their_elements_only_share_a_body() {
        let puts = with("shmem_long_put");
        for name in ["shmem_double_put", "shmem_short_put", "shmem_size_put", "shmem_put128", "shmem_putmem"] {
            assert!(puts.contains(&name.to_owned()), "{name}");
        }
        for name in ["shmem_long_get", "shmem_ctx_long_put", "shmem_long_put_nbi", "shmem_long_iput"] {
            assert!(!puts.contains(&name.to_owned()), "{name}");
        }
    }

    #[test]
    fn collectives_of_all_elements_and_operations_share_a_body() {
        let sums = with("shmem_int_sum_reduce");
        for name in ["shmem_uint_max_reduce", "shmem_complexd_prod_reduce", "shmem_size_xor_reduce"] {
            assert!(sums.contains(&name.to_owned()), "{name}");
        }
        for name in ["shmem_int_sum_to_all", "shmem_int_sum_inscan", "shmemx_int_sum_reduce_nb"] {
            assert!(!sums.contains(&name.to_owned()), "{name}");
        }
        assert!(with("shmem_int_alltoall").contains(&"shmem_longdouble_alltoall".to_owned()));
    }

    #[test]
    fn what_depends_on_the_sign_or_on_the_kind_of_register_is_not_shared() {
        assert!(!with("shmem_long_wait_until").contains(&"shmem_ulong_wait_until".to_owned()));
        assert!(!with("shmem_short_g").contains(&"shmem_ushort_g".to_owned()));
        assert_eq!(with("shmem_double_p"), ["shmem_double_p"]);
        assert_eq!(with("shmem_longdouble_p"), ["shmem_longdouble_p"]);
    }

    #[test]
    fn a_number_is_in_the_first_register_that_is_free() {
        let groups = expand::expand();
        let mut seen = [false; 3];
        for group in &groups {
            for body in bodies(group, 0).0 {
                let (_, routine) = body.first();
                match body.number() {
                    Number::None => assert!(!body.params().contains("number"), "{}", routine.name),
                    Number::Integer(at) => {
                        assert!(at < INTEGER_REGISTERS && body.params().ends_with("number: u32"), "{}", routine.name);
                        seen[0] |= at == routine.params.len();
                        seen[1] |= at == 5;
                    }
                    Number::Float => {
                        assert!(
                            routine.params.len() >= 6 && body.params().ends_with("number: f64"),
                            "{}",
                            routine.name
                        );
                        // As many as are passed on from the stack (`pshmem/src/frame.rs`).
                        assert!(routine.params.len() <= INTEGER_REGISTERS + 4, "{}", routine.name);
                        seen[2] = true;
                    }
                }
            }
        }
        assert_eq!(seen, [true; 3]);
    }
}
