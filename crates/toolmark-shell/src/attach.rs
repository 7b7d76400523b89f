//! Attachment of here-document bodies, which follow the line of their operator, to that operator.

use crate::ir::{CompoundKind, IrNode, RedirectionKind, Script};

impl Script {
    /// Attaches the bodies to their operators.
    pub(crate) fn attach(&mut self, bodies: &mut [Option<crate::ir::HereDocument>]) {
        if bodies.is_empty() {
            return;
        }
        for item in &mut self.items {
            for stage in &mut item.pipeline.stages {
                stage.attach(bodies);
            }
        }
    }
}

impl IrNode {
    fn attach(&mut self, bodies: &mut [Option<crate::ir::HereDocument>]) {
        let redirections = match self {
            Self::Simple(simple) => {
                let words = simple.words.iter_mut();
                let values = simple.assignments.iter_mut().flat_map(|a| a.values.iter_mut());
                for word in words.chain(values) {
                    attach_parts(&mut word.parts, bodies);
                }
                &mut simple.redirections
            }
            Self::Compound(compound) => {
                match &mut compound.kind {
                    CompoundKind::Subshell(script) | CompoundKind::Group(script) => {
                        script.attach(bodies);
                    }
                    CompoundKind::Branches(scripts)
                    | CompoundKind::Loop { parts: scripts, .. }
                    | CompoundKind::Case { arms: scripts, .. } => {
                        for script in scripts {
                            script.attach(bodies);
                        }
                    }
                    CompoundKind::For { body, .. } => body.attach(bodies),
                    CompoundKind::Function { body, .. } => body.attach(bodies),
                    CompoundKind::Test(_) => {}
                }
                &mut compound.redirections
            }
        };
        for redirection in redirections {
            if redirection.kind != RedirectionKind::HereDocument {
                continue;
            }
            let id = redirection.pending.take();
            let slot = id.and_then(|id| bodies.get_mut(id as usize));
            redirection.body = slot.and_then(Option::take);
        }
    }
}

fn attach_parts(parts: &mut [crate::ir::WordPart], bodies: &mut [Option<crate::ir::HereDocument>]) {
    for part in parts {
        match part {
            crate::ir::WordPart::Command { script, .. }
            | crate::ir::WordPart::Process { script, .. } => {
                script.attach(bodies);
            }
            crate::ir::WordPart::Arithmetic(inner) => attach_parts(inner, bodies),
            crate::ir::WordPart::Parameter { default: Some(word), .. } => {
                attach_parts(&mut word.parts, bodies);
            }
            _ => {}
        }
    }
}
