//! What a PE publishes so that others can reach it.

use crate::base::{Cause, Fault};

/// Changes with every change of the format or of the messages.
const VERSION: u8 = 3;
/// Longest endpoint name of a provider that is taken.
const NAME: usize = 256;
/// Longest name of a provider that is taken.
const PROVIDER: usize = 48;
/// What of a host's name is published.
const HOST: usize = 40;

/// An endpoint address, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EndpointAddress {
    /// The provider's name; both ends need the same.
    pub provider: String,
    /// The endpoint's name.
    pub name: Vec<u8>,
    /// Name of its host, for messages.
    pub host: String,
    /// Keys of heap and data.
    pub keys: [u64; 2],
    /// What is added to an offset to give an RMA address.
    pub bases: [u64; 2],
    /// What messages to it have to begin with.
    pub token: u64,
}

impl EndpointAddress {
    /// As bytes, at most 400.
    pub fn encode(&self) -> Result<Vec<u8>, Fault> {
        if self.name.len() > NAME || self.provider.len() > PROVIDER {
            return Err(Fault::from(Cause::Network(format!(
                "provider {} has endpoint names of {} bytes: at most {NAME} can be published, \
                 and {PROVIDER} of its own name",
                self.provider,
                self.name.len()
            ))));
        }
        let mut out = vec![VERSION, self.provider.len() as u8];
        out.extend((self.name.len() as u16).to_le_bytes());
        for word in self.keys.iter().chain(&self.bases).chain([&self.token]) {
            out.extend(word.to_le_bytes());
        }
        out.extend(self.provider.as_bytes());
        let host = self.host.as_bytes();
        let host = &host[..host.len().min(HOST)];
        out.push(host.len() as u8);
        out.extend(host);
        out.extend(&self.name);
        Ok(out)
    }

    /// From the bytes of another PE; `None` where they are no endpoint address of this version.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(4)?;
        let (words, rest) = rest.split_at_checked(40)?;
        let word = |i: usize| words.get(8 * i..8 * i + 8).map(|b| u64::from_le_bytes(b.try_into().unwrap_or_default()));
        let (provider, rest) = rest.split_at_checked(usize::from(head[1]))?;
        let (length, rest) = rest.split_first()?;
        let (host, name) = rest.split_at_checked(usize::from(*length))?;
        if head[0] != VERSION || name.len() != usize::from(u16::from_le_bytes([head[2], head[3]])) {
            return None;
        }
        Some(Self {
            provider: String::from_utf8(provider.to_vec()).ok()?,
            name: name.to_vec(),
            host: String::from_utf8_lossy(host).into_owned(),
            keys: [word(0)?, word(1)?],
            bases: [word(2)?, word(3)?],
            token: word(4)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_and_nothing_else() {
        let endpoint_address = EndpointAddress {
            provider: "tcp;ofi_rxm".into(),
            name: (0..28).collect(),
            host: "node17".into(),
            keys: [1, u64::MAX],
            bases: [0, 0x7f00_0000_0000],
            token: 0xfedc_ba98_7654_3210,
        };
        let bytes = endpoint_address.encode().unwrap();
        assert!(bytes.len() <= 400);
        assert_eq!(EndpointAddress::decode(&bytes), Some(endpoint_address.clone()));
        for end in 0..bytes.len() {
            assert_eq!(EndpointAddress::decode(&bytes[..end]), None, "{end} bytes");
        }
        let mut other = bytes.clone();
        other[0] += 1;
        assert_eq!(EndpointAddress::decode(&other), None);
        let long = EndpointAddress { host: "h".repeat(64), ..endpoint_address.clone() };
        assert_eq!(EndpointAddress::decode(&long.encode().unwrap()).unwrap().host, "h".repeat(HOST));
        let largest = EndpointAddress { name: vec![0; NAME], provider: "p".repeat(PROVIDER), ..long };
        assert!(largest.encode().unwrap().len() <= 400);
        assert!(EndpointAddress { name: vec![0; 300], ..endpoint_address }.encode().is_err());
    }
}
