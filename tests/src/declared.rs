//! Which routines the built `shmem.h` declares.

use std::collections::HashSet;
use std::process::Command;
use std::sync::OnceLock;

use crate::{table, tree};

/// Names of the functions that the built `shmem.h` declares.
///
/// # Panics
/// Panics where the header cannot be preprocessed.
pub fn functions() -> &'static HashSet<String> {
    static DECLARED: OnceLock<HashSet<String>> = OnceLock::new();
    DECLARED.get_or_init(|| {
        // C99 has no type-generic macros, so what is left after the preprocessor are the prototypes.
        let output = Command::new("cc")
            .args(["-std=c99", "-E", "-P", "-I"])
            .arg(tree::prefix().join("include"))
            .args(["-x", "c"])
            .arg(tree::header("shmem.h"))
            .output()
            .expect("cc runs");
        assert!(output.status.success(), "shmem.h does not preprocess:\n{}", String::from_utf8_lossy(&output.stderr));
        called(&String::from_utf8_lossy(&output.stdout)).map(String::from).collect()
    })
}

/// Identifiers in a C text that a parenthesis follows.
pub fn called(text: &str) -> impl Iterator<Item = &str> {
    let word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    text.match_indices('(').filter_map(move |(end, _)| {
        let before = text[..end].trim_end();
        let start = before.rfind(|character| !word(character)).map_or(0, |at| at + 1);
        (start < before.len()).then(|| &before[start..])
    })
}

/// Rows of a function template (`shmem_TYPENAME_put`) that this build declares.
pub fn rows(template: &str) -> impl Iterator<Item = &'static table::Function> {
    table::functions()
        .iter()
        .filter(move |function| function.template == template && functions().contains(&function.name))
}

/// One line that names what the table has and this build does not; empty where nothing is missing.
pub fn missing() -> String {
    let mut families: Vec<(&str, usize)> = Vec::new();
    let mut count = 0;
    for function in table::functions() {
        if functions().contains(&function.name) {
            continue;
        }
        count += 1;
        match families.iter_mut().find(|family| family.0 == function.template) {
            Some(family) => family.1 += 1,
            None => families.push((&function.template, 1)),
        }
    }
    if count == 0 {
        return String::new();
    }
    let names: Vec<String> = families
        .iter()
        .map(|(template, count)| if *count == 1 { template.to_string() } else { format!("{template} ({count})") })
        .collect();
    let total = table::functions().len();
    format!("not in this build: {count} of {total} functions: {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prototypes_are_found() {
        let text = "extern void shmem_init(void);\nint shmem_my_pe (void);";
        assert_eq!(called(text).collect::<Vec<_>>(), ["shmem_init", "shmem_my_pe"]);
    }
}
