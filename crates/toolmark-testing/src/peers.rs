//! Programs and packages of other projects that tests communicate with. They are large, so they are
//! installed only if `TOOLMARK_PEERS` requests it, and kept in the target directory.

use crate::{skip, switch};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const VARIABLE: &str = "TOOLMARK_PEERS";
const VALUES: [&str; 2] = ["install", "required"];

/// Returns an available peer. Without it, the test is reported as skipped and should return; with
/// `TOOLMARK_PEERS=required` it fails.
#[track_caller]
#[must_use]
pub fn or_skip<T, E: AsRef<str>>(peer: Result<T, E>) -> Option<T> {
    match peer {
        Ok(peer) => Some(peer),
        Err(why) => {
            let why = why.as_ref();
            assert_ne!(switch(VARIABLE, &VALUES), Some("required"), "{why}");
            skip(why);
            None
        }
    }
}

/// Installs a peer into a directory, unless it is already installed.
///
/// # Errors
///
/// Returns why the peer is unavailable: installation is disabled or failed.
pub fn install_once(
    home: &Path,
    install: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let done = home.join("done");
    if done.exists() {
        return Ok(());
    }
    if switch(VARIABLE, &VALUES).is_none() {
        let name = home.file_name().unwrap_or_default().to_string_lossy();
        return Err(format!("{name} is not installed: {VARIABLE}=install is not set"));
    }
    fs::create_dir_all(home).map_err(|error| error.to_string())?;
    // Tests run side by side: a program that another one is still writing cannot be started.
    let lock = fs::File::create(home.join("lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    if done.exists() {
        return Ok(());
    }
    install()?;
    fs::write(done, "").map_err(|error| error.to_string())
}

/// Returns Python with packages (`name==version`) installed below `cache`.
///
/// # Errors
///
/// See [`install_once`].
pub fn python(cache: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let home = cache.join(packages.join("-").replace("==", "-"));
    let python = home.join("bin/python");
    install_once(&home, || {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))?;
        let pip = ["-m", "pip", "install", "-q", "--disable-pip-version-check"];
        run(Command::new(&python).args(pip).args(packages))
    })?;
    Ok(python)
}

/// Installs an npm package (`name@version`) into a directory.
///
/// # Errors
///
/// Returns the error output of npm.
pub fn npm(home: &Path, package: &str) -> Result<(), String> {
    let options = ["install", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"];
    run(Command::new("npm").args(options).arg(home).arg(package))
}

/// Returns the name of a Python interpreter.
///
/// # Errors
///
/// Fails if there is none.
pub fn find_python() -> Result<&'static str, &'static str> {
    match run(Command::new("python3").arg("--version")) {
        Ok(()) => Ok("python3"),
        Err(_) => Err("python3 is not installed"),
    }
}

/// Runs a command to its end.
///
/// # Errors
///
/// Returns the standard error of a failed command.
pub fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("failed to run {program}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}
