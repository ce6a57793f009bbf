//! Source lines of call sites, looked up once each.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use pellucid_profile::report::build_id::build_id;
use pellucid_profile::report::lines::Resolver;
use pellucid_profile::report::place;
use pellucid_profile::trace::read::{Call, EventSite};

/// What is known of the sites of a trace.
#[derive(Default)]
pub(super) struct Sites {
    resolver: Resolver,
    /// Whether a file is the one that the program had loaded.
    same: RefCell<HashMap<Arc<str>, bool>>,
    known: RefCell<HashMap<Arc<EventSite>, Arc<str>>>,
}

impl Sites {
    /// Where a call is made, for people: `main at a.c:12`, or the place in its file where no line is known.
    pub(super) fn of(&self, call: &Call) -> Option<Arc<str>> {
        let site = call.site.as_ref()?;
        if let Some(known) = self.known.borrow().get(site) {
            return Some(known.clone());
        }
        let found: Arc<str> = self.find(site).into();
        self.known.borrow_mut().insert(site.clone(), found.clone());
        Some(found)
    }

    fn find(&self, site: &EventSite) -> String {
        // Lines of a file that was built anew are others.
        let is_same = || build_id(Path::new(&*site.path)).is_none_or(|id| id == *site.build_id);
        let is_same = *self.same.borrow_mut().entry(site.path.clone()).or_insert_with(is_same);
        if is_same {
            place(Some((&site.path, site.address)), &self.resolver)
        } else {
            let name = site.path.rsplit('/').next().unwrap_or_default();
            format!("{name}+{:#x}", site.address)
        }
    }
}
