//! Where the result of a comparison goes: standard output, files, and what the CI system reads.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::compare::counts::Effect;
use crate::compare::run::Run;
use crate::compare::verdict::Comparison;
use crate::outline::{html, json, junit, markdown, text};
use crate::{FAILED, print};

/// The form on standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputForm {
    /// Tables.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// A comment.
    Markdown,
}

/// What to write where.
#[derive(Clone, Debug)]
pub struct Output {
    /// On standard output.
    pub form: OutputForm,
    /// A page for a browser.
    pub html: Option<PathBuf>,
    /// A test report.
    pub junit: Option<PathBuf>,
    /// Name in the first line of Markdown.
    pub id: String,
}

impl Default for Output {
    fn default() -> Output {
        Output { form: OutputForm::Text, html: None, junit: None, id: "default".to_owned() }
    }
}

/// Writes all of it, and gives the exit status.
pub fn all(found: &Comparison, base: &[&Run], new: &[&Run], output: &Output) -> ExitCode {
    let printed = print(&match output.form {
        OutputForm::Text => text::page(found),
        OutputForm::Json => format!("{:#}\n", json::object(found)),
        OutputForm::Markdown => markdown::comment(found, &output.id),
    });
    let mut failed = printed != ExitCode::SUCCESS;
    let files = [
        output.html.as_ref().map(|path| (path, html::page(found, base, new))),
        output.junit.as_ref().map(|path| (path, junit::report(found))),
    ];
    for (path, text) in files.into_iter().flatten() {
        let written = crate::report::write(path, &text);
        failed |= written.inspect_err(|error| pellucid_profile::say!("oshprof: {error}")).is_err();
    }
    failed |= !for_ci(found, output);
    if failed { ExitCode::from(FAILED) } else { ExitCode::from(found.exit) }
}

/// On GitHub: the summary of the job, and a remark at the line of each call that is made more often.
fn for_ci(found: &Comparison, output: &Output) -> bool {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from) else {
        return true;
    };
    let level = if found.counts_are_remarks { "warning" } else { "error" };
    for change in found.changes(Effect::Worse) {
        if let Some((file, line)) = &change.line {
            let file = relative(file);
            pellucid_profile::say!(
                "::{level} file={file},line={line}::{}: {}",
                change.op,
                crate::outline::amounts(change)
            );
        }
    }
    let comment = markdown::comment(found, &output.id);
    let file = OpenOptions::new().append(true).create(true).open(&path);
    is_written(&path, file.and_then(|mut file| file.write_all(comment.as_bytes())))
}

/// A file of the source as GitHub names it: below the checkout.
fn relative(file: &str) -> String {
    let checkout = std::env::var("GITHUB_WORKSPACE").unwrap_or_default();
    let below = if checkout.is_empty() { None } else { file.strip_prefix(&checkout) };
    below.unwrap_or(file).trim_start_matches('/').to_owned()
}

fn is_written(path: &Path, result: std::io::Result<()>) -> bool {
    if let Err(error) = &result {
        pellucid_profile::say!("oshprof: {}: {error}", path.display());
    }
    result.is_ok()
}
