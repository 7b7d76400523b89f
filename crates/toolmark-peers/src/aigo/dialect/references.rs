//! `$ref`: a part of a task in another file (`scorers.yaml`), at
//! a path in it (`scorers.yaml#/strict`), or at a path of the task (`#/strict`).
//!
//! Keys beside `$ref` override the referenced part. Problems of the part are
//! shown at the reference.

use std::path::{Path, PathBuf};
use toolmark_base::SortedMap;
use toolmark_config::{Node, NodeKind, NodeSpan, Problem, SourceText, parse, quoted};
use toolmark_grade::Loading;

/// Maximum depth of nested references.
const MAX_DEPTH: usize = 8;

/// Maximum number of references in a task, including nested ones.
const MAX_REFERENCES: usize = 1000;

/// Returns the tree with every reference resolved.
pub(super) fn resolve(root: &Node, loading: &mut Loading<'_>) -> Node {
    let directory = match loading.directory == Path::new(".") {
        true => PathBuf::new(),
        false => loading.directory.to_owned(),
    };
    let mut resolving = Resolving { files: SortedMap::new(), left: MAX_REFERENCES, loading };
    resolving.node(root, &Home { root, directory: &directory }, MAX_DEPTH, None)
}

/// The file that contains a reference.
struct Home<'h> {
    root: &'h Node,
    directory: &'h Path,
}

struct Resolving<'l, 'a> {
    files: SortedMap<PathBuf, Option<Node>>,
    left: usize,
    loading: &'l mut Loading<'a>,
}

impl Resolving<'_, '_> {
    /// Resolves a node. `shown` is the position for problems once another file was entered.
    fn node(
        &mut self,
        node: &Node,
        home: &Home<'_>,
        depth: usize,
        shown: Option<NodeSpan>,
    ) -> Node {
        match &node.kind {
            NodeKind::List(items) => {
                let items = items.iter().map(|item| self.node(item, home, depth, shown));
                Node::new(NodeKind::List(items.collect()), node.span)
            }
            NodeKind::Map(entries) => {
                let named = node.get("$ref").and_then(Node::as_str);
                if let Some(named) = named {
                    let at = shown.unwrap_or(node.span);
                    return self.referred(named, node, home, depth, at);
                }
                let mut entries = entries.clone();
                for entry in &mut entries {
                    entry.value = self.node(&entry.value, home, depth, shown);
                }
                Node::new(NodeKind::Map(entries), node.span)
            }
            _ => node.clone(),
        }
    }

    fn referred(
        &mut self,
        named: &str,
        node: &Node,
        home: &Home<'_>,
        depth: usize,
        at: NodeSpan,
    ) -> Node {
        let own = node.without(&["$ref"]);
        let Some(depth) = depth.checked_sub(1).filter(|_| self.left > 0) else {
            let message = "references lead to references without an end";
            self.loading.error("deep-reference", at, message);
            return node.clone();
        };
        self.left -= 1;
        let (file, place) = named.split_once('#').unwrap_or((named, ""));
        let found = if file.is_empty() {
            let found = pointed(home.root, place).cloned();
            found.map(|found| self.node(&found, home, depth, Some(at)))
        } else {
            let path = home.directory.join(file);
            self.file(&path, at).and_then(|root| {
                let directory = path.parent().unwrap_or(Path::new(".")).to_owned();
                let found = pointed(&root, place).cloned()?;
                let home = Home { root: &root, directory: &directory };
                Some(self.node(&found, &home, depth, Some(at)))
            })
        };
        let Some(found) = found else {
            if !self.loading.problems.iter().any(|problem| problem.span == Some(at)) {
                let message = format!("{} refers to nothing", quoted(named));
                self.loading.error("unknown-reference", at, message);
            }
            return node.clone();
        };
        over(&found.moved(at), &own)
    }

    /// Returns the tree of a file, which is read once.
    fn file(&mut self, path: &Path, at: NodeSpan) -> Option<Node> {
        if let Some(known) = self.files.get(path) {
            return known.clone();
        }
        let read = match SourceText::open(path) {
            Err(error) => {
                self.loading.problems.push(Problem::from(&error).at(at));
                None
            }
            Ok(source) => {
                let parsed = parse(&source);
                for problem in parsed.problems {
                    let message = format!("{}: {}", path.display(), problem.message);
                    self.loading.error(problem.code, at, message);
                }
                parsed.node
            }
        };
        self.files.insert(path.to_owned(), read.clone());
        read
    }
}

/// Resolves a JSON pointer.
fn pointed<'n>(root: &'n Node, pointer: &str) -> Option<&'n Node> {
    let steps = pointer.split('/').skip(1).filter(|_| !pointer.is_empty());
    steps.into_iter().try_fold(root, |node, step| {
        let key = step.replace("~1", "/").replace("~0", "~");
        match node.as_list() {
            Some(items) => items.get(key.parse::<usize>().ok()?),
            None => node.get(&key),
        }
    })
}

/// Merges the keys beside a reference into the referenced part. A separate file
/// contains the part under `definition`, with its key and name above.
fn over(found: &Node, own: &Node) -> Node {
    let inner = found.get("definition").filter(|_| found.get("type").is_none());
    let (NodeKind::Map(below), NodeKind::Map(own_entries)) = (&found.kind, &own.kind) else {
        return found.clone();
    };
    let mut entries = match inner {
        Some(Node { kind: NodeKind::Map(inner), .. }) => {
            let above = below.iter().filter(|e| e.key == "key" || e.key == "display_name");
            inner.iter().chain(above).cloned().collect()
        }
        _ => below.clone(),
    };
    for entry in own_entries {
        entries.retain(|known| known.key != entry.key);
        entries.push(entry.clone());
    }
    Node::new(NodeKind::Map(entries), found.span)
}
