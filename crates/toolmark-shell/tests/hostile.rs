//! Difficult input: nesting, length, and fragments of a truncated command.

use toolmark_shell::{Coverage, Decision, ShellContext, analyze, key, parse};

#[test]
fn nesting_is_bounded_and_never_allowed() {
    let n = 5_000;
    for (open, close) in
        [("echo $(", ")"), ("( ", " )"), ("{ ", "; }"), ("cat <(", ")"), ("if ls; then ", "; fi")]
    {
        let text = format!("{}rm -rf /{}", open.repeat(n), close.repeat(n));
        let analysis = analyze(&text, &ShellContext::default());
        assert_ne!(analysis.decision, Decision::Allow, "{open}");
        assert_eq!(analysis.coverage, Coverage::Partial, "{open}");
    }
    let wrapped = "env ".repeat(n) + "rm -rf /";
    assert_ne!(analyze(&wrapped, &ShellContext::default()).decision, Decision::Allow);
    let many = "ls; ".repeat(n);
    assert_eq!(analyze(&many, &ShellContext::default()).decision, Decision::Ask);
}

#[test]
fn cut_commands_keep_their_effects() {
    let whole =
        "cd x && rm -rf /etc; echo \"$(cat <<'E'\nhi ${a:-`b`}\nE\n)\" | tee >(sort) [[ -f y ]]";
    for (at, _) in whole.char_indices() {
        let cut = &whole[..at];
        let analysis = analyze(cut, &ShellContext::default());
        if at > 20 {
            assert_ne!(analysis.decision, Decision::Allow, "{cut}");
        }
        let _ = key(&whole[at..], &parse(&whole[at..]));
    }
    assert!(parse("echo 'x").partial.is_some());
}

#[test]
fn declared_wrappers_are_taken_off() {
    let context = ShellContext { wrappers: &["acme"], ..ShellContext::default() };
    assert_eq!(analyze("acme git reset --hard", &context).decision, Decision::Deny);
    // One that is not declared may be a wrapper.
    assert_eq!(analyze("acme git reset --hard", &ShellContext::default()).decision, Decision::Ask);
    assert_eq!(analyze("acme git status", &ShellContext::default()).decision, Decision::Allow);
}

/// Input that doubles with every word, or restarts for every call, is not followed to the end.
#[test]
fn work_is_bounded() {
    let doubled = format!("if false; then a=xx; {} fi; rm -rf /srv", "a=$a$a;".repeat(40));
    let arrays = format!("a=(x); {} \"${{a[@]}}\"; rm -rf /srv", "a+=(\"${a[@]}\" y);".repeat(40));
    let calls = format!("f() {{ {} }}; f; rm -rf /srv", "f a b; ".repeat(50));
    let files =
        format!("{} rm -rf /srv", "echo x > f; cat f f > g; cat g g > f; . ./f; ".repeat(60));
    for command in [doubled, arrays, calls, files] {
        let analysis = analyze(&command, &ShellContext::default());
        assert_ne!(analysis.decision, Decision::Allow, "{command}");
    }
}

/// A program known only at run time leaves the analysis incomplete.
#[test]
fn what_cannot_be_resolved_is_incomplete() {
    for command in
        ["\"$cmd\" x", "/bin/l? x", "$(pick) x", "${tools[0]} x", "source <(tool completion bash)"]
    {
        let analysis = analyze(command, &ShellContext::default());
        assert_eq!(analysis.coverage, Coverage::Partial, "{command}");
    }
    for command in ["/bin/r? -rf /srv/data", "\"$cmd\" -rf /srv/data"] {
        assert_eq!(analyze(command, &ShellContext::default()).decision, Decision::Ask, "{command}");
    }
}

#[test]
fn the_directory_decides() {
    for (cwd, expected) in [
        (None, Decision::Allow),
        (Some("~"), Decision::Deny),
        (Some("/tmp/x"), Decision::Allow),
        (Some("/home/me/app"), Decision::Allow),
    ] {
        let context = ShellContext { cwd, ..ShellContext::default() };
        assert_eq!(analyze("rm -rf node_modules", &context).decision, expected, "{cwd:?}");
    }
}

/// A work tree inside a temporary directory is treated like any other; other files there are not.
#[test]
fn a_tree_among_temporary_files() {
    let context = ShellContext { cwd: Some("/tmp/app"), ..ShellContext::default() };
    for command in ["rm -rf .git", "git reset --hard", "git clean -fdx", "rm -rf src"] {
        assert_ne!(analyze(command, &context).decision, Decision::Allow, "{command}");
    }
    for command in ["rm -rf target", "rm -rf /tmp/other", "touch src/a", "rm a.txt"] {
        assert_eq!(analyze(command, &context).decision, Decision::Allow, "{command}");
    }
}
