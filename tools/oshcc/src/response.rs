//! Response files: `@FILE` stands for the arguments in a file. The compiler reads them itself; here it is only known
//! what they ask for.

use crate::language::split;
use std::ffi::OsString;
use std::fs;

/// How many files are read. More are a circle, as gcc says too.
const FILES: u32 = 2000;

/// The arguments with those of response files in their places. A file that cannot be read stays an argument, as it does
/// for compilers, which have their own words for it.
pub fn expanded(args: &[OsString]) -> Vec<OsString> {
    let (mut words, mut left) = (Vec::new(), FILES);
    args.iter().for_each(|arg| expand(arg, &mut left, &mut words));
    words
}

fn expand(arg: &OsString, left: &mut u32, words: &mut Vec<OsString>) {
    let inside = if *left > 0 { contents(arg) } else { None };
    let Some(inside) = inside else { return words.push(arg.clone()) };
    *left -= 1;
    inside.iter().for_each(|word| expand(&word.into(), left, words));
}

/// What is in a response file. Only of a regular file: what is read from a pipe, the compiler would miss.
fn contents(arg: &OsString) -> Option<Vec<String>> {
    let file = arg.to_str()?.strip_prefix('@')?;
    if !fs::metadata(file).ok()?.is_file() {
        return None;
    }
    split(&String::from_utf8_lossy(&fs::read(file).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stand_for_their_words() {
        let folder = std::env::temp_dir().join(format!("oshcc-response-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let place = |name: &str| format!("@{}/{name}", folder.display());
        let (inner, circle, open) = (place("inner"), place("circle"), place("open"));
        for (name, text) in [
            ("plain", "-c\n'a b.c' -DX=\\\"y\\\"\n"),
            ("outer", &format!("-O2 {inner} -g")),
            ("inner", "-static"),
            ("circle", &circle),
            ("twice", &format!("{0} {0}", place("twice"))),
            ("open", "-c 'a"),
            ("empty", ""),
        ] {
            fs::write(folder.join(name), text).unwrap();
        }
        let missing = place("missing");
        let folder_itself = place("");
        for (arg, words) in [
            (&place("plain"), vec!["-c", "a b.c", "-DX=\"y\""]),
            (&place("outer"), vec!["-O2", "-static", "-g"]),
            (&place("empty"), vec![]),
            (&circle, vec![circle.as_str()]),
            (&open, vec![open.as_str()]),
            (&missing, vec![missing.as_str()]),
            (&folder_itself, vec![folder_itself.as_str()]),
        ] {
            let all = expanded(&["first".into(), arg.into(), "last".into()]);
            assert_eq!(all, [vec!["first"], words, vec!["last"]].concat(), "{arg}");
        }
        assert!(expanded(&[place("twice").into()]).len() as u32 <= FILES + 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
