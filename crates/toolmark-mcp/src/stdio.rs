//! A server that is a local program: started, connected over its standard streams, and ended with
//! all its child processes.

use crate::lines::ProtocolLines;
use crate::proxy::Proxy;
use crate::transport::{LineWriter, Transport, TransportEvent};
use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep_until, timeout};

/// Time for the server to exit, before each stronger signal.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Time for which the output of a server is still read after it has exited.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

pub(crate) struct ServerProgram {
    child: Child,
    stdin: Option<LineWriter>,
    /// Exit reason, and the time until which output is read.
    exit: Option<(String, Instant)>,
}

impl ServerProgram {
    /// Starts a server.
    pub(crate) fn start(
        program: &OsString,
        args: &[OsString],
        events: Sender<TransportEvent>,
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true);
        // A process group of its own: launchers start the actual server, which has
        // to be ended as well.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let missing = || io::Error::other("the program has no standard streams");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        tokio::task::spawn_local(async move {
            let mut lines = ProtocolLines::new(stdout);
            while let Ok(Some(line)) = lines.next().await {
                if events.send(TransportEvent::Line(line)).await.is_err() {
                    return;
                }
            }
            let _ = events.send(TransportEvent::End("it closed its output".to_owned())).await;
        });
        let (stdin, _) = LineWriter::new(stdin);
        Ok(Self { child, stdin: Some(stdin), exit: None })
    }

    async fn exits_within(&mut self, within: Duration) -> bool {
        timeout(within, self.child.wait()).await.is_ok()
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            // It may have exited in the meantime.
            let _ = rustix::process::kill_process_group(pid, signal);
        }
    }
}

impl Transport for ServerProgram {
    fn send(&mut self, line: String, _: &Proxy) {
        if let Some(stdin) = &self.stdin {
            stdin.send(line);
        }
    }

    fn is_full(&self) -> bool {
        self.stdin.as_ref().is_some_and(LineWriter::is_full)
    }

    async fn ended(&mut self) -> String {
        // Its output may still hold answers, and its end comes as an event. The caller
        // may stop waiting in between, so the exit is remembered.
        let (how, until) = match &self.exit {
            Some(exit) => exit,
            None => {
                let status = self.child.wait().await;
                let how = status.map_or_else(|error| error.to_string(), describe_exit);
                self.exit.insert((how, Instant::now() + DRAIN_TIMEOUT))
            }
        };
        sleep_until(*until).await;
        how.clone()
    }

    fn finish(&mut self) {
        self.stdin = None;
    }

    async fn close(mut self) {
        self.finish();
        if self.exits_within(EXIT_TIMEOUT).await {
            return;
        }
        #[cfg(unix)]
        {
            self.signal(rustix::process::Signal::TERM);
            if self.exits_within(EXIT_TIMEOUT).await {
                return;
            }
            self.signal(rustix::process::Signal::KILL);
        }
        let _ = self.child.start_kill();
        self.exits_within(EXIT_TIMEOUT).await;
    }
}

/// Describes how a program exited.
fn describe_exit(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("it was ended by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("it ended with exit code {code}"),
        None => "it ended".to_owned(),
    }
}
