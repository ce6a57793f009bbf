//! A line an event.

use std::io::{self, Write};

use pellucid_profile::file::ReadError;
use pellucid_profile::trace::read::{Trace, What};

use super::rows;
use super::sites::Sites;
use pellucid_profile::report::grid::csv_field as field;

const HEADER: &str =
    "kind,name,class,pe,host,thread,start_ns,duration_ns,peer,bytes,address,value,calls,context,root,team,site";

/// Writes the table. Times count from the begin of the job.
pub(super) fn write(trace: &Trace, problems: &mut Vec<ReadError>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{HEADER}")?;
    let (mut result, sites) = (Ok(()), Sites::default());
    trace.for_each(problems, |file, event| {
        if result.is_err() {
            return;
        }
        let (kind, tail) = match &event.what {
            What::Call(call) | What::Unreturned(call) => {
                let peer = call.peer.map(|peer| peer.to_string()).unwrap_or_default();
                let context = call.context.as_ref().map(|_| rows::context(call)).unwrap_or_default();
                let addr = if call.addr == 0 { String::new() } else { format!("{:#x}", call.addr) };
                let root = call.root.map(|root| root.to_string()).unwrap_or_default();
                let team = rows::team(call, &file.facts).unwrap_or_default();
                let site = sites.of(call);
                let (team, site) = (field(&team), field(site.as_deref().unwrap_or_default()));
                let kind = if matches!(event.what, What::Call(_)) { "call" } else { "unreturned call" };
                (kind, format!("{peer},{},{addr},,1,{context},{root},{team},{site}", call.bytes))
            }
            What::Calls(calls) => ("calls", format!(",{},,,{},,,,", calls.bytes, calls.count)),
            What::RegionBegin(_) => ("region begin", ",,,,,,,,".to_owned()),
            What::RegionEnd(_) => ("region end", ",,,,,,,,".to_owned()),
            What::Marker(_, value) => ("marker", format!(",,,{value},,,,,")),
        };
        result = writeln!(
            out,
            "{kind},{},{},{},{},{},{},{},{tail}",
            field(rows::name(event)),
            rows::category(event),
            file.facts.pe,
            field(&file.facts.host),
            event.thread,
            event.start_ns,
            event.end_ns - event.start_ns,
        );
    });
    result
}

#[cfg(test)]
mod tests {
    #[test]
    fn quotes() {
        assert_eq!(super::field("plain"), "plain");
        assert_eq!(super::field("a, \"b\""), "\"a, \"\"b\"\"\"");
        assert_eq!(super::field("=1+1"), "'=1+1");
    }
}
