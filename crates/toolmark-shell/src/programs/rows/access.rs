//! Secrets, rights and protections of this machine.
//!
//! ```denied
//! keytool -delete -alias a -keystore k.jks
//! ```
//! ```asked
//! docker-credential-osxkeychain get
//! nmcli device wifi show-password
//! netsh wlan show profile name=x key=clear
//! xattr -d com.apple.quarantine /Applications/X.app
//! ufw allow 22
//! firewall-cmd --add-port=22/tcp --permanent
//! semanage permissive -a httpd_t
//! mokutil --disable-validation
//! tccutil reset All
//! openssl rsa -in server.key -out plain.key
//! ```
//! ```allowed
//! xattr -l file
//! ufw status
//! firewall-cmd --list-all
//! netsh wlan show profiles
//! nmcli device wifi list
//! keytool -list -keystore k.jks
//! getenforce
//! openssl rsa -in server.key -pubout
//! ```

use super::{DROPS, LISTENS, NOTHING, SETS_UP, SHOWS_SECRET, Tool, WEAKENS_HERE};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &[
            "docker-credential-osxkeychain",
            "docker-credential-desktop",
            "docker-credential-secretservice",
            "docker-credential-pass",
            "docker-credential-wincred",
            "docker-credential-gcloud",
            "docker-credential-ecr-login",
            "git-credential-manager",
            "git-credential-osxkeychain",
            "git-credential-libsecret",
        ],
        values: "",
        rows: &[("get", SHOWS_SECRET)],
    },
    Tool {
        names: &["nmcli"],
        values: "-t -f",
        rows: &[
            ("device|d|dev wifi show-password|show", SHOWS_SECRET),
            ("-s|--show-secrets", SHOWS_SECRET),
        ],
    },
    Tool {
        names: &["netsh"],
        values: "",
        rows: &[
            ("interface portproxy add", super::EXPOSES),
            ("wlan show profile|profiles * key=clear", SHOWS_SECRET),
            ("wlan show profile|profiles key=clear", SHOWS_SECRET),
        ],
    },
    Tool {
        names: &["xattr"],
        values: "",
        rows: &[("com.apple.quarantine* -d|-dr|-rd", WEAKENS_HERE), ("-c|-cr|-rc", WEAKENS_HERE)],
    },
    Tool {
        names: &["ufw"],
        values: "",
        rows: &[("status|show|version|--dry-run", NOTHING), ("allow|route|default", WEAKENS_HERE)],
    },
    Tool {
        names: &["firewall-cmd"],
        values: "",
        rows: &[
            (
                "--add-port|--add-service|--add-rich-rule|--add-source|--add-masquerade|--add-forward-port",
                WEAKENS_HERE,
            ),
            ("--panic-on|--set-default-zone", SETS_UP),
        ],
    },
    Tool {
        names: &[
            "semanage",
            "setsebool",
            "semodule",
            "apparmor_parser",
            "aa-disable",
            "aa-complain",
            "aa-teardown",
        ],
        values: "",
        rows: &[
            ("-l|--list", NOTHING),
            ("permissive|port|fcontext|boolean -a|-d|-m|--add", WEAKENS_HERE),
            ("-r|-R|--remove", WEAKENS_HERE),
            ("-P", WEAKENS_HERE),
        ],
    },
    Tool { names: &["aa-remove-unknown"], values: "", rows: &[("", WEAKENS_HERE)] },
    Tool {
        names: &["mokutil"],
        values: "",
        rows: &[("--disable-validation|--reset|--import|--delete|--clear-password", WEAKENS_HERE)],
    },
    Tool { names: &["tccutil"], values: "", rows: &[("reset", WEAKENS_HERE)] },
    Tool {
        names: &["profiles"],
        values: "",
        rows: &[("remove|renew", SETS_UP), ("-R|-D", SETS_UP)],
    },
    Tool {
        names: &["keytool"],
        values: "-keystore -alias -storepass",
        rows: &[("-delete|-storepasswd|-keypasswd", DROPS), ("-importkeystore", SETS_UP)],
    },
    Tool {
        names: &["openssl"],
        values: "-in -out -passin -passout",
        rows: &[
            ("rsa|ec|pkey -pubout|-noout", NOTHING),
            ("rsa|ec|pkey|pkcs8|pkcs12 -in", SHOWS_SECRET),
        ],
    },
    Tool {
        names: &[
            "mimikatz",
            "lazagne",
            "secretsdump.py",
            "secretsdump",
            "linpeas.sh",
            "linpeas",
            "winpeas",
            "pypykatz",
            "gsecdump",
            "unshadow",
            "john",
            "hashcat",
        ],
        values: "",
        rows: &[("!--version", SHOWS_SECRET)],
    },
    Tool {
        names: &["arecord", "parecord", "imagesnap", "fswebcam"],
        values: "",
        rows: &[("-l|-L|--list-devices", NOTHING), ("!--version", LISTENS)],
    },
];
