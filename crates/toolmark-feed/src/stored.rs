//! Serialization of a batch to bytes, for callers that keep occurrences between two runs.
//!
//! The IDs of issues are stored beside their keys: a key with a redacted message no longer has the
//! ID of its calls.

use crate::class::FailureClass;
use crate::key::{IssueId, IssueKey};
use crate::occurrence::{
    About, Batch, Occurrence, OccurrenceExample, OccurrenceKind, Rank, Recovery, SessionOrigin,
};
use crate::pack::{Packer, Unpacker};
use crate::role::KeyRole;
use crate::subject::Subject;
use jiff::Timestamp;
use toolmark_check::{CallCost, rule_by_code};
use toolmark_outcome::Redactor;

/// Version of the byte format; other versions cannot be read.
const VERSION: u64 = 2;

/// The bytes are not a batch, or one of another version.
#[derive(Debug, thiserror::Error)]
#[error("not a batch of occurrences: {0}")]
pub struct NotABatch(String);

impl Batch {
    /// Serializes the batch.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut packer = Packer::default();
        packer.numbers([self.sessions, self.calls, self.unrecorded]);
        packer.list(self.origins.iter(), put_origin);
        let mut about: Vec<(&IssueId, &About)> = self.about.iter().collect();
        about.sort_by_key(|(id, _)| **id);
        packer.list(about.into_iter(), put_about);
        packer.list(self.occurrences.iter(), put_occurrence);
        packer.finish(VERSION)
    }

    /// Reads the output of [`Batch::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NotABatch> {
        let unknown = || NotABatch("a word that this version does not know".to_owned());
        let (version, mut all) = Unpacker::new(bytes).ok_or_else(unknown)?;
        if version != VERSION {
            return Err(NotABatch(format!("version {version}, this is {VERSION}")));
        }
        let batch = get_batch(&mut all).filter(|_| all.is_empty());
        batch.ok_or_else(unknown)
    }

    /// Redacts the secrets in the batch. Identities of sessions, calls and issues are kept.
    pub fn redact(&mut self, redactor: Redactor) {
        let hide = |text: &mut String| {
            *text = String::from(redactor.apply(std::mem::take(text)));
        };
        for about in self.about.values_mut() {
            match &mut about.key {
                IssueKey::Failure { template, .. } | IssueKey::Finding { template, .. } => {
                    hide(template)
                }
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

fn get_batch(all: &mut Unpacker<'_>) -> Option<Batch> {
    Some(Batch {
        sessions: all.number()?,
        calls: all.number()?,
        unrecorded: all.number()?,
        origins: all.list(get_origin)?,
        about: all.list(get_about)?.into_iter().collect(),
        occurrences: all.list(get_occurrence)?,
    })
}

fn put_time(packer: &mut Packer<'_>, time: Option<Timestamp>) {
    packer.maybe(time.map(Timestamp::as_millisecond), Packer::signed);
}

fn get_time(all: &mut Unpacker<'_>) -> Option<Option<Timestamp>> {
    let milliseconds = all.maybe(Unpacker::signed)?;
    Some(milliseconds.and_then(|ms| Timestamp::from_millisecond(ms).ok()))
}

fn put_origin<'b>(packer: &mut Packer<'b>, origin: &'b SessionOrigin) {
    let SessionOrigin { session, file, project, model, agent, version, host, started } = origin;
    packer.texts([session, file, agent, host].map(|text| &**text));
    for text in [project, model, version] {
        packer.maybe(text.as_deref(), Packer::text);
    }
    put_time(packer, *started);
}

fn get_origin(all: &mut Unpacker<'_>) -> Option<SessionOrigin> {
    Some(SessionOrigin {
        session: all.shared()?,
        file: all.shared()?,
        agent: all.shared()?,
        host: all.shared()?,
        project: all.maybe(Unpacker::shared)?,
        model: all.maybe(Unpacker::shared)?,
        version: all.maybe(Unpacker::shared)?,
        started: get_time(all)?,
    })
}

/// Returns the serialized form of a role: a tool with its name, any other with its word only.
fn role_parts(role: &KeyRole) -> (&'static str, &str) {
    match role {
        KeyRole::Edit => ("edit", ""),
        KeyRole::Read => ("read", ""),
        KeyRole::Search => ("search", ""),
        KeyRole::Shell => ("shell", ""),
        KeyRole::Any => ("any", ""),
        KeyRole::Tool(name) => ("tool", name),
    }
}

fn put_about<'b>(packer: &mut Packer<'b>, (id, about): (&'b IssueId, &'b About)) {
    packer.number(id.0);
    match &about.key {
        IssueKey::Failure { role, class, template } => {
            let (role, name) = role_parts(role);
            packer.texts(["failure", role, name, class.word(), template]);
        }
        IssueKey::Finding { code, tool, template } => {
            packer.texts(["finding", code, tool, template]);
        }
    }
    packer.maybe(about.remedy.as_deref(), Packer::text);
    packer.maybe(about.example.as_ref(), put_example);
}

fn get_about(all: &mut Unpacker<'_>) -> Option<(IssueId, About)> {
    let id = IssueId(all.number()?);
    let key = match all.text()? {
        "failure" => {
            let role = match (all.text()?, all.text()?) {
                ("edit", _) => KeyRole::Edit,
                ("read", _) => KeyRole::Read,
                ("search", _) => KeyRole::Search,
                ("shell", _) => KeyRole::Shell,
                ("any", _) => KeyRole::Any,
                ("tool", name) => KeyRole::Tool(name.to_owned()),
                _ => return None,
            };
            let class = FailureClass::from_word(all.text()?)?;
            IssueKey::Failure { role, class, template: all.text()?.to_owned() }
        }
        "finding" => {
            let code = rule_by_code(all.text()?)?.code;
            IssueKey::Finding {
                code,
                tool: all.text()?.to_owned(),
                template: all.text()?.to_owned(),
            }
        }
        _ => return None,
    };
    let remedy = all.maybe(Unpacker::text)?.map(str::to_owned);
    let example = all.maybe(get_example)?;
    Some((id, About { key, remedy, example }))
}

fn put_example<'b>(packer: &mut Packer<'b>, example: &'b OccurrenceExample) {
    let OccurrenceExample { call, said, followed, rank } = example;
    let Rank { is_incomplete, length, session, call_id, file, line, column, byte } = rank;
    packer.texts([&**call, said, call_id, session, file]);
    packer.maybe(followed.as_deref(), Packer::text);
    packer.numbers([u64::from(*is_incomplete), *length as u64]);
    packer.numbers([u64::from(*line), u64::from(*column), *byte]);
}

fn get_example(all: &mut Unpacker<'_>) -> Option<OccurrenceExample> {
    let (call, said, call_id) = (all.text()?, all.text()?, all.text()?);
    let (session, file) = (all.shared()?, all.shared()?);
    let followed = all.maybe(Unpacker::text)?.map(str::to_owned);
    let rank = Rank {
        is_incomplete: all.number()? != 0,
        length: all.small()?,
        session,
        call_id: call_id.to_owned(),
        file,
        line: all.small()?,
        column: all.small()?,
        byte: all.number()?,
    };
    Some(OccurrenceExample { call: call.to_owned(), said: said.to_owned(), followed, rank })
}

fn put_occurrence<'b>(packer: &mut Packer<'b>, one: &'b Occurrence) {
    packer.numbers([one.issue.0, one.origin as u64]);
    packer.texts([&*one.call_id, one.kind.word(), one.recovery.word()]);
    packer.texts([&*one.tool, &one.subject.what, &one.subject.detail]);
    packer.numbers([u64::from(one.line), u64::from(one.column), one.byte]);
    put_time(packer, one.time);
    let spent = one.spent;
    packer.maybe(spent.milliseconds().filter(|_| spent.timed > 0), Packer::number);
    let tokens = spent.tokens().zip(spent.output_tokens()).filter(|_| spent.counted > 0);
    packer.maybe(tokens, |packer, (all, output)| {
        packer.number(all);
        packer.number(output);
    });
}

fn get_occurrence(all: &mut Unpacker<'_>) -> Option<Occurrence> {
    Some(Occurrence {
        issue: IssueId(all.number()?),
        origin: all.small()?,
        call_id: all.text()?.to_owned(),
        kind: OccurrenceKind::from_word(all.text()?)?,
        recovery: Recovery::from_word(all.text()?)?,
        tool: all.shared()?,
        subject: Subject { what: all.text()?.to_owned(), detail: all.text()?.to_owned() },
        line: all.small()?,
        column: all.small()?,
        byte: all.number()?,
        time: get_time(all)?,
        spent: {
            let milliseconds = all.maybe(Unpacker::number)?;
            let tokens = all.maybe(|all| Some((all.number()?, all.number()?)))?;
            CallCost::of_call(milliseconds, tokens)
        },
    })
}

#[cfg(test)]
mod tests {
    use crate::{Batch, Collector, Feed, IssueDecisions};
    use jiff::Timestamp;
    use toolmark_check::Checker;
    use toolmark_outcome::Redactor;
    use toolmark_session::notation;

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
        let issues = feed.issues(&IssueDecisions::default(), now).into_iter();
        let issues: Vec<_> = issues.map(|issue| issue.redact(Redactor::new(true))).collect();
        serde_json::to_string(&issues).unwrap()
    }

    #[test]
    fn the_issues_of_a_stored_batch_are_the_same() {
        let bytes = batch().to_bytes();
        let read = Batch::from_bytes(&bytes).unwrap();
        assert!(read.occurrences.len() > 3, "{read:?}");
        assert_eq!(read.to_bytes(), bytes);
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
    fn other_bytes_are_refused() {
        let bytes = batch().to_bytes();
        let of_the_future = [&[3], &bytes[1..]].concat();
        let with_more = [&bytes[..], &[0]].concat();
        // Nor any part of it.
        let parts = (0..bytes.len()).map(|end| &bytes[..end]);
        for bytes in parts.chain([&of_the_future[..], &with_more, b"{}", b"[1]"]) {
            assert!(Batch::from_bytes(bytes).is_err(), "{} bytes", bytes.len());
        }
    }
}
