//! Builder of one trajectory from its spans, in order.

use super::TelemetrySpan;
use super::facts::{MarkKind, MessageAuthor, MessagePart, Own, SpanFacts, SpanMark, SpanMessage};
use super::seen::{RecordedTexts, RequestCounts};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::model::{
    Cost, DeclaredOutcome, EventKind, Fact, Fidelity, Parent, Payload, RunDeclaration, Status,
    StatusLevel, Text, ToolName, Trajectory, Usage,
};
use std::collections::{HashMap, HashSet, VecDeque};

/// A trajectory under construction.
pub(super) struct SpanRun {
    pub(super) b: TrajectoryBuilder,
    /// Whether any response has messages.
    pub(super) has_messages: bool,
    /// Whether any response has messages that were sent to the model.
    pub(super) has_inputs: bool,
    /// Whether there is any response.
    pub(super) has_responses: bool,
    is_child: bool,
    calls_are_spans: bool,
    /// The agent that answered first: its user messages are those of the user, the ones of other
    /// agents are not.
    primary: Option<String>,
    first_agent: Option<Text>,
    service: Option<Text>,
    conversations: HashMap<String, RecordedTexts>,
    responses: HashSet<String>,
    last_step: HashMap<String, u32>,
    asked: PendingCalls,
    /// Calls without an ID that wait for their result, in order.
    waiting: VecDeque<u32>,
    orphans: HashSet<String>,
    tools: HashSet<String>,
    errors: HashSet<String>,
    agent_usage: Option<Usage>,
    agent_cost: Option<Cost>,
    step_is_guessed: bool,
    was_recorded: bool,
    /// Facts that the senders of its spans never send.
    pub(super) lacks: Fidelity,
    /// Data of a run written by toolmark's exporter.
    own: Option<Whole>,
}

/// Data that need not be inferred if toolmark itself wrote the spans.
struct Whole {
    usage: Option<Usage>,
    cost: Option<Cost>,
    fidelity: Option<Fidelity>,
}

/// A call requested by the model, until its tool span is found.
#[derive(Default)]
struct PendingCalls {
    all: Vec<PendingCall>,
    by_id: HashMap<String, usize>,
    by_name: HashMap<String, VecDeque<usize>>,
}

struct PendingCall {
    id: Option<Text>,
    name: Text,
    args: Option<Payload>,
    step: Option<u32>,
    taken: bool,
}

const SYSTEM: u8 = 0;
const USER: u8 = 1;
const ASSISTANT: u8 = 2;
const TOOL: u8 = 3;

impl SpanRun {
    pub(super) fn new(builder: TrajectoryBuilder, is_child: bool, calls_are_spans: bool) -> Self {
        // Each span is an execution of its own, whatever its call id.
        let b = if calls_are_spans { builder.with_repeating_ids() } else { builder };
        Self {
            b,
            has_messages: false,
            has_inputs: false,
            has_responses: false,
            is_child,
            calls_are_spans,
            primary: None,
            first_agent: None,
            service: None,
            conversations: HashMap::new(),
            responses: HashSet::new(),
            last_step: HashMap::new(),
            asked: PendingCalls::default(),
            waiting: VecDeque::new(),
            orphans: HashSet::new(),
            tools: HashSet::new(),
            errors: HashSet::new(),
            agent_usage: None,
            agent_cost: None,
            step_is_guessed: false,
            was_recorded: false,
            lacks: Fidelity::FULL,
            own: None,
        }
    }

    /// Adds a model response; returns its step.
    pub(super) fn response(
        &mut self,
        span: &TelemetrySpan,
        facts: &mut SpanFacts,
        scope: &str,
    ) -> u32 {
        let primary = self.primary.get_or_insert_with(|| scope.to_owned());
        let is_primary = primary == scope;
        let input = std::mem::take(&mut facts.input);
        match facts.own {
            Some(_) => self.tell_new(span, &input),
            None => self.tell_input(span, &input, scope, is_primary),
        }
        self.offer(facts);
        // A redacted id is the same for all: only the first counts as one.
        let id = facts.response.clone();
        let id = id.filter(|id| self.responses.insert(id.get().into_owned()));
        let step = self.b.step(id, span.start, span.at.clone());
        self.last_step.insert(scope.to_owned(), step);
        if let Some(this) = self.b.run.steps.get_mut(step as usize) {
            this.model = facts.model.clone();
            this.usage = facts.usage;
        }
        if let Some(usage) = facts.usage {
            self.b.add_usage(usage);
        }
        add_cost(&mut self.b.run.cost, facts.cost);
        let output = std::mem::take(&mut facts.output);
        self.tell_output(span, &output, scope, Some(step));
        self.b.seen(span.end);
        self.failure(span, facts);
        step
    }

    /// Adds the new messages of a request: prompts, user messages, results.
    fn tell_input(
        &mut self,
        span: &TelemetrySpan,
        input: &[SpanMessage],
        scope: &str,
        is_primary: bool,
    ) {
        let mut seen = self.conversations.remove(scope).unwrap_or_default();
        let mut request = RequestCounts::default();
        for message in input {
            for part in &message.parts {
                match part {
                    MessagePart::Call { id: Some(id), .. } if !self.calls_are_spans => {
                        self.earlier_call(span, id, part);
                    }
                    MessagePart::Response { id, payload, failed } => {
                        let key = payload.as_ref().map(Payload::raw).unwrap_or_default();
                        let is_new = id.is_some() || seen.is_new(&mut request, TOOL, &key);
                        if is_new {
                            self.result(span, id.as_ref(), payload.clone(), *failed);
                        }
                    }
                    MessagePart::Reasoning(_)
                    | MessagePart::Call { .. }
                    | MessagePart::Text(_)
                    | MessagePart::Other(_) => {}
                }
            }
            let Some(words) = words(message) else { continue };
            let role = match message.role {
                MessageAuthor::System => SYSTEM,
                MessageAuthor::User => USER,
                MessageAuthor::Assistant => ASSISTANT,
                MessageAuthor::Tool => continue,
            };
            if !seen.is_new(&mut request, role, &words.raw()) {
                continue;
            }
            self.was_recorded = true;
            if role == USER && is_primary && !self.is_child {
                self.b.user(Some(words), span.start, span.at.clone());
            } else {
                self.b.context(Some(words), span.start, span.at.clone());
            }
        }
        self.conversations.insert(scope.to_owned(), seen);
    }

    /// Adds messages that no request repeats.
    fn tell_new(&mut self, span: &TelemetrySpan, input: &[SpanMessage]) {
        for message in input {
            self.was_recorded = true;
            if message.role == MessageAuthor::User {
                self.b.user(words(message), span.start, span.at.clone());
            } else {
                self.b.context(words(message), span.start, span.at.clone());
            }
        }
    }

    /// Adds the model's text and calls.
    fn tell_output(
        &mut self,
        span: &TelemetrySpan,
        output: &[SpanMessage],
        scope: &str,
        step: Option<u32>,
    ) {
        let time = span.end.or(span.start);
        for message in output {
            if let Some(words) = words(message) {
                let seen = self.conversations.entry(scope.to_owned()).or_default();
                seen.said(ASSISTANT, &words.raw());
            }
            for part in &message.parts {
                match part {
                    MessagePart::Text(text) if message.role != MessageAuthor::Tool => {
                        self.was_recorded = true;
                        let text = Some(text.clone());
                        self.b.event(EventKind::Message, text, step, time, span.at.clone());
                    }
                    MessagePart::Other(other) => {
                        let kind = EventKind::Unknown(Text::owned("content"));
                        let other = Some(other.clone());
                        self.b.event(kind, other, step, time, span.at.clone());
                    }
                    MessagePart::Reasoning(text) => {
                        let (text, at) = (text.clone(), span.at.clone());
                        self.b.event(EventKind::Reasoning, text, step, time, at);
                    }
                    MessagePart::Call { id, name, args } => {
                        self.ask(span, id.clone(), name.clone(), args.clone(), step);
                    }
                    MessagePart::Response { id, payload, failed } => {
                        self.result(span, id.as_ref(), payload.clone(), *failed);
                    }
                    MessagePart::Text(_) => {}
                }
            }
        }
    }

    /// Handles a call requested by the model: remembered if tool spans record executions, added
    /// directly if nothing else does.
    fn ask(
        &mut self,
        span: &TelemetrySpan,
        id: Option<Text>,
        name: Text,
        args: Option<Payload>,
        step: Option<u32>,
    ) {
        if self.calls_are_spans {
            // An agent repeats at its end what its tools have long done.
            if id.as_ref().is_some_and(|id| self.b.find(&id.get()).is_some()) {
                return;
            }
            self.asked.add(PendingCall { id, name, args, step, taken: false });
            return;
        }
        let time = span.end.or(span.start);
        let has_id = id.is_some();
        let name = ToolName::new(name);
        let at = span.at.clone();
        let call = self.b.call(NewCall { id, name, args, step, time, at });
        if !has_id {
            self.waiting.push_back(call);
        }
    }

    /// Adds a call in the history whose own response is not in the file.
    fn earlier_call(&mut self, span: &TelemetrySpan, id: &Text, part: &MessagePart) {
        if self.b.find(&id.get()).is_some() {
            return;
        }
        if let MessagePart::Call { id, name, args } = part {
            let (id, name, args) = (id.clone(), ToolName::new(name.clone()), args.clone());
            let at = span.at.clone();
            self.b.call(NewCall { id, name, args, step: None, time: None, at });
        }
    }

    /// Adds a result from the next request.
    fn result(
        &mut self,
        span: &TelemetrySpan,
        id: Option<&Text>,
        payload: Option<Payload>,
        failed: Option<bool>,
    ) {
        let call = match id {
            Some(id) => self.b.find(&id.get()),
            None if self.calls_are_spans => None,
            None => self.waiting.pop_front(),
        };
        let Some(index) = call else {
            let is_first = id.is_none_or(|id| self.orphans.insert(id.get().into_owned()));
            if !self.calls_are_spans && is_first {
                self.b.orphan(ReaderResult::new(payload, span.at.clone()).time(span.start));
            }
            return;
        };
        let Some(call) = self.b.run.calls.get_mut(index as usize) else { return };
        match &mut call.result {
            Some(known) => {
                // The span only said that the tool ran.
                if known.payload.is_none() {
                    known.payload = payload;
                }
            }
            None if self.calls_are_spans => {}
            None => {
                let answer = ReaderResult::new(payload, span.at.clone()).time(span.start);
                let answer = match failed {
                    Some(failed) => answer.protocol(failed),
                    None => answer,
                };
                self.b.answer_call(index, answer);
            }
        }
    }

    /// Adds a tool execution; returns the call's index.
    pub(super) fn call(
        &mut self,
        span: &TelemetrySpan,
        facts: &mut SpanFacts,
        scope: &str,
        near_step: Option<u32>,
    ) -> u32 {
        let name = facts.tool.clone().unwrap_or_else(|| span.name.clone());
        let asked = self.asked.take(facts.call.as_ref(), &name, facts.args.as_ref());
        let (mut id, mut args, mut step) = (facts.call.take(), facts.args.take(), None);
        if let Some(asked) = asked {
            id = id.or_else(|| asked.id.clone());
            args = args.or_else(|| asked.args.clone());
            step = asked.step;
        }
        let step = step.or(near_step).or_else(|| {
            if facts.own.is_some() {
                return None;
            }
            self.step_is_guessed = true;
            self.last_step.get(scope).copied().or_else(|| self.b.last_step())
        });
        let (time, at) = (span.start, span.at.clone());
        let index = self.b.call(NewCall { id, name: ToolName::new(name), args, step, time, at });
        let is_other = self.primary.as_deref().is_some_and(|p| p != scope) && !scope.is_empty();
        if let Some(call) = self.b.run.calls.get_mut(index as usize) {
            call.agent = is_other.then(|| Text::owned(scope));
            if let Some(own) = &facts.own {
                call.agent = facts.agent.clone();
                call.actor = own.actor.unwrap_or_default();
                call.name.namespace = own.namespace.clone();
                call.spawned = own.spawned.clone();
            }
        }
        index
    }

    /// Sets the outcome of a call from the data of toolmark's exporter.
    fn answer_own(&mut self, call: u32, span: &TelemetrySpan, facts: &mut SpanFacts, own: &Own) {
        let (status, level) = own.status.unwrap_or((Status::Unknown, StatusLevel::Absent));
        if own.is_answered {
            let answer =
                ReaderResult::new(facts.result.take(), span.at.clone()).status(status, level);
            let mut answer = answer.time(span.end.or(span.start)).duration(facts.duration);
            answer.exit_code = facts.exit_code;
            self.b.answer_call(call, answer);
        } else if let Some(call) = self.b.run.calls.get_mut(call as usize) {
            (call.status, call.level) = (status, level);
            (call.exit_code, call.duration) = (facts.exit_code, facts.duration);
        }
    }

    /// Adds the result of a finished tool.
    pub(super) fn answer(&mut self, call: u32, span: &TelemetrySpan, facts: &mut SpanFacts) {
        if let Some(own) = facts.own.take() {
            self.answer_own(call, span, facts, &own);
            return;
        }
        let failed = span.failed || facts.failed == Some(true);
        let mut payload = facts.result.take();
        if failed && payload.as_ref().is_none_or(|p| p.raw().is_empty()) {
            payload = facts.error.take().or(payload);
        }
        // A span without a mark ended well: most instrumentations only mark errors.
        let is_unknown = facts.unmarked && !failed && facts.failed.is_none();
        let answer = ReaderResult::new(payload, span.at.clone());
        let answer = if is_unknown { answer } else { answer.protocol(failed) };
        let refused = refusal(span).filter(|_| failed);
        let answer = match refused.or(facts.denied.then_some(Status::Denied)) {
            Some(status) => answer.status(status, StatusLevel::Denial),
            None => answer,
        };
        let answer = answer
            .exit_code(facts.exit_code)
            .time(span.end.or(span.start))
            .duration(facts.duration);
        self.b.answer_call(call, answer);
    }

    /// Handles the start of an agent run.
    pub(super) fn agent_starts(
        &mut self,
        span: &TelemetrySpan,
        facts: &mut SpanFacts,
        is_outermost: bool,
    ) {
        self.b.seen(span.start);
        self.offer(facts);
        let run = &mut self.b.run;
        run.agent.version = run.agent.version.take().or_else(|| facts.agent_version.clone());
        run.agent.model = run.agent.model.take().or_else(|| facts.model.clone());
        run.cwd = run.cwd.take().or_else(|| facts.cwd.clone());
        if self.first_agent.is_none() {
            self.first_agent = facts.agent.clone();
        }
        if is_outermost {
            // It repeats what its responses used, and counts only without them.
            match (&mut self.agent_usage, facts.usage) {
                (Some(sum), Some(usage)) => sum.add(&usage),
                (slot, usage) => *slot = slot.or(usage),
            }
            add_cost(&mut self.agent_cost, facts.cost);
        }
        if let Some(own) = facts.own.as_deref_mut() {
            let run = &mut self.b.run;
            run.name = own.name.take();
            run.outcome = own.outcome.take();
            if own.parent_trajectory.is_some() || own.parent_call.is_some() {
                let (trajectory, call) = (own.parent_trajectory.take(), own.parent_call.take());
                run.parent = Some(Parent { trajectory, call });
            }
            let (usage, cost, fidelity) = (facts.usage, facts.cost, own.fidelity);
            self.own = Some(Whole { usage, cost, fidelity });
        } else if !self.has_inputs {
            let input = std::mem::take(&mut facts.input);
            self.tell_input(span, &input, "", is_outermost);
        }
    }

    /// Handles the end of an agent run.
    pub(super) fn agent_ends(
        &mut self,
        span: &TelemetrySpan,
        facts: &mut SpanFacts,
        is_outermost: bool,
    ) {
        self.b.seen(span.end);
        if facts.own.is_some() {
            // Messages after the last response.
            self.tell_new(span, &std::mem::take(&mut facts.input));
            return;
        }
        self.failure(span, facts);
        if is_outermost && span.failed && self.b.run.outcome.is_none() {
            let kind = span.attributes.text(&["error.type"]);
            self.b.run.outcome = kind.or_else(|| Some(Text::owned("error")));
            let says = Text::owned("span status error");
            let at = span.at.clone();
            self.b.run.declare(RunDeclaration { outcome: DeclaredOutcome::Failed, says, at });
        }
        if self.has_messages {
            return;
        }
        let step = self.b.last_step();
        let mut output = std::mem::take(&mut facts.output);
        if self.has_responses {
            // There are responses without content, so they cannot be searched for calls.
            output.iter_mut().for_each(|m| m.parts.retain(|p| matches!(p, MessagePart::Text(_))));
        }
        self.tell_output(span, &output, "", step);
    }

    /// Adds an error that does not belong to a tool.
    pub(super) fn failure(&mut self, span: &TelemetrySpan, facts: &mut SpanFacts) {
        if !span.failed && facts.failed != Some(true) {
            return;
        }
        let text = facts.error.take();
        let key = text.as_ref().map(|t| t.raw().into_owned()).unwrap_or_default();
        // An error goes up through all spans it ends.
        if self.errors.insert(key) {
            let time = span.end.or(span.start);
            self.b.event(EventKind::Error, text, None, time, span.at.clone());
        }
    }

    /// Adds an event that occurred during a span.
    pub(super) fn mark(&mut self, mark: &SpanMark, span: &TelemetrySpan) {
        let at = span.at.clone();
        let text = mark.text.clone();
        match &mark.kind {
            MarkKind::User if !self.is_child => {
                self.was_recorded = true;
                self.b.user(text, mark.time, at);
            }
            MarkKind::User | MarkKind::Context => self.b.context(text, mark.time, at),
            MarkKind::Message => {
                let step = self.b.last_step();
                self.b.event(EventKind::Message, text, step, mark.time, at);
            }
            MarkKind::Skill => self.b.event(EventKind::Skill, text, None, mark.time, at),
            MarkKind::Compaction => self.b.event(EventKind::Compaction, text, None, mark.time, at),
            MarkKind::Error => self.b.event(EventKind::Error, text, None, mark.time, at),
            MarkKind::Orphan => self.b.orphan(ReaderResult::new(text, at).time(mark.time)),
            MarkKind::Note(kind) => {
                self.b.event(EventKind::Note(kind.clone()), text, None, mark.time, at);
            }
            MarkKind::Unknown(kind) => {
                self.b.event(EventKind::Unknown(kind.clone()), text, None, mark.time, at);
            }
        }
    }

    /// Records the service of a span, which is the agent's name if there is no other.
    pub(super) fn of_service(&mut self, span: &TelemetrySpan) {
        if self.service.is_none() {
            let named = |s: &Text| !s.get().starts_with("unknown_service");
            self.service = span.service.clone().filter(named);
        }
    }

    /// Adds the tools that a span offers to the known ones.
    fn offer(&mut self, facts: &mut SpanFacts) {
        for tool in std::mem::take(&mut facts.tools) {
            if self.tools.insert(tool.name.get().into_owned()) {
                self.b.run.tools.get_or_insert_default().push(tool);
            }
        }
    }

    /// Finishes the trajectory.
    pub(super) fn finish(mut self, children: Vec<Trajectory>) -> Trajectory {
        self.tell_unexecuted();
        let run = &mut self.b.run;
        let primary = self.primary.filter(|p| !p.is_empty()).map(Text::owned);
        run.agent.name = primary.or(self.first_agent.clone()).or(self.service);
        run.usage = run.usage.or(self.agent_usage);
        run.cost = run.cost.or(self.agent_cost);
        let mut fidelity = None;
        if let Some(own) = self.own {
            (run.usage, run.cost, fidelity) = (own.usage, own.cost, own.fidelity);
            run.agent.name = self.first_agent.take();
        }
        run.children = children;
        if !self.was_recorded {
            for fact in [Fact::UserTurns, Fact::Messages, Fact::Reasoning] {
                run.fidelity.lose(fact);
            }
        }
        if self.step_is_guessed {
            run.fidelity.lose(Fact::Parallel);
        }
        run.fidelity = run.fidelity.union(self.lacks);
        // Neither the tools nor what the model said was traced.
        if run.calls.is_empty() && !self.calls_are_spans && !self.has_messages {
            run.fidelity.lose(Fact::Calls);
        }
        if !run.calls.is_empty() {
            if run.calls.iter().all(|c| matches!(c.status, Status::Unknown | Status::Unanswered)) {
                run.fidelity.lose(Fact::Status);
            }
            if run.calls.iter().all(|c| c.id.is_none()) {
                run.fidelity.lose(Fact::CallIds);
            }
        }
        let mut run = self.b.finish();
        run.fidelity = fidelity.unwrap_or(run.fidelity);
        run
    }

    /// Adds the requested calls that have no span: handoffs, final answers, interrupted calls.
    fn tell_unexecuted(&mut self) {
        let Some(at) = self.b.run.events.last().map(|e| e.at.clone()) else { return };
        for asked in std::mem::take(&mut self.asked.all) {
            if !asked.taken {
                let kind = EventKind::Note(Text::owned(format!("unexecuted/{}", asked.name)));
                self.b.event(kind, asked.args, asked.step, None, at.clone());
            }
        }
    }
}

impl PendingCalls {
    fn add(&mut self, call: PendingCall) {
        let index = self.all.len();
        if let Some(id) = &call.id {
            // The same response recorded twice makes its calls once.
            if self.by_id.contains_key(&*id.get()) {
                return;
            }
            self.by_id.insert(id.get().into_owned(), index);
        }
        self.by_name.entry(call.name.get().into_owned()).or_default().push_back(index);
        self.all.push(call);
    }

    /// Returns the requested call that a tool span executes: by ID, or otherwise by name,
    /// preferably with the same arguments.
    fn take(
        &mut self,
        id: Option<&Text>,
        name: &Text,
        args: Option<&Payload>,
    ) -> Option<&PendingCall> {
        /// Maximum number of open calls of one tool that are compared.
        const MAX_COMPARED: usize = 32;
        let index = match id {
            Some(id) => *self.by_id.get(&*id.get())?,
            None => {
                let queue = self.by_name.get_mut(&*name.get())?;
                while queue.front().is_some_and(|&i| self.all[i].taken) {
                    queue.pop_front();
                }
                let is_equal =
                    |&i: &usize| !self.all[i].taken && same_args(self.all[i].args.as_ref(), args);
                let place = queue.iter().take(MAX_COMPARED).position(is_equal);
                queue.remove(place.unwrap_or(0))?
            }
        };
        let call = self.all.get_mut(index)?;
        call.taken = true;
        Some(call)
    }
}

/// Returns the status if the type of an error means that the tool was not allowed to run, or
/// was interrupted.
fn refusal(span: &TelemetrySpan) -> Option<Status> {
    let kind = span.attributes.str("error.type")?;
    match kind.rsplit('.').next()? {
        "denied" | "rejected" | "permission_denied" | "user_rejected" | "user_denied"
        | "tool_denied" => Some(Status::Denied),
        "cancelled" | "canceled" | "aborted" | "interrupted" | "CancelledError" | "AbortError"
        | "KeyboardInterrupt" => Some(Status::Interrupted),
        _ => None,
    }
}

fn same_args(one: Option<&Payload>, other: Option<&Payload>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            one == other || one.parsed().is_some() && one.parsed() == other.parsed()
        }
        _ => false,
    }
}

/// Returns the text of a message; the texts of several blocks are joined.
fn words(message: &SpanMessage) -> Option<Payload> {
    let mut texts = message.parts.iter().filter_map(|part| match part {
        MessagePart::Text(text) => Some(text),
        _ => None,
    });
    let Some(first) = texts.next() else {
        return message.parts.iter().find_map(|part| match part {
            MessagePart::Other(other) => Some(other.clone()),
            _ => None,
        });
    };
    let rest: Vec<_> = texts.collect();
    if rest.is_empty() {
        return Some(first.clone());
    }
    let mut joined = first.raw().into_owned();
    for text in rest {
        joined.push('\n');
        joined.push_str(&text.raw());
    }
    Some(Payload::text(Text::owned(joined)))
}

fn add_cost(sum: &mut Option<Cost>, cost: Option<Cost>) {
    *sum = match (*sum, cost) {
        (Some(a), Some(b)) => Some(Cost { nano_usd: a.nano_usd.saturating_add(b.nano_usd) }),
        (a, b) => a.or(b),
    };
}
