//! Text made to be hard: nesting, length, and what is left of a cut command.

use toolmark_shell::{Context, Coverage, Decision, analyze, key, parse};

#[test]
fn nesting_is_bounded_and_never_allowed() {
    let n = 5_000;
    for (open, close) in
        [("echo $(", ")"), ("( ", " )"), ("{ ", "; }"), ("cat <(", ")"), ("if ls; then ", "; fi")]
    {
        let text = format!("{}rm -rf /{}", open.repeat(n), close.repeat(n));
        let analysis = analyze(&text, &Context::default());
        assert_ne!(analysis.decision, Decision::Allow, "{open}");
        assert_eq!(analysis.coverage, Coverage::Partial, "{open}");
    }
    let wrapped = "env ".repeat(n) + "rm -rf /";
    assert_ne!(analyze(&wrapped, &Context::default()).decision, Decision::Allow);
    let many = "ls; ".repeat(n);
    assert_eq!(analyze(&many, &Context::default()).decision, Decision::Ask);
}

#[test]
fn cut_commands_keep_their_effects() {
    let whole =
        "cd x && rm -rf /etc; echo \"$(cat <<'E'\nhi ${a:-`b`}\nE\n)\" | tee >(sort) [[ -f y ]]";
    for (at, _) in whole.char_indices() {
        let cut = &whole[..at];
        let analysis = analyze(cut, &Context::default());
        if at > 20 {
            assert_ne!(analysis.decision, Decision::Allow, "{cut}");
        }
        let _ = key(&whole[at..]);
    }
    assert!(parse("echo 'x").partial.is_some());
}

#[test]
fn declared_wrappers_are_taken_off() {
    let context = Context { wrappers: &["acme"], ..Context::default() };
    assert_eq!(analyze("acme git reset --hard", &context).decision, Decision::Deny);
    assert_eq!(analyze("acme git reset --hard", &Context::default()).decision, Decision::Allow);
}

#[test]
fn the_directory_decides() {
    for (cwd, expected) in [
        (None, Decision::Allow),
        (Some("~"), Decision::Deny),
        (Some("/tmp/x"), Decision::Allow),
        (Some("/home/me/app"), Decision::Allow),
    ] {
        let context = Context { cwd, ..Context::default() };
        assert_eq!(analyze("rm -rf node_modules", &context).decision, expected, "{cwd:?}");
    }
}
