//! What the first look at libfabric's providers reads.
#![allow(unsafe_code)]

use libfabric_sys::Library;

/// Bytes that this process has read so far.
fn read() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    io.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse().ok()).expect("the kernel counts what is read")
}

#[test]
fn the_kernels_symbols_are_not_searched_where_it_has_no_rdma_devices() {
    let library = match Library::open(None) {
        Ok(library) => library,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    if libfabric_sys::rdma() {
        return eprintln!("skipped: the kernel has RDMA devices");
    }
    let symbols = std::fs::read("/proc/kallsyms").map_or(0, |list| list.len() as u64);
    let look = || {
        let before = read();
        let mut infos = std::ptr::null_mut();
        // SAFETY: no hints; what comes is given back.
        let error = unsafe { library.getinfo(std::ptr::null(), &raw mut infos) };
        assert_eq!(error, 0, "{}", library.strerror(error.into()));
        // SAFETY: of this library.
        unsafe { library.freeinfo(infos) };
        read() - before
    };
    let bytes = library.first_look(look);
    assert!(bytes < symbols.max(2 << 20) / 2, "{bytes} bytes read, of a list of {symbols}");
    // The C library's function is itself again for libfabric.
    library.first_look(look);
}
