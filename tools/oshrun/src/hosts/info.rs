//! `oshrun --info`: what would be used.

use super::agent;
use super::list::Placement;
use crate::cpus::Binding;
use crate::options::Options;
use pellucid_core::os::process::host_name;
use std::path::Path;

/// The text. `allocation`: what was found of a batch system. `placements` is empty for a job on this host.
pub fn text(options: &Options, allocation: &str, placements: &[Placement], oshrun: &Path, binding: &Binding) -> String {
    let mut text = format!("launcher: oshrun {} ({})\n", env!("CARGO_PKG_VERSION"), oshrun.display());
    text += &format!("allocation: {allocation}\n");
    match placements {
        [] => text += &format!("PEs: {}, all on this host ({})\n", options.pes, host_name()),
        [only] if agent::is_here(&only.host) => {
            text += &format!("PEs: {}, all on this host ({})\n", only.pes.len(), host_name());
        }
        _ => {
            let pes = placements.last().map_or(0, |last| last.pes.end);
            text += &format!("PEs: {pes} on {} hosts\n", placements.len());
            for placement in placements {
                let command = agent::command(options, placement, oshrun).join(" ");
                text += &format!("  host {}: {}, started by: {command}\n", placement.host, placement.pes_text());
            }
        }
    }
    match placements {
        [] => text += &format!("binding: {}\n", binding.text()),
        [only] if agent::is_here(&only.host) => text += &format!("binding: {}\n", binding.text()),
        _ if binding.sets.is_empty() => text += "binding: each host's own, by the processors that it has\n",
        _ => text += &format!("binding: as of {} PEs here: {}\n", binding.sets.len(), binding.text()),
    }
    if let Some(note) = &binding.note {
        text += &format!("  {note}\n");
    }
    text + "What the library chooses is printed by PE 0 of a job with SHMEM_INFO=1.\n"
}
