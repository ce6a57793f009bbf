//! PEs that wait in line: who waits for one that waits himself, waits for another.

use std::collections::{HashMap, HashSet};

use super::causes::{Because, Cause};

/// For whom a PE waited while another one waited for it: by the one that waited, and for whom. `None`: that is not
/// known.
pub struct WaitLines(HashMap<(u32, u32), Option<u32>>);

/// Whose work ended a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// It is not known.
    NotKnown,
    /// Of none of these, who wait for each other in turn.
    InTurn(Vec<u32>),
    /// Of the last of these: PEs that wait for each other, the one that waited first.
    Line(Vec<u32>),
}

impl Whose {
    /// Whether it is known that a wait was not for this PE.
    pub fn is_not_of(&self, pe: u32) -> bool {
        match self {
            Whose::NotKnown => false,
            Whose::InTurn(pes) => !pes.contains(&pe),
            Whose::Line(pes) => pes.last() != Some(&pe),
        }
    }
}

impl WaitLines {
    /// Of these waits.
    pub fn of<'a>(rows: impl Iterator<Item = &'a Cause>) -> WaitLines {
        let mut because = HashMap::new();
        for row in rows {
            if let Some(by) = &row.by {
                because.entry((row.pe, by.pe)).or_insert(row.because);
            }
        }
        let whom = |because| if let Because::Waited(_, whom) = because { Some(whom) } else { None };
        WaitLines(because.into_iter().filter_map(|(pair, because)| Some((pair, whom(because)?))).collect())
    }

    /// Who is waited for, by one who waits for `first`: the PEs, the first in line last. `None`: somebody in it waits
    /// for one before him.
    pub fn from(&self, waits: u32, first: u32) -> Option<Vec<u32>> {
        match self.follow(waits, first) {
            (line, _, false) => Some(line),
            (_, _, true) => None,
        }
    }

    /// Whose work ended the waits of a row.
    pub fn whose(&self, row: &Cause) -> Whose {
        let Some(by) = &row.by else { return Whose::NotKnown };
        match self.follow(row.pe, by.pe) {
            (line, _, true) => Whose::InTurn(line),
            (line, true, false) => Whose::Line(line),
            (_, false, false) => Whose::NotKnown,
        }
    }

    /// The line, whether the last one in it did not wait himself for somebody unknown, and whether he waits for one
    /// before him.
    fn follow(&self, waits: u32, first: u32) -> (Vec<u32>, bool, bool) {
        let (mut line, mut known) = (vec![waits, first], HashSet::from([waits, first]));
        let mut pair = (waits, first);
        loop {
            match self.0.get(&pair) {
                None => return (line, true, false),
                Some(None) => return (line, false, false),
                Some(&Some(whom)) if !known.insert(whom) => return (line, true, true),
                Some(&Some(whom)) => {
                    line.push(whom);
                    pair = (pair.1, whom);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::phases::Place;
    use super::*;
    use crate::tables::Releaser;

    fn row(pe: u32, by: u32, because: Because) -> Cause {
        let site = Place { path: "".into(), address: 0, routine: "shmem_long_wait_until" };
        let by = Some(Releaser { pe: by, ..Releaser::default() });
        Cause { pe, site, region: String::new(), waits: 1, ns: 10, by, because }
    }

    #[test]
    fn who_waits_for_one_that_waits_is_not_waiting_for_it() {
        let on = |whom| Because::Waited(5, whom);
        let rows = [row(3, 2, on(Some(1))), row(2, 1, on(Some(0))), row(1, 0, Because::Worked(9)), row(4, 5, on(None))];
        let lines = WaitLines::of(rows.iter());
        assert_eq!(lines.whose(&rows[0]), Whose::Line(vec![3, 2, 1, 0]));
        assert_eq!(lines.from(3, 2), Some(vec![3, 2, 1, 0]));
        assert!(lines.whose(&rows[0]).is_not_of(2) && !lines.whose(&rows[0]).is_not_of(0));
        // For whom PE 5 waited is not known: it may be any.
        assert_eq!((lines.whose(&rows[3]), lines.from(4, 5)), (Whose::NotKnown, Some(vec![4, 5])));
        assert!(!lines.whose(&rows[3]).is_not_of(0));
        let turns = [row(0, 1, on(Some(0))), row(1, 0, on(Some(1)))];
        let lines = WaitLines::of(turns.iter());
        assert_eq!((lines.whose(&turns[0]), lines.from(0, 1)), (Whose::InTurn(vec![0, 1]), None));
        assert!(lines.whose(&turns[0]).is_not_of(2));
    }
}
