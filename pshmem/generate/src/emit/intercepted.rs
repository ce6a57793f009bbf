//! `pshmem/src/generated/intercepted.rs`: what tools and callbacks are told of calls, a function for all routines
//! whose arguments say the same in the same places.

use std::collections::HashMap;
use std::fmt::Write;

use super::{BY, File, entry};
use crate::body;
use crate::expand::{Expanded, Routine};

/// The functions, and by the name of a routine the one that is its.
pub struct Intercepted {
    lines: String,
    by_key: HashMap<String, String>,
    by_routine: HashMap<String, String>,
}

impl Intercepted {
    /// Those of the routines that bodies are named after.
    pub fn new(groups: &[Expanded]) -> Self {
        let mut all = Self { lines: String::new(), by_key: HashMap::new(), by_routine: HashMap::new() };
        for group in groups {
            for body in body::bodies(group, 0).0 {
                let (_, routine) = body.first();
                if !entry::is_jumped_to(routine) {
                    all.add(routine);
                }
            }
        }
        all
    }

    fn add(&mut self, routine: &Routine) {
        let [peer, addr, bytes] = entry::record(routine, "op", "op");
        let failed = entry::failed(routine, &routine.rust_return());
        let text = format!("[{peer}, {addr}, {bytes}], args [{}]{failed}", entry::arguments(routine));
        let name = self.by_key.entry(key(routine, &text)).or_insert_with(|| {
            let name = format!("intercepted_{}", routine.name);
            let (params, map) = (routine.rust_params(), entry::map(&[&text]));
            writeln!(self.lines, "intercepted!({name}, |op| ({params}), {map}{text});").expect("writing to a string");
            name
        });
        self.by_routine.insert(routine.name.clone(), name.clone());
    }

    /// The path of the function of a routine.
    pub fn path(&self, routine: &Routine) -> String {
        format!("super::intercepted::{}", self.by_routine[&routine.name])
    }

    /// The file.
    pub fn file(&self) -> File {
        let text = format!(
            "// {BY}\n//! What is told of calls on their way past tools and callbacks.\n\n\
             use crate::routine::prelude::*;\n\n{}",
            self.lines
        );
        File { path: entry::path("intercepted"), text }
    }
}

/// The text with each parameter as the place where it is and what of its type matters.
fn key(routine: &Routine, text: &str) -> String {
    let (mut integers, mut floats) = (0, 0);
    let mut places = HashMap::new();
    for param in &routine.params {
        let rust = param.rust(routine.element);
        let (count, kind) = if body::is_float(param, routine) { (&mut floats, "f") } else { (&mut integers, "i") };
        let seen = if param.pointer { "*" } else { rust.as_str() };
        places.insert(param.name.as_str(), format!("<{kind}{count} {seen}>"));
        *count += 1;
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        out.push_str(places.get(word).map_or(word, String::as_str));
        let next = after.find(is_word).unwrap_or(after.len());
        out.push_str(&after[..next]);
        rest = &after[next..];
    }
    out
}
