//! Programs that make this machine accessible to others, record what others send, or probe other
//! machines.
//!
//! ```asked
//! ngrok http 3000
//! cloudflared tunnel --url http://localhost:8080
//! cloudflared tunnel run mytunnel
//! zrok share public localhost:3000
//! devtunnel host -p 3000 --allow-anonymous
//! code tunnel
//! chisel server --reverse
//! tailscale funnel 3000
//! tailscale up --advertise-exit-node
//! gs-netcat -l -s secret
//! tcpdump -i any -w /tmp/x.pcap
//! mitmproxy
//! nmap -sS 10.0.0.0/8
//! hydra -l root -P words.txt ssh://h
//! x11vnc -forever
//! ```
//! ```allowed
//! ngrok config check
//! ngrok version
//! cloudflared tunnel list
//! cloudflared --version
//! tailscale status
//! tailscale ip -4
//! tailscale up
//! tcpdump -r /tmp/x.pcap
//! tshark -r x.pcap
//! nmap --help
//! nmap localhost
//! code .
//! chisel --help
//! gost -V
//! ```

use super::{EXPOSES, LISTENS, NOTHING, PROBES, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["ngrok"],
        values: "--config --region --domain --url --authtoken --log",
        rows: &[("http|https|tls|tcp|ssh|start|tunnel", EXPOSES)],
    },
    Tool {
        names: &["cloudflared"],
        values: "--config --loglevel --logfile --metrics --name --credentials-file",
        rows: &[
            ("tunnel run", EXPOSES),
            ("tunnel --url", EXPOSES),
            ("tunnel --hello-world", EXPOSES),
            ("tunnel --unix-socket", EXPOSES),
            ("tunnel route", EXPOSES),
            ("service install", EXPOSES),
        ],
    },
    Tool {
        names: &["zrok"],
        values: "",
        rows: &[("share|reserve", EXPOSES), ("access public", EXPOSES)],
    },
    Tool {
        names: &["devtunnel"],
        values: "-p --port-numbers",
        rows: &[("host", EXPOSES), ("access create", EXPOSES), ("port create", EXPOSES)],
    },
    Tool {
        names: &["code", "code-insiders", "code-tunnel"],
        values: "--name",
        rows: &[
            ("tunnel status|help|user|unregister|prune|kill", NOTHING),
            ("tunnel", EXPOSES),
            ("serve-web --host=0.0.0.0", EXPOSES),
            ("--install-extension=*.vsix", super::RUNS_FOREIGN),
        ],
    },
    Tool {
        names: &["socat"],
        values: "",
        rows: &[
            ("*bind=127.0.0.1*|*bind=localhost*", NOTHING),
            ("*-LISTEN:*|*-listen:*|*-L:*", EXPOSES),
            ("* *-LISTEN:*|*-listen:*", EXPOSES),
        ],
    },
    Tool { names: &["chisel"], values: "", rows: &[("server|client", EXPOSES)] },
    Tool {
        names: &["gost"],
        values: "",
        rows: &[("-L|-F|-C !-V", EXPOSES), ("-L=* !-V", EXPOSES)],
    },
    Tool {
        names: &[
            "telebit",
            "loclx",
            "localxpose",
            "packetriot",
            "tunnelto",
            "jprq",
            "expose",
            "pinggy",
            "playit",
            "holesail",
            "sish",
            "remotemoe",
            "staqlab-tunnel",
        ],
        values: "",
        rows: &[
            ("version|help|config|login|account|status", NOTHING),
            ("*", EXPOSES),
            ("-p", EXPOSES),
        ],
    },
    Tool {
        names: &[
            "x11vnc",
            "vncserver",
            "tigervncserver",
            "wayvnc",
            "xrdp",
            "microsocks",
            "tinyproxy",
            "dropbear",
            "gs-netcat",
            "gsocket",
            "pwnat",
            "iodine",
            "dnscat",
            "ptunnel",
            "wetty",
            "shellinabox",
            "shellinaboxd",
            "rustdesk",
            "teamviewer",
            "anydesk",
        ],
        values: "",
        rows: &[("!-V|-v|-list|-kill|--list", EXPOSES)],
    },
    Tool {
        names: &["tailscale"],
        values: "--socket",
        rows: &[
            ("funnel status|reset|off", NOTHING),
            ("funnel", EXPOSES),
            ("up|set --advertise-exit-node|--advertise-routes|--ssh", EXPOSES),
        ],
    },
    Tool {
        names: &["tcpdump", "tshark", "dumpcap", "ngrep", "termshark"],
        values: "",
        rows: &[("-r|--read-file|-D|-L|--list-interfaces|--version", NOTHING), ("", LISTENS)],
    },
    Tool {
        names: &[
            "mitmproxy",
            "mitmdump",
            "mitmweb",
            "ettercap",
            "bettercap",
            "arpspoof",
            "dsniff",
            "responder",
            "sslstrip",
            "airodump-ng",
            "airmon-ng",
            "aireplay-ng",
            "wifite",
            "logkeys",
            "xspy",
            "driftnet",
        ],
        values: "",
        rows: &[("!--version|-r", LISTENS)],
    },
    Tool {
        names: &[
            "nmap",
            "masscan",
            "zmap",
            "rustscan",
            "nikto",
            "nuclei",
            "sqlmap",
            "wpscan",
            "gobuster",
            "feroxbuster",
            "dirb",
            "wfuzz",
            "ffuf",
            "hydra",
            "medusa",
            "patator",
            "ncrack",
            "crackmapexec",
            "netexec",
            "nxc",
            "msfconsole",
            "msfvenom",
            "enum4linux",
            "smbmap",
            "kerbrute",
            "slowloris",
            "hping3",
            "whatweb",
            "commix",
            "xsser",
        ],
        values: "-p -oN -oX -oG -oA -w -l -P -U",
        rows: &[("localhost|127.*|::1", NOTHING), ("!-V|--version", PROBES)],
    },
];
