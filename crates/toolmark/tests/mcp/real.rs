//! Real servers and a real client: the Python SDK of the protocol, over standard streams and over
//! HTTP, and the npm file server.
//!
//! The programs are installed in the directory that `TOOLMARK_PEERS` names.

use crate::{beside, proxy};
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};
use toolmark_testing::http::unused_address;
use toolmark_testing::peers;

/// Version of the SDK.
const SDK: &str = "mcp==2.3.0";
const FILES: &str = "@modelcontextprotocol/server-filesystem@2026.8.31";

/// Installation directory of the peers.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-peers")
}

/// Python with the SDK of the protocol, installed by the first test that needs it.
fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    peers::or_skip(PYTHON.get_or_init(|| peers::python(&cache(), &[SDK])).as_deref())
}

/// The npm file server.
fn file_server() -> Option<PathBuf> {
    let home = cache().join("server-filesystem");
    let main = home.join("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
    peers::or_skip(peers::install_once(&home, || peers::npm(&home, FILES)))?;
    Some(main)
}

/// Returns what the client received through a proxy.
fn heard(python: &Path, client: &str, first: &str, proxy: &Command) -> Value {
    let mut command = Command::new(python);
    command.arg(beside(client)).arg(first).arg(proxy.get_program()).args(proxy.get_args());
    command.current_dir(proxy.get_current_dir().unwrap());
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}\n{stderr}"))
}

/// Checks the received messages; `steps` is the expected number of progress steps of the slow tool.
fn is_as_it_should_be(heard: &Value, steps: u32) {
    assert_eq!(heard["tools"], json!(["add", "leak", "run_command", "slow"]));
    assert_eq!(heard["sum"], json!({"error": false, "text": "5"}));
    for (name, words) in [
        ("wrong", "/a is a string, not integer"),
        ("denied", "mcp__peer__run_command was not called"),
        ("declined", "the user did not allow it"),
    ] {
        assert_eq!(heard[name]["error"], true, "{heard}");
        assert!(heard[name]["text"].as_str().unwrap().contains(words), "{name}: {heard}");
    }
    assert_eq!(heard["fine"], json!({"error": false, "text": "ran ls"}));
    assert_eq!(
        heard["accepted"],
        json!({"error": false, "text": "ran git push --force-with-lease"})
    );
    assert_eq!(heard["asked"].as_array().unwrap().len(), 2);
    assert_eq!(heard["leak"]["text"], "the token is ghp_[masked by toolmark]");
    assert_eq!((&heard["slow"]["text"], &heard["progress"]), (&json!("done"), &json!(steps)));
    assert_eq!((&heard["note"], &heard["prompt"]), (&json!("a note"), &json!("Greet Ada.")));
    let many: Vec<String> = (1..=20).map(|n| n.to_string()).collect();
    assert_eq!(heard["many"], json!(many));
}

/// The session modes, and the protocol version that each negotiates.
const MODES: [(&str, &str); 2] = [("legacy", "2025-11-25"), ("auto", "2026-07-28")];

#[test]
fn a_server_of_the_sdk_over_standard_streams() {
    let Some(python) = python() else { return };
    for (mode, version) in MODES {
        let folder = tempfile::tempdir().unwrap();
        let mut proxy = proxy(folder.path());
        proxy.arg("--").arg(python).arg(beside("real_server.py")).arg("stdio");
        let heard = heard(python, "real_client.py", mode, &proxy);
        assert_eq!(heard["version"], version);
        is_as_it_should_be(&heard, 3);
    }
}

/// A server on its own port, stopped at the end of the test.
struct OnPort(Child);

impl OnPort {
    fn start(python: &Path, extra: &[&str]) -> (Self, String) {
        let address = unused_address();
        let mut command = Command::new(python);
        command.arg(beside("real_server.py")).arg(address.port().to_string()).args(extra);
        let server = Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(start.elapsed() < Duration::from_secs(60), "the server does not come up");
            sleep(Duration::from_millis(50));
        }
        (server, format!("http://{address}/mcp"))
    }
}

impl Drop for OnPort {
    fn drop(&mut self) {
        let _: io::Result<()> = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_of_the_sdk_over_http() {
    let Some(python) = python() else { return };
    // A server that answers with one message each has no way to tell of steps.
    for (extra, steps) in [(&[][..], 3), (&["json"], 0)] {
        let (_server, url) = OnPort::start(python, extra);
        for (mode, version) in MODES {
            let folder = tempfile::tempdir().unwrap();
            let mut proxy = proxy(folder.path());
            proxy.args(["--url", &url]);
            let heard = heard(python, "real_client.py", mode, &proxy);
            assert_eq!(heard["version"], version);
            is_as_it_should_be(&heard, steps);
        }
    }
}

#[test]
fn the_file_server_of_npm() {
    let (Some(python), Some(server)) = (python(), file_server()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let files = folder.path().join("files");
    fs::create_dir(&files).unwrap();
    let files = files.canonicalize().unwrap();
    fs::write(files.join("a.txt"), "one\n").unwrap();
    let mut proxy = proxy(folder.path());
    proxy.args(["--", "node"]).arg(server).arg(&files);
    let heard = heard(python, "files_client.py", files.to_str().unwrap(), &proxy);
    assert!(heard["tools"].as_array().unwrap().contains(&json!("read_text_file")), "{heard}");
    assert_eq!(heard["read"], json!({"error": false, "text": "one\n"}));
    assert_eq!(heard["wrong"]["error"], true);
    assert!(heard["wrong"]["text"].as_str().unwrap().contains("/path"), "{heard}");
    assert!(heard["edit"]["text"].as_str().unwrap().contains("/edits/0"), "{heard}");
    assert!(heard["list"]["text"].as_str().unwrap().contains("a.txt"), "{heard}");
    assert_eq!(fs::read_to_string(files.join("a.txt")).unwrap(), "one\n");
}
