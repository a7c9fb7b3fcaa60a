//! The arguments of a role, read from the input of a case. What has rows is named by its candidate:
//! its statement is run on the case's database.

use std::sync::Arc;

use serde_json::{Map, Value};
use syrch_core::ports::{Database, Plan, Relation, SqlQuery};
use syrch_core::roles::{Attempt, Finished, Output, Parent, Rival, Role};
use syrch_core::{
    Candidate, Catalog, Failure, Graph, Hit, Json, Observation, Problem, ResultSet, Signals, Task,
};

use crate::RunError;
use crate::fill::{self, Filled};

/// The names of a role's arguments.
fn names(role: Role) -> &'static [&'static str] {
    match role {
        Role::Linker => &["problem", "catalog"],
        Role::Planner => &["problem", "catalog", "graph", "seen", "fresh"],
        Role::Solver => &["problem", "catalog", "task", "parents"],
        Role::Calibrator => &["claims"],
        Role::Reward => &["problem", "catalog", "task", "rivals"],
        Role::Clarifier => &["problem", "catalog", "graph", "seen"],
        Role::Aggregator => &["problem", "graph", "finished", "seen"],
        Role::Rewriter => &["original", "best", "plan", "catalog", "history"],
    }
}

/// The arguments that are read before the database is open.
pub(crate) struct Input {
    role: Role,
    pub(crate) problem: Problem,
    pub(crate) catalog: Option<Catalog>,
    rest: Map<String, Value>,
}

/// The arguments of the method that is called, besides problem and catalog.
pub(crate) enum Arguments {
    Link,
    Plan,
    Next { graph: Graph, seen: Vec<Observation>, fresh: usize },
    Solve { task: Arc<Task>, parents: Vec<Parent>, relations: Vec<Relation> },
    Calibrate(Vec<(f64, Signals)>),
    Judge { task: Arc<Task>, rivals: Vec<Rival> },
    Assess { graph: Graph, seen: Vec<Observation> },
    Aggregate { graph: Graph, finished: Vec<Finished>, seen: Vec<Observation> },
    Rewrite { original: String, best: String, plan: Plan, history: Vec<Attempt> },
}

/// Bytes of the rows of all statements of an input at most: a search retains fewer.
const ROWS: usize = 64 << 20;

/// The database on which the statements of an input run, and the bytes of their rows so far.
struct Statements<'a> {
    database: &'a dyn Database,
    role: Role,
    bytes: usize,
}

impl Statements<'_> {
    /// The rows of a statement.
    async fn run(
        &mut self,
        of: String,
        sql: &str,
        relations: &[Relation],
    ) -> Result<Arc<ResultSet>, RunError> {
        let query = SqlQuery { text: sql.to_owned(), relations: relations.to_vec() };
        let results =
            self.database.run(&query).await.map_err(|source| RunError::Statement { of, source })?;
        self.bytes = self.bytes.saturating_add(results.size());
        if self.bytes > ROWS {
            let message = format!("the rows of its statements take more than {} MiB", ROWS >> 20);
            return Err(RunError::Input { role: self.role.name(), message });
        }
        Ok(Arc::new(results))
    }
}

impl Input {
    /// Reads the problem and the catalog.
    ///
    /// # Errors
    /// When an argument is unknown or has no such form.
    pub(crate) fn read(role: Role, mut rest: Map<String, Value>) -> Result<Self, RunError> {
        let wrong = |message| RunError::Input { role: role.name(), message };
        let names = names(role);
        // A case of any role may have a problem: the ports know it.
        if let Some(key) =
            rest.keys().find(|key| !names.contains(&key.as_str()) && *key != "problem")
        {
            return Err(wrong(fill::unknown("role's input", key, names.iter().copied())));
        }
        let problem = rest.shift_remove("problem").filter(|value| !value.is_null());
        let problem = problem
            .map_or(Ok(Problem::default()), |value| fill::read(value, fill::problem))
            .map_err(|error| wrong(format!("`problem`: {error}")))?;
        let catalog = rest.shift_remove("catalog").filter(|value| !value.is_null());
        let catalog = catalog.map(|value| fill::read(value, fill::catalog)).transpose();
        let catalog = catalog.map_err(|error| wrong(format!("`catalog`: {error}")))?;
        Ok(Self { role, problem, catalog, rest })
    }

    /// Reads the others. Statements of theirs are run.
    ///
    /// # Errors
    /// When an argument has no such form, or a statement does not run.
    pub(crate) async fn arguments(
        mut self,
        database: &dyn Database,
    ) -> Result<Arguments, RunError> {
        let statements = &mut Statements { database, role: self.role, bytes: 0 };
        Ok(match self.role {
            Role::Linker => Arguments::Link,
            Role::Planner
                if !["graph", "seen", "fresh"].iter().any(|name| self.rest.contains_key(*name)) =>
            {
                Arguments::Plan
            }
            Role::Planner => {
                let graph = self.graph()?;
                let seen = self.observations()?;
                let fresh =
                    self.take("fresh").map_or(Some(seen.len() as u64), |value| value.as_u64());
                let fresh = fresh
                    .and_then(|fresh| usize::try_from(fresh).ok())
                    .filter(|fresh| *fresh <= seen.len());
                let fresh = fresh.ok_or_else(|| {
                    self.input_error(
                        "`fresh` is the number of observations at the end of `seen` that are new"
                            .to_owned(),
                    )
                })?;
                Arguments::Next { graph, fresh: seen.len() - fresh, seen }
            }
            Role::Solver => {
                let task = self.task()?;
                let (parents, relations) = self.parents(statements).await?;
                Arguments::Solve { task, parents, relations }
            }
            Role::Calibrator => Arguments::Calibrate(self.claims()?),
            Role::Reward => {
                Arguments::Judge { task: self.task()?, rivals: self.rivals(statements).await? }
            }
            Role::Clarifier => {
                Arguments::Assess { graph: self.graph()?, seen: self.observations()? }
            }
            Role::Aggregator => {
                let finished = self.read_finished(statements).await?;
                let mut graph = self.graph()?;
                if graph.tasks.is_empty() {
                    graph.tasks = finished.iter().map(|finished| finished.task.clone()).collect();
                    graph.answer =
                        graph.tasks.last().map(|task| task.id.clone()).unwrap_or_default();
                }
                Arguments::Aggregate { graph, finished, seen: self.observations()? }
            }
            Role::Rewriter => self.rewrite(database).await?,
        })
    }

    fn input_error(&self, message: String) -> RunError {
        RunError::Input { role: self.role.name(), message }
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.rest.shift_remove(name).filter(|value| !value.is_null())
    }

    /// An argument, or its default.
    fn read_or<T: serde::de::DeserializeOwned>(
        &mut self,
        name: &str,
        fill: fn(Value) -> Filled,
        or: impl FnOnce() -> T,
    ) -> Result<T, RunError> {
        let Some(value) = self.take(name) else { return Ok(or()) };
        fill::read(value, fill).map_err(|error| self.input_error(format!("`{name}`: {error}")))
    }

    fn list<T: serde::de::DeserializeOwned>(
        &mut self,
        name: &str,
        fill: fn(Value) -> Filled,
    ) -> Result<Vec<T>, RunError> {
        let Some(value) = self.take(name) else { return Ok(Vec::new()) };
        fill::read_list(value, name, fill).map_err(|error| self.input_error(error))
    }

    fn items(&mut self, name: &str) -> Result<Vec<Map<String, Value>>, RunError> {
        self.list(
            name,
            |value| if value.is_object() { Ok(value) } else { Err("is no mapping".to_owned()) },
        )
    }

    fn whole_problem(&self) -> Task {
        Task { id: "A".to_owned(), text: self.problem.question.clone(), ..Task::default() }
    }

    /// By default the task is the whole question.
    fn task(&mut self) -> Result<Arc<Task>, RunError> {
        let whole = self.whole_problem();
        self.read_or("task", fill::task, || whole).map(Arc::new)
    }

    fn graph(&mut self) -> Result<Graph, RunError> {
        let whole = (self.role != Role::Aggregator).then(|| self.whole_problem());
        self.read_or("graph", fill::graph, || Graph {
            answer: whole.as_ref().map(|task| task.id.clone()).unwrap_or_default(),
            tasks: whole.into_iter().collect(),
            memo: None,
        })
    }

    fn observations(&mut self) -> Result<Vec<Observation>, RunError> {
        self.list("seen", fill::observation)
    }

    /// A claim is a confidence, or a pair of it and signals.
    fn claims(&mut self) -> Result<Vec<(f64, Signals)>, RunError> {
        self.list("claims", |value| match value {
            Value::Array(pair) => match <[Value; 2]>::try_from(pair) {
                Ok([claimed, signals]) => Ok(Value::Array(vec![claimed, fill::signals(signals)?])),
                Err(_) => Err("is no pair of a confidence and signals".to_owned()),
            },
            claimed => Ok(Value::Array(vec![claimed, fill::signals(Value::Object(Map::new()))?])),
        })
    }

    /// The part of an item of a list.
    fn part<T: serde::de::DeserializeOwned>(
        &self,
        of: &mut Map<String, Value>,
        name: &str,
        fill: fn(Value) -> Filled,
    ) -> Result<T, RunError> {
        let given = of.shift_remove(name).unwrap_or_else(|| Value::Object(Map::new()));
        fill::read(given, fill).map_err(|error| self.input_error(format!("`{name}`: {error}")))
    }

    fn nothing_more(
        &self,
        what: &str,
        of: &Map<String, Value>,
        names: &[&str],
    ) -> Result<(), RunError> {
        match of.keys().next() {
            Some(key) => Err(self.input_error(fill::unknown(what, key, names.iter().copied()))),
            None => Ok(()),
        }
    }

    async fn rivals(&mut self, statements: &mut Statements<'_>) -> Result<Vec<Rival>, RunError> {
        let mut rivals = Vec::new();
        for mut item in self.items("rivals")? {
            let candidate: Candidate = self.part(&mut item, "candidate", fill::candidate)?;
            self.nothing_more("rival", &item, &["candidate"])?;
            let results = statements
                .run(format!("the rival `{}`", candidate.id), &candidate.sql, &[])
                .await?;
            rivals.push(Rival { candidate, results });
        }
        Ok(rivals)
    }

    async fn parents(
        &mut self,
        statements: &mut Statements<'_>,
    ) -> Result<(Vec<Parent>, Vec<Relation>), RunError> {
        let mut parents = Vec::new();
        let mut relations = Vec::new();
        for mut item in self.items("parents")? {
            let task: Task = self.part(&mut item, "task", fill::task)?;
            let memo: Option<Json> = match item.shift_remove("memo") {
                None | Some(Value::Null) => None,
                Some(Value::String(text)) => Some(text),
                Some(document) => Some(document.to_string()),
            };
            let output = item.shift_remove("output").unwrap_or_default();
            self.nothing_more("parent", &item, &["task", "output", "memo"])?;
            let output = self.output(statements, &task, output, &mut relations).await?;
            parents.push(Parent { task, output, memo });
        }
        Ok((parents, relations))
    }

    async fn output(
        &self,
        statements: &mut Statements<'_>,
        task: &Task,
        output: Value,
        relations: &mut Vec<Relation>,
    ) -> Result<Output, RunError> {
        const FORM: &str = "`output` is `{relation: {…}}`, `{hits: […]}` or `{failed: {…}}`";
        let Value::Object(mut output) = output else {
            return Err(self.input_error(FORM.to_owned()));
        };
        if let Some(hits) = output.shift_remove("hits") {
            let hits: Vec<Hit> = fill::read_list(hits, "hits", fill::hit)
                .map_err(|error| self.input_error(error))?;
            return Ok(Output::Hits(hits));
        }
        if output.contains_key("failed") {
            return Ok(Output::Failed(self.part::<Failure>(
                &mut output,
                "failed",
                fill::failure,
            )?));
        }
        let Some(Value::Object(mut relation)) = output.shift_remove("relation") else {
            return Err(self.input_error(FORM.to_owned()));
        };
        let name = self.name(&mut relation, task)?;
        let candidate: Candidate = self.part(&mut relation, "candidate", fill::candidate)?;
        self.nothing_more("relation", &relation, &["name", "candidate"])?;
        let results =
            statements.run(format!("the parent `{}`", task.id), &candidate.sql, relations).await?;
        relations.push(Relation {
            name: name.clone(),
            sql: candidate.sql.clone(),
            columns: results.columns(),
        });
        Ok(Output::Relation { name, candidate: Box::new(candidate), results })
    }

    /// The name by which a finished task stands in FROM.
    fn name(&self, of: &mut Map<String, Value>, task: &Task) -> Result<String, RunError> {
        match of.shift_remove("name") {
            Some(Value::String(name)) => Ok(name),
            Some(_) => Err(self.input_error("`name` is no text".to_owned())),
            None => Ok(format!(
                "task_{}",
                task.id
                    .chars()
                    .map(|c: char| if c.is_ascii_alphanumeric() {
                        c.to_ascii_lowercase()
                    } else {
                        '_'
                    })
                    .collect::<String>()
            )),
        }
    }

    async fn read_finished(
        &mut self,
        statements: &mut Statements<'_>,
    ) -> Result<Vec<Finished>, RunError> {
        let mut finished = Vec::new();
        let mut relations = Vec::<Relation>::new();
        for mut item in self.items("finished")? {
            let task: Task = self.part(&mut item, "task", fill::task)?;
            let name = self.name(&mut item, &task)?;
            let candidate: Candidate = self.part(&mut item, "candidate", fill::candidate)?;
            let others = item.shift_remove("others").unwrap_or_else(|| Value::Array(Vec::new()));
            let others = fill::read_list(others, "others", fill::candidate)
                .map_err(|error| self.input_error(error))?;
            self.nothing_more("finished task", &item, &["name", "task", "candidate", "others"])?;
            let results = statements
                .run(format!("the task `{}`", task.id), &candidate.sql, &relations)
                .await?;
            relations.push(Relation {
                name: name.clone(),
                sql: candidate.sql.clone(),
                columns: results.columns(),
            });
            finished.push(Finished { name, task, candidate, others, results });
        }
        Ok(finished)
    }

    async fn rewrite(&mut self, database: &dyn Database) -> Result<Arguments, RunError> {
        let mut text = |name: &str| match self.rest.shift_remove(name) {
            Some(Value::String(text)) => Ok(Some(text)),
            None | Some(Value::Null) => Ok(None),
            Some(_) => {
                Err(RunError::Input { role: "rewriter", message: format!("`{name}` is no text") })
            }
        };
        let original = text("original")?;
        let best = text("best")?;
        let original = original
            .ok_or_else(|| self.input_error("`original` is missing: the statement".to_owned()))?;
        let best = best.unwrap_or_else(|| original.clone());
        let plan = match self.take("plan") {
            Some(plan) => fill::read(plan, fill::plan)
                .map_err(|error| self.input_error(format!("`plan`: {error}")))?,
            None => database.explain(&SqlQuery::new(best.clone())).await.map_err(|source| {
                RunError::Statement { of: "the best statement so far".to_owned(), source }
            })?,
        };
        Ok(Arguments::Rewrite {
            original,
            best,
            plan,
            history: self.list("history", fill::attempt)?,
        })
    }
}
