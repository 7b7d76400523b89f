//! The vocabulary of effects: what a command changes, where, how far it can be
//! undone, and how sure that is.

use serde::Serialize;

toolmark_base::word_enum! {
    /// What an effect does.
    pub enum Kind {
        /// Something is removed.
        Delete = "delete",
        /// Content is replaced or cut.
        Overwrite = "overwrite",
        /// Uncommitted or unreferenced work of a version control system is dropped.
        DiscardVcs = "discard-vcs",
        /// Recorded history changes or loses its safety net.
        RewriteHistory = "rewrite-history",
        /// Something others see changes.
        RemoteState = "remote-state-change",
        /// Rights are raised or changed.
        Privilege = "privilege",
        /// Code from elsewhere, or text put together at run time, is executed.
        ExecuteUntrusted = "execute-untrusted",
        /// A secret is shown or copied.
        ReadSecret = "read-secret",
        /// Data leaves the machine.
        SendOut = "send-out",
        /// Something takes effect in later sessions, or weakens a protection.
        Persist = "persist",
        /// Something running is stopped.
        StopService = "stop-service",
        /// It costs money or publishes permanently.
        Spend = "spend",
    }
}

toolmark_base::word_enum! {
    /// Where the target of an effect lies.
    pub enum Scope {
        /// In the work tree, and a tool can regenerate it.
        TreeArtefact = "tree-artefact",
        /// In the work tree and under version control.
        TreeTracked = "tree-tracked",
        /// In the work tree and, as far as is known, not under version control.
        TreeUntracked = "tree-untracked",
        /// The data of the version control system.
        VcsMetadata = "vcs-metadata",
        /// A place for temporary files.
        Temp = "temp",
        /// The user's home outside the work tree.
        Home = "home",
        /// Elsewhere on the machine.
        Outside = "outside",
        /// A part of the operating system.
        System = "system",
        /// A device.
        Device = "device",
        /// Another machine or a service.
        Remote = "remote",
        /// Not known before it runs.
        Unknown = "unknown",
    }
}

toolmark_base::word_enum! {
    /// How far an effect can be undone.
    pub enum Reversibility {
        /// No state changes.
        R0 = "r0",
        /// Undone by the same tool.
        R1 = "r1",
        /// Can be regenerated.
        R2 = "r2",
        /// Recoverable with effort.
        R3 = "r3",
        /// Gone locally.
        R4 = "r4",
        /// Gone or public for others.
        R5 = "r5",
    }
}

toolmark_base::word_enum! {
    /// How sure an effect is.
    pub enum Certainty {
        /// The text proves it.
        Proven = "proven",
        /// Most likely, from the shape of the text.
        Likely = "likely",
        /// It depends on a word known only at run time.
        Unresolved = "unresolved",
    }
}

toolmark_base::word_enum! {
    /// How much of the text was understood.
    pub enum Coverage {
        /// All of it.
        Complete = "complete",
        /// A part was unreadable or too deep.
        Partial = "partial",
    }
}

/// One thing a command would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Effect {
    /// What it does.
    pub kind: Kind,
    /// To what: a path, a reference, a resource.
    pub target: String,
    /// Where the target lies.
    pub scope: Scope,
    /// How far it can be undone.
    pub reversibility: Reversibility,
    /// How sure it is.
    pub certainty: Certainty,
    /// The command's byte range in the source.
    pub span: (usize, usize),
    /// The program that does it.
    pub program: String,
    /// Why this is so, in a few words.
    pub why: &'static str,
}

impl Effect {
    /// Does it take away what holds the agent back: the guard, the user's policy,
    /// the settings and hooks of a host? No policy allows that.
    #[must_use]
    pub fn disarms(&self) -> bool {
        self.kind == Kind::Persist && self.reversibility >= Reversibility::R4
    }

    /// How bad it is, among effects that lead to the same decision: the worst is named.
    #[must_use]
    pub fn weight(&self) -> (bool, Reversibility, u8) {
        let scope = match self.scope {
            Scope::Device => 5,
            Scope::System => 4,
            Scope::VcsMetadata | Scope::Home => 3,
            Scope::Remote | Scope::Outside => 2,
            Scope::TreeTracked | Scope::TreeUntracked | Scope::Unknown => 1,
            Scope::Temp | Scope::TreeArtefact => 0,
        };
        (self.disarms(), self.reversibility, scope)
    }

    /// The effect in one line.
    #[must_use]
    pub fn reason(&self) -> String {
        format!("{}: {}: {}", self.program, self.why, self.target)
    }
}
