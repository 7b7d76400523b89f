//! Link settings that make the programs start quickly, on the platforms where this is simple.
//!
//! Both programs are linked at a fixed address: the tables of `toolmark` hold more than 100,000
//! pointers, and a position-independent program relocates all of them at every start.
//! `toolmark-hook` runs before every call of an agent and is also linked statically, because
//! dynamic linking would take longer than the hook itself. `toolmark` is linked dynamically: it
//! resolves host names, for which the C library loads shared libraries.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// The libraries that rustc passes to the linker, and the static archives that replace them. The C
/// library and the compiler's archives depend on each other.
const LIBRARIES: [(&str, &[&str]); 7] = [
    ("c", &["c", "gcc_eh", "gcc"]),
    ("dl", &["dl"]),
    ("gcc_s", &["gcc_eh"]),
    ("m", &["m"]),
    ("pthread", &["pthread"]),
    ("rt", &["rt"]),
    ("util", &["util"]),
];

#[allow(clippy::print_stdout, reason = "build scripts speak to cargo on the standard output")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let Some(linker) = plain_linker() else { return };
    println!("cargo::rustc-link-arg-bin=toolmark=-no-pie");
    if let Ok(directory) = write_libraries(&linker) {
        for argument in [&*format!("-L{}", directory.display()), "-static", "-no-pie"] {
            println!("cargo::rustc-link-arg-bin=toolmark-hook={argument}");
        }
    }
}

/// The linker, if it is the default of this machine and neither cargo nor rustc has a custom linker
/// setting.
fn plain_linker() -> Option<String> {
    let variable = |name| env::var(name).ok();
    let is_native = variable("HOST")? == variable("TARGET")?;
    let is_gnu =
        variable("CARGO_CFG_TARGET_OS")? == "linux" && variable("CARGO_CFG_TARGET_ENV")? == "gnu";
    let flags = variable("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let is_special = ["linker", "crt-static", "relocation-model", "sanitizer"]
        .iter()
        .any(|option| flags.contains(option));
    let linker = variable("RUSTC_LINKER").unwrap_or_else(|| "cc".to_owned());
    (is_native && is_gnu && !is_special).then_some(linker)
}

/// Writes a directory in which the linker finds archives instead of shared libraries: rustc
/// requests shared libraries, and later arguments cannot undo that.
fn write_libraries(linker: &str) -> io::Result<PathBuf> {
    let directory = Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("static");
    fs::create_dir_all(&directory)?;
    for (name, archives) in LIBRARIES {
        let archives: Vec<String> =
            archives.iter().map(|archive| find(linker, archive)).collect::<io::Result<_>>()?;
        let script = format!("GROUP ( {} )\n", archives.join(" "));
        fs::write(directory.join(format!("lib{name}.so")), script)?;
    }
    Ok(directory)
}

/// Returns the path of an archive, quoted for a linker script.
fn find(linker: &str, archive: &str) -> io::Result<String> {
    let output =
        Command::new(linker).arg(format!("-print-file-name=lib{archive}.a")).output()?.stdout;
    // The linker prints the name unchanged if it does not find the file.
    match String::from_utf8(output) {
        Ok(path) if Path::new(path.trim()).is_absolute() => Ok(format!("\"{}\"", path.trim())),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}
