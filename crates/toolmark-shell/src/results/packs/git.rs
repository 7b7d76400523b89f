//! # git
//!
//! ```result wrong-directory
//! $ git status 2>&1 | head -3
//! fatal: not a git repository (or any of the parent directories): .git
//! ```
//! ```result failed
//! $ git push origin main 2>&1 | tail -2
//! To example.com:a/b.git
//!  ! [rejected]        main -> main (fetch first)
//! error: failed to push some refs to 'example.com:a/b.git'
//! ```
//! ```result passed
//! $ git commit -m 'Add a page' 2>&1 | tail -2
//! [main 1a2b3c4] Add a page
//!  1 file changed, 2 insertions(+)
//! ```
//! ```result not-found
//! $ git show v9:a.rs | head !128
//! fatal: invalid object name 'v9'.
//! ```
//! ```result usage-error
//! $ git log --frob; echo done
//! fatal: unrecognized argument: --frob
//! done
//! ```
//! ```result not-authenticated
//! $ git fetch || true
//! git@example.com: Permission denied (publickey).
//! fatal: Could not read from remote repository.
//! ```

use super::{CommandLineParser, ProgramPurpose, ResultKind, ResultProgram};

pub(super) static PACK: &[ResultProgram] = &[
    ResultProgram {
        names: &[
            "git log",
            "git show",
            "git diff",
            "git status",
            "git blame",
            "git branch",
            "git tag",
            "git remote",
            "git rev-parse",
            "git config",
            "git reflog",
            "git shortlog",
            "git describe",
            "git cat-file",
            "git ls-tree",
            "git rev-list",
            "git merge-base",
            "git show-ref",
        ],
        work: ProgramPurpose::Shows,
        parser: CommandLineParser::Git,
        lines: LINES,
    },
    ResultProgram {
        names: &["git grep", "git ls-files", "git ls-remote"],
        work: ProgramPurpose::Searches,
        parser: CommandLineParser::Git,
        lines: LINES,
    },
    ResultProgram {
        names: &["git commit"],
        work: ProgramPurpose::Acts,
        parser: CommandLineParser::Git,
        lines: &[(
            ResultKind::NothingMatched,
            &[
                "nothing to commit, working tree clean",
                "nothing to commit*",
                "nothing added to commit *",
                "no changes added to commit *",
            ],
        )],
    },
    ResultProgram {
        names: &["git", "jj", "hg"],
        work: ProgramPurpose::Acts,
        parser: CommandLineParser::Git,
        lines: LINES,
    },
];

const LINES: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::WrongDirectory,
        &[
            "fatal: not a git repository*",
            "error: not a git repository*",
            "fatal: cannot change to '*",
            "fatal: this operation must be run in a work tree",
            "fatal: * is outside repository at *",
            "Error: There is no jj repo in *",
        ],
    ),
    (
        ResultKind::NotAuthenticated,
        &[
            "fatal: Authentication failed for *",
            "fatal: could not read Username for *",
            "fatal: could not read Password for *",
            "*: Permission denied (publickey*",
            "remote: Invalid username or token*",
            "remote: Permission to * denied to *",
            "remote: HTTP Basic: Access denied*",
        ],
    ),
    (
        ResultKind::NotFound,
        &[
            "fatal: pathspec '*' did not match any files",
            "error: pathspec '*' did not match any file*",
            "fatal: ambiguous argument '*': unknown revision or path not in the working tree*",
            "fatal: bad revision '*'",
            "fatal: invalid object name '*",
            "fatal: Not a valid object name *",
            "fatal: path '*' does not exist in *",
            "fatal: path '*' exists on disk, but not in *",
            "fatal: invalid reference: *",
            "fatal: couldn't find remote ref *",
            "fatal: no such branch: *",
            "fatal: Needed a single revision",
            "fatal: bad object *",
            "fatal: '*' does not appear to be a git repository",
            "fatal: repository '*' not found",
            "ERROR: Repository not found.",
            "remote: Repository not found.",
            "error: branch '*' not found*",
            "error: No such remote*",
            "fatal: No such remote*",
            "error: src refspec * does not match any",
            "fatal: tag '*' not found*",
            "error: tag '*' not found*",
            "fatal: '*' is not a working tree",
            "fatal: no upstream configured for branch *",
            "* is not a valid reference*",
            "No stash entries found.",
            "merge: * - not something we can merge*",
            "fatal: '*' is not a commit and a branch '*' cannot be created from it",
            "fatal: There is no merge to abort *",
            "fatal: No rebase in progress?",
            "error: no cherry-pick or revert in progress",
            "error: no note found for object *",
            "fatal: no tag exactly matches *",
            "fatal: No names found, cannot describe anything.",
            "fatal: no such path '*' in *",
            "fatal: file * has only # line*",
        ],
    ),
    (
        ResultKind::Refused,
        &[
            "remote: error: GH*: *",
            "*(protected branch hook declined)",
            "*(pre-receive hook declined)",
            "fatal: detected dubious ownership in repository *",
            "The following paths are ignored by one of your .gitignore files:",
        ],
    ),
    (
        ResultKind::Failed,
        &[
            "! [rejected] *",
            "! [remote rejected] *",
            "error: failed to push some refs to *",
            "CONFLICT (*",
            "The previous cherry-pick is now empty*",
            "There is no tracking information for the current branch.",
            "You are not currently on a branch.",
            "You have unmerged paths.",
            "error: Pulling is not possible because you have unmerged files.",
            "error: your local changes would be overwritten by *",
            "Please commit your changes or stash them before you *",
            "error: cannot *: You have unstaged changes.",
            "error: cannot *: Your index contains uncommitted changes.",
            "error: The following untracked working tree files would be *",
            "The stash entry is kept in case you need it again.",
            "error: failed to execute prompt script*",
            "error: RPC failed*",
            "fatal: the remote end hung up unexpectedly*",
            "Automatic merge failed; *",
            "error: could not apply *",
            "error: Your local changes to the following files would be overwritten *",
            "error: The following untracked working tree files would be overwritten *",
            "error: cannot pull with rebase: *",
            "error: cannot rebase: *",
            "error: patch failed: *",
            "error: * does not apply",
            "error: *: patch does not apply",
            "error: gpg failed to sign the data*",
            "fatal: failed to write commit object",
            "fatal: Unable to create '*.lock': File exists.",
            "fatal: Not possible to fast-forward, aborting.",
            "fatal: Need to specify how to reconcile divergent branches.",
            "fatal: The current branch * has no upstream branch.",
            "fatal: refusing to merge unrelated histories",
            "fatal: a branch named '*' already exists*",
            "fatal: *",
            "error: *",
            "fatal: '*' already exists",
            "fatal: '*' is already *",
            "fatal: tag '*' already exists",
            "fatal: unable to access '*",
            "fatal: Could not read from remote repository.",
            "error: The branch '*' is not fully merged*",
            "error: * not uptodate. Cannot merge.",
            "error: Committing is not possible because you have unmerged files.",
            "error: you need to resolve your current index first",
            "husky - * script failed *",
            "husky - * hook exited with code # *",
            "* hook failed*",
            "hint: Updates were rejected because *",
        ],
    ),
    (ResultKind::NothingMatched, &["No local changes to save"]),
    (
        ResultKind::Passed,
        &[
            "[*] *",
            "* -> *",
            "# file* changed*",
            "Everything up-to-date",
            "Switched to *",
            "Already on *",
            "Already up to date.",
            "Successfully rebased and updated *",
            "Current branch * is up to date.",
            "Fast-forward*",
            "Merge made by *",
            "Saved working directory *",
            "Dropped *",
            "HEAD is now at *",
            "Deleted branch *",
            "branch '*' set up to track *",
            "Cloning into *",
            "Preparing worktree *",
            "Rebasing (*",
        ],
    ),
];
