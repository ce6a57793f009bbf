//! Words for where a PE is, or was when it ended.

use super::current::{CurrentOp, Phase};
use super::layout::symmetric;
use crate::op::gasnet::Awaited;
use crate::op::{self, Class};

/// An address as an object in the symmetric memory of a PE, by its offset, which is the same on every PE: `heap+0x40`,
/// `static+0x1a8`; else `address 0x7f0012`.
pub(crate) fn object(memory: [u64; 4], addr: u64) -> String {
    match symmetric(memory, addr) {
        Some((0, offset)) => format!("heap+{offset:#x}"),
        Some((_, offset)) => format!("static+{offset:#x}"),
        None => format!("address {addr:#x}"),
    }
}

impl CurrentOp {
    /// `in shmem_long_put (to PE 3, heap+0x40, 8 bytes)`, `after its last routine shmem_quiet`; `object` names an
    /// address of the PE.
    pub fn phrase(&self, object: impl Fn(u64) -> String) -> String {
        let routine = self.routine;
        match self.phase {
            Phase::Inside => format!("in {routine}{}", self.operands(object)),
            Phase::Entered => format!("in or after {routine}{}", self.operands(object)),
            Phase::Returned => format!("after its last routine {routine}"),
        }
    }

    /// ` (to PE 3, heap+0x40, 8 bytes)`
    pub(crate) fn operands(&self, object: impl Fn(u64) -> String) -> String {
        match self.awaited() {
            Some((peer, Awaited::Request { handler, replies: true, .. })) if self.op != op::gasnet::NO_ROOM => {
                return format!(" (reply of handler {handler} of PE {peer})");
            }
            Some((peer, Awaited::Request { handler, .. })) => return format!(" (handler {handler} of PE {peer})"),
            Some((peer, Awaited::Part)) => return format!(" (a collective, PE {peer})"),
            None => {}
        }
        if let Some((peer, of)) = self.awaited_request() {
            let peer = peer.map(|peer| format!(", PE {peer}")).unwrap_or_default();
            return format!(" ({}{peer})", of.unwrap_or("an operation"));
        }
        let direction = match op::get(self.op).map(|row| row.class) {
            Some(Class::Handler) if op::traits(self.op) & op::TRANSFER != 0 => "to ",
            Some(Class::Put | Class::Signal | Class::Message) => "to ",
            Some(Class::Get | Class::Handler) => "from ",
            Some(Class::Amo | Class::Lock) => "on ",
            _ => "",
        };
        let mut parts = Vec::new();
        parts.extend(self.peer.map(|peer| format!("{direction}PE {peer}")));
        parts.extend(self.addr.filter(|addr| *addr != 0).map(object));
        parts.extend(self.bytes.filter(|bytes| *bytes != 0).map(|bytes| format!("{bytes} bytes")));
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }

    /// Of a wait for a request: the PE that it lacks something of, and the routine that began it, where they are known.
    pub fn awaited_request(&self) -> Option<(Option<u32>, Option<&'static str>)> {
        let addr = self.addr.filter(|_| op::request::waits(self.op))?;
        op::request::awaits(addr).map(|of| (self.peer, of))
    }

    /// Of a wait for messages: a PE that has not answered, and what it may have to do.
    pub fn awaited(&self) -> Option<(u32, Awaited)> {
        let (peer, addr) = (self.peer?, self.addr.filter(|_| op::gasnet::waits_for_messages(self.op))?);
        Awaited::of(addr).map(|awaited| (peer, awaited))
    }

    /// `, called from main at solve.c:44`, as `line` finds it for a file and a return address; else
    /// `, called from solve+0x1234`, of which `oshprof line solve+0x1234` may know more elsewhere. Empty where the
    /// place is not known.
    pub fn called_from(&self, line: impl Fn(&str, u64) -> Option<String>) -> String {
        let Some((path, address)) = &self.site else { return String::new() };
        let place =
            line(path, *address).unwrap_or_else(|| format!("{}+{address:#x}", path.rsplit('/').next().unwrap_or(path)));
        format!(", called from {place}")
    }
}
