//! Tests of installation and removal, for every host, on a real disk.

use super::*;
use serde_json::json;
use tempfile::TempDir;

/// Creates a home and a project in a separate directory.
fn place(dir: &TempDir) -> Environment {
    let (home, project) = (dir.path().join("home"), dir.path().join("project"));
    fs::create_dir_all(&home).unwrap();
    fs::create_dir_all(&project).unwrap();
    Environment { home, project, variable: |_| None }
}

fn settings<'a>(
    host: &str,
    scope: SettingsScope,
    place: &'a Environment,
    binary: &str,
) -> HostSettings<'a> {
    HostSettings::new(host, scope, place, Path::new(binary)).unwrap()
}

fn done(plan: Result<Plan, InstallError>) -> Plan {
    let plan = plan.unwrap();
    plan.apply().unwrap();
    plan
}

const BINARY: &str = "/opt/bin/toolmark";

/// Realistic settings with everything that an edit could break.
const TEXTS: &[&str] = &[
    "{}",
    "{ }\n",
    "",
    " \n",
    "{\"model\":\"x\"}",
    "{\n  \"hooks\": {}\n}\n",
    "{\n\t\"z\": 1, // last letter first\n\t\"a\": [1, 2],\n}\n",
    "{\r\n    \"permissions\": {\"allow\": [\"Bash(ls:*)\"]},\r\n    \"hooks\": {\r\n    }\r\n}\r\n",
    "\u{feff}{\n  // ours\n  \"env\": {\"A\": \"\\u00e9\"} /* end */\n}",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": []\n      }\n    ]\n  },\n  \"b\": 1e3\n}\n",
];

#[test]
fn every_host_and_scope_goes_in_once_and_comes_out_without_a_trace() {
    for host in ids() {
        for scope in [SettingsScope::User, SettingsScope::Project] {
            let dir = tempfile::tempdir().unwrap();
            let place = place(&dir);
            let settings = settings(host, scope, &place, BINARY);
            assert_eq!(settings.state(), GuardState::NotInstalled);
            let plan = done(settings.install());
            assert!(plan.changes() && plan.diff().starts_with("--- /dev/null\n+++ "), "{host}");
            assert!(plan.path.starts_with(match scope {
                SettingsScope::Project => &place.project,
                SettingsScope::User | SettingsScope::Managed => &place.home,
            }));
            assert_eq!(settings.state(), GuardState::Installed);
            assert!(!settings.install().unwrap().changes(), "{host}: a second time");
            let text = fs::read_to_string(&plan.path).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            let command = format!("{BINARY} guard --host {host}");
            let count = text.matches(&command).count();
            assert_eq!(count, value["hooks"].as_object().unwrap().len(), "{text}");
            assert!(text.ends_with("}\n"));
            done(settings.uninstall());
            assert!(!plan.path.exists() && !plan.backup.exists(), "{host}");
            assert_eq!(settings.state(), GuardState::NotInstalled);
            assert!(!settings.uninstall().unwrap().changes(), "{host}: nothing to take out");
        }
    }
}

#[test]
fn everything_else_in_a_file_stays() {
    for host in ids() {
        for text in TEXTS {
            let dir = tempfile::tempdir().unwrap();
            let place = place(&dir);
            let settings = settings(host, SettingsScope::User, &place, BINARY);
            let path = settings.path();
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let plan = done(settings.install());
            assert_eq!(settings.state(), GuardState::Installed, "{host}: {text}");
            assert_eq!(fs::read_to_string(&plan.backup).unwrap(), *text);
            assert!(!settings.install().unwrap().changes(), "{host}: {text}");
            // Every line of the old text is still there, apart from added commas.
            let after = plan.after.as_deref().unwrap().replace(',', "");
            for line in text.lines().map(|line| line.replace(',', "")) {
                let line = line.trim_end_matches(['}', ' ']);
                assert!(after.contains(line), "{host}: {line:?} is not in {after}");
            }
            let removed = done(settings.uninstall());
            assert_eq!(removed.after.as_deref(), Some(*text), "{host}");
            assert_eq!(fs::read_to_string(&path).unwrap(), *text, "{host}");
            assert!(!plan.backup.exists());
        }
    }
}

#[test]
fn what_was_added_since_stays_when_the_guard_goes() {
    for host in ids() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(&dir);
        let settings = settings(host, SettingsScope::User, &place, BINARY);
        let path = done(settings.install()).path;
        let text = fs::read_to_string(&path).unwrap();
        // Another program's hook in the same arrays, and an unrelated setting.
        let mut value: Value = serde_json::from_str(&text).unwrap();
        for (_, groups) in value["hooks"].as_object_mut().unwrap() {
            groups.as_array_mut().unwrap().push(json!({"command": "other"}));
            if let Some(inner) = groups[0].get_mut("hooks") {
                inner.as_array_mut().unwrap().push(json!({"command": "another"}));
            }
        }
        value["kept"] = json!(true);
        fs::write(&path, value.to_string()).unwrap();
        done(settings.uninstall());
        let left: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(left["kept"], true);
        for (event, groups) in left["hooks"].as_object().unwrap() {
            assert!(groups.to_string().contains("other"), "{host} {event}");
            assert!(!groups.to_string().contains("toolmark"), "{host} {event}");
            let inner = value["hooks"][event][0].get("hooks").is_some();
            assert_eq!(groups.to_string().contains("another"), inner, "{host} {event}");
        }
    }
}

#[test]
fn another_binary_is_stale_and_is_replaced() {
    for host in ids() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(&dir);
        let old = "/old path/it's/toolmark";
        done(settings(host, SettingsScope::User, &place, old).install());
        let settings = settings(host, SettingsScope::User, &place, BINARY);
        let GuardState::Stale { commands } = settings.state() else { panic!("{host}") };
        assert_eq!(commands.len(), 1);
        assert!(commands[0].starts_with(r"'/old path/it'\''s/toolmark' guard"), "{commands:?}");
        let plan = done(settings.install());
        assert_eq!(settings.state(), GuardState::Installed);
        assert!(!plan.after.unwrap().contains("/old path"), "{host}");
        done(settings.uninstall());
        assert_eq!(settings.state(), GuardState::NotInstalled, "{host}");
        assert!(!plan.backup.exists() || plan.path.exists(), "{host}");
    }
}

#[test]
fn the_small_program_is_installed_where_it_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let [binary, hook] = ["toolmark", "toolmark-hook"]
        .map(|name| dir.path().join(format!("{name}{}", std::env::consts::EXE_SUFFIX)));
    for host in ids() {
        let of = || settings(host, SettingsScope::User, &place, binary.to_str().unwrap());
        done(of().install());
        fs::write(&hook, "").unwrap();
        // The former command is equivalent, only slower.
        assert_eq!(of().state(), GuardState::Installed, "{host}");
        assert!(done(of().install()).changes());
        let command = format!("{} --host {host}", quoted(&hook));
        let text = fs::read_to_string(of().path()).unwrap();
        assert!(text.contains(&command) && !text.contains(" guard --host "), "{text}");
        assert!(!of().install().unwrap().changes());
        assert_eq!(of().state(), GuardState::Installed);
        fs::remove_file(&hook).unwrap();
        assert!(matches!(of().state(), GuardState::Stale { .. }), "{host}");
        done(of().uninstall());
        assert_eq!(of().state(), GuardState::NotInstalled);
    }
}

#[test]
fn a_guard_of_another_path_is_taken_out_too() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    done(settings("claude-code", SettingsScope::User, &place, "/old/toolmark").install());
    let settings = settings("claude-code", SettingsScope::User, &place, BINARY);
    let path = done(settings.uninstall()).path;
    assert!(!path.exists(), "the file was the guard's alone");
}

#[test]
fn broken_files_are_named_and_left_alone() {
    for (text, line, column, why) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", 3, 3, "expected `,` or `}`"),
        ("[]", 1, 1, "the settings are not an object"),
        ("{\"hooks\": []}", 1, 11, "`hooks` is not an object"),
        ("{\"hooks\": {\"EVENT\": {}}}", 1, 13, "`hooks.EVENT` is not an array"),
        ("{\"hooks\": {\"EVENT\": null}}", 1, 13, "`hooks.EVENT` is not an array"),
    ] {
        for host in ids() {
            let dir = tempfile::tempdir().unwrap();
            let place = place(&dir);
            let settings = settings(host, SettingsScope::User, &place, BINARY);
            let path = settings.path();
            let event = (settings.target.installer.entries)("", SettingsScope::User)[0].event;
            let (text, why) = (text.replace("EVENT", event), why.replace("EVENT", event));
            let column = if why.contains(event) { column + event.len() + 3 } else { column };
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
            let words = format!("{}:{line}:{column}: {why}", path.display());
            assert_eq!(settings.install().unwrap_err().to_string(), words);
            assert_eq!(settings.state(), GuardState::Broken { error: words.clone() });
            match settings.uninstall() {
                Err(error) => assert_eq!(error.to_string(), words),
                // An event of another shape contains no hooks of the guard.
                Ok(plan) => assert!(!plan.changes() && why.contains(event)),
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}

#[test]
fn a_file_that_changed_meanwhile_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let settings = settings("claude-code", SettingsScope::User, &place, BINARY);
    let plan = settings.install().unwrap();
    fs::create_dir_all(plan.path.parent().unwrap()).unwrap();
    fs::write(&plan.path, "{\"new\": 1}").unwrap();
    assert!(matches!(plan.apply(), Err(InstallError::Changed(_))));
    assert_eq!(fs::read_to_string(&plan.path).unwrap(), "{\"new\": 1}");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let settings = settings("claude-code", SettingsScope::User, &place, BINARY);
    let path = settings.path();
    let real = dir.path().join("dotfiles/claude.json");
    fs::create_dir_all(real.parent().unwrap()).unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&real, "{}").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    symlink("../../dotfiles/claude.json", &path).unwrap();
    let plan = done(settings.install());
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&real), mode(&plan.backup)), (0o600, 0o600));
    assert!(fs::read_to_string(&real).unwrap().contains("guard --host claude-code"));
    let names: Vec<_> = fs::read_dir(real.parent().unwrap()).unwrap().collect();
    assert_eq!(names.len(), 1, "no temporary file is left: {names:?}");
    done(settings.uninstall());
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}");
}

#[test]
fn hooks_in_the_toml_of_codex() {
    const TEXT: &str = "# mine\nmodel = \"x\" # the model\n\n[[hooks.PreToolUse]]\nmatcher = \"^Bash$\"\n\n\
        [[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n\n[hooks.state]\n";
    const INLINE: &str =
        "[hooks]\nPreToolUse = [{ hooks = [{ type = \"command\", command = \"mine\" }] }] # x\n";
    for text in [TEXT, INLINE] {
        let dir = tempfile::tempdir().unwrap();
        let place = place(&dir);
        let path = place.home.join(".codex/config.toml");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let old = settings("codex", SettingsScope::User, &place, "/old/toolmark");
        assert_eq!(old.path(), path);
        done(old.install());
        let settings = settings("codex", SettingsScope::User, &place, BINARY);
        assert!(matches!(settings.state(), GuardState::Stale { .. }));
        let plan = done(settings.install());
        assert_eq!(settings.state(), GuardState::Installed);
        assert!(!settings.install().unwrap().changes());
        let after = plan.after.unwrap();
        for line in text.lines().filter(|line| line.contains('#') && !line.contains('[')) {
            assert!(after.contains(line), "{after}");
        }
        let document: toml_edit::DocumentMut = after.parse().unwrap();
        let events = document["hooks"].as_table_like().unwrap();
        for event in ["PreToolUse", "PostToolUse"] {
            assert!(
                events
                    .get(event)
                    .unwrap()
                    .to_string()
                    .contains("/opt/bin/toolmark guard --host codex")
            );
        }
        fs::remove_file(&plan.backup).unwrap();
        let left = settings.uninstall().unwrap().after.unwrap();
        assert_eq!(left.trim_end(), text.trim_end(), "without a backup");
        fs::write(&plan.backup, text).unwrap();
        done(settings.uninstall());
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        fs::write(&path, "a = \n").unwrap();
        assert!(!toml::holds_hooks(&path));
    }
    let broken = Hooks { host: "codex", entries: &[], version: None };
    let fault = toml::found(&broken, "a = 1\nb = = 2\n").unwrap_err();
    assert_eq!((fault.line, fault.column), (2, 5));
}

#[test]
fn hooks_that_are_switched_off_are_noticed() {
    for (host, file, off, on) in [
        ("claude-code", "home/.claude/settings.json", "{\"disableAllHooks\": true}", "{}"),
        (
            "claude-code",
            "project/.claude/settings.local.json",
            "{\"disableAllHooks\": true // for now\n}",
            "{\"disableAllHooks\": false}",
        ),
        (
            "codex",
            "home/.codex/config.toml",
            "[features]\nhooks = false",
            "[features]\nhooks = true",
        ),
        ("codex", "home/.codex/config.toml", "features.codex_hooks = false", "a = = 1"),
        ("copilot-cli", "home/.copilot/settings.json", "{\"disableAllHooks\": true}", "{"),
        (
            "gemini-cli",
            "project/.gemini/settings.json",
            "{\"hooksConfig\": {\"enabled\": false}}",
            "{\"hooksConfig\": {}}",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let place = place(&dir);
        let settings = settings(host, SettingsScope::User, &place, BINARY);
        assert_eq!(settings.obstacle(), None, "{host}");
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, off).unwrap();
        let words = settings.obstacle().unwrap();
        assert!(words.contains(path.to_str().unwrap()), "{words}");
        fs::write(&path, on).unwrap();
        assert_eq!(settings.obstacle(), None, "{host}: {on}");
    }
}

#[test]
fn variables_move_the_settings() {
    let dir = tempfile::tempdir().unwrap();
    let place =
        Environment { variable: |name| Some(format!("/moved/{name}").into()), ..place(&dir) };
    for (host, path) in [
        ("claude-code", "/moved/CLAUDE_CONFIG_DIR/settings.json"),
        ("codex", "/moved/CODEX_HOME/hooks.json"),
        ("copilot-cli", "/moved/COPILOT_HOME/hooks/toolmark.json"),
        ("gemini-cli", "/moved/GEMINI_CLI_HOME/.gemini/settings.json"),
    ] {
        assert_eq!(settings(host, SettingsScope::User, &place, BINARY).path(), Path::new(path));
    }
}

#[test]
fn hosts_are_present_by_their_directory_or_program() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let bin = dir.path().join("bin");
    assert!(present(&place, std::slice::from_ref(&bin)).is_empty());
    fs::create_dir_all(place.home.join(".gemini")).unwrap();
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join(format!("claude{}", std::env::consts::EXE_SUFFIX)), "").unwrap();
    assert_eq!(present(&place, &[bin]), ["claude-code", "gemini-cli"]);
}

#[test]
fn only_the_commands_of_the_installer_are_its_own() {
    for (command, ours) in [
        ("/usr/bin/toolmark guard --host codex", true),
        ("toolmark guard --host codex", true),
        ("toolmark guard", true),
        ("'/a b/toolmark' guard --host codex", true),
        ("\"C:\\a b\\toolmark.exe\" guard --host codex", true),
        ("/usr/bin/toolmark-hook --host codex", true),
        ("toolmark-hook", true),
        ("& \"C:\\a b\\toolmark-hook.exe\" --host codex", true),
        ("/usr/bin/toolmark-hook --host gemini-cli", false),
        ("/usr/bin/toolmark --host codex", false),
        ("/usr/bin/toolmark-hook guard --host codex", false),
        ("run.sh /usr/bin/toolmark-hook --host codex", false),
        ("/usr/bin/toolmark guard --host gemini-cli", false),
        ("/usr/bin/toolmark check", false),
        ("/usr/bin/nottoolmark guard --host codex", false),
        ("run.sh /usr/bin/toolmark guard --host codex", false),
        ("toolmark guard --host codex; rm x", false),
        ("", false),
    ] {
        assert_eq!(hooks::is_ours(command, "codex"), ours, "{command}");
    }
}
