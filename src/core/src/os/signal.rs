//! What signals are called.

/// A signal's meaning in words: `signal 11 (segmentation fault)`.
pub fn describe(signal: i32) -> String {
    let words = match signal {
        libc::SIGHUP => "hang-up",
        libc::SIGINT => "interrupt",
        libc::SIGQUIT => "quit",
        libc::SIGILL => "illegal instruction",
        libc::SIGTRAP => "trace trap",
        libc::SIGABRT => "abort",
        libc::SIGBUS => "bus error",
        libc::SIGFPE => "arithmetic exception",
        libc::SIGKILL => "kill",
        libc::SIGUSR1 => "user signal 1",
        libc::SIGSEGV => "segmentation fault",
        libc::SIGUSR2 => "user signal 2",
        libc::SIGPIPE => "broken pipe",
        libc::SIGALRM => "alarm",
        libc::SIGTERM => "termination",
        libc::SIGXCPU => "CPU time limit",
        libc::SIGXFSZ => "file size limit",
        libc::SIGSYS => "bad system call",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({words})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(describe(11), "signal 11 (segmentation fault)");
        assert_eq!(describe(64), "signal 64");
    }
}
