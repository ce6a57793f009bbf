//! What every PE must have in common with the others, compared between hosts at start-up. Within a host the job file
//! does that.

use super::common::CommonSettings;
use crate::base::{Cause, Fault, env};
use std::net::IpAddr;

/// What a PE says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Version of the library.
    pub version: String,
    /// Bytes of symmetric heap.
    pub heap: u64,
    /// Bytes of its static objects; 0 where they are private.
    pub data: u64,
    /// Of which executable they are ([`crate::os::elf::build_id`]); 0: not known, or they are private.
    pub executable: u64,
    /// What its environment asks for.
    pub settings: CommonSettings,
    /// A hash of its machine and network namespace ([`crate::os::machine::network_stack`]).
    pub stack: u64,
    /// Where others reach it, where that is an address of the internet protocol.
    pub address: Option<IpAddr>,
    /// Name of its host.
    pub host: String,
}

impl Identity {
    /// As text for the launcher's key-value space.
    pub fn encode(&self) -> Vec<u8> {
        let Self { version, heap, data, executable, settings, stack, address, host } = self;
        let address = address.map_or_else(|| "-".into(), |address| address.to_string());
        let settings = settings.0;
        format!("pellucid {version} {heap} {data} {executable:x} {settings} {stack:x} {address} {host}").into_bytes()
    }

    /// Back from [`Self::encode`]; `None` for something else.
    pub fn decode(value: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(value).ok()?;
        let mut words = text.strip_prefix("pellucid ")?.splitn(8, ' ');
        let mut next = || words.next();
        Some(Self {
            version: next()?.into(),
            heap: next()?.parse().ok()?,
            data: next()?.parse().ok()?,
            executable: u64::from_str_radix(next()?, 16).ok()?,
            settings: CommonSettings(next()?.parse().ok()?),
            stack: u64::from_str_radix(next()?, 16).ok()?,
            address: next()?.parse().ok(),
            host: next()?.into(),
        })
    }

    /// Compares two PEs. Error: names both, and what differs.
    pub fn check_matching(&self, pe: u32, other: &Self, other_pe: u32) -> Result<(), Fault> {
        let differ = |what: &str, mine: &dyn std::fmt::Display, theirs: &dyn std::fmt::Display, advice: &str| {
            Err(Fault::from(Cause::Startup(format!(
                "{what} {mine} on PE {pe} (host {}) but {theirs} on PE {other_pe} (host {}): {advice}",
                self.host, other.host
            ))))
        };
        if self.version != other.version {
            let advice = "all hosts need the same build of the library";
            return differ("the library has version", &self.version, &other.version, advice);
        }
        if self.heap != other.heap {
            let advice = format!("all PEs need the same {}", env::symmetric_size_by());
            return differ("the symmetric heap has", &Bytes(self.heap), &Bytes(other.heap), &advice);
        }
        let advice = "all PEs need the same executable, or SHMEM_STATIC_SEGMENT=off";
        if self.data != other.data {
            return differ("static objects have", &Bytes(self.data), &Bytes(other.data), advice);
        }
        if self.executable != other.executable {
            let build = |id: u64| if id == 0 { "(none)".to_owned() } else { format!("of hash {id:016x}") };
            return differ("the executable has a build ID", &build(self.executable), &build(other.executable), advice);
        }
        self.settings.check_matching(other.settings, other_pe)?;
        self.check_addresses(pe, other, other_pe)
    }

    /// An address that each host has leads back to where it is used. Those of one machine may share theirs.
    fn check_addresses(&self, pe: u32, other: &Self, other_pe: u32) -> Result<(), Fault> {
        let Some(address) = self.address.filter(|_| self.address == other.address && self.stack != other.stack) else {
            return Ok(());
        };
        let (mine, theirs) = (&self.host, &other.host);
        Err(Fault::from(Cause::Network(format!(
            "PE {pe} on {mine} and PE {other_pe} on {theirs} both have the address {address}, by which neither reaches \
             the other: SHMEM_OFI_INTERFACE names the interface of the network between the hosts"
        ))))
    }
}

struct Bytes(u64);

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(version: &str, heap: u64, data: u64, host: &str) -> Identity {
        let settings = CommonSettings::default();
        let (stack, address) = (host.bytes().map(u64::from).sum(), None);
        Identity { version: version.into(), heap, data, executable: 0xab, settings, stack, address, host: host.into() }
    }

    #[test]
    fn an_identity_can_be_read() {
        let mine = identity("0.1.0", 1 << 30, 8192, "node 7");
        assert_eq!(Identity::decode(&mine.encode()), Some(mine.clone()));
        let mine = Identity { address: Some([10, 0, 2, 15].into()), ..mine };
        assert_eq!(Identity::decode(&mine.encode()), Some(mine));
        assert_eq!(Identity::decode(b"pellucid 0.1.0 x 1 0 0 0 - h"), None);
        assert_eq!(Identity::decode(b"\xff"), None);
    }

    #[test]
    fn hosts_have_addresses_of_their_own() {
        let at = |host: &str, last: u8| Identity {
            address: Some([10, 0, 2, last].into()),
            ..identity("0.1.0", 100, 10, host)
        };
        assert!(at("a", 1).check_matching(0, &at("b", 2), 4).is_ok());
        // Two hosts on one machine.
        assert!(at("a", 1).check_matching(0, &at("a", 1), 4).is_ok());
        let text = at("a", 1).check_matching(0, &at("b", 1), 4).unwrap_err().to_string();
        assert!(text.contains("PE 0 on a and PE 4 on b both have the address 10.0.2.1,"), "{text}");
        assert!(text.contains("SHMEM_OFI_INTERFACE"), "{text}");
    }

    #[test]
    fn differences_name_both_sides() {
        let a = identity("0.1.0", 100, 10, "a");
        assert!(a.check_matching(0, &identity("0.1.0", 100, 10, "b"), 4).is_ok());
        for (other, words) in [
            (identity("0.2.0", 100, 10, "b"), "version 0.1.0 on PE 0 (host a) but 0.2.0 on PE 4 (host b)"),
            (identity("0.1.0", 200, 10, "b"), "heap has 100 bytes on PE 0 (host a) but 200 bytes on PE 4 (host b)"),
            (identity("0.1.0", 100, 0, "b"), "objects have 10 bytes on PE 0 (host a) but 0 bytes on PE 4 (host b)"),
            (
                Identity { executable: 0, ..identity("0.1.0", 100, 10, "b") },
                "build ID of hash 00000000000000ab on PE 0 (host a) but (none) on PE 4 (host b)",
            ),
        ] {
            let text = a.check_matching(0, &other, 4).unwrap_err().to_string();
            assert!(text.contains(words), "{text}");
        }
    }
}
