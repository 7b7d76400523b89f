//! The payload on the standard input, waited for only so long: a host that never
//! closes its end must not hang the agent.

use std::io::{self, Read};
use std::time::Duration;

/// A larger payload is refused.
const LARGEST: usize = 256 << 20;

/// All of the standard input.
pub(super) fn read(timeout: Duration) -> io::Result<Vec<u8>> {
    let mut payload = Vec::new();
    let mut input = io::stdin().lock();
    let mut piece = [0; 16 << 10];
    let waits = Wait::until(timeout);
    loop {
        waits.wait()?;
        // The lock's buffer is passed by for pieces this large, so that nothing
        // is left in it while we wait.
        match input.read(&mut piece) {
            Ok(0) => return Ok(payload),
            Ok(n) => payload.extend_from_slice(&piece[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if payload.len() > LARGEST {
            return Err(io::Error::other("it is larger than 256 MiB"));
        }
    }
}

#[cfg(unix)]
struct Wait(std::time::Instant);

#[cfg(unix)]
impl Wait {
    fn until(timeout: Duration) -> Self {
        Self(std::time::Instant::now() + timeout)
    }

    /// Waits until there is something to read, or its end.
    fn wait(&self) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        loop {
            let left = self.0.saturating_duration_since(std::time::Instant::now());
            let left = Timespec::try_from(left).map_err(io::Error::other)?;
            let stdin = rustix::stdio::stdin();
            let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut fds, Some(&left)) {
                Ok(0) => return Err(io::Error::new(io::ErrorKind::TimedOut, "it never ended")),
                Ok(_) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(not(unix))]
struct Wait;

#[cfg(not(unix))]
impl Wait {
    fn until(_: Duration) -> Self {
        Self
    }

    fn wait(&self) -> io::Result<()> {
        Ok(())
    }
}
