//! Agreements among PEs of a job that goes on without those that are lost, where they are on several hosts: what a
//! member gives, and what all who are left get.
//!
//! They are made by the launcher, whose head knows all losses: it ends an agreement once every member has given its
//! word or is lost, and tells the same to all. Within a host the word of a member that is lost outlives it, and no one
//! need decide; on a host that is cut off it is out of reach, so that members alone would have to vote in rounds, as
//! many as may be lost on the way. The head they depend on anyway: without it the job ends.

use crate::base::pe_list::PeList;

/// A member's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Which group agrees; the same for all members.
    pub group: (u64, u64),
    /// Which of its agreements, as its members count them.
    pub number: u64,
    /// What for. Members that are in different calls find out.
    pub what: u8,
    /// It is the last that its members give: a member of another agreement gives none any more once it is here.
    pub leaves: bool,
    /// The members.
    pub pes: PeList,
    /// Its words, of which all get the bitwise or.
    pub words: Vec<u64>,
}

/// What all members are told who are left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agreement {
    /// Members that were lost before they gave their word.
    pub missing: Vec<u32>,
    /// Who gave it for something: the first of each kind.
    pub kinds: Vec<(u32, u8)>,
    /// A member that gives none, since it is in its last call.
    pub left: Option<u32>,
    /// The bitwise or of all words.
    pub words: Vec<u64>,
}

impl Proposal {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for word in [self.group.0, self.group.1, self.number] {
            out.extend(word.to_le_bytes());
        }
        out.extend([self.what, u8::from(self.leaves), u8::from(matches!(self.pes, PeList::Listed(_)))]);
        match &self.pes {
            PeList::Strided { start, stride, size } => {
                out.extend([*start, *stride, *size as i32].iter().flat_map(|number| number.to_le_bytes()));
            }
            PeList::Listed(list) => {
                out.extend((list.len() as u32).to_le_bytes());
                out.extend(list.iter().flat_map(|pe| pe.to_le_bytes()));
            }
        }
        out.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
        out
    }

    /// From bytes; `None`: they are something else.
    pub fn decode(mut from: &[u8]) -> Option<Self> {
        let from = &mut from;
        let group = (word(from)?, word(from)?);
        let number = word(from)?;
        let [what, leaves, is_list] = *take(from)?;
        let pes = if is_list == 0 {
            let (start, stride, size) = (number32(from)? as i32, number32(from)? as i32, number32(from)? as usize);
            PeList::Strided { start, stride, size }
        } else {
            let count = number32(from)?;
            let list: Option<Vec<i32>> = (0..count).map(|_| number32(from).map(|pe| pe as i32)).collect();
            PeList::Listed(list?.into())
        };
        let words = words(from)?;
        Some(Self { group, number, what, leaves: leaves != 0, pes, words })
    }
}

impl Agreement {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let counts = [self.missing.len(), self.kinds.len(), usize::from(self.left.is_some())];
        out.extend(counts.iter().flat_map(|count| (*count as u32).to_le_bytes()));
        let kinds = self.kinds.iter().flat_map(|(pe, what)| [*pe, u32::from(*what)]);
        let numbers = self.missing.iter().copied().chain(kinds).chain(self.left);
        out.extend(numbers.flat_map(u32::to_le_bytes));
        out.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
        out
    }

    /// From bytes; `None`: they are something else.
    pub fn decode(mut from: &[u8]) -> Option<Self> {
        let from = &mut from;
        let (missing, kinds, left) = (number32(from)?, number32(from)?, number32(from)?);
        let missing = (0..missing).map(|_| number32(from)).collect::<Option<Vec<_>>>()?;
        let kind = |from: &mut &[u8]| Some((number32(from)?, u8::try_from(number32(from)?).ok()?));
        let kinds = (0..kinds).map(|_| kind(from)).collect::<Option<Vec<_>>>()?;
        let left = if left == 0 { None } else { Some(number32(from)?) };
        Some(Self { missing, kinds, left, words: words(from)? })
    }
}

fn take<'a, const N: usize>(from: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (head, tail) = from.split_first_chunk()?;
    *from = tail;
    Some(head)
}

fn word(from: &mut &[u8]) -> Option<u64> {
    take(from).map(|bytes| u64::from_le_bytes(*bytes))
}

fn number32(from: &mut &[u8]) -> Option<u32> {
    take(from).map(|bytes| u32::from_le_bytes(*bytes))
}

/// All that is left, as words.
fn words(from: &mut &[u8]) -> Option<Vec<u64>> {
    let (words, rest) = from.as_chunks();
    rest.is_empty().then(|| words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposals_and_outcomes_survive_the_way() {
        let strided = PeList::Strided { start: 9, stride: -2, size: 4 };
        for pes in [strided, PeList::of(&[1, 5, 6])] {
            let (group, words) = ((u64::MAX, 7), vec![1, u64::MAX]);
            let proposal = Proposal { group, number: 3, what: 2, leaves: true, pes, words };
            let bytes = proposal.encode();
            assert_eq!(Proposal::decode(&bytes), Some(proposal));
            (0..bytes.len() - 16).for_each(|length| assert_eq!(Proposal::decode(&bytes[..length]), None));
        }
        let outcome = Agreement { missing: vec![3, 1 << 30], kinds: vec![(0, 2)], left: Some(9), words: vec![5] };
        assert_eq!(Agreement::decode(&outcome.encode()), Some(outcome));
        assert_eq!(Agreement::decode(&Agreement::default().encode()), Some(Agreement::default()));
        assert_eq!(Agreement::decode(&[1, 0, 0, 0]), None);
    }
}
