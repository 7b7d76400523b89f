//! The additional checks of the preset `strict`: it asks if something is unknown or leaves the work
//! tree, and denies effects that would need approval if they are proven and cannot easily be
//! regenerated.

use super::call::PolicySubject;
use toolmark_redact::{Proof, secrets};
use toolmark_shell::{Certainty, Coverage, Decision, Effect, EffectScope, Reversibility};

/// Returns why a call that would be allowed needs approval.
pub(super) fn doubt(call: &PolicySubject<'_>) -> Option<String> {
    if call.tool.is_none() {
        return Some(format!("nothing is known about the tool {}", call.event.tool));
    }
    if let Some(analysis) = call.analysis {
        if analysis.coverage == Coverage::Partial {
            return Some("a part of the command could not be read".to_owned());
        }
        if let Some(effect) = analysis.effects.iter().find(|effect| leaves(effect)) {
            return Some(format!("{}: {}: {}", effect.program, effect.why, effect.target));
        }
        let unresolved = analysis.effects.iter().find(|e| e.certainty == Certainty::Unresolved);
        if let Some(effect) = unresolved {
            return Some(format!("{}: {}: {}", effect.program, effect.why, effect.target));
        }
        for command in &analysis.commands {
            let prints = matches!(command.program.as_str(), "echo" | "printf" | "test" | "[");
            let word = command.args.iter().find(|arg| arg.dynamic && !prints);
            if let Some(word) = word {
                return Some(format!(
                    "{}: known only when it runs: {}",
                    command.program, word.text
                ));
            }
        }
    }
    let text = match &call.event.args {
        toolmark_hosts::Args::None => return None,
        toolmark_hosts::Args::Json(value) => value.to_string(),
        toolmark_hosts::Args::Text(text) => text.clone(),
    };
    let found = secrets(&text, Proof::Certain, 1).into_iter().next()?;
    Some(format!("the arguments contain a secret ({})", found.what))
}

/// Whether an effect reaches outside the work tree.
fn leaves(effect: &Effect) -> bool {
    effect.reversibility > Reversibility::R0
        && matches!(
            effect.scope,
            EffectScope::Home
                | EffectScope::Outside
                | EffectScope::System
                | EffectScope::Device
                | EffectScope::Remote
        )
}

/// Returns the stricter decision about an effect.
pub(super) fn raised(effect: &Effect, decision: Decision) -> Decision {
    let scratch = matches!(effect.scope, EffectScope::Temp | EffectScope::TreeArtefact);
    let proven = effect.certainty == Certainty::Proven;
    match decision {
        Decision::Ask if proven && !scratch && effect.reversibility >= Reversibility::R3 => {
            Decision::Deny
        }
        decision => decision,
    }
}
