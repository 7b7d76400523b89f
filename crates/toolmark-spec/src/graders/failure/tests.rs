use super::FAILURE;
use serde_json::{Value, json};
use toolmark_grade::testing::Kit;
use toolmark_grade::{Graders, ask};
use toolmark_outcome::{CaseContext, Environment, Profile, Subject, TrajectoryView};
use toolmark_session::notation;

const KIT: Kit = Kit(Graders(&[&FAILURE]));

fn verdict(config: &Value, trace: &str) -> &'static str {
    let grader = KIT.build("failure", Profile::Toolmark, config);
    let grader = grader.unwrap_or_else(|problems| panic!("{config}: {problems:?}"));
    let (context, environment) = (CaseContext::default(), Environment::default());
    let run = notation::parse(trace).unwrap();
    let subject =
        Subject { view: TrajectoryView::whole(&run), context: &context, environment: &environment };
    ask(&*grader, &subject).verdict.word()
}

#[test]
fn the_same_failure_with_other_values_fails() {
    let missing = "Read {\"file_path\":\"/w/a.rs\"} !> \"File does not exist.\"";
    let flag =
        "Bash {\"command\":\"gh pr diff 3 --stat\"} !> \"Exit code 1\\nunknown flag: --stat\"";
    let other =
        "Bash {\"command\":\"gh run list --wide\"} !> \"Exit code 1\\nunknown flag: --wide\"";
    let fine = "Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"";
    let unknown_flag =
        json!({"class": "bad-arguments", "role": "shell", "template": "unknown flag: *"});
    for (config, trace, want) in [
        (json!({"class": "missing-path"}), missing, "fail"),
        (json!({"class": "missing-path", "role": "read"}), missing, "fail"),
        (json!({"class": "missing-path", "role": "edit"}), missing, "pass"),
        (json!({"class": "missing-path", "template": "cd"}), missing, "pass"),
        (unknown_flag.clone(), flag, "fail"),
        (unknown_flag.clone(), other, "fail"),
        (unknown_flag, fine, "pass"),
        (json!({"class": "bad-arguments", "tool": "Other"}), flag, "pass"),
    ] {
        assert_eq!(verdict(&config, trace), want, "{config}: {trace}");
    }
}

#[test]
fn an_unknown_class_is_named() {
    let problems = KIT.build("failure", Profile::Toolmark, &json!({"class": "missing"}));
    let Err(problems) = problems else { panic!("accepted") };
    let text = format!("{problems:?}");
    assert!(text.contains("unknown class") && text.contains("missing-path"), "{text}");
}
