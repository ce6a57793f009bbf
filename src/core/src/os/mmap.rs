//! Memory files and mappings.
#![allow(unsafe_code)]

use super::standard;
use crate::base::{Cause, Fault, env};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Bytes of the largest pages that kernels have (those of aarch64 may have 64 KiB). What is mapped by itself begins at
/// a multiple of it in its file, so that a job's memory is laid out alike everywhere.
pub const GRANULE: usize = 64 << 10;

/// Bytes of the kernel's pages.
pub fn page() -> usize {
    // SAFETY: no memory is involved.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// `n` rounded up to a multiple of `to`, a power of two.
pub const fn round_up(n: usize, to: usize) -> usize {
    (n + to - 1) & !(to - 1)
}

/// The number of the error of the system call that just failed.
pub fn last_errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// The fault for the system call that just failed.
pub fn last_error(what: &'static str) -> Fault {
    Fault::from(Cause::Os { what, error: std::io::Error::last_os_error().raw_os_error().unwrap_or(0) })
}

/// Fault: the system's pages are larger than those that the memory of a job is laid out in.
pub fn check_page() -> Result<(), Fault> {
    let page = page();
    if GRANULE.is_multiple_of(page) {
        return Ok(());
    }
    let text = format!("the kernel's pages have {page} bytes: kernels with pages of up to {GRANULE} are supported");
    Err(Fault::from(Cause::Startup(text)))
}

/// A new memory file, inherited by children that are started later.
pub fn memfd(name: &std::ffi::CStr) -> Result<OwnedFd, Fault> {
    let make = |flags| {
        // SAFETY: the name is a valid C string; the result is checked before it is owned.
        unsafe { libc::memfd_create(name.as_ptr(), flags) }
    };
    let mut fd = make(0);
    if fd < 0 && last_errno() == libc::EACCES {
        // Systems that want to hear that nothing is to be executed of it (vm.memfd_noexec = 2, before Linux 6.6).
        fd = make(libc::MFD_NOEXEC_SEAL);
    }
    if fd < 0 {
        return Err(last_error("memfd_create"));
    }
    // SAFETY: fd was just created and is owned by no one else.
    Ok(standard::above(unsafe { OwnedFd::from_raw_fd(fd) }))
}

/// Makes a file at least `bytes` long; pages that are never written cost nothing.
pub fn grow(fd: RawFd, bytes: usize) -> Result<(), Fault> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: stat is writable; fd is only looked up.
    if unsafe { libc::fstat(fd, stat.as_mut_ptr()) } != 0 {
        return Err(last_error("fstat of the job's memory file"));
    }
    // SAFETY: fstat succeeded and filled it.
    let size = unsafe { stat.assume_init() }.st_size;
    if size as u64 >= bytes as u64 {
        return Ok(());
    }
    check_limit(bytes)?;
    // SAFETY: no memory is involved.
    if unsafe { libc::ftruncate(fd, bytes as libc::off_t) } != 0 {
        return Err(refused("ftruncate", last_errno()));
    }
    Ok(())
}

/// As [`grow`], while others may do the same: the file never becomes shorter. Its last [`GRANULE`] is nobody else's.
pub fn extend(fd: RawFd, bytes: usize) -> Result<(), Fault> {
    check_limit(bytes)?;
    // SAFETY: one byte of this function's.
    if unsafe { libc::pwrite(fd, [0u8].as_ptr().cast(), 1, (bytes - 1) as libc::off_t) } != 1 {
        return Err(last_error("growth of the job's memory file"));
    }
    release(fd, (bytes - 1) & !(GRANULE - 1), GRANULE);
    Ok(())
}

fn check_limit(bytes: usize) -> Result<(), Fault> {
    // Beyond the limit on file size there would be a signal that ends the process.
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the result.
    if unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0 && bytes as u64 > limit.rlim_cur {
        return Err(Fault::from(Cause::Startup(format!(
            "the job's memory file of {} KiB is above the limit on file size (ulimit -f: {} KiB): raise it, or set a \
             smaller {}",
            bytes >> 10,
            limit.rlim_cur >> 10,
            env::symmetric_size_by()
        ))));
    }
    Ok(())
}

/// Whether addresses are to be left to the kernel: ThreadSanitizer takes others for none at all, and would map at 0.
fn leaves_no_choice() -> bool {
    unsafe extern "C" {
        fn pellucid_has_thread_sanitizer() -> std::ffi::c_int;
    }
    // SAFETY: asks for a value.
    unsafe { pellucid_has_thread_sanitizer() != 0 }
}

/// Maps `len` bytes of a file from `offset`, shared, readable and writable. `at`: an address to ask for, used only when
/// free.
pub fn shared(fd: RawFd, offset: usize, len: usize, at: Option<usize>) -> Result<*mut u8, Fault> {
    map(fd, offset, len, at, libc::MAP_NORESERVE).map_err(|error| refused("mmap", error))
}

#[cold]
fn refused(call: &str, error: i32) -> Fault {
    let error = std::io::Error::from_raw_os_error(error);
    let by = env::symmetric_size_by();
    Fault::from(Cause::Startup(format!(
        "{call} of the job's memory file (a smaller {by} needs less; ulimit -v limits it): {error}"
    )))
}

/// As [`shared`]; where the address is taken, at a multiple of `align`, a power of two, as long as there are addresses
/// for so much more.
pub fn shared_aligned(fd: RawFd, offset: usize, len: usize, place: (usize, usize)) -> Result<*mut u8, Fault> {
    map_aligned(fd, offset, len, place, libc::MAP_NORESERVE).map_err(|error| refused("mmap", error))
}

/// As [`reserved`] and [`shared_aligned`].
pub fn reserved_aligned(fd: RawFd, offset: usize, len: usize, place: (usize, usize)) -> Result<*mut u8, i32> {
    map_aligned(fd, offset, len, place, 0)
}

fn map_aligned(fd: RawFd, offset: usize, len: usize, (at, align): (usize, usize), flags: i32) -> Result<*mut u8, i32> {
    if let Some(mapped) = map_at(fd, offset, len, at, flags) {
        return Ok(mapped);
    }
    let Some(whole) = len.checked_add(align) else { return map(fd, offset, len, None, flags) };
    let empty = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: the kernel chooses a free range, in which nothing can be read or written.
    let range = unsafe { libc::mmap(std::ptr::null_mut(), whole, libc::PROT_NONE, empty, -1, 0) };
    if range == libc::MAP_FAILED {
        return map(fd, offset, len, None, flags);
    }
    let (begin, at) = (range as usize, (range as usize).next_multiple_of(align));
    let end = round_up(at + len, page()).min(begin + whole);
    // SAFETY: parts of the range, which is this function's: what is left before and behind goes, and the file replaces
    // the rest.
    let mapped = unsafe {
        for (from, to) in [(begin, at), (end, round_up(begin + whole, page()))] {
            if to > from {
                libc::munmap(from as *mut _, to - from);
            }
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | flags | libc::MAP_FIXED;
        libc::mmap(at as *mut _, len, access, flags, fd, offset as libc::off_t)
    };
    if mapped != libc::MAP_FAILED {
        return Ok(mapped.cast());
    }
    // SAFETY: what is left of the range.
    unsafe { libc::munmap(at as *mut _, end - at) };
    map(fd, offset, len, None, flags)
}

/// What a core file has of mapped memory from now on: nothing, or all that is there. It would have all pages of a
/// sparse file, and each of them would be made for it. Where the kernel refuses, core files are large, and nothing else
/// is wrong.
pub fn dump(start: usize, len: usize, dumped: bool) {
    let (page, end) = (page(), start + len);
    // Where memory begins or ends within a page, that is in core files.
    let (from, to, advice) = match dumped {
        true => (start & !(page - 1), round_up(end, page), libc::MADV_DODUMP),
        false => (round_up(start, page), end & !(page - 1), libc::MADV_DONTDUMP),
    };
    // SAFETY: what is in memory stays as it is.
    unsafe { libc::madvise(from as *mut _, to.saturating_sub(from), advice) };
}

/// As [`shared`], where pages that there are few of are kept for the mapping at once. Error: of the system.
pub fn reserved(fd: RawFd, offset: usize, len: usize, at: Option<usize>) -> Result<*mut u8, i32> {
    map(fd, offset, len, at, 0)
}

/// At an address, if that is free.
fn map_at(fd: RawFd, offset: usize, len: usize, at: usize, flags: i32) -> Option<*mut u8> {
    if leaves_no_choice() {
        return None;
    }
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | flags | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: MAP_FIXED_NOREPLACE never replaces a mapping that exists.
    let p = unsafe { libc::mmap(at as *mut _, len, access, flags, fd, offset as libc::off_t) };
    if p as usize == at {
        return Some(p.cast());
    }
    if p != libc::MAP_FAILED {
        // SAFETY: p was mapped just now by this call (an old kernel took the address as a hint) and is not used.
        unsafe { libc::munmap(p, len) };
    }
    None
}

fn map(fd: RawFd, offset: usize, len: usize, at: Option<usize>, flags: i32) -> Result<*mut u8, i32> {
    if let Some(mapped) = at.and_then(|at| map_at(fd, offset, len, at, flags)) {
        return Ok(mapped);
    }
    // SAFETY: the kernel chooses a free range.
    let p = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | flags,
            fd,
            offset as libc::off_t,
        )
    };
    if p == libc::MAP_FAILED { Err(last_errno()) } else { Ok(p.cast()) }
}

/// Ends a mapping.
///
/// # Safety
/// It is one of this module's, and nobody uses it any more.
pub unsafe fn unmap(start: *mut u8, len: usize) {
    // SAFETY: the caller's.
    unsafe { libc::munmap(start.cast(), len) };
}

/// Gives the pages of a part of a file back: it reads as zeros.
pub fn release(fd: RawFd, offset: usize, len: usize) {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: no memory of this process is involved but what the caller has given up.
    unsafe { libc::fallocate(fd, mode, offset as libc::off_t, len as libc::off_t) };
}

/// Puts `len` bytes of a file from `offset` in place of the pages at `addr`.
///
/// # Safety
/// The pages must hold the same bytes as the file, and nothing but those bytes may depend on the old mapping.
pub unsafe fn replace_shared(fd: RawFd, offset: usize, addr: usize, len: usize) -> Result<(), Fault> {
    // SAFETY: the caller vouches for the range.
    let p = unsafe {
        libc::mmap(
            addr as *mut _,
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_FIXED,
            fd,
            offset as libc::off_t,
        )
    };
    if p == libc::MAP_FAILED { Err(last_error("mmap over .data and .bss")) } else { Ok(()) }
}

/// Puts constants of a file in place of the pages at `addr`, to be read only: a process that stores there is ended.
///
/// # Safety
/// Nothing may depend on the old mapping.
pub unsafe fn replace_by_constants(fd: RawFd, offset: usize, addr: usize, len: usize) -> Result<(), Fault> {
    let flags = libc::MAP_PRIVATE | libc::MAP_FIXED;
    // SAFETY: the caller vouches for the range.
    let p = unsafe { libc::mmap(addr as *mut _, len, libc::PROT_READ, flags, fd, offset as libc::off_t) };
    if p == libc::MAP_FAILED { Err(last_error("mmap of constants")) } else { Ok(()) }
}

/// Lets pages be stored to, or no more. Where the system does not, they stay as they are.
pub fn allow_stores(pages: std::ops::Range<usize>, may_store: bool) {
    let access = if may_store { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
    // SAFETY: no memory goes away, and what is stored to read-only pages is for the caller to see to.
    unsafe { libc::mprotect(pages.start as *mut _, pages.len(), access) };
}

/// A system call that has failed where nothing may be allocated, as a [`Fault`] would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// Which, and for what.
    pub what: &'static str,
    /// Number of the error.
    pub error: i32,
}

impl Refused {
    /// The system call that just failed.
    fn last(what: &'static str) -> Self {
        Self { what, error: last_errno() }
    }
}

/// Puts private pages with the same content in place of the `len` bytes at `addr`, which show `fd` from `offset`. Where
/// it fails, the range is as it was. Without a descriptor ([`super::own_fd::NONE`]: the program has closed it) what is
/// there is read from the range.
///
/// # Safety
/// The range must be such a mapping.
pub unsafe fn replace_private(fd: RawFd, offset: usize, addr: usize, len: usize) -> Result<(), Refused> {
    // SAFETY: an anonymous range of the kernel's choice.
    let new = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if new == libc::MAP_FAILED {
        return Err(Refused::last("mmap of a private copy of .data and .bss"));
    }
    if fd == super::own_fd::NONE {
        // Not by `copy_nonoverlapping`: AddressSanitizer's `memcpy` objects to the red zones between variables.
        for at in (0..len).step_by(size_of::<usize>()) {
            // SAFETY: both are whole pages, and others may store to the range, as a program that forks then expects.
            unsafe {
                let word = (addr as *const u8).add(at).cast::<usize>().read_volatile();
                new.cast::<u8>().add(at).cast::<usize>().write_volatile(word);
            }
        }
    }
    let mut at = if fd == super::own_fd::NONE { len } else { 0 };
    while at < len {
        // Only the parts of the file that were ever written are copied; holes stay zero pages.
        // SAFETY: lseek moves the file offset, which nothing else uses.
        let data = unsafe { libc::lseek(fd, (offset + at) as libc::off_t, libc::SEEK_DATA) };
        if data < 0 || data as usize >= offset + len {
            break;
        }
        // SAFETY: as above.
        let hole = unsafe { libc::lseek(fd, data, libc::SEEK_HOLE) };
        let stop = if hole < 0 { offset + len } else { (hole as usize).min(offset + len) };
        let mut from = data as usize;
        while from < stop {
            // SAFETY: the destination lies in the new range: from - offset < len.
            let n = unsafe { libc::pread(fd, new.add(from - offset), stop - from, from as libc::off_t) };
            if n <= 0 {
                return Err(Refused::last("copy of .data and .bss"));
            }
            from += n as usize;
        }
        at = stop - offset;
    }
    // SAFETY: moves the copy over the shared range, which the caller vouches for.
    let p =
        unsafe { libc::mremap(new, len, len, libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED, addr as *mut libc::c_void) };
    if p == libc::MAP_FAILED { Err(Refused::last("mremap of .data and .bss")) } else { Ok(()) }
}

/// Copies `len` bytes of memory from `addr` into a file at `offset`, with bare system calls: AddressSanitizer's
/// `memcpy` and `pwrite` object to the red zones between variables.
pub fn copy_to_file(fd: RawFd, offset: usize, addr: usize, len: usize) -> Result<(), Fault> {
    let mut done = 0;
    while done < len {
        // SAFETY: the kernel checks the source range and answers EFAULT.
        let n = unsafe { libc::syscall(libc::SYS_pwrite64, fd, addr + done, len - done, offset + done) };
        if n <= 0 {
            return Err(last_error("copy of .data and .bss to the job's memory file"));
        }
        done += n as usize;
    }
    Ok(())
}

/// Marks a descriptor to be closed on exec, so that programs that a PE starts do not hold the job's memory.
pub fn close_on_exec(fd: &impl AsRawFd) {
    // SAFETY: sets a flag of a descriptor.
    unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
}

/// Another descriptor of the same file, closed on exec.
pub fn duplicate(fd: &impl AsRawFd) -> Result<OwnedFd, Fault> {
    duplicate_raw(fd.as_raw_fd()).ok_or_else(|| last_error("dup of a memory file"))
}

/// Whether a descriptor is one of a file, as memory files are.
pub fn is_file(fd: RawFd) -> bool {
    // SAFETY: a zeroed stat is a valid value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: stat is writable.
    unsafe { libc::fstat(fd, &raw mut stat) == 0 && stat.st_mode & libc::S_IFMT == libc::S_IFREG }
}

/// Takes ownership of a descriptor that this process inherited. `None` where it is not open.
pub fn inherited(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: F_GETFD only asks; the descriptor was handed to this process to own.
    unsafe { (libc::fcntl(fd, libc::F_GETFD) >= 0).then(|| OwnedFd::from_raw_fd(fd)) }
}

/// Another descriptor of what is open under a number, closed on exec.
pub fn duplicate_raw(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: the new descriptor is nobody else's.
    unsafe {
        let new = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, standard::FIRST);
        (new >= 0).then(|| OwnedFd::from_raw_fd(new))
    }
}
