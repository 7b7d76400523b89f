//! Installs the skills, sub-agents and MCP servers of a case in the locations where its agent
//! expects them.

use std::path::{Path, PathBuf};
use toolmark_grade::run_plan::{FileSource, WorkspaceFile, WorkspacePlan};
use toolmark_hosts::Host;

/// File of MCP servers, for agents that accept such a file.
const MCP_FILE: &str = ".toolmark-mcp.json";

/// The files and arguments that an agent receives.
pub(crate) struct Equipment {
    /// Workspace with all files in their locations.
    pub workspace: WorkspacePlan,
    /// Additional arguments of the agent.
    pub args: Vec<String>,
    /// Items that the agent does not support.
    pub problems: Vec<String>,
}

/// Adds the skills, sub-agents and MCP servers of a case to the workspace and the arguments.
pub(crate) fn place(mut workspace: WorkspacePlan, host: Option<&Host>) -> Equipment {
    let (mut args, mut problems) = (Vec::new(), Vec::new());
    let id = host.map_or("command", |host| host.id);
    let skills = std::mem::take(&mut workspace.skills);
    let agents = std::mem::take(&mut workspace.agents);
    let kinds = [("skills", skills, skills_folder(id)), ("agents", agents, agents_folder(id))];
    for (what, paths, folder) in kinds {
        match folder {
            Some(folder) => {
                let files = paths.into_iter().map(|path| file(path, folder));
                workspace.files.extend(files);
            }
            None if paths.is_empty() => {}
            None => problems.push(format!("{what} cannot be given to {id}")),
        }
    }
    if let Some(servers) = workspace.mcp_servers.take() {
        let given = match id {
            "claude-code" => ["--mcp-config", MCP_FILE].map(str::to_owned),
            "copilot-cli" => ["--additional-mcp-config".to_owned(), format!("@{MCP_FILE}")],
            _ => {
                problems.push(format!("MCP servers cannot be given to {id}"));
                return Equipment { workspace, args, problems };
            }
        };
        args.extend(given);
        workspace.files.push(WorkspaceFile {
            source: FileSource::Text(format!("{{\"mcpServers\": {servers}}}\n")),
            dest: PathBuf::from(MCP_FILE),
        });
    }
    Equipment { workspace, args, problems }
}

fn file(path: PathBuf, folder: &str) -> WorkspaceFile {
    let name = path.file_name().map(Path::new).unwrap_or(Path::new("")).to_owned();
    // A skill may be named by its file: its directory is the skill.
    if name.as_os_str() == "SKILL.md"
        && let Some(parent) = path.parent()
        && let Some(own) = parent.file_name()
    {
        let dest = Path::new(folder).join(own);
        return WorkspaceFile { source: FileSource::Path(parent.to_owned()), dest };
    }
    WorkspaceFile { dest: Path::new(folder).join(name), source: FileSource::Path(path) }
}

/// Project folder in which an agent looks for skills.
fn skills_folder(id: &str) -> Option<&'static str> {
    match id {
        "claude-code" => Some(".claude/skills"),
        "copilot-cli" => Some(".github/skills"),
        "codex" | "gemini-cli" | "opencode" | "pi" => Some(".agents/skills"),
        _ => None,
    }
}

/// Project folder in which an agent looks for sub-agents.
fn agents_folder(id: &str) -> Option<&'static str> {
    match id {
        "claude-code" => Some(".claude/agents"),
        "copilot-cli" => Some(".github/agents"),
        "opencode" => Some(".opencode/agents"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::agent;

    #[test]
    fn everything_is_put_where_the_agent_looks_or_named() {
        let plan = WorkspacePlan {
            skills: vec!["s/review".into(), "s/plan/SKILL.md".into()],
            agents: vec!["a/helper.md".into()],
            mcp_servers: Some("{\"x\": {}}".into()),
            ..WorkspacePlan::default()
        };
        for (id, dests, args, problems) in [
            (
                "claude-code",
                vec![
                    ".claude/skills/review",
                    ".claude/skills/plan",
                    ".claude/agents/helper.md",
                    MCP_FILE,
                ],
                vec!["--mcp-config", MCP_FILE],
                vec![],
            ),
            (
                "codex",
                vec![".agents/skills/review", ".agents/skills/plan"],
                vec![],
                vec!["agents cannot be given to codex", "MCP servers cannot be given to codex"],
            ),
        ] {
            let placed = place(plan.clone(), agent(id));
            let found: Vec<_> = placed.workspace.files.iter().map(|file| &file.dest).collect();
            assert_eq!(found, dests.iter().map(Path::new).collect::<Vec<_>>(), "{id}");
            assert_eq!(placed.args, args, "{id}");
            assert_eq!(placed.problems, problems, "{id}");
        }
        assert_eq!(place(plan, None).problems.len(), 3);
    }
}
