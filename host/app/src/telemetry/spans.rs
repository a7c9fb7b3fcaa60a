//! Builds the spans of a run from the records of its event log, one after the other.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::SystemTime;

use syrch_core::ledger::Entry;
use syrch_core::ports::{Request, Ticket};
use syrch_core::result_set::digest64;
use syrch_core::roles::Role;
use syrch_core::{Edit, Task, TaskId};
use syrch_journal::{Ask, CallId, Event, Fact, Got, Record};

use super::SpanSink;
use super::about::About;
use super::log::{self, Kind};
use super::names;
use super::{Link, Span, SpanId, SpanKind, Value};

/// The spans of one run that have started and not ended, and what later ones need to know of
/// earlier ones. Names of spans follow from the run's id and its numbers of calls, so that what was
/// sent before a run was killed and what is sent when it is resumed make one trace.
pub(super) struct Spans {
    about: About,
    sink: Option<Arc<dyn SpanSink>>,
    /// True while the events are those of an earlier process, whose spans were sent already.
    is_past: bool,
    root: Option<Span>,
    calls: BTreeMap<CallId, RoleCall>,
    ports: BTreeMap<(CallId, Ticket), PortCall>,
    /// Port calls that a role call has made.
    issued: BTreeMap<CallId, u64>,
    /// The tasks that each task needs.
    tasks: HashMap<TaskId, Vec<TaskId>>,
    /// The solver's last span of each task.
    solvers: HashMap<TaskId, SpanId>,
    /// Purpose and tokens of calls that a cache answered, until their replies come.
    hits: Vec<(String, u64)>,
}

struct RoleCall {
    span: Span,
    role: Role,
    task: TaskId,
    from: Option<CallId>,
}

struct PortCall {
    span: Span,
    kind: Kind,
    purpose: String,
}

impl Spans {
    pub(super) fn new(about: About, sink: Option<Arc<dyn SpanSink>>) -> Self {
        Self {
            about,
            sink,
            is_past: false,
            root: None,
            calls: BTreeMap::new(),
            ports: BTreeMap::new(),
            issued: BTreeMap::new(),
            tasks: HashMap::new(),
            solvers: HashMap::new(),
            hits: Vec::new(),
        }
    }

    /// Begins the span of the whole run.
    pub(super) fn begin(&mut self, now: SystemTime) {
        let mut root =
            self.span(self.id(&["search"]), None, "search".to_owned(), SpanKind::Internal, now);
        root.attributes.push((names::RUN, Value::from(self.about.run.as_str())));
        root.attributes.extend(self.about.database());
        self.log_begin(Kind::Search, &root);
        self.root = Some(root);
    }

    /// Resumes a run that was killed from its records: what was under way then begins again now.
    pub(super) fn resume(&mut self, now: SystemTime, records: &[Record]) {
        self.is_past = true;
        records.iter().for_each(|record| self.record(now, record));
        self.is_past = false;
        self.hits.clear();
        self.begin(now);
        self.root.iter_mut().for_each(|root| root.attributes.push((names::RESUMED, true.into())));
    }

    /// Begins or ends the spans that a record of the journal is about.
    pub(super) fn record(&mut self, now: SystemTime, record: &Record) {
        match record {
            Record::Event { event, .. } => self.event(now, event),
            Record::Fact { fact, .. } => self.fact(now, fact),
            Record::Ledger { entry: Entry::Hit { purpose, tokens, .. }, .. } => {
                self.hits.push((purpose.clone(), *tokens))
            }
            Record::Ledger { .. } | Record::Rows { .. } | Record::Resumed { .. } => {}
        }
    }

    fn event(&mut self, now: SystemTime, event: &Event) {
        match event {
            Event::Call { call, role, task, from } => {
                self.call(now, *call, *role, task, from.map(|(call, _)| call))
            }
            Event::Issue { call, ticket, ask } => self.issue(now, *call, *ticket, ask),
            Event::Done { call, ticket, got } => self.end_port_call(now, (*call, *ticket), got),
            Event::Port { call, ask: Ask::GiveUp(ticket), .. } => {
                self.port_ends(now, (*call, *ticket), Some(names::CANCELLED));
            }
            Event::Left { call } => self.ports_end(now, *call, 1),
            Event::End { call, error } => {
                self.call_ends(now, *call, error.as_ref().map(names::role_error_class))
            }
            Event::Closed { task } => self.calls_end(now, |call| call.task == *task),
            Event::Over { place } => self.calls_end(now, |call| call.role.name() == place),
            Event::Port { .. }
            | Event::Turn(_)
            | Event::Known { .. }
            | Event::User { .. }
            | Event::Bench { .. } => {}
        }
    }

    fn fact(&mut self, now: SystemTime, fact: &Fact) {
        match fact {
            // A new wording makes a new graph, whose tasks may have the ids of earlier ones.
            Fact::Round { .. } => {
                self.tasks.clear();
                self.solvers.clear();
            }
            Fact::Graph(graph) => self.note_tasks(&graph.tasks),
            Fact::Expanded { task, subtasks } => {
                self.note_tasks(subtasks);
                // The task itself becomes a choice of the last one.
                if let Some(last) = subtasks.last() {
                    self.tasks.insert(task.clone(), vec![last.id.clone()]);
                }
            }
            Fact::Edited { edits } => {
                for edit in edits {
                    if let Edit::Add(task) | Edit::Update(task) = edit {
                        self.note_tasks(std::slice::from_ref(task));
                    }
                }
            }
            Fact::Answer { outcome, interrupted, .. } => {
                let ended = [
                    (names::OUTCOME, outcome.as_str().into()),
                    (names::INTERRUPTED, (*interrupted).into()),
                ];
                self.finish(now, ended.into(), None);
            }
            Fact::Failed { .. } => self.finish(now, Vec::new(), Some(names::FAILED)),
            Fact::Linked { .. } | Fact::Started { .. } | Fact::Refused { .. } => {}
            Fact::Ended(_) | Fact::Access { .. } => {}
        }
    }

    fn note_tasks(&mut self, tasks: &[Task]) {
        self.tasks.extend(tasks.iter().map(|task| (task.id.clone(), task.depends_on.clone())));
    }

    fn call(
        &mut self,
        now: SystemTime,
        call: CallId,
        role: Role,
        task: &TaskId,
        from: Option<CallId>,
    ) {
        let parent = from.map_or_else(|| self.id(&["search"]), |from| self.call_id(from));
        let mut span = self.span(
            self.call_id(call),
            Some(parent),
            role.name().to_owned(),
            SpanKind::Internal,
            now,
        );
        span.attributes.push((names::ROLE, role.name().into()));
        if let Some(plugin) = self.about.plugins.get(&role) {
            span.attributes.push((names::PLUGIN, plugin.as_str().into()));
        }
        if !task.is_empty() {
            span.attributes.push((names::TASK, task.as_str().into()));
        }
        if role == Role::Solver {
            let needed = self.tasks.get(task).into_iter().flatten();
            let known = needed.filter_map(|task| {
                Some(Link { span: *self.solvers.get(task)?, task: task.clone() })
            });
            span.links = known.collect();
            self.solvers.insert(task.clone(), span.id);
        }
        self.log_begin(Kind::Role, &span);
        self.calls.insert(call, RoleCall { span, role, task: task.clone(), from });
    }

    fn issue(&mut self, now: SystemTime, call: CallId, ticket: Ticket, ask: &Ask) {
        let number = self.issued.entry(call).or_default();
        *number += 1;
        let number = number.to_string();
        let id = self.id(&["port", &call.to_string(), &number]);
        let parent = Some(self.call_id(call));
        let port = match ask {
            Ask::Llm(request) => self.model_call(now, id, parent, request),
            Ask::Sql(sql) => self.statement(now, id, parent, sql),
            _ => return,
        };
        self.log_begin(port.kind, &port.span);
        self.ports.insert((call, ticket), port);
    }

    fn model_call(
        &self,
        now: SystemTime,
        id: SpanId,
        parent: Option<SpanId>,
        request: &Request,
    ) -> PortCall {
        let purpose = request.purpose.name().to_owned();
        let model = self.about.model(&purpose, request.model.as_deref());
        // The rules without a model are in this process.
        let kind = if model.is_here { SpanKind::Internal } else { SpanKind::Client };
        let mut span = self.span(id, parent, format!("chat {}", model.name), kind, now);
        span.attributes.extend([
            (names::OPERATION, "chat".into()),
            (names::PROVIDER, model.provider.as_str().into()),
            (names::REQUEST_MODEL, model.name.as_str().into()),
            (names::PURPOSE, purpose.as_str().into()),
        ]);
        let temperature = request
            .temperature
            .or(self.about.temperature)
            .map(|value| (names::TEMPERATURE, value.into()));
        let top_p = request.top_p.map(|value| (names::TOP_P, value.into()));
        let tokens = request
            .max_tokens
            .or(self.about.max_tokens)
            .map(|value| (names::MAX_TOKENS, value.into()));
        span.attributes
            .extend([temperature, top_p, tokens].into_iter().flatten().filter(|_| !model.is_here));
        PortCall { span, kind: Kind::Model, purpose }
    }

    fn statement(
        &self,
        now: SystemTime,
        id: SpanId,
        parent: Option<SpanId>,
        sql: &str,
    ) -> PortCall {
        if !self.is_past {
            log::statement(sql);
        }
        // The guard lets nothing else through.
        let name = format!("SELECT {}", self.about.database);
        let mut span = self.span(id, parent, name, SpanKind::Client, now);
        span.attributes.extend(self.about.database());
        span.attributes.push((names::DATABASE_OPERATION, "SELECT".into()));
        if self.sink.as_ref().is_some_and(|sink| sink.wants_sql()) {
            span.attributes.push((names::QUERY_TEXT, sql.into()));
        }
        PortCall { span, kind: Kind::Statement, purpose: String::new() }
    }

    fn end_port_call(&mut self, now: SystemTime, place: (CallId, Ticket), got: &Got) {
        let Some(port) = self.ports.get_mut(&place) else { return };
        let attributes = &mut port.span.attributes;
        let error = match got {
            Got::Reply(Ok(reply)) => {
                let usage = &reply.usage;
                if !usage.model.is_empty() {
                    attributes.push((names::RESPONSE_MODEL, usage.model.as_str().into()));
                }
                let reason = if reply.truncated { "length" } else { "stop" };
                // Only the ledger entries show that a cache answered; each of them is of one call.
                let tokens = u64::from(usage.input_tokens) + u64::from(usage.output_tokens);
                let hit = self
                    .hits
                    .iter()
                    .position(|(purpose, sum)| *purpose == port.purpose && *sum == tokens);
                attributes.extend([
                    (names::FINISH_REASONS, Value::Texts(vec![reason.to_owned()])),
                    (names::INPUT_TOKENS, usage.input_tokens.into()),
                    (names::OUTPUT_TOKENS, usage.output_tokens.into()),
                    (names::CACHED, hit.map(|hit| self.hits.swap_remove(hit)).is_some().into()),
                ]);
                None
            }
            Got::Rows(Ok(rows)) => {
                attributes.push((names::RETURNED_ROWS, rows.rows.into()));
                attributes.push((names::TRUNCATED, rows.truncated.into()));
                None
            }
            Got::Reply(Err(error)) => Some(names::model_error_class(error)),
            Got::Rows(Err(error)) => Some(error.kind.name()),
            _ => None,
        };
        self.port_ends(now, place, error);
    }

    fn port_ends(&mut self, now: SystemTime, place: (CallId, Ticket), error: Option<&'static str>) {
        if let Some(PortCall { span, kind, .. }) = self.ports.remove(&place) {
            self.end_span(now, kind, span, error);
        }
    }

    /// Port calls of a role call end with it, those under a ticket when its guest returns.
    fn ports_end(&mut self, now: SystemTime, call: CallId, from: Ticket) {
        let open: Vec<_> =
            self.ports.range((call, from)..=(call, Ticket::MAX)).map(|(place, _)| *place).collect();
        open.into_iter().for_each(|place| self.port_ends(now, place, Some(names::CANCELLED)));
    }

    /// A role call ends, and what is a part of it.
    fn call_ends(&mut self, now: SystemTime, call: CallId, error: Option<&'static str>) {
        self.ports_end(now, call, 0);
        let parts: Vec<_> = self
            .calls
            .iter()
            .filter(|(_, part)| part.from == Some(call))
            .map(|(id, _)| *id)
            .collect();
        parts.into_iter().for_each(|part| self.call_ends(now, part, Some(names::CANCELLED)));
        self.issued.remove(&call);
        if let Some(RoleCall { span, .. }) = self.calls.remove(&call) {
            self.end_span(now, Kind::Role, span, error);
        }
    }

    fn calls_end(&mut self, now: SystemTime, which: impl Fn(&RoleCall) -> bool) {
        let open: Vec<_> =
            self.calls.iter().filter(|(_, call)| which(call)).map(|(id, _)| *id).collect();
        open.into_iter().for_each(|call| self.call_ends(now, call, Some(names::CANCELLED)));
    }

    fn finish(
        &mut self,
        now: SystemTime,
        known: Vec<(&'static str, Value)>,
        error: Option<&'static str>,
    ) {
        self.calls_end(now, |_| true);
        if let Some(mut root) = self.root.take() {
            root.attributes.extend(known);
            self.end_span(now, Kind::Search, root, error);
        }
    }

    fn log_begin(&self, kind: Kind, span: &Span) {
        if !self.is_past {
            log::log_begin(kind, span);
        }
    }

    fn end_span(&self, now: SystemTime, kind: Kind, mut span: Span, error: Option<&'static str>) {
        if self.is_past {
            return;
        }
        (span.end, span.error) = (now.max(span.start), error);
        span.attributes.extend(error.map(|class| (names::ERROR, class.into())));
        log::log_end(kind, &span);
        if let Some(sink) = &self.sink {
            sink.take(span);
        }
    }

    fn span(
        &self,
        id: SpanId,
        parent: Option<SpanId>,
        name: String,
        kind: SpanKind,
        now: SystemTime,
    ) -> Span {
        let links = Vec::new();
        let attributes = Vec::new();
        Span {
            trace: self.about.trace(),
            id,
            parent,
            name,
            kind,
            links,
            attributes,
            start: now,
            end: now,
            error: None,
        }
    }

    fn call_id(&self, call: CallId) -> SpanId {
        self.id(&["call", &call.to_string()])
    }

    fn id(&self, parts: &[&str]) -> SpanId {
        let all: Vec<&str> = [self.about.run.as_str()].iter().chain(parts).copied().collect();
        digest64(&all).max(1).to_be_bytes()
    }
}

impl Drop for Spans {
    /// A run that nobody waits for any more ends here.
    fn drop(&mut self) {
        self.finish(SystemTime::now(), Vec::new(), Some(names::CANCELLED));
    }
}
