//! The machine itself: its services, packages, clock, firmware and terminals.
//!
//! ```denied
//! manage-bde -off C:
//! wmic shadowcopy delete
//! ```
//! ```asked
//! screen -X -S prod quit
//! do-release-upgrade
//! rpm-ostree reset
//! hwclock --set --date '2020-01-01'
//! networksetup -setdnsservers Wi-Fi 1.2.3.4
//! msiexec /x app.msi
//! wsl --shutdown
//! ```
//! ```allowed
//! screen -ls
//! screen -r dev
//! rpm-ostree status
//! hwclock -r
//! networksetup -listallhardwareports
//! manage-bde -status
//! wmic os get caption
//! wsl -l -v
//! softwareupdate -l
//! ```

use super::{CHANGES, DROPS, NOTHING, REMOVES, SETS_UP, STOPS, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["screen"],
        values: "-S -p",
        rows: &[("quit|kill -X", STOPS), ("-wipe", REMOVES)],
    },
    Tool {
        names: &["do-release-upgrade"],
        values: "",
        rows: &[("-c|--check-dist-upgrade-only", NOTHING), ("", SETS_UP)],
    },
    Tool {
        names: &["rpm-ostree", "bootc", "transactional-update", "ostree"],
        values: "",
        rows: &[
            ("reset|rollback|rebase|cleanup|uninstall|switch|override", SETS_UP),
            ("admin undeploy|cleanup", SETS_UP),
        ],
    },
    Tool {
        names: &["softwareupdate"],
        values: "",
        rows: &[("-i|--install|-ia|--install-rosetta", SETS_UP)],
    },
    Tool { names: &["hwclock"], values: "", rows: &[("--set|-w|--systohc|-s|--hctosys", SETS_UP)] },
    Tool {
        names: &["networksetup"],
        values: "",
        rows: &[
            ("-set*", SETS_UP),
            (
                "-setdnsservers|-setwebproxy|-setsecurewebproxy|-setairportpower|-setmanual|-removenetworkservice|-setnetworkserviceenabled|-setautoproxyurl",
                SETS_UP,
            ),
        ],
    },
    Tool { names: &["scutil"], values: "", rows: &[("--set|--prefs", SETS_UP)] },
    Tool { names: &["pkgutil"], values: "", rows: &[("--forget|--unlink", REMOVES)] },
    Tool {
        names: &["dseditgroup"],
        values: "-o -u",
        rows: &[("-o=delete", SETS_UP), ("-o=edit", SETS_UP)],
    },
    Tool {
        names: &["manage-bde"],
        values: "",
        rows: &[("-off|-forcerecovery|-lock|-changekey", DROPS)],
    },
    Tool {
        names: &["wmic"],
        values: "",
        rows: &[
            ("shadowcopy delete", DROPS),
            ("process|* call create|terminate|uninstall", SETS_UP),
            ("product|useraccount|process * delete", SETS_UP),
            ("process|product|useraccount delete", SETS_UP),
        ],
    },
    Tool { names: &["msiexec"], values: "", rows: &[("/x*|/uninstall|/X*", REMOVES)] },
    Tool {
        names: &["wsl"],
        values: "-d --distribution",
        rows: &[("--shutdown|-t|--terminate", STOPS)],
    },
    Tool {
        names: &["dism", "dism.exe"],
        values: "",
        rows: &[("/online *disable-feature*|*remove-package*|*cleanup-image*", SETS_UP)],
    },
    Tool {
        names: &["scontrol", "scancel", "qdel", "bkill"],
        values: "",
        rows: &[("update|delete|shutdown|reboot", CHANGES), ("show|ping", NOTHING), ("", STOPS)],
    },
    Tool {
        names: &["e2label", "xfs_admin", "fatlabel", "ntfslabel"],
        values: "",
        rows: &[("* *", SETS_UP)],
    },
    Tool {
        names: &["btrfs"],
        values: "",
        rows: &[
            ("filesystem|fi resize", DROPS),
            ("device|dev remove|delete", DROPS),
            ("replace start", DROPS),
        ],
    },
    Tool {
        names: &["rundll32", "regsvr32", "installutil", "regasm"],
        values: "",
        rows: &[("", super::RUNS_FOREIGN)],
    },
];
