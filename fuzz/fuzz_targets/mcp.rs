//! Any lines as the messages of an MCP client (lines that begin with `<`) and of
//! its server (all others): whatever passes is one line, and nothing is lost
//! without an answer.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::time::Duration;
use toolmark_mcp::{CallPolicy, ResultLimits, NoAudit, OnAsk, Pins, Proxy, McpRuling, ProxySettings, ProxyStep, McpCall};
use toolmark_shell::Decision;

struct Everything;

impl CallPolicy for Everything {
    fn tool(&self, _server: &str, _tool: &str, _name: &str) -> McpRuling {
        McpRuling::new(Decision::Allow, "all", "all is allowed")
    }

    fn call(&self, _call: &McpCall<'_>) -> McpRuling {
        McpRuling::new(Decision::Allow, "all", "all is allowed")
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let settings = ProxySettings {
        server: "fuzz".into(),
        limits: ResultLimits::default(),
        on_ask: OnAsk::default(),
        rate: None,
    };
    let mut proxy =
        Proxy::new(settings, Pins::in_memory(), Box::new(Everything), Box::new(NoAudit));
    for (number, line) in text.lines().take(64).enumerate() {
        let now = Duration::from_millis(number as u64);
        let steps = match line.strip_prefix('<') {
            Some(line) => proxy.from_client(line, now),
            None => proxy.from_server(line, number as u64, now),
        };
        for step in steps {
            if let ProxyStep::Client(line) | ProxyStep::Server(line) = step {
                assert!(!line.contains('\n'), "{line}");
            }
        }
        let _ = proxy.tick(now);
    }
    let _ = proxy.server_gone("the end");
});
