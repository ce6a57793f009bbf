//! A profile, as rules look at it: what several of them ask for is worked out once.

use std::cell::OnceCell;
use std::ops::Deref;

use crate::merge::Merged;
use crate::report::grid::Grid;
use crate::report::{CALL_SITES, LinePhase, Options, Symbols, grids, phases_by_line};

use super::uneven_work::{Groups, groups};

/// See the module. It is the profile, for whoever asks for no more.
pub struct Case<'a> {
    /// The profile.
    pub profile: &'a Merged,
    /// Source lines of its addresses.
    pub symbols: &'a dyn Symbols,
    call_sites: OnceCell<Option<Grid>>,
    line_phases: OnceCell<Vec<LinePhase>>,
    uneven: OnceCell<Option<Groups<'a>>>,
}

impl<'a> Case<'a> {
    pub(crate) fn new(profile: &'a Merged, symbols: &'a dyn Symbols) -> Case<'a> {
        let (call_sites, line_phases, uneven) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Case { profile, symbols, call_sites, line_phases, uneven }
    }

    /// The view `callsites`, where the profile has any.
    pub(super) fn call_sites(&self) -> Option<&Grid> {
        let made = || grids(&CALL_SITES, self.profile, &Options::default(), self.symbols).into_iter().next();
        self.call_sites.get_or_init(made).as_ref()
    }

    /// What happens between two lines of the program.
    pub(super) fn line_phases(&self) -> &[LinePhase] {
        self.line_phases.get_or_init(|| phases_by_line(self.profile, self.symbols))
    }

    /// The PEs that have more to do than the others, where these are several.
    pub(super) fn uneven(&self) -> Option<&Groups<'a>> {
        self.uneven.get_or_init(|| groups(self)).as_ref()
    }
}

impl Deref for Case<'_> {
    type Target = Merged;

    fn deref(&self) -> &Merged {
        self.profile
    }
}
