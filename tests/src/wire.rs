//! A slow and lossy wire: frames go from one TAP device to another in this process, late or never. For kernels without
//! netem.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longest frame that is carried.
const FRAME: usize = 65536;
/// Frames on their way in one direction at most: a wire holds no more, and the rest is lost.
const HELD: usize = 4096;

/// How frames fare, in both directions alike.
#[derive(Debug, Clone, Copy)]
pub struct Quality {
    /// From one end to the other.
    pub delay: Duration,
    /// Of a hundred frames, so many do not arrive.
    pub loss: u64,
}

/// The wire. It goes, with both devices, when the value is dropped.
#[derive(Debug)]
pub struct Wire {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Wire {
    /// Makes both devices, each `(network namespace, name)`, and carries frames between them.
    ///
    /// # Errors
    /// The kernel has no TAP devices, or this process may not make any.
    pub fn new(ends: [(&str, &str); 2], quality: Quality) -> io::Result<Wire> {
        let [one, other] = ends.map(|(space, device)| tap(space, device));
        let ends = [one?, other?];
        let end = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&end);
        let thread = std::thread::Builder::new().name("wire".into()).spawn(move || carry(&ends, quality, &is_over))?;
        Ok(Wire { end, thread: Some(thread) })
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A TAP device in a network namespace; it is there as long as the file is open. A thread of its own visits the
/// namespace.
fn tap(space: &str, device: &str) -> io::Result<File> {
    let space = File::open(format!("/run/netns/{space}"))?;
    let device = device.to_owned();
    let made = std::thread::spawn(move || {
        // SAFETY: a descriptor of a namespace; only this thread moves there.
        if unsafe { libc::setns(space.as_raw_fd(), libc::CLONE_NEWNET) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/net/tun")?;
        // SAFETY: zeroes are a valid request.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(device.bytes().take(libc::IFNAMSIZ - 1)) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: a request with a name that ends.
        match unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) } {
            0 => Ok(file),
            _ => Err(io::Error::last_os_error()),
        }
    });
    made.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}

fn carry(ends: &[File; 2], quality: Quality, is_over: &AtomicBool) {
    let mut queues: [VecDeque<(Instant, Vec<u8>)>; 2] = Default::default();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut frame = vec![0; FRAME];
    while !is_over.load(Ordering::Acquire) {
        for (from, queue) in queues.iter_mut().enumerate() {
            while let Ok(bytes) = (&ends[from]).read(&mut frame) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                if random % 100 >= quality.loss && queue.len() < HELD {
                    queue.push_back((Instant::now() + quality.delay, frame[..bytes].to_vec()));
                }
            }
            while queue.front().is_some_and(|(due, _)| *due <= Instant::now()) {
                let Some((_, frame)) = queue.pop_front() else { break };
                // A device that is down takes nothing, as a wire that is cut.
                let _ = (&ends[1 - from]).write(&frame);
            }
        }
        let due = queues.iter().filter_map(|queue| queue.front()).map(|(due, _)| *due).min();
        let left = due.map_or(Duration::from_millis(100), |due| due.saturating_duration_since(Instant::now()));
        let poll = |file: &File| libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let mut fds = [poll(&ends[0]), poll(&ends[1])];
        // SAFETY: two descriptors that are open as long as this runs.
        unsafe { libc::poll(fds.as_mut_ptr(), 2, left.as_micros().div_ceil(1000).min(100) as i32) };
    }
}
