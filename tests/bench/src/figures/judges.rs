//! The reward `execution` against the truth, on recorded answers: what it refuses where a plan
//! states what a statement must state.
//!
//! No recorded system wrote plans. In their place, what a statement must state is read from another
//! recorded answer to the same question, once from any of them, as a planner that errs as often as
//! the systems, and once from the right ones, as a planner that never errs. Nothing is fitted.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::{Value, json};
use sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Select,
    SetExpr, Visit, Visitor,
};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;
use syrch::plugins::CompileSettings;
use syrch::{Host, Settings, Silent};
use syrch_core::ledger::{Budgets, Ledger};
use syrch_core::ports::{
    ColumnStats, CompiledMetric, Database, Facts, InspectPort, Plan, PortError, Ports, SqlQuery,
};
use syrch_core::roles::{Call, Reward, Rival, Role};
use syrch_core::{Candidate, Catalog, Limits, Problem, ResultSet, SqlError, Task, Verdict};
use syrch_guard::with_single_quotes;
use syrch_kit::recorded::{Question, questions};
use syrch_runtime::{Configured, Origin, Runtime, read_component};

use super::tally::share;
use crate::Outcome;
use crate::figure::Figure;
use crate::ports::nothing;
use crate::world::World;

/// The functions that make one value of many.
const AGGREGATES: [&str; 5] = ["avg", "count", "max", "min", "sum"];
/// The kinds of requirements, as the reward names them.
const KINDS: [&str; 6] = ["metric", "aggregation", "filter", "dimension", "grain", "table"];

/// One recorded answer, judged by what another one states.
struct Judged {
    is_right: bool,
    /// True if the other answer is right.
    is_planned_right: bool,
    is_rejected: bool,
    /// The kinds of requirements that it lacks something of.
    lacks: BTreeSet<&'static str>,
}

/// Has each recorded answer that ran judged by what each other answer to its question states.
pub(crate) fn measure(world: &World) -> Outcome<Vec<Figure>> {
    let data = syrch_kit::data_root().ok_or("there are no test data")?.join("spider");
    let all = questions(&data);
    let mut by_database: BTreeMap<&str, Vec<&Question>> = BTreeMap::new();
    for question in &all {
        by_database.entry(&question.database).or_default().push(question);
    }
    let cache = world.place("cache")?;
    let judged = world.runtime.block_on(async {
        let (_runtime, reward) = reward(&cache).await?;
        let mut judged: Vec<(&str, Judged)> = Vec::new();
        for (database, questions) in by_database {
            let file = data.join("db").join(format!("{database}.sqlite"));
            let host = Host::open(
                Settings { database: file.display().to_string(), ..Settings::default() },
                &Silent,
            )
            .await?;
            let bench = Bench::new(Arc::clone(host.database()), &reward).await?;
            for question in questions {
                judged.extend(
                    bench.judge(question).await?.into_iter().map(|judged| (database, judged)),
                );
            }
        }
        Outcome::Ok(judged)
    })?;
    let judged: Vec<(&str, &Judged)> =
        judged.iter().map(|(database, judged)| (*database, judged)).collect();
    let by_right: Vec<(&str, &Judged)> =
        judged.iter().filter(|(_, one)| one.is_planned_right).copied().collect();
    Ok([figures("a right answer", &by_right), figures("any answer", &judged)].concat())
}

fn figures(planner: &str, judged: &[(&str, &Judged)]) -> Vec<Figure> {
    [("wrong", false), ("right", true)]
        .map(|(word, is_right)| {
            let of: Vec<(&str, &Judged)> =
                judged.iter().filter(|(_, one)| one.is_right == is_right).copied().collect();
            let (refused, interval) = share(&of, |one| one.is_rejected);
            let lacking = |kind: &str| share(&of, |one| one.lacks.contains(kind)).0;
            let kinds: Vec<String> =
                KINDS.iter().map(|kind| format!("{kind} {:.1} %", lacking(kind))).collect();
            let name = format!(
                "recorded answers that are {word}, as {planner} states them: refused by `execution`"
            );
            Figure::new(name, refused, "%").note(format!(
                "of {} pairs; {interval}; lacking: {}",
                of.len(),
                kinds.join(", ")
            ))
        })
        .into()
}

/// The built-in reward with its default settings, and what it runs in.
async fn reward(cache: &Path) -> Outcome<(Runtime, Configured)> {
    let limits = Limits::default();
    let component =
        read_component(&syrch_kit::repository().join("plugins/execution.wasm"), &limits)?;
    let runtime = Runtime::new(limits, &CompileSettings::in_folder(cache))?;
    let plugin = runtime.load("execution", component, Origin::BuiltIn, &|| {}).await?;
    let reward = plugin.configure(Role::Reward, &serde_json::Map::new()).await?;
    Ok((runtime, reward))
}

/// One database with the reward.
struct Bench<'a> {
    database: Arc<dyn Database>,
    catalog: Arc<Catalog>,
    reward: &'a Configured,
    inspect: Arc<Checks>,
}

impl<'a> Bench<'a> {
    async fn new(database: Arc<dyn Database>, reward: &'a Configured) -> Outcome<Self> {
        let catalog = database.catalog().await?;
        let inspect = Arc::new(Checks { database: Arc::clone(&database), known: Mutex::default() });
        Ok(Self { database, catalog, reward, inspect })
    }

    /// The answers to a question that ran, each judged by what each other one states.
    async fn judge(&self, question: &Question) -> Outcome<Vec<Judged>> {
        let mut ran: Vec<(String, bool, Arc<ResultSet>, Value)> = Vec::new();
        for answer in &question.answers {
            let sql = with_single_quotes(&answer.sql, &self.catalog)
                .unwrap_or_else(|| answer.sql.clone());
            let Ok(results) = self.database.run(&SqlQuery::new(sql.as_str())).await else {
                continue;
            };
            let Ok(facts) = self.inspect.check(&sql).await else { continue };
            ran.push((sql.clone(), answer.is_right, Arc::new(results), derive_plan(&sql, &facts)));
        }
        let rivals: Vec<Rival> = ran
            .iter()
            .enumerate()
            .map(|(place, (sql, _, results, _))| Rival {
                candidate: Candidate {
                    id: format!("A.{place}"),
                    sql: sql.clone(),
                    ..Candidate::default()
                },
                results: Arc::clone(results),
            })
            .collect();
        let mut judged = Vec::new();
        for (planner, (_, is_planned_right, _, stated)) in ran.iter().enumerate() {
            let context = Some(json!({ "requirements": stated }).to_string());
            let task = Task {
                id: "A".to_owned(),
                text: question.question.clone(),
                context,
                ..Task::default()
            };
            let verdicts = self.verdicts(&task, &rivals).await?;
            for (place, verdict) in
                verdicts.iter().enumerate().filter(|(place, _)| *place != planner)
            {
                judged.push(Judged {
                    is_right: ran[place].1,
                    is_planned_right: *is_planned_right,
                    is_rejected: matches!(verdict, Verdict::Rejected(_)),
                    lacks: lacks(verdict),
                });
            }
        }
        Ok(judged)
    }

    async fn verdicts(&self, task: &Task, rivals: &[Rival]) -> Outcome<Vec<Verdict>> {
        let ports = Ports { inspect: Arc::clone(&self.inspect) as _, ..nothing() };
        let budgets = Budgets { cpu: std::time::Duration::from_secs(3_600), ..Budgets::default() };
        let call = Call {
            label: "reward".to_owned(),
            ports,
            ledger: Ledger::new(budgets),
            memory: None,
            cpu: None,
        };
        Ok(self.reward.judge(call, &Problem::new(&task.text), &self.catalog, task, rivals).await?)
    }
}

fn lacks(verdict: &Verdict) -> BTreeSet<&'static str> {
    let (Verdict::Accepted(opinion) | Verdict::Rejected(opinion)) = verdict else {
        return BTreeSet::new();
    };
    let failed = opinion.checks.iter().filter(|(_, passed)| !passed);
    failed
        .filter_map(|(name, _)| {
            KINDS.into_iter().find(|kind| name.starts_with(&format!("has the {kind} ")))
        })
        .collect()
}

/// The facts of statements, each found once.
struct Checks {
    database: Arc<dyn Database>,
    known: Mutex<BTreeMap<String, Result<Facts, SqlError>>>,
}

#[async_trait]
impl InspectPort for Checks {
    async fn check(&self, text: &str) -> Result<Facts, SqlError> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(facts) = known().get(text).cloned() {
            return facts;
        }
        let facts = self.database.check(&SqlQuery::new(text)).await;
        known().insert(text.to_owned(), facts.clone());
        facts
    }

    async fn explain(&self, text: &str) -> Result<Plan, SqlError> {
        self.database.explain(&SqlQuery::new(text)).await
    }

    async fn column_stats(&self, _: &str, _: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        Err(PortError::Unsupported)
    }

    async fn compile_metric(&self, _: &str) -> Result<CompiledMetric, PortError> {
        Err(PortError::Unsupported)
    }
}

/// Returns the plan of somebody who has this statement in mind: its aggregates, its comparisons of
/// columns with values, its groups and its tables.
fn derive_plan(sql: &str, facts: &Facts) -> Value {
    let mut parts = Parts::default();
    if let Ok(statements) = Parser::parse_sql(&SQLiteDialect {}, sql) {
        let _ = statements.visit(&mut parts);
    }
    json!({
        "metrics": parts.metrics,
        "aggregation": parts.counts.then_some("count"),
        "filters": parts.filters,
        "dimensions": parts.dimensions,
        "grain": parts.dimensions.first(),
        "tables": facts.tables,
    })
}

/// The parts of a statement that a walk over it finds.
#[derive(Default)]
struct Parts {
    metrics: Vec<Value>,
    /// True if rows are counted.
    counts: bool,
    filters: Vec<String>,
    dimensions: Vec<String>,
}

impl Visitor for Parts {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        self.filters.extend(write_filter(expr));
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        let name = function.name.to_string().to_lowercase();
        let FunctionArguments::List(list) = &function.args else {
            return ControlFlow::Continue(());
        };
        if AGGREGATES.contains(&name.as_str()) {
            match list.args.first() {
                Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))) => {
                    let column = column(argument);
                    self.metrics.extend(
                        column.map(|column| json!({ "name": column, "aggregation": name })),
                    );
                }
                _ => self.counts = true,
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &sqlparser::ast::Query) -> ControlFlow<()> {
        if let SetExpr::Select(select) = &*query.body {
            let Select { group_by, .. } = &**select;
            if let GroupByExpr::Expressions(grouped, _) = group_by {
                self.dimensions.extend(grouped.iter().filter_map(column));
            }
        }
        ControlFlow::Continue(())
    }
}

/// A comparison of a column with values; `None` for another expression.
fn write_filter(expr: &Expr) -> Option<String> {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    match expr {
        Expr::BinaryOp { left, op: op @ (Eq | NotEq | Lt | LtEq | Gt | GtEq), right } => {
            Some(format!("{} {op} {}", column(left)?, literal(right)?))
        }
        Expr::Like { expr, pattern, negated, .. } => {
            let not = if *negated { "NOT " } else { "" };
            Some(format!("{} {not}LIKE {}", column(expr)?, literal(pattern)?))
        }
        Expr::Between { expr, low, high, negated: false } => {
            Some(format!("{} BETWEEN {} AND {}", column(expr)?, literal(low)?, literal(high)?))
        }
        Expr::InList { expr, list, negated } => {
            let values: Option<Vec<String>> = list.iter().map(literal).collect();
            let not = if *negated { "NOT " } else { "" };
            Some(format!("{} {not}IN ({})", column(expr)?, values?.join(", ")))
        }
        _ => None,
    }
}

fn literal(expr: &Expr) -> Option<String> {
    matches!(expr, Expr::Value(_)).then(|| expr.to_string())
}

fn column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(name.value.clone()),
        Expr::CompoundIdentifier(names) => names.last().map(|name| name.value.clone()),
        _ => None,
    }
}
