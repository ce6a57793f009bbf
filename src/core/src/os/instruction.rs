//! What the instruction before a return address called.
#![allow(unsafe_code)]

/// Bytes of the longest call that is looked at.
const CALL: usize = 6;
/// Bytes of an entry of a linkage table.
const ENTRY: usize = 16;

/// The function that was called by the instruction before `returns_to`, past the jumps of linkage tables; 0 where a
/// register or the program's data said which, or no call may return there. `is_loaded` tells which addresses can be
/// read: what looks like a call may be the end of another instruction.
pub fn called(returns_to: usize, is_loaded: impl Fn(usize) -> bool) -> usize {
    if returns_to < CALL || !is_loaded(returns_to - CALL) || !is_loaded(returns_to - 1) {
        return 0;
    }
    // SAFETY: the bytes before are loaded.
    let target = match unsafe { target(returns_to) } {
        Some(Target::Function(address)) => address,
        // SAFETY: it is loaded.
        Some(Target::Slot(slot)) if is_loaded(slot) => unsafe { (slot as *const usize).read_unaligned() },
        _ => return 0,
    };
    if !is_loaded(target) {
        return 0;
    }
    if !is_loaded(target.saturating_add(ENTRY - 1)) {
        return target;
    }
    // SAFETY: it is loaded, and such a jump is within one entry.
    match unsafe { slot(target) } {
        // SAFETY: it is loaded.
        Some(slot) if is_loaded(slot) => unsafe { (slot as *const usize).read_unaligned() },
        _ => target,
    }
}

/// What a call names.
#[cfg_attr(target_arch = "aarch64", expect(dead_code, reason = "no call of that processor reads memory"))]
enum Target {
    Function(usize),
    /// Where the function's address is.
    Slot(usize),
}

/// `call rel32` or `call [rip + disp32]`.
///
/// # Safety
/// The bytes before the address can be read.
#[cfg(target_arch = "x86_64")]
unsafe fn target(returns_to: usize) -> Option<Target> {
    let code = |back: usize| (returns_to - back) as *const u8;
    let relative = |back: usize| {
        // SAFETY: the last four bytes of the instruction.
        let distance = unsafe { code(back).cast::<i32>().read_unaligned() };
        returns_to.wrapping_add_signed(distance as isize)
    };
    // SAFETY: the caller's.
    unsafe {
        if code(5).read() == 0xe8 {
            return Some(Target::Function(relative(4)));
        }
        let is_through_memory = code(6).read() == 0xff && code(5).read() == 0x15;
        is_through_memory.then(|| Target::Slot(relative(4)))
    }
}

/// The slot that a jump `[endbr64] [bnd] jmp [rip + disp32]` reads.
///
/// # Safety
/// The address is one of code.
#[cfg(target_arch = "x86_64")]
unsafe fn slot(code: usize) -> Option<usize> {
    const ENDBR: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    // SAFETY: the caller's: byte by byte, no further than what was recognized goes on.
    let byte = |at: usize| unsafe { (code as *const u8).add(at).read() };
    let mut at = if (0..4).all(|index| byte(index) == ENDBR[index]) { 4 } else { 0 };
    at += usize::from(byte(at) == 0xf2);
    if byte(at) != 0xff || byte(at + 1) != 0x25 {
        return None;
    }
    // SAFETY: the operand of the jump.
    let distance = unsafe { ((code + at + 2) as *const i32).read_unaligned() };
    Some((code + at + 6).wrapping_add_signed(distance as isize))
}

/// `bl`.
///
/// # Safety
/// The bytes before the address can be read.
#[cfg(target_arch = "aarch64")]
unsafe fn target(returns_to: usize) -> Option<Target> {
    // SAFETY: the instruction that called.
    let word = unsafe { ((returns_to - 4) as *const u32).read() };
    let distance = ((word << 6) as i32 >> 6) as isize * 4;
    (word >> 26 == 0b10_0101).then(|| Target::Function((returns_to - 4).wrapping_add_signed(distance)))
}

/// The slot that `[bti] adrp x16; ldr x17, [x16, offset]` reads.
///
/// # Safety
/// The address is one of code.
#[cfg(target_arch = "aarch64")]
unsafe fn slot(code: usize) -> Option<usize> {
    const BTI: u32 = 0xd503_245f;
    // SAFETY: the caller's: word by word, no further than what was recognized goes on.
    let word = |at: usize| unsafe { (code as *const u32).add(at).read() };
    let first = usize::from(word(0) == BTI);
    let page = word(first);
    if page & 0x9f00_001f != 0x9000_0010 {
        return None;
    }
    let load = word(first + 1);
    if load & 0xffc0_03ff != 0xf940_0211 {
        return None;
    }
    let pages = (((page >> 5 & 0x7_ffff) << 2 | page >> 29 & 3) << 11) as i32 >> 11;
    let base = (code + first * 4) & !0xfff;
    Some(base.wrapping_add_signed(pages as isize * 4096) + ((load >> 10 & 0xfff) * 8) as usize)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Bytes of code, and the address behind the first `length` of them.
    fn after(code: &[u8], length: usize) -> usize {
        code.as_ptr() as usize + length
    }

    #[test]
    fn a_direct_call_names_its_function() {
        // Twelve bytes: padding, call +0 (to the padding behind it), padding.
        let code = [0x90, 0x90, 0xe8, 0, 0, 0, 0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90];
        assert_eq!(called(after(&code, 7), |_| true), after(&code, 7));
    }

    #[test]
    fn jumps_of_linkage_tables_are_followed() {
        for head in [&[][..], &[0xf2], &[0xf3, 0x0f, 0x1e, 0xfa], &[0xf3, 0x0f, 0x1e, 0xfa, 0xf2]] {
            // call +0; [endbr64] [bnd] jmp [rip + 0]; the address 0x1234.
            let mut code = vec![0x90, 0x90, 0xe8, 0, 0, 0, 0];
            code.extend_from_slice(head);
            code.extend_from_slice(&[0xff, 0x25, 0, 0, 0, 0]);
            code.extend_from_slice(&0x1234_usize.to_le_bytes());
            assert_eq!(called(after(&code, 7), |_| true), 0x1234);
        }
    }

    #[test]
    fn a_call_through_a_slot_names_what_is_in_it() {
        // call [rip + 0]; the address of code that is no jump.
        let function = [0x90_u8; 8];
        let mut code = vec![0x90, 0xff, 0x15, 0, 0, 0, 0];
        code.extend_from_slice(&(function.as_ptr() as usize).to_le_bytes());
        assert_eq!(called(after(&code, 7), |_| true), function.as_ptr() as usize);
    }

    #[test]
    fn what_is_not_loaded_is_not_read() {
        // The end of a move that looks like a call, and a call through a slot, to where nothing is.
        for code in [[0x90, 0x90, 0xe8, 0, 0, 0, 0x40], [0x90, 0xff, 0x15, 0, 0, 0, 0x40]] {
            let start = code.as_ptr() as usize;
            assert_eq!(called(after(&code, 7), |address| (start..start + 7).contains(&address)), 0);
        }
        // Nothing is before these.
        for nowhere in [0, 1, 5, 0x1000, usize::MAX] {
            assert_eq!(called(nowhere, |_| false), 0);
        }
    }

    #[test]
    fn a_call_through_a_register_names_nothing() {
        let code = [0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0];
        assert_eq!(called(after(&code, 7), |_| true), 0);
    }
}
