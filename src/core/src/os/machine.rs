//! Which machine this is: two processes share memory and local sockets where this is equal.

use super::process::host_name;

/// The machine's start and its network namespace as this process sees them, then the host name; 256 bytes at most.
pub fn identity() -> Vec<u8> {
    format!("{} {}", network_stack(), host_name()).into_bytes()
}

/// The machine's start and its network namespace as this process sees them: two processes have the same interfaces
/// where this is equal.
pub fn network_stack() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let network = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
    format!("{} {}", boot.trim(), network.display())
}

/// The host name in an identity.
pub fn name(identity: &[u8]) -> String {
    String::from_utf8_lossy(identity.rsplit(|byte| *byte == b' ').next().unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_ends_with_the_name() {
        assert_eq!(identity(), identity());
        assert_eq!(name(&identity()), host_name());
        assert!(identity().len() <= 256);
    }
}
