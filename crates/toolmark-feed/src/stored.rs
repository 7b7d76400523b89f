//! A batch as text, for whoever keeps occurrences between two runs of a program.
//!
//! The ids of issues are kept beside their keys: a key whose message was redacted no longer
//! gives the id that its calls had.

use crate::class::FailureClass;
use crate::key::{IssueId, Key};
use crate::occurrence::{About, Batch, Example, Kind, Occurrence, Origin, Rank, Recovery};
use crate::role::Role;
use crate::subject::Subject;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use toolmark_check::{Spent, rule_by_code};
use toolmark_outcome::Redactor;

/// The version of the text; another one cannot be read.
const VERSION: u32 = 1;

/// A text is not a batch, or one of another version.
#[derive(Debug, thiserror::Error)]
#[error("not a batch of occurrences: {0}")]
pub struct NotABatch(String);

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    sessions: u64,
    calls: u64,
    unrecorded: u64,
    origins: Vec<StoredOrigin>,
    about: Vec<StoredAbout>,
    occurrences: Vec<StoredOccurrence>,
}

#[derive(Serialize, Deserialize)]
struct StoredOrigin {
    session: Arc<str>,
    file: Arc<str>,
    project: Option<Arc<str>>,
    model: Option<Arc<str>>,
    agent: Arc<str>,
    version: Option<Arc<str>>,
    host: Arc<str>,
    started: Option<i64>,
}

#[derive(Serialize, Deserialize)]
struct StoredAbout {
    id: IssueId,
    key: StoredKey,
    remedy: Option<String>,
    example: Option<StoredExample>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StoredKey {
    /// Role, name of the tool where the role is a tool, class, template.
    Failure(StoredRole, String, String),
    /// Code, tool, template.
    Finding(String, String, String),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StoredRole {
    Edit,
    Read,
    Search,
    Shell,
    Any,
    Tool(String),
}

#[derive(Serialize, Deserialize)]
struct StoredExample {
    call: String,
    said: String,
    followed: Option<String>,
    is_incomplete: bool,
    length: usize,
    session: Arc<str>,
    call_id: String,
    file: Arc<str>,
    line: u32,
    column: u32,
    byte: u64,
}

/// One row, in the order of [`Occurrence`]: issue, kind, origin, call, place, time, tool,
/// subject, recovery, cost.
#[derive(Serialize, Deserialize)]
struct StoredOccurrence(
    IssueId,
    String,
    usize,
    String,
    (u32, u32, u64),
    Option<i64>,
    Arc<str>,
    (String, String),
    String,
    (Option<u64>, Option<(u64, u64)>),
);

impl Batch {
    /// The batch as text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let stored = Stored {
            version: VERSION,
            sessions: self.sessions,
            calls: self.calls,
            unrecorded: self.unrecorded,
            origins: self.origins.iter().map(StoredOrigin::of).collect(),
            about: {
                let mut about: Vec<_> =
                    self.about.iter().map(|(id, about)| StoredAbout::of(*id, about)).collect();
                about.sort_by_key(|about| about.id);
                about
            },
            occurrences: self.occurrences.iter().map(StoredOccurrence::of).collect(),
        };
        // Strings and numbers always can be written.
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// Reads what [`Batch::to_text`] wrote.
    pub fn from_text(text: &str) -> Result<Self, NotABatch> {
        let stored: Stored =
            serde_json::from_str(text).map_err(|error| NotABatch(error.to_string()))?;
        if stored.version != VERSION {
            return Err(NotABatch(format!("version {}, this is {VERSION}", stored.version)));
        }
        let unknown = || NotABatch("a word that this version does not know".to_owned());
        let about = stored.about.into_iter().map(|one| Some((one.id, one.read()?)));
        let occurrences = stored.occurrences.into_iter().map(StoredOccurrence::read);
        Ok(Self {
            origins: stored.origins.into_iter().map(StoredOrigin::read).collect(),
            occurrences: occurrences.collect::<Option<_>>().ok_or_else(unknown)?,
            about: about.collect::<Option<_>>().ok_or_else(unknown)?,
            sessions: stored.sessions,
            calls: stored.calls,
            unrecorded: stored.unrecorded,
        })
    }

    /// Hides the secrets in it. What tells sessions, calls and issues apart stays.
    pub fn redact(&mut self, redactor: Redactor) {
        let hide = |text: &mut String| {
            *text = String::from(redactor.apply(std::mem::take(text)));
        };
        for about in self.about.values_mut() {
            match &mut about.key {
                Key::Failure { template, .. } | Key::Finding { template, .. } => hide(template),
            }
            if let Some(example) = &mut about.example {
                hide(&mut example.call);
                hide(&mut example.said);
                example.followed.iter_mut().for_each(hide);
            }
        }
        for one in &mut self.occurrences {
            hide(&mut one.subject.what);
            hide(&mut one.subject.detail);
        }
    }
}

fn milliseconds(time: Option<Timestamp>) -> Option<i64> {
    time.map(Timestamp::as_millisecond)
}

fn time(milliseconds: Option<i64>) -> Option<Timestamp> {
    milliseconds.and_then(|ms| Timestamp::from_millisecond(ms).ok())
}

impl StoredOrigin {
    fn of(origin: &Origin) -> Self {
        let Origin { session, file, project, model, agent, version, host, started } =
            origin.clone();
        let started = milliseconds(started);
        Self { session, file, project, model, agent, version, host, started }
    }

    fn read(self) -> Origin {
        let Self { session, file, project, model, agent, version, host, started } = self;
        Origin { session, file, project, model, agent, version, host, started: time(started) }
    }
}

impl StoredAbout {
    fn of(id: IssueId, about: &About) -> Self {
        let key = match &about.key {
            Key::Failure { role, class, template } => {
                let role = match role {
                    Role::Edit => StoredRole::Edit,
                    Role::Read => StoredRole::Read,
                    Role::Search => StoredRole::Search,
                    Role::Shell => StoredRole::Shell,
                    Role::Any => StoredRole::Any,
                    Role::Tool(name) => StoredRole::Tool(name.clone()),
                };
                StoredKey::Failure(role, class.word().to_owned(), template.clone())
            }
            Key::Finding { code, tool, template } => {
                StoredKey::Finding((*code).to_owned(), tool.clone(), template.clone())
            }
        };
        let example = about.example.clone().map(|Example { call, said, followed, rank }| {
            let Rank { is_incomplete, length, session, call_id, file, line, column, byte } = rank;
            StoredExample {
                call,
                said,
                followed,
                is_incomplete,
                length,
                session,
                call_id,
                file,
                line,
                column,
                byte,
            }
        });
        Self { id, key, remedy: about.remedy.clone(), example }
    }

    fn read(self) -> Option<About> {
        let key = match self.key {
            StoredKey::Failure(role, class, template) => {
                let role = match role {
                    StoredRole::Edit => Role::Edit,
                    StoredRole::Read => Role::Read,
                    StoredRole::Search => Role::Search,
                    StoredRole::Shell => Role::Shell,
                    StoredRole::Any => Role::Any,
                    StoredRole::Tool(name) => Role::Tool(name),
                };
                Key::Failure { role, class: FailureClass::from_word(&class)?, template }
            }
            StoredKey::Finding(code, tool, template) => {
                Key::Finding { code: rule_by_code(&code)?.code, tool, template }
            }
        };
        let example = self.example.map(|example| {
            let StoredExample { call, said, followed, .. } = example;
            let rank = Rank {
                is_incomplete: example.is_incomplete,
                length: example.length,
                session: example.session,
                call_id: example.call_id,
                file: example.file,
                line: example.line,
                column: example.column,
                byte: example.byte,
            };
            Example { call, said, followed, rank }
        });
        Some(About { key, remedy: self.remedy, example })
    }
}

impl StoredOccurrence {
    fn of(one: &Occurrence) -> Self {
        let Subject { what, detail } = one.subject.clone();
        let spent = one.spent;
        let timed = spent.milliseconds().filter(|_| spent.timed > 0);
        let tokens = spent.tokens().zip(spent.output_tokens()).filter(|_| spent.counted > 0);
        Self(
            one.issue,
            one.kind.word().to_owned(),
            one.origin,
            one.call_id.clone(),
            (one.line, one.column, one.byte),
            milliseconds(one.time),
            one.tool.clone(),
            (what, detail),
            one.recovery.word().to_owned(),
            (timed, tokens),
        )
    }

    fn read(self) -> Option<Occurrence> {
        let Self(issue, kind, origin, call_id, place, at, tool, subject, recovery, cost) = self;
        Some(Occurrence {
            issue,
            kind: Kind::from_word(&kind)?,
            origin,
            call_id,
            line: place.0,
            column: place.1,
            byte: place.2,
            time: time(at),
            tool,
            subject: Subject { what: subject.0, detail: subject.1 },
            recovery: Recovery::from_word(&recovery)?,
            spent: Spent::of_call(cost.0, cost.1),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Batch, Collector, Decisions, Feed};
    use jiff::Timestamp;
    use toolmark_check::{Checker, notation};
    use toolmark_outcome::Redactor;

    const RUN: &str = r#"Read {"file_path":"/w/a.rs"} !> "File does not exist."
        Bash {"command":"make"} !> "make: *** No rule to make target. Stop."
        my_tool {"x":1} !> "unexpected answer 7"
        Read {"file_path":"/w/b.rs"} -> "1\tfn main() {}"
        Read {"file_path":"/w/b.rs"} -> "1\tfn main() {}""#;

    fn batch() -> Batch {
        let run = notation::parse(RUN).unwrap();
        let mut batch = Batch::default();
        Collector::new(Checker::default(), None).collect(&run, &mut batch);
        batch
    }

    fn issues(batch: Batch) -> String {
        let mut feed = Feed::default();
        feed.add(batch);
        let now = Timestamp::UNIX_EPOCH;
        let issues = feed.issues(&Decisions::default(), now).into_iter();
        let issues: Vec<_> = issues.map(|issue| issue.redact(Redactor::new(true))).collect();
        serde_json::to_string(&issues).unwrap()
    }

    #[test]
    fn the_issues_of_a_stored_batch_are_the_same() {
        let text = batch().to_text();
        let read = Batch::from_text(&text).unwrap();
        assert!(read.occurrences.len() > 3, "{text}");
        assert_eq!(read.to_text(), text);
        assert_eq!(issues(read), issues(batch()));
    }

    #[test]
    fn ids_outlive_redaction() {
        let mut redacted = batch();
        redacted.redact(Redactor::new(true));
        let ids = |batch: &Batch| -> Vec<_> { batch.occurrences.iter().map(|o| o.issue).collect() };
        assert_eq!(ids(&redacted), ids(&batch()));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "{}", "[1]", &batch().to_text().replace("\"version\":1", "\"version\":2")]
        {
            assert!(Batch::from_text(text).is_err(), "{text}");
        }
    }
}
