use crate::args::Command;
#[derive(Debug, PartialEq, Eq)]
pub struct Request;
pub fn parse(_p: lexopt::Parser) -> Result<Command, String> { Err(String::new()) }
pub fn run(_r: &Request) -> std::process::ExitCode { std::process::ExitCode::SUCCESS }
