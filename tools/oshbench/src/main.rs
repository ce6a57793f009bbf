//! `./x bench`: measures this library, the limits of the machine and other OpenSHMEM libraries in one run.
//!
//! The C programs of `programs/` are compiled with each library's `oshcc` and run in turn with each library's `oshrun`.
//! They print one line for each measurement ([`mod@line`]); the driver takes medians over the repetitions ([`stats`],
//! [`results`]), compares them with the numbers to reach ([`targets`]) and prints a table ([`table`]) or JSON
//! ([`json`]).
#![deny(unsafe_code)]

mod cost;
mod driver;
mod hosts;
mod job;
mod json;
mod library;
mod line;
mod network;
mod options;
mod overhead;
mod plot;
mod results;
mod stats;
mod suite;
mod table;
mod targets;
mod verify;

use pellucid_cli::Answer;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

/// Wrong command line.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let options = match options::parse(env::args_os().skip(1)) {
        Ok(options) => options,
        Err(Answer::Text(text)) => {
            print!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(Answer::Wrong(why)) => {
            eprintln!("oshbench: {why}");
            return ExitCode::from(USAGE);
        }
    };
    if options.list {
        print!("{}", suite::list());
        return ExitCode::SUCCESS;
    }
    let Some(root) = repository() else {
        eprintln!("oshbench: no folder with tools/oshbench/programs here or above: run it in the repository");
        return ExitCode::from(USAGE);
    };

    let mut driver = driver::Driver::new(&root, &options);
    driver.run(&options.groups);
    let rows = driver.results.rows();
    if !rows.is_empty() {
        println!("{}\n", driver.conditions());
        println!("{}", table::table(&rows));
        println!("{}", table::verdict(&rows));
    }
    let compared = driver.compared.iter().map(verify::Compared::line);
    let told = driver.told.iter().map(cost::LoopResult::line);
    for line in compared.chain(told).chain(driver.pairs.iter().map(overhead::Pairs::line)) {
        println!("{line}");
    }
    for complaint in &driver.complaints {
        println!("warning: {complaint}");
    }
    let mut failed = false;
    for failure in &driver.failures {
        failed |= failure.ours;
        println!("{}: {}", if failure.ours { "failed" } else { "not measured" }, failure.what);
    }
    if let Some(path) = &options.json
        && let Err(why) = fs::write(path, json::json(&rows))
    {
        eprintln!("oshbench: --json {}: {why}", path.display());
        failed = true;
    }
    if let Some(path) = &options.plot
        && let Err(why) = fs::write(path, plot::svg(&rows))
    {
        eprintln!("oshbench: --plot {}: {why}", path.display());
        failed = true;
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The nearest folder, from the current one upwards, that holds the programs.
fn repository() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    here.ancestors().find(|folder| folder.join("tools/oshbench/programs").is_dir()).map(PathBuf::from)
}
