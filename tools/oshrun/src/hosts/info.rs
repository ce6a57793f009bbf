//! `oshrun --info`: what would be used.

use super::agent;
use super::list::Placement;
use crate::options::Options;
use crate::sys::net;
use std::path::Path;

/// The text. `placements` is empty for a job on this host.
pub fn text(options: &Options, placements: &[Placement], oshrun: &Path) -> String {
    let mut text = format!("launcher: oshrun {} ({})\n", env!("CARGO_PKG_VERSION"), oshrun.display());
    if placements.is_empty() {
        text += &format!("PEs: {}, all on this host ({})\n", options.pes, net::host_name());
        return text + "transport: shared memory; another launcher is not asked\n";
    }
    text += &format!("PEs: {} on {} hosts\n", placements.last().map_or(0, |last| last.pes.end), placements.len());
    for placement in placements {
        let command = agent::command(options, placement, oshrun).join(" ");
        text += &format!("  host {}: {}, started by: {command}\n", placement.host, placement.pes_text());
    }
    text + "wire-up: by oshrun\n\
            transport: shared memory within a host, libfabric between hosts: SHMEM_INFO=1 has PE 0 print which provider\n"
}
