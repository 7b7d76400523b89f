//! No host's agent may change or remove the settings, hooks and policies that restrict it, in a
//! project or in the home directory, by a command or by a file tool. It may change a project's own
//! policy, which can only be stricter than the user's, after approval.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use serde_json::{Map, Value, json};
use toolmark_guard::policy::Policy;
use toolmark_guard::{Args, Guard, HookEvent, Moment};
use toolmark_hosts::toolset::{Tool, ToolRole, Toolset, Toolsets, generic};
use toolmark_hosts::{HOSTS, Host, own};
use toolmark_shell::{Decision, Protection};

/// Returns the hosts that keep settings, with their tools.
fn hosts() -> impl Iterator<Item = (&'static Host, &'static Toolset)> {
    HOSTS.iter().filter(|host| host.paths.is_some()).filter_map(|host| Some((*host, host.toolset?)))
}

/// Returns the files that restrict an agent of this host, relative to the home directory or the
/// project.
fn files(host: &Host) -> Vec<String> {
    let paths = host.paths.unwrap();
    let mut all: Vec<String> = paths.settings.iter().map(|path| one_of(path)).collect();
    all.push(format!("{}/{}", paths.directory, paths.user_hooks));
    all.push(format!("{}/{}{}", paths.directory, paths.user_hooks, own::BACKUP));
    all.push(paths.project_hooks.to_owned());
    all.extend(own::PROJECT_POLICIES.iter().map(|path| (*path).to_owned()));
    all.push(format!(".config/{}", own::USER_POLICY));
    all.push(format!(".local/state/{}", own::AUDIT_LOG));
    all
}

/// Returns the least strict decision required for a change of a file.
fn least(file: &str) -> Decision {
    match own::PROJECT_POLICIES.contains(&file) {
        true => Decision::Ask,
        false => Decision::Deny,
    }
}

/// Returns a file that a pattern matches.
fn one_of(pattern: &str) -> String {
    let file = pattern.replace('*', ".x");
    if file.ends_with('/') { format!("{file}x.json") } else { file }
}

/// Returns the spellings of a path, each with the directory of the session.
fn spellings(file: &str) -> Vec<(Option<&'static str>, String)> {
    let mut all = Vec::new();
    for cwd in [Some("/work/app"), Some("/home/me/app"), None] {
        all.push((cwd, file.to_owned()));
        all.push((cwd, format!("~/{file}")));
    }
    all.push((Some("/tmp/app"), format!("./sub/../{file}")));
    all.push((Some("/work/app"), format!("/home/me/{file}")));
    all.push((None, format!("/work/app/{file}")));
    all
}

const COMMANDS: &[&str] = &[
    // write
    "echo '{}' > FILE",
    "cat x >> FILE",
    ": > FILE",
    "echo x | tee FILE",
    "cp x FILE",
    "cp FILE.old FILE",
    "cp x/NAME DIR/",
    "install -m644 x FILE",
    "rsync x FILE",
    "curl -o FILE https://example.com/x",
    "dd if=x of=FILE",
    "ln -sf x FILE",
    "touch FILE",
    "python3 -c \"open('FILE', 'w').write('')\"",
    "bash -c 'echo > FILE'",
    "F=FILE; echo > $F",
    // edit
    "sed -i s/a/b/ FILE",
    "perl -pi -e s/a/b/ FILE",
    "truncate -s 1K FILE",
    "chmod 000 FILE",
    "git checkout -- FILE",
    "git restore FILE",
    "npx prettier --write FILE",
    "awk -i inplace 1 FILE",
    "python3 -c \"import pathlib; pathlib.Path('FILE').write_text('')\"",
    "node -e \"require('fs').unlinkSync('FILE')\"",
    "ruby -e 'File.delete(\"FILE\")'",
    // delete
    "rm FILE",
    "rm -f FILE",
    "cd DIR && rm NAME",
    "unlink FILE",
    "shred -u FILE",
    "git rm FILE",
    "git rm -f x FILE",
    "find DIR -name NAME -delete",
    "sudo rm FILE",
    "for f in x FILE; do rm $f; done",
    "python3 -c \"import os; os.remove('FILE')\"",
    // move
    "mv FILE x",
    "mv x FILE",
    "mv x/NAME DIR",
    "git mv FILE x",
    "mv -t x FILE",
];

/// Commands that remove a whole directory.
const ON_DIRECTORIES: &[&str] = &[
    "rm -rf DIR",
    "mv DIR DIR.old",
    "git mv DIR x",
    "cp -r x/. DIR",
    "chmod -R 000 DIR",
    "tar xf x.tar -C DIR",
    "unzip x.zip -d DIR",
];

fn decided(guard: &Guard, host: &str, tool: &Tool, args: Value, cwd: Option<&str>) -> Decision {
    let mut event = HookEvent::new(Moment::Before, host, &*tool.name);
    event.args = Args::Json(args);
    event.cwd = cwd.map(Into::into);
    guard.decide(&event, None).decision
}

#[test]
fn no_command_gets_past() {
    let guard = Guard::default();
    let mut tried = 0;
    for (host, set) in hosts() {
        let tool = set.tools.iter().find(|tool| tool.role == ToolRole::RunsShell).unwrap();
        let key = tool.command.names().next().unwrap();
        for file in files(host) {
            let nested = file.contains('/');
            for (cwd, path) in spellings(&file) {
                let (dir, name) = path.rsplit_once('/').unwrap_or((".", &path));
                let on_directories = if nested { ON_DIRECTORIES } else { &[] };
                for command in COMMANDS.iter().chain(on_directories) {
                    let command = command.replace("FILE", &path);
                    let command = command.replace("DIR", dir).replace("NAME", name);
                    let decision = decided(&guard, host.id, tool, json!({ key: command }), cwd);
                    let call = format!("{}: {command} in {cwd:?}", host.id);
                    assert!(decision >= least(&file), "{call}: {decision:?}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 10_000, "{tried}");
}

/// Returns the calls of a tool that would change a file.
fn calls(tool: &Tool, path: &str) -> Vec<Value> {
    let object = |pairs: &[(Option<&str>, &str)]| {
        let pairs =
            pairs.iter().filter_map(|(key, value)| Some(((*key)?.to_owned(), json!(value))));
        Value::Object(pairs.collect::<Map<_, _>>())
    };
    let file = tool.path.names().next();
    let (content, old, new) =
        (tool.content.names().next(), tool.old.names().next(), tool.new.names().next());
    match tool.role {
        ToolRole::Patches => {
            let patches = [
                format!("*** Add File: {path}\n+x"),
                format!("*** Update File: {path}\n@@\n-a\n+b"),
                format!("*** Delete File: {path}"),
                format!("*** Update File: {path}\n*** Move to: x\n@@\n-a\n+b"),
                format!("*** Update File: x\n*** Move to: {path}\n@@\n-a\n+b"),
            ];
            let Some(patch) = tool.patch.names().next() else { return Vec::new() };
            let whole = |body| format!("*** Begin Patch\n{body}\n*** End Patch\n");
            patches.map(|body| json!({ patch: whole(body) })).into()
        }
        // One that moves has several names of paths: each may be the file.
        ToolRole::Writes => {
            let names = tool.path.names().map(Some);
            names.map(|name| object(&[(name, path), (content, "x")])).collect()
        }
        ToolRole::Edits => vec![object(&[(file, path), (old, "a"), (new, "b")])],
        _ => match &tool.selector {
            Some(selector) => ["create", "str_replace", "insert"]
                .map(|word| object(&[(Some(selector), word), (file, path), (content, "x")]))
                .into(),
            None => Vec::new(),
        },
    }
}

#[test]
fn no_tool_for_files_gets_past() {
    let guard = Guard::default();
    let mut tried = 0;
    for (host, set) in hosts() {
        let own = set.tools.iter().map(|tool| (tool, tool.name.to_string()));
        let servers =
            generic().tools.iter().map(|tool| (tool, format!("mcp__files__{}", tool.name)));
        for (tool, name) in own.chain(servers) {
            let tool = Tool { name: name.into(), ..tool.clone() };
            for file in files(host) {
                for (cwd, path) in spellings(&file) {
                    for args in calls(&tool, &path) {
                        let decision = decided(&guard, host.id, &tool, args.clone(), cwd);
                        let call = format!("{} {args} in {cwd:?}", tool.name);
                        assert!(decision >= least(&file), "{}: {call}: {decision:?}", host.id);
                        tried += 1;
                    }
                }
            }
        }
    }
    assert!(tried > 10_000, "{tried}");
}

#[test]
fn what_this_machine_has_moved_is_protected_too() {
    let policy = Policy::default()
        .protecting(vec!["/x/claude/settings*".into()], Protection::Settings)
        .protecting(vec!["/x/audit.jsonl".into()], Protection::Policy);
    let guard = Guard::new(policy, Toolsets::default());
    let (_, set) = hosts().next().unwrap();
    let bash = set.tool("Bash").unwrap();
    for command in [
        "rm /x/claude/settings.json",
        "mv /x/claude y",
        "echo > /x/audit.jsonl",
        "mv /x/audit.jsonl y",
    ] {
        let decision =
            decided(&guard, "claude-code", bash, json!({"command": command}), Some("/x"));
        assert_eq!(decision, Decision::Deny, "{command}");
    }
}

#[test]
fn no_policy_lifts_it() {
    use toolmark_config::Node;
    use toolmark_guard::policy::{Layer, PolicyOrigin};
    use toolmark_match::call_match::compile_schema;
    let lax = json!({
        "effects": [{"decision": "allow"}],
        "writable": ["~", "/"], "delete_roots": ["~", "/"], "approve": true,
        "rules": [{"name": "all", "tool": "*", "decision": "allow",
            "examples": {"match": [{"tool": "Bash", "args": {"command": "ls"}}]}}],
    });
    let mut problems = Vec::new();
    let node = Node::from_json(&lax).unwrap();
    let layer = Layer::read(&node, PolicyOrigin::default(), compile_schema, &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    let guard = Guard::new(Policy::new(Some(layer), None, None), Toolsets::default());
    let (_, set) = hosts().next().unwrap();
    let decide = |tool: &str, args: Value| {
        decided(&guard, "claude-code", set.tool(tool).unwrap(), args, Some("/w/app"))
    };
    for command in ["rm ~/.claude/settings.json", "toolmark guard uninstall", "rm -rf ~/.claude"] {
        assert_eq!(decide("Bash", json!({ "command": command })), Decision::Deny, "{command}");
    }
    let write = json!({"file_path": "/home/me/.codex/hooks.json", "content": ""});
    assert_eq!(decide("Write", write), Decision::Deny);
    assert_eq!(decide("Bash", json!({"command": "rm -rf ~/notes"})), Decision::Allow);
}

/// A tool that writes through a link writes to the target of the link.
#[cfg(unix)]
#[test]
fn links_are_followed() {
    use toolmark_guard::facts::Disk;
    let dir = tempfile::tempdir().unwrap();
    let settings = dir.path().join(".claude");
    std::fs::create_dir(&settings).unwrap();
    std::fs::write(settings.join("settings.json"), "{}").unwrap();
    let link = dir.path().join("notes.json");
    std::os::unix::fs::symlink(settings.join("settings.json"), &link).unwrap();
    let cwd = dir.path().to_str().unwrap();
    let mut event = HookEvent::new(Moment::Before, "claude-code", "Write");
    event.args = Args::Json(json!({"file_path": link, "content": "{}"}));
    event.cwd = Some(cwd.into());
    let disk = Disk::at(cwd).unwrap();
    assert_eq!(Guard::default().decide(&event, Some(&disk)).decision, Decision::Deny);
}

#[test]
fn reading_them_is_nobodys_business() {
    let guard = Guard::default();
    let (_, set) = hosts().next().unwrap();
    let bash = set.tool("Bash").unwrap();
    for command in [
        "cat .claude/settings.json",
        "grep -rn hooks .cursor",
        "git diff toolmark.yaml && git add toolmark.yaml",
        "cp .claude/settings.json /tmp/x",
        "toolmark grade -c toolmark.yaml runs/",
        "ls -la ~/.codex",
        "rm .claude/plans/a.md",
    ] {
        let decision =
            decided(&guard, "claude-code", bash, json!({"command": command}), Some("/w/app"));
        assert_eq!(decision, Decision::Allow, "{command}");
    }
}
