//! Regions that are open, for formats that end whatever was begun last.

use pellucid_profile::trace::read::What;

/// Of a thread, the innermost last.
#[derive(Debug, Default)]
pub(super) struct OpenRegions(Vec<String>);

impl OpenRegions {
    /// An event comes. Gives how often it is to be written: the end of a region once for each that was begun within it,
    /// too, and not at all where its begin is not in the trace.
    pub(super) fn note(&mut self, what: &What) -> usize {
        match what {
            What::RegionBegin(name) => self.0.push(name.clone()),
            What::RegionEnd(name) => {
                let at = self.0.iter().rposition(|known| known == name).unwrap_or(self.0.len());
                return self.0.split_off(at).len();
            }
            _ => {}
        }
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_that_of_its_region() {
        let mut open = OpenRegions::default();
        let (begin, end) = (|name: &str| What::RegionBegin(name.into()), |name: &str| What::RegionEnd(name.into()));
        assert_eq!(open.note(&end("before")), 0);
        for name in ["outer", "inner", "inner"] {
            assert_eq!(open.note(&begin(name)), 1);
        }
        assert_eq!(open.note(&end("inner")), 1);
        assert_eq!(open.note(&What::Marker("m".into(), 1)), 1);
        assert_eq!(open.note(&end("outer")), 2);
        assert_eq!(open.note(&end("outer")), 0);
    }
}
