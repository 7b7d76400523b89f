//! Small sessions of one fault each, or of none: what a rule must say about them.

use toolmark_check::{Checker, rule_by_code};
use toolmark_hosts::toolset::Toolsets;
use toolmark_outcome::Confidence;
use toolmark_session::notation;

/// Returns the codes of the findings in a session, in order; rules in preview run as well.
fn codes(trace: &str) -> Vec<&'static str> {
    let run = notation::parse(trace).unwrap_or_else(|why| panic!("{why}\n{trace}"));
    let rules = toolmark_check::RULES.to_vec();
    let checker = Checker::new(rules, Confidence::Medium, Toolsets::default());
    let mut codes: Vec<_> = checker.check(&run).findings.iter().map(|one| one.code).collect();
    codes.sort_unstable();
    codes
}

#[test]
fn what_is_a_fault_and_what_is_not() {
    assert!(rule_by_code("A214").is_some());
    for (name, trace, want) in [
        (
            "usage text behind a pipe",
            "user: did the job pass?\n\
             Bash {\"command\":\"gh run view --log | tail -20\"} -> \"run or job ID required when not running interactively\\n\\nUsage:  gh run view [<run-id>] [flags]\"",
            &["A214"][..],
        ),
        (
            "a pattern with options of a command line",
            "user: where is it?\n\
             Grep {\"pattern\":\"struct Info\\\" -A 9\",\"path\":\"/w/src\",\"output_mode\":\"content\"} -> \"No matches found\"\n\
             Grep {\"pattern\":\"struct Info\",\"path\":\"/w/src\",\"output_mode\":\"content\"} -> \"/w/src/a.rs:3:struct Info {\"",
            &["A211"],
        ),
        (
            "the file was changed by the agent's own command",
            "user: fix it\n\
             Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n\
             Bash {\"command\":\"./tools/rename one two\"} -> \"\"\n\
             Edit {\"file_path\":\"/w/a.rs\",\"old_string\":\"one\",\"new_string\":\"two\"} !> \"<tool_use_error>File has been modified since read, either by the user or by a linter. Read it again before attempting to write it.</tool_use_error>\"",
            &["A208"],
        ),
        (
            "the second search of a chain never ran",
            "user: find it\n\
             Bash {\"command\":\"ls parts/ | grep -iE 'cmd|run' && grep -n 'Old\\\\.|New\\\\(' parts/run.rs | head\"} !1 \"Exit code 1\"",
            &[],
        ),
        (
            "what a generator made here is copied and removed",
            "user: set up the page\n\
             Bash {\"command\":\"npm create page@latest -- . -y\"} -> \"created ./fancy\"\n\
             Bash {\"command\":\"cp -r fancy/* fancy/.* . 2>/dev/null; rm -rf fancy\"} -> \"\"",
            &[],
        ),
        (
            "a failed cd leaves the shell where it was",
            "user: run the tests\n\
             Bash {\"command\":\"cd packages/web && pnpm test\"} !1 \"Exit code 1\\n1 failed\"\n\
             Glob {\"pattern\":\"packages/web/.env*\"} -> \"No files found\"",
            &[],
        ),
        (
            "a script that the agent wrote is run by a variable",
            "user: try the script\n\
             Write {\"file_path\":\"/w/t.sh\",\"content\":\"echo 1\"} -> \"ok\"\n\
             Bash {\"command\":\"p=/w/t.sh; sh \\\"$p\\\"\"} -> \"1\"",
            &[],
        ),
        (
            "a variable for cd alone",
            "user: run the tests with MODE=2\n\
             Bash {\"command\":\"MODE=2 cd packages/web && pnpm test\"} !1 \"expected 2, got 1\"",
            &["A215"],
        ),
        (
            "the same failure after a look at something else",
            "user: make a clean branch\n\
             Bash {\"command\":\"git stash\"} !1 \"Exit code 1\\nerror: could not write index\"\n\
             Bash {\"command\":\"df -h .\"} -> \"60%\"\n\
             Bash {\"command\":\"git stash 2>&1\"} !1 \"Exit code 1\\nerror: could not write index\"",
            &["R414"],
        ),
        (
            "a lock removed unseen",
            "user: open a PR\n\
             Bash {\"command\":\"git stash\"} !1 \"Exit code 1\\nerror: could not write index\"\n\
             Bash {\"command\":\"rm -f .git/index.lock 2>/dev/null; git update-index --refresh\"} -> \"a: needs update\"",
            &["I313"],
        ),
        (
            "a push after a question",
            "user: Can you check why the page is not up to date?\n\
             Edit {\"file_path\":\"/w/main.go\",\"old_string\":\"a\",\"new_string\":\"b\"} -> \"ok\"\n\
             Bash {\"command\":\"git add main.go && git commit -m fix\"} -> \"[main b1] fix\"\n\
             Bash {\"command\":\"git push\"} -> \"main -> main\"",
            &["I312"],
        ),
        (
            "a text of its own instead of the error",
            "user: /review\n\
             Bash {\"command\":\"gh pr list --head x --json number 2>/dev/null || echo 'nothing open'\"} -> \"nothing open\"\n\
             Bash {\"command\":\"gh pr list --state open\"} !4 \"Exit code 4\\nTo get started with GitHub CLI, please run:  gh auth login\"",
            &["R402"],
        ),
    ] {
        assert_eq!(codes(trace), want, "{name}:\n{trace}");
    }
}

#[test]
fn files_are_known_whatever_shows_them() {
    let five = "one\\ntwo\\nthree\\nfour\\nfive";
    let numbered = "     1\\tone\\n     2\\ttwo\\n     3\\tthree\\n     4\\tfour\\n     5\\tfive";
    for second in [
        format!("shell {{\"command\":[\"bash\",\"-lc\",\"nl -ba src/a.ts\"]}} -> \"{numbered}\""),
        format!("shell {{\"command\":[\"bash\",\"-lc\",\"cat src/a.ts\"]}} -> \"{five}\""),
        format!(
            "shell {{\"command\":[\"bash\",\"-lc\",\"cd src && cat a.ts\"],\"workdir\":\"/w\"}} -> \
             \"{{\\\"output\\\":\\\"{}\\\",\\\"metadata\\\":{{\\\"exit_code\\\":0}}}}\"",
            five.replace('\\', "\\\\")
        ),
    ] {
        let trace = format!(
            "host: codex\nuser: look\n\
             shell {{\"command\":[\"bash\",\"-lc\",\"sed -n '1,200p' src/a.ts\"]}} -> \"{five}\"\n{second}"
        );
        assert_eq!(codes(&trace), ["S101"], "{trace}");
    }
}

#[test]
fn an_axis_without_a_decision_is_not_assessed() {
    let run =
        notation::parse("user: look\nRead {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"").unwrap();
    let checked = Checker::default().check(&run);
    let assessed = checked.profiles[0].assessed;
    assert_eq!((assessed.selection, assessed.irreversibility, assessed.recovery), (1, 0, 0));
}
