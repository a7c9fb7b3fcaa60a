//! The view of the backends of one role call: the model together with the call's problem and task,
//! and the database together with the tasks that finished before it.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{
    ColumnStats, CompiledMetric, Definitions, Facts, Flight, InspectPort, LlmError, LlmPort,
    ModelCall, ModelProvider, Plan, PortError, Relation, Reply, Request, Shape, SqlPort, SqlQuery,
    SqlReply, Ticket, WrittenStatement,
};
use syrch_core::{Catalog, Hit, Problem, ResultSet, SqlError, SqlErrorKind, Task};

use crate::Memo;
use crate::doubts::asked::{self, Question};

/// The port `llm` of one role call, which adds the call's context to each request.
#[derive(Clone)]
pub struct ModelPort {
    /// The layers that requests pass: see [`crate::model_stack`].
    pub provider: Arc<dyn ModelProvider>,
    /// The problem of the search.
    pub problem: Arc<Problem>,
    /// The task that the role works on, if it works on one.
    pub task: Option<Arc<Task>>,
    /// The catalog that the role sees.
    pub catalog: Arc<Catalog>,
    /// Checks the statements of a reply that holds several.
    pub inspect: Arc<dyn InspectPort>,
    /// The seed of the search.
    pub seed: u64,
}

#[async_trait]
impl LlmPort for ModelPort {
    fn models(&self) -> Vec<String> {
        self.provider.models()
    }

    async fn issue(&self, _: Ticket, request: Request) -> Flight<Result<Reply, LlmError>> {
        let call = ModelCall {
            request: Request { seed: self.seed, ..request },
            problem: Arc::clone(&self.problem),
            task: self.task.clone(),
            catalog: Arc::clone(&self.catalog),
        };
        let provider = Arc::clone(&self.provider);
        let inspect = Arc::clone(&self.inspect);
        Box::pin(async move {
            let reply = provider.complete(&call).await.result?;
            let expect = &call.request.expect;
            let reply = compile_request(reply, expect, inspect.as_ref()).await;
            Ok(choose_statement(reply, expect, inspect.as_ref()).await)
        })
    }
}

/// Returns true if a text that stands in place of a statement is a request for metrics.
fn is_request(text: &str) -> bool {
    text.starts_with('{')
}

/// The reply with the statement of its request for metrics, if it holds one in place of a
/// statement. A request that has no statement stays as it is: its check says why.
async fn compile_request(reply: Reply, expect: &Shape, inspect: &dyn InspectPort) -> Reply {
    let read = SqlReply::from_reply(expect, &reply).filter(|read| is_request(&read.sql));
    let Some(read) = read else { return reply };
    match inspect.compile_metric(&read.sql).await {
        Ok(CompiledMetric { sql, origin, .. }) => {
            let parsed = Some(SqlReply { sql, origin: Some(origin), ..read }.json());
            Reply { parsed, ..reply }
        }
        Err(_) => reply,
    }
}

/// The reply with the first of its statements that passes the check, which is doubted if the reply
/// may as well mean another one that passes. If none does, it stays as it is, so that the reason
/// can be repaired.
async fn choose_statement(reply: Reply, expect: &Shape, inspect: &dyn InspectPort) -> Reply {
    let Some(several) = SqlReply::with_several(expect, &reply) else { return reply };
    for statement in &several.statements {
        match inspect.check(&statement.sql).await {
            Ok(facts) => {
                let chosen = several.clone().with(statement);
                let is_clear = !has_rival(&several, statement, &facts, inspect).await;
                let chosen = if is_clear { chosen } else { chosen.into_doubted() };
                return Reply { parsed: Some(chosen.json()), ..reply };
            }
            Err(error)
                if matches!(error.kind, SqlErrorKind::Cancelled | SqlErrorKind::Unavailable) =>
            {
                break;
            }
            Err(_) => {}
        }
    }
    reply
}

/// Returns true if the reply may as well mean another statement than this one: that other one
/// passes the check, is no other spelling or part of this one, and reads tables if this one does.
async fn has_rival(
    several: &SqlReply,
    chosen: &WrittenStatement,
    facts: &Facts,
    inspect: &dyn InspectPort,
) -> bool {
    fn holds(facts: &Facts, other: &Facts) -> bool {
        let whole = &facts.normalized;
        !whole.is_empty()
            && (*whole == other.normalized || whole.contains(&format!("({})", other.normalized)))
    }
    fn reads_data(facts: &Facts) -> bool {
        !facts.tables.is_empty() || !facts.tasks.is_empty()
    }
    for rival in several.statements.iter().filter(|one| chosen.rivals.contains(&one.number)) {
        if let Ok(other) = inspect.check(&rival.sql).await
            && reads_data(&other) == reads_data(facts)
            && !holds(facts, &other)
        {
            return true;
        }
    }
    false
}

/// The ports `sql` and `inspect` of one role call.
#[derive(Clone)]
pub struct SqlBinding {
    memo: Arc<Memo>,
    relations: Vec<Relation>,
    salt: u64,
    question: Option<Arc<Question>>,
    definitions: Option<Arc<dyn Definitions>>,
}

impl SqlBinding {
    /// A view of the memo's database in which these finished tasks may stand in FROM, each after
    /// those that it uses itself. `salt` is the run's, so that fingerprints of different role calls
    /// can be compared.
    #[must_use]
    pub fn new(memo: Arc<Memo>, relations: Vec<Relation>, salt: u64) -> Self {
        Self { memo, relations, salt, question: None, definitions: None }
    }

    /// Binds the port to statements that answer this question as it stands: their results carry the
    /// doubts about them as its answer. `evidence` is what is known beside it, and `hints` are
    /// those that prompts show.
    #[must_use]
    pub fn with_question(self, question: &str, evidence: Option<&str>, hints: &[Hit]) -> Self {
        let evidence = evidence.unwrap_or_default();
        let question = Question::new(question).with_evidence(evidence).with_examples(hints);
        Self { question: Some(Arc::new(question)), ..self }
    }

    /// Adds the metrics that are defined: requests for them are compiled, and a statement that
    /// computes one in another way carries a doubt.
    #[must_use]
    pub fn with_definitions(self, definitions: Option<Arc<dyn Definitions>>) -> Self {
        Self { definitions, ..self }
    }

    /// The reason why a request for metrics that stands in place of a statement has none; `None`
    /// for any other text.
    fn refuse_request(&self, text: &str) -> Option<SqlError> {
        let definitions = self.definitions.as_ref().filter(|_| is_request(text.trim()))?;
        let why = match definitions.compile(text.trim()) {
            Ok(_) => "a request for metrics is no statement: compile it first".to_owned(),
            Err(why) => format!("the request for metrics has no statement: {why}"),
        };
        Some(SqlError::new(SqlErrorKind::Other, why))
    }

    /// The statement together with the relations that it may name.
    #[must_use]
    pub fn query(&self, text: &str) -> SqlQuery {
        SqlQuery { text: text.to_owned(), relations: self.relations.clone() }
    }
}

#[async_trait]
impl SqlPort for SqlBinding {
    async fn issue(&self, _: Ticket, text: String) -> Flight<Result<Arc<ResultSet>, SqlError>> {
        let memo = Arc::clone(&self.memo);
        let query = self.query(&text);
        let question = self.question.clone();
        let definitions = self.definitions.clone();
        Box::pin(async move {
            let results = memo.run(&query).await?;
            Ok(match question {
                Some(question) => {
                    let database = memo.database().as_ref();
                    let definitions = definitions.as_deref();
                    asked::with_doubts(results, &question, &query, database, definitions).await
                }
                None => results,
            })
        })
    }

    fn salt(&self) -> u64 {
        self.salt
    }
}

#[async_trait]
impl InspectPort for SqlBinding {
    async fn check(&self, text: &str) -> Result<Facts, SqlError> {
        if let Some(error) = self.refuse_request(text) {
            return Err(error);
        }
        self.memo.database().check(&self.query(text)).await
    }

    async fn explain(&self, text: &str) -> Result<Plan, SqlError> {
        self.memo.database().explain(&self.query(text)).await
    }

    async fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError> {
        self.memo.database().column_stats(table, columns).await
    }

    async fn compile_metric(&self, request: &str) -> Result<CompiledMetric, PortError> {
        let definitions = self.definitions.as_ref().ok_or(PortError::Unsupported)?;
        definitions.compile(request).map_err(PortError::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{FakeDatabase, FakeModel, call, request};

    #[tokio::test]
    async fn a_request_goes_out_with_what_the_host_knows() {
        let provider = Arc::new(FakeModel::using(1, 1));
        let ModelCall { problem, catalog, .. } = call("x");
        let task = Some(Arc::new(Task { id: "A".into(), ..Task::default() }));
        let inspect =
            Arc::new(SqlBinding::new(Memo::new(Arc::new(FakeDatabase::default())), Vec::new(), 7));
        let provider_of_port = Arc::clone(&provider) as _;
        let port =
            ModelPort { provider: provider_of_port, problem, task, catalog, inspect, seed: 7 };
        assert_eq!(port.models(), ["fake"]);
        assert!(port.issue(1, request("hello")).await.await.is_ok());
        let seen = provider.last().unwrap();
        assert_eq!(
            (seen.request.messages[0].text.as_str(), seen.task.unwrap().id.as_str()),
            ("hello", "A")
        );
        assert_eq!(seen.problem.question, "q");
    }

    /// Passes the statements of these texts.
    struct Passes(&'static [&'static str], SqlErrorKind);

    #[async_trait]
    impl InspectPort for Passes {
        async fn check(&self, text: &str) -> Result<Facts, SqlError> {
            let is_good = self.0.contains(&text);
            if is_good { Ok(Facts::default()) } else { Err(SqlError::new(self.1, "no")) }
        }

        async fn explain(&self, _: &str) -> Result<Plan, SqlError> {
            Err(SqlError::new(self.1, "no"))
        }

        async fn column_stats(
            &self,
            table: &str,
            _: &[String],
        ) -> Result<Vec<ColumnStats>, PortError> {
            Err(PortError::UnknownName(table.to_owned()))
        }

        async fn compile_metric(&self, _: &str) -> Result<CompiledMetric, PortError> {
            Err(PortError::Unsupported)
        }
    }

    /// Defines the one request `{"metrics":["m"]}`.
    struct One;

    impl Definitions for One {
        fn compile(&self, request: &str) -> Result<CompiledMetric, String> {
            let is_known = request == r#"{"metrics":["m"]}"#;
            let origin = serde_json::json!({ "kind": "metric" });
            let compiled = CompiledMetric { sql: "SELECT 1".into(), applied: "m".into(), origin };
            is_known.then_some(compiled).ok_or_else(|| "there is no such metric".to_owned())
        }

        fn find_departures(&self, _: &str, _: &str, _: &Facts) -> Vec<String> {
            Vec::new()
        }
    }

    #[tokio::test]
    async fn a_request_in_place_of_a_statement_is_compiled_or_refused_with_the_reason() {
        let memo = Memo::new(Arc::new(FakeDatabase::default()));
        let without = SqlBinding::new(Arc::clone(&memo), Vec::new(), 7);
        let with = SqlBinding::new(memo, Vec::new(), 7).with_definitions(Some(Arc::new(One)));
        let whole = FakeModel::using(1, 1).complete(&call("x")).await.result.unwrap();
        let read = async |sql: &str, expect: Shape, inspect: &SqlBinding| {
            let reply = SqlReply {
                sql: sql.to_owned(),
                confidence: Some(0.5),
                statements: Vec::new(),
                origin: None,
                is_doubted: false,
            };
            let reply = Reply { parsed: Some(reply.json()), ..whole.clone() };
            let reply = compile_request(reply, &expect, inspect).await;
            serde_json::from_str::<SqlReply>(&reply.parsed.unwrap()).unwrap()
        };
        let request = r#"{"metrics":["m"]}"#;
        let compiled = read(request, Shape::Sql, &with).await;
        assert_eq!((compiled.sql.as_str(), compiled.confidence), ("SELECT 1", Some(0.5)));
        assert!(compiled.origin.is_some_and(|origin| origin["kind"] == "metric"));
        assert_eq!(read(request, Shape::Text, &with).await.sql, request);
        assert_eq!(read(request, Shape::Sql, &without).await.sql, request);
        assert_eq!(read("SELECT 2", Shape::Sql, &with).await.sql, "SELECT 2");
        let unknown = r#"{"metrics":["x"]}"#;
        assert_eq!(read(unknown, Shape::Sql, &with).await.sql, unknown);
        let error = with.check(unknown).await.unwrap_err();
        assert_eq!(
            error.message,
            "the request for metrics has no statement: there is no such metric"
        );
        assert!(with.check(request).await.unwrap_err().message.contains("compile it first"));
        assert_eq!(without.compile_metric(request).await, Err(PortError::Unsupported));
        assert_eq!(with.compile_metric(request).await.unwrap().applied, "m");
    }

    #[tokio::test]
    async fn of_several_statements_the_first_that_passes_is_taken() {
        let statement = |number, sql: &str, confidence| WrittenStatement {
            sql: sql.to_owned(),
            confidence,
            number,
            rivals: if number == 1 { vec![3] } else { Vec::new() },
        };
        let statements =
            vec![statement(2, "a", None), statement(1, "b", Some(0.5)), statement(3, "c", None)];
        let several = SqlReply {
            sql: "a".to_owned(),
            confidence: None,
            statements,
            origin: None,
            is_doubted: false,
        };
        let whole = FakeModel::using(1, 1).complete(&call("x")).await.result.unwrap();
        let reply = Reply { parsed: Some(several.json()), ..whole };
        let read = async |expect: Shape, passes: Passes| {
            let chosen = choose_statement(reply.clone(), &expect, &passes).await;
            let read: SqlReply = serde_json::from_str(&chosen.parsed.unwrap()).unwrap();
            (read.sql.clone(), read.confidence, read.is_doubted, read.remark())
        };
        let (sql, confidence, is_doubted, remark) =
            read(Shape::Sql, Passes(&["b"], SqlErrorKind::Syntax)).await;
        assert_eq!((sql.as_str(), confidence, is_doubted), ("b", Some(0.5), false));
        assert_eq!(remark, "the reply held 3 statements; number 1 is used");
        // The third may be meant as well, and passes.
        let (sql, confidence, is_doubted, _) =
            read(Shape::Sql, Passes(&["b", "c"], SqlErrorKind::Syntax)).await;
        assert_eq!((sql.as_str(), confidence, is_doubted), ("b", Some(0.4), true));
        assert_eq!(read(Shape::Sql, Passes(&["c"], SqlErrorKind::UnknownTable)).await.0, "c");
        assert_eq!(read(Shape::Sql, Passes(&[], SqlErrorKind::Denied)).await.0, "a");
        assert_eq!(read(Shape::Sql, Passes(&["b"], SqlErrorKind::Unavailable)).await.0, "a");
        assert_eq!(read(Shape::Text, Passes(&["b"], SqlErrorKind::Syntax)).await.0, "a");
    }

    #[tokio::test]
    async fn statements_carry_the_finished_tasks() {
        let database = Arc::new(FakeDatabase::default());
        let relation =
            Relation { name: "task_a".into(), sql: "SELECT 1 AS n".into(), columns: Vec::new() };
        let memo = Memo::new(Arc::clone(&database) as _);
        let one = SqlBinding::new(Arc::clone(&memo), vec![relation], 7);
        let two = SqlBinding::new(memo, Vec::new(), 7);
        let text = "SELECT n FROM task_a";
        let results = one.run(text).await.unwrap();
        assert_eq!(
            (results.sql.as_str(), one.salt()),
            ("WITH task_a AS (SELECT 1 AS n) SELECT n FROM task_a", 7)
        );
        assert!(Arc::ptr_eq(&one.run(text).await.unwrap(), &results));
        assert_eq!(two.run(text).await.unwrap().sql, text);
        assert_eq!(one.check(text).await.unwrap().tasks, ["task_a"]);
        assert!(two.check(text).await.unwrap().tasks.is_empty());
        assert_eq!(
            one.explain(text).await.unwrap().text,
            "WITH task_a AS (SELECT 1 AS n) SELECT n FROM task_a"
        );
        assert_eq!(
            two.column_stats("nothing", &[]).await,
            Err(PortError::UnknownName("nothing".into()))
        );
    }
}
