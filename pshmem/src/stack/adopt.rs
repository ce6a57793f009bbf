//! Tools that are there already: preloaded, or shared objects that the program is linked to.
//!
//! They come first in the row. The program's references to what they define are brought back to this library's
//! `shmem_X`, so that their calls are seen as those of every other tool: the program's outermost and once, the tool's
//! own not at all. A tool that is compiled into the executable cannot be taken along, its calls are bound (see
//! [`crate::tool`]).
#![allow(unsafe_code)]

use super::objects::{self, DT_NEEDED, Object};
use super::{Tool, copies, exports, functions, load, lookup, relocate};
use crate::entry;
use crate::generated::addresses::BOUND;
use crate::tool::is_own;
use pellucid_core::os::own_code;

/// Those tools, in the order of loading.
pub fn all() -> Vec<Tool> {
    if !own_code::section().is_empty() && load::has_loader() {
        tell_of_unheard();
    }
    // As good as always there are none. Those of another copy's program are that one's.
    if BOUND.iter().all(|bound| is_own(bound.0)) || !load::has_loader() || copies::in_front().is_some() {
        return Vec::new();
    }
    let objects = objects::all();
    let Some(library) = objects.iter().position(|object| object.contains(entry::first())).filter(|at| *at > 0) else {
        return Vec::new();
    };
    let mut others = objects[1..].to_vec();
    let library = others.remove(library - 1);
    let mut tools: Vec<Tool> = others.iter().filter_map(tool).collect();
    let common = needs(&library, &others);
    for tool in &mut tools {
        tool.needs = needs(&tool.objects[0], &others);
        tool.needs.retain(|object| !common.iter().any(|other| other.is(object)));
    }
    tools
}

/// In a program that the static library is part of, its calls are bound: to this library, and to no tool.
fn tell_of_unheard() {
    let objects = objects::all();
    if !objects.first().is_some_and(|program| program.contains(entry::first())) {
        return;
    }
    for object in &objects[1..] {
        let is_bound = |name: &str| lookup::find(name).is_some_and(|op| is_own(BOUND[op].0));
        let found = exports::first(object, |name| name.starts_with("shmem") && is_bound(name));
        if let Some((routine, path)) = found.zip(object.name()).filter(|_| !copies::is_one(object)) {
            load::tell(&format!(
                "tool {}: has {routine}, and hears of no call: this program is linked to the static library, whose \
                 calls it does not get; name the tool by oshrun --tool",
                path.to_string_lossy()
            ));
        }
    }
}

/// What an object needs of these, and what that needs.
fn needs(object: &Object, others: &[Object]) -> Vec<Object> {
    let mut found = vec![object.clone()];
    let mut at = 0;
    while let Some(names) = found.get(at).map(|object| object.texts(DT_NEEDED)) {
        let is_needed = |other: &&Object| names.iter().any(|name| other.is_called(name));
        let new = others.iter().filter(is_needed).filter(|other| !found.iter().any(|known| known.is(other)));
        let new: Vec<Object> = new.cloned().collect();
        found.extend(new);
        at += 1;
    }
    found.split_off(1)
}

/// The object as a tool, if it defines any routine.
fn tool(object: &Object) -> Option<Tool> {
    let handle = load::opened(object.name()?)?;
    // Another copy of this library is none.
    if object.contains(load::symbol(handle, "pshmem_init")) {
        return None;
    }
    let objects = vec![object.clone()];
    let functions = functions(handle, &objects);
    let is_tool = functions.iter().any(|&function| function != 0);
    is_tool.then_some(Tool { handle, objects, functions, needs: Vec::new(), adopted: true })
}

/// Brings the references of everybody else to routines of these tools back to this library, now and later.
pub fn redirect(tools: &[Tool]) {
    let adopted = |op: usize| tools.iter().any(|tool| tool.adopted && tool.functions[op] != 0);
    let entry = |name: &str| lookup::find(name).filter(|&op| adopted(op)).map(entry::weak);
    for object in tools.iter().filter(|tool| tool.adopted).flat_map(|tool| &tool.objects) {
        exports::redefine(object, entry);
    }
    let is_tool = |object: &Object| tools.iter().flat_map(|tool| &tool.objects).any(|other| other.is(object));
    for object in objects::all() {
        if object.contains(entry::first()) || is_tool(&object) {
            continue;
        }
        relocate::rewrite(&object, entry);
    }
}
