//! Waits for requests, which show whom they wait for, and in what.

use super::{AWAITS_REQUEST, get, traits};

/// Whether an operation waits for a request.
pub fn waits(op: u16) -> bool {
    traits(op) & AWAITS_REQUEST != 0
}

/// Of such a wait, as its address: the routine that began the request, its number plus 1; 0: not known.
pub const fn awaited(routine: u32) -> usize {
    1 << 18 | routine as usize & 0xffff
}

/// The contrary: the routine, where it is known. `None`: the wait has shown nothing.
pub fn awaits(addr: u64) -> Option<Option<&'static str>> {
    if addr >> 18 != 1 {
        return None;
    }
    let routine = (addr & 0xffff).checked_sub(1).and_then(|op| get(op as u16));
    Some(routine.map(|row| row.name()))
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    #[test]
    fn what_is_awaited_is_read_back() {
        let op = find("shmemx_long_broadcast_nb").unwrap();
        assert_eq!(awaits(awaited(u32::from(op) + 1) as u64), Some(Some("shmemx_long_broadcast_nb")));
        assert_eq!((awaits(awaited(0) as u64), awaits(0)), (Some(None), None));
        assert!(waits(find("shmemx_wait_req").unwrap()) && !waits(find("shmem_long_wait_until").unwrap()));
    }
}
