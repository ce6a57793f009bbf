//! Settings that all PEs need alike: each way of doing things together is one of all.

use crate::base::{Cause, Fault};

/// What variables of the environment say, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommonSettings(pub u64);

/// Variables, and their bits; the algorithms of collectives have the rest.
const BITS: [(&str, u32); 3] = [("SHMEM_DEBUG (oshrun --check)", 0), ("SHMEM_TRANSPORT", 1), ("SHMEM_ATOMICS", 2)];
/// Bits of an algorithm.
const ALGORITHM: u32 = 4;

impl CommonSettings {
    /// `check`: calls are checked; `only_network`: PEs share no memory; `by_nic`: atomics are the network card's;
    /// `algorithms`: numbers of those that were asked for.
    pub fn new(check: bool, only_network: bool, by_nic: bool, algorithms: &[u8]) -> Self {
        debug_assert!(BITS.len() as u32 + ALGORITHM * algorithms.len() as u32 <= u64::BITS);
        debug_assert!(algorithms.iter().all(|number| *number < 1 << ALGORITHM));
        let algorithms = algorithms.iter().fold(0, |word, number| word << ALGORITHM | u64::from(*number));
        let bits = u64::from(check) | u64::from(only_network) << 1 | u64::from(by_nic) << 2;
        Self(algorithms << BITS.len() | bits)
    }

    /// Compares two PEs. Error: names the variable and the other.
    pub fn check_matching(self, other: Self, other_pe: u32) -> Result<(), Fault> {
        let differing = self.0 ^ other.0;
        if differing == 0 {
            return Ok(());
        }
        let variable = BITS.iter().find(|(_, bit)| differing >> bit & 1 == 1).map_or("SHMEM_COLLECTIVES", |of| of.0);
        Err(Fault::from(Cause::Startup(format!(
            "{variable} is not the same here and on PE {other_pe}: all PEs need the same"
        ))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let one = CommonSettings::new(true, false, false, &[0, 3, 0]);
        assert!(one.check_matching(one, 1).is_ok());
        for (other, variable) in [
            (CommonSettings::new(false, false, false, &[0, 3, 0]), "SHMEM_DEBUG"),
            (CommonSettings::new(true, true, false, &[0, 3, 0]), "SHMEM_TRANSPORT"),
            (CommonSettings::new(true, false, true, &[0, 3, 0]), "SHMEM_ATOMICS"),
            (CommonSettings::new(true, false, false, &[0, 3, 1]), "SHMEM_COLLECTIVES"),
        ] {
            let text = one.check_matching(other, 7).unwrap_err().to_string();
            assert!(text.starts_with(variable) && text.contains("PE 7"), "{text}");
        }
    }
}
