//! Reads the payload from the standard input with a time limit: a host that never closes its end
//! must not hang the agent.

use std::io::{self, Read};
use std::time::{Duration, Instant};

/// Maximum size of a payload, in bytes. A larger one would take more time and memory than an agent
/// should wait for or a machine should provide.
const LARGEST: usize = 16 << 20;

/// Number of timeouts granted to a payload that keeps arriving, as on a busy machine.
const MAX_TIMEOUTS: u32 = 4;

/// Initial capacity of the buffer, in bytes.
const ROOM: usize = 16 << 10;

/// Reads the whole standard input.
pub(super) fn read(timeout: Duration) -> io::Result<Vec<u8>> {
    let mut payload = vec![0; ROOM];
    let (mut length, mut is_refused) = (0, false);
    let mut input = io::stdin().lock();
    let last = Instant::now() + timeout * MAX_TIMEOUTS;
    loop {
        // A sender that is silent for this long is stuck.
        Wait::until((Instant::now() + timeout).min(last)).wait()?;
        // Room that is larger than the lock's buffer is filled past it, so that
        // nothing is left in the buffer while we wait.
        if payload.len() - length < ROOM {
            payload.resize(payload.len() * 2, 0);
        }
        match input.read(&mut payload[length..]) {
            Ok(0) if is_refused => {
                let why = "it is larger than 16 MiB";
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
            }
            Ok(0) => {
                payload.truncate(length);
                return Ok(payload);
            }
            Ok(n) => length += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if length > LARGEST {
            // The rest is read over what is there: a host that cannot write all of it would
            // take the hook for a broken one.
            (length, is_refused) = (0, true);
        }
    }
}

#[cfg(unix)]
struct Wait(Instant);

#[cfg(unix)]
impl Wait {
    fn until(deadline: Instant) -> Self {
        Self(deadline)
    }

    /// Waits until data or the end of the input is available.
    fn wait(&self) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        loop {
            let left = self.0.saturating_duration_since(Instant::now());
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
    fn until(_: Instant) -> Self {
        Self
    }

    fn wait(&self) -> io::Result<()> {
        Ok(())
    }
}
