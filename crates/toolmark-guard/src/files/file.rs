//! Reads one policy file with limits, because the hook reads it before every call.

use crate::policy::Whose;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use toolmark_base::{ReadFileError, read_file};
use toolmark_config::{Node, Problem};
use toolmark_config::{SourceText, parse};

/// Maximum size of a policy, in bytes.
const LARGEST: u64 = 1 << 20;
/// Maximum size of a project's policy, in bytes; smaller, because it comes with a repository.
const LARGEST_OF_PROJECT: u64 = 64 << 10;

/// A file with a `guard:` or a `tools:` part.
pub(super) struct File {
    pub(super) source: SourceText,
    pub(super) node: Option<Node>,
    pub(super) problems: Vec<Problem>,
}

/// Reason why a policy file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum PolicyFileError {
    #[error(transparent)]
    Read(#[from] ReadFileError),
    #[error("failed to read {}: it has no `guard:` section", .0.display())]
    NoSection(PathBuf),
    #[error("failed to read {}: it is larger than 1 MiB", .0.display())]
    TooLarge(PathBuf),
    #[error(
        "failed to read {}: it is larger than 64 KiB, the limit for a project's policy",
        .0.display()
    )]
    TooLargeForProject(PathBuf),
    #[error("failed to read {}: it is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
}

/// Whether a line begins with the key `guard`.
fn begins_part(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').any(|line| {
        let marks = |byte: &u8| matches!(byte, b'{' | b'"' | b'\'' | b',' | 0xEF | 0xBB | 0xBF);
        let start = line.iter().position(|byte| !marks(byte)).unwrap_or(line.len());
        line.get(start..).unwrap_or_default().starts_with(b"guard")
    })
}

/// Whether a file has conditions on named tools.
pub(super) fn has_conditions(root: &Node) -> bool {
    let is_list = |key: &str| root.get(key).is_some_and(|part| part.as_list().is_some());
    root.get("tools").is_some_and(|part| part.as_map().is_some()) || is_list("order")
}

impl File {
    /// Reads a file; `None` if it does not exist or has no `guard:` part. A file that was named
    /// explicitly must exist and have one.
    pub(super) fn read(
        path: &Path,
        named: bool,
        whose: Whose,
    ) -> Result<Option<Self>, PolicyFileError> {
        let opened = read_file::check_regular(path).and_then(|()| read_file::open(path));
        let file = match opened {
            Err(error) if error.is_missing() && !named => return Ok(None),
            opened => opened?,
        };
        let mut bytes = Vec::new();
        let read = file.take(LARGEST + 1).read_to_end(&mut bytes);
        read.map_err(|error| ReadFileError::io(path, error))?;
        let speaks =
            bytes.windows(5).any(|window| matches!(window, b"guard" | b"tools" | b"order"));
        match (speaks, bytes.len() as u64 > LARGEST) {
            (false, _) if named => return Err(PolicyFileError::NoSection(path.to_owned())),
            // A spec, however large.
            (false, false) => return Ok(None),
            (_, true) => return Err(PolicyFileError::TooLarge(path.to_owned())),
            (true, false) => {}
        }
        if whose == Whose::Project && bytes.len() as u64 > LARGEST_OF_PROJECT {
            return match begins_part(&bytes) {
                true => Err(PolicyFileError::TooLargeForProject(path.to_owned())),
                // A large spec that only mentions the word.
                false => Ok(None),
            };
        }
        let text =
            String::from_utf8(bytes).map_err(|_| PolicyFileError::NotUtf8(path.to_owned()))?;
        let source = SourceText::new(path.to_string_lossy(), text);
        let parsed = parse(&source);
        let (node, problems) = (parsed.node, parsed.problems);
        let has_part =
            node.as_ref().is_some_and(|root| root.get("guard").is_some() || has_conditions(root));
        let is_broken = problems.iter().any(Problem::is_error);
        if !has_part && !is_broken {
            return match named {
                true => Err(PolicyFileError::NoSection(path.to_owned())),
                false => Ok(None),
            };
        }
        Ok(Some(Self { source, node, problems }))
    }
}
