//! Where the name of a symmetric object is found: in the executable, for static ones.

use std::sync::Arc;

use crate::model::Pe;

/// An address in an executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The PE whose executable it is.
    pub pe: u32,
    /// File.
    pub path: Arc<str>,
    /// Address in it.
    pub address: u64,
}

impl Symbol {
    /// Of an object: (0 heap, 1 static; offset). `None` in the heap, or where the executable is not known.
    pub(super) fn of(pe: &Pe, object: (u8, u64)) -> Option<Symbol> {
        if object.0 != 1 {
            return None;
        }
        // The executable is the first of the loaded objects.
        let program = pe.tables.modules.first()?;
        let address = pe.tables.system.memory[2].checked_add(object.1)?.checked_sub(program.base)?;
        Some(Symbol { pe: pe.pe, path: program.path.as_str().into(), address })
    }
}
