//! A server that is a program: started, spoken to over its standard streams and
//! ended with all it started.

use crate::carrier::{Carrier, Event, Outlet};
use crate::lines::Lines;
use crate::proxy::Proxy;
use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep_until, timeout};

/// How long the server may take to end, each time it is asked more firmly.
const GRACE: Duration = Duration::from_secs(2);

/// What a server that is gone may still have said is read for so long.
const LAST_WORDS: Duration = Duration::from_millis(500);

pub(crate) struct Program {
    child: Child,
    stdin: Option<Outlet>,
    /// How it ended, and when its last words have been waited for.
    exit: Option<(String, Instant)>,
}

impl Program {
    /// Starts a server.
    pub(crate) fn start(
        program: &OsString,
        args: &[OsString],
        events: Sender<Event>,
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true);
        // A group of its own: launchers start the server proper, which has to
        // end as well.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let missing = || io::Error::other("the program has no standard streams");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        tokio::task::spawn_local(async move {
            let mut lines = Lines::new(stdout);
            while let Ok(Some(line)) = lines.next().await {
                if events.send(Event::Line(line)).await.is_err() {
                    return;
                }
            }
            let _ = events.send(Event::End("it closed its output".to_owned())).await;
        });
        let (stdin, _) = Outlet::new(stdin);
        Ok(Self { child, stdin: Some(stdin), exit: None })
    }

    async fn gone(&mut self, within: Duration) -> bool {
        timeout(within, self.child.wait()).await.is_ok()
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            // It may have gone meanwhile.
            let _ = rustix::process::kill_process_group(pid, signal);
        }
    }
}

impl Carrier for Program {
    fn send(&mut self, line: String, _: &Proxy) {
        if let Some(stdin) = &self.stdin {
            stdin.send(line);
        }
    }

    fn is_full(&self) -> bool {
        self.stdin.as_ref().is_some_and(Outlet::is_full)
    }

    async fn ended(&mut self) -> String {
        // Its output may still hold answers; the end of that comes as an event.
        // Whoever waits may give up in between, so what is known is kept.
        let (how, until) = match &self.exit {
            Some(exit) => exit,
            None => {
                let status = self.child.wait().await;
                let how = status.map_or_else(|error| error.to_string(), in_words);
                self.exit.insert((how, Instant::now() + LAST_WORDS))
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
        if self.gone(GRACE).await {
            return;
        }
        #[cfg(unix)]
        {
            self.signal(rustix::process::Signal::TERM);
            if self.gone(GRACE).await {
                return;
            }
            self.signal(rustix::process::Signal::KILL);
        }
        let _ = self.child.start_kill();
        self.gone(GRACE).await;
    }
}

/// How a program ended.
fn in_words(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("it was ended by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("it ended with exit code {code}"),
        None => "it ended".to_owned(),
    }
}
