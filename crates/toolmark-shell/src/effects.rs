//! The vocabulary of effects: their kind, scope, reversibility and certainty.

use serde::Serialize;

toolmark_base::word_enum! {
    /// Kind of an effect.
    pub enum EffectKind {
        /// Something is removed.
        Delete = "delete",
        /// Content is replaced or cut.
        Overwrite = "overwrite",
        /// Uncommitted or unreferenced work of a version control system is dropped.
        DiscardVcs = "discard-vcs",
        /// Recorded history changes or loses its safety net.
        RewriteHistory = "rewrite-history",
        /// A state visible to others changes.
        RemoteState = "remote-state-change",
        /// Rights are raised or changed.
        Privilege = "privilege",
        /// Code from elsewhere, or text put together at run time, is executed.
        ExecuteUntrusted = "execute-untrusted",
        /// A secret is shown or copied.
        ReadSecret = "read-secret",
        /// Data is sent off the machine.
        SendOut = "send-out",
        /// Something takes effect in later sessions, or weakens a protection.
        Persist = "persist",
        /// A running process or service is stopped.
        StopService = "stop-service",
        /// The command costs money or publishes permanently.
        Spend = "spend",
    }
}

toolmark_base::word_enum! {
    /// Location of the target of an effect.
    pub enum EffectScope {
        /// In the work tree, and a tool can regenerate it.
        TreeArtefact = "tree-artefact",
        /// In the work tree and under version control.
        TreeTracked = "tree-tracked",
        /// In the work tree and, as far as known, not under version control.
        TreeUntracked = "tree-untracked",
        /// The data of the version control system.
        VcsMetadata = "vcs-metadata",
        /// A location for temporary files.
        Temp = "temp",
        /// The user's home outside the work tree.
        Home = "home",
        /// Elsewhere on the machine.
        Outside = "outside",
        /// A part of the operating system.
        System = "system",
        /// A device.
        Device = "device",
        /// Another machine, or a service.
        Remote = "remote",
        /// Not known before the command runs.
        Unknown = "unknown",
    }
}

toolmark_base::word_enum! {
    /// Reversibility of an effect.
    pub enum Reversibility {
        /// No state changes.
        R0 = "r0",
        /// Undone by the same tool.
        R1 = "r1",
        /// Regenerable.
        R2 = "r2",
        /// Recoverable with effort.
        R3 = "r3",
        /// Lost locally.
        R4 = "r4",
        /// Lost for others, or public.
        R5 = "r5",
    }
}

toolmark_base::word_enum! {
    /// Certainty of an effect.
    pub enum Certainty {
        /// The text proves it.
        Proven = "proven",
        /// Likely, judging by the form of the text.
        Likely = "likely",
        /// Depends on a word known only at run time.
        Unresolved = "unresolved",
    }
}

toolmark_base::word_enum! {
    /// Coverage of the analysis.
    pub enum Coverage {
        /// The whole text was understood.
        Complete = "complete",
        /// A part was unreadable or nested too deeply.
        Partial = "partial",
    }
}

/// One effect of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Effect {
    /// Kind of the effect.
    pub kind: EffectKind,
    /// Target: a path, a reference or a resource.
    pub target: String,
    /// Location of the target.
    pub scope: EffectScope,
    /// Degree to which the effect can be undone.
    pub reversibility: Reversibility,
    /// Certainty of the effect.
    pub certainty: Certainty,
    /// Byte range of the command in the source.
    pub span: (usize, usize),
    /// Program that has the effect.
    pub program: String,
    /// Short reason.
    pub why: &'static str,
}

impl Effect {
    /// Returns whether the effect disables what restricts the agent: the guard, the user's policy,
    /// the settings and hooks of a host. No policy allows such an effect.
    #[must_use]
    pub fn disarms(&self) -> bool {
        self.kind == EffectKind::Persist && self.reversibility >= Reversibility::R4
    }

    /// Returns the severity among effects that lead to the same decision; the worst effect is
    /// reported.
    #[must_use]
    pub fn weight(&self) -> (bool, Reversibility, u8) {
        let scope = match self.scope {
            EffectScope::Device => 5,
            EffectScope::System => 4,
            EffectScope::VcsMetadata | EffectScope::Home => 3,
            EffectScope::Remote | EffectScope::Outside => 2,
            EffectScope::TreeTracked | EffectScope::TreeUntracked | EffectScope::Unknown => 1,
            EffectScope::Temp | EffectScope::TreeArtefact => 0,
        };
        (self.disarms(), self.reversibility, scope)
    }

    /// Returns the effect in one line.
    #[must_use]
    pub fn reason(&self) -> String {
        format!("{}: {}: {}", self.program, self.why, self.target)
    }
}
