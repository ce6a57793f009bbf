//! Where the result of a comparison goes: standard output, files, and what the CI system reads.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use pellucid_cli::{file, string};

use crate::compare::counts::Effect;
use crate::compare::run::Run;
use crate::compare::verdict::Comparison;
use crate::destination::Destination;
use crate::outline::{html, json, junit, markdown, text};
use crate::{FAILED, print};

/// What is said where standard output would get several things, which nobody could take apart.
const ONE_AT_A_TIME: &str = "one of --json, --markdown, --html - and --junit - at a time: all are standard output";

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
#[derive(Clone, Debug, Args)]
pub struct Output {
    /// one JSON object (default: a table)
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// a comment in Markdown
    #[arg(long)]
    markdown: bool,
    /// all of it in one file for a browser (-: to standard output, which then has nothing else)
    #[arg(long, value_name = "FILE", value_parser = file(Destination::new))]
    html: Option<Destination>,
    /// a test report (- as with --html)
    #[arg(long, value_name = "FILE", value_parser = file(Destination::new))]
    junit: Option<Destination>,
    /// name in the first line of Markdown, by which a bot finds its comment
    #[arg(long, value_name = "NAME", value_parser = string(), default_value = "default", hide_default_value = true)]
    id: String,
}

impl Output {
    /// The form on standard output: tables, unless it was asked for something else there.
    ///
    /// # Errors
    /// It was asked for more than one thing there.
    pub fn on_standard_output(&self) -> Result<Option<OutputForm>, String> {
        let files = [&self.html, &self.junit].iter().filter(|to| ***to == Some(Destination::Standard)).count();
        let forms = [(self.json, OutputForm::Json), (self.markdown, OutputForm::Markdown)];
        let form = forms.into_iter().find(|(asked, _)| *asked).map(|(_, form)| form);
        match (form, files) {
            (form, 0) => Ok(Some(form.unwrap_or_default())),
            (None, 1) => Ok(None),
            _ => Err(ONE_AT_A_TIME.to_owned()),
        }
    }
}

/// Writes all of it, and gives the exit status.
pub fn all(found: &Comparison, base: &[&Run], new: &[&Run], output: &Output) -> ExitCode {
    let form = output.on_standard_output().unwrap_or_default();
    let printed = form.map(|form| {
        print(&match form {
            OutputForm::Text => text::page(found),
            OutputForm::Json => format!("{:#}\n", json::object(found)),
            OutputForm::Markdown => markdown::comment(found, &output.id),
        })
    });
    beside(printed.unwrap_or(ExitCode::SUCCESS), found, base, new, output)
}

/// The same where standard output has what it gets already, and how that went.
pub fn beside(printed: ExitCode, found: &Comparison, base: &[&Run], new: &[&Run], output: &Output) -> ExitCode {
    let mut failed = printed != ExitCode::SUCCESS;
    let files = [
        output.html.as_ref().map(|to| (to, html::page(found, base, new))),
        output.junit.as_ref().map(|to| (to, junit::report(found))),
    ];
    for (to, text) in files.into_iter().flatten() {
        failed |= to.write(&text) != ExitCode::SUCCESS;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_output_gets_one_thing() {
        let to = |json, html: Option<&str>, junit: Option<&str>| {
            let [html, junit] = [html, junit].map(|name| name.map(Destination::new));
            Output { json, markdown: false, html, junit, id: String::new() }.on_standard_output()
        };
        let both = Err(ONE_AT_A_TIME.to_owned());
        assert_eq!(to(false, Some("a"), Some("b")), Ok(Some(OutputForm::Text)));
        assert_eq!(to(true, Some("a"), None), Ok(Some(OutputForm::Json)));
        assert_eq!(to(false, Some("-"), Some("b")), Ok(None), "in place of the table");
        assert_eq!(to(true, Some("-"), None), both);
        assert_eq!(to(false, Some("-"), Some("/dev/stdout")), both);
    }
}
