//! `semantics`: checks files of metrics, dimensions and joins, shows them, and makes first ones
//! from a database or from the definitions of other tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use syrch::metric::{SemanticsError, read_semantics};
use syrch::semantics::{
    Aggregate, BOUNDS, ColumnValues, Descriptions, Finding, MetricKind, Problem, SCHEMA, Semantics,
    Severity, Source, check, import, probes, propose, values_probes,
};
use syrch::settings::SemanticsSettings;
use syrch::syrch_core::ports::{Database, SqlQuery};
use syrch::syrch_core::{Catalog, Value as Cell};
use syrch::{Host, Stop, yaml};

use super::{Context, Run, asking};
use crate::config::Given;
use crate::config::flags::Flags;
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{Format, Grid, terminal};

/// The limit on the columns whose values `init` reads.
const COLUMNS: usize = 200;

/// The limit on the statements that `check` runs.
const STATEMENTS: usize = 1_000;

/// The commands of `semantics`.
#[derive(Subcommand)]
pub(crate) enum SemanticsCommand {
    /// Check files for themselves and, with --db, against the tables and rows of a database; exit 5
    /// when something is wrong
    #[command(after_help = Exit::help())]
    Check(Box<CheckArgs>),
    /// Write a proposal for a database from its keys, names, types and the values of columns that
    /// have few; a model that is configured describes its tables, dimensions and metrics
    #[command(after_help = Exit::help())]
    Init(Box<InitArgs>),
    /// Translate dbt's semantic models and metrics, or an mdl.json of WrenAI; what has no
    /// counterpart is listed
    #[command(after_help = Exit::help())]
    Import(Box<ImportArgs>),
    /// Show the metrics, dimensions and joins of files
    #[command(after_help = Exit::help())]
    Show(Box<ShowArgs>),
    /// Print the JSON Schema of semantics files, for editors
    #[command(after_help = Exit::help())]
    Schema,
}

#[derive(Args)]
pub(crate) struct CheckArgs {
    /// The files, which are one whole
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Compare with the tables and columns of --db alone, and read no rows
    #[arg(long)]
    pub(crate) names_only: bool,
    /// The options of a database.
    #[command(flatten)]
    pub(crate) flags: Flags<false>,
}

#[derive(Args)]
pub(crate) struct InitArgs {
    /// Read no rows: labels are those that the schema declares
    #[arg(long)]
    pub(crate) names_only: bool,
    /// Flags of a search: the database, the model, what it may cost.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

#[derive(Args)]
pub(crate) struct ImportArgs {
    /// A YAML file of dbt with `semantic_models` or `metrics`, or an mdl.json of WrenAI
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Args)]
pub(crate) struct ShowArgs {
    /// The files, which are one whole
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

impl Run for SemanticsCommand {
    fn config_flags(&self) -> Option<Given<'_>> {
        Some(match self {
            Self::Check(check) => Given::new(&check.flags, &[]),
            Self::Init(init) => Given::new(&init.flags, &[]),
            Self::Import(_) | Self::Show(_) | Self::Schema => Given::default(),
        })
    }

    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        let files = match self {
            Self::Check(check) => check.files.clone(),
            Self::Show(show) => show.files.clone(),
            Self::Import(import) => vec![import.file.clone()],
            Self::Init(_) | Self::Schema => Vec::new(),
        };
        files.into_iter().map(|file| ("a file that is read", file)).collect()
    }

    async fn run(self, context: Context) -> Outcome {
        match self {
            Self::Check(arguments) => run_check(&context, &arguments).await,
            Self::Init(arguments) => run_init(context, &arguments).await,
            Self::Import(arguments) => run_import(&context, &arguments.file),
            Self::Show(arguments) => run_show(&context, &arguments.files),
            Self::Schema => {
                context.output.write(SCHEMA)?;
                Ok(Exit::Answered)
            }
        }
    }
}

async fn run_check(context: &Context, arguments: &CheckArgs) -> Outcome {
    let findings = match read_semantics(&arguments.files) {
        Err(SemanticsError::Wrong(problems)) => problems.into_iter().map(finding_from).collect(),
        Err(error) => return Err(error.into()),
        Ok(semantics) if context.config.effective.settings.database.is_empty() => {
            context.console.note(&summary(&semantics));
            Vec::new()
        }
        Ok(semantics) => {
            let database = context.open_database().await?;
            context.console.note(&summary(&semantics));
            compare(context, &semantics, database.as_ref(), arguments.names_only).await?
        }
    };
    show_findings(context, &findings)?;
    let is_wrong = findings.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if is_wrong { Exit::Gate } else { Exit::Answered })
}

fn finding_from(problem: Problem) -> Finding {
    Finding { severity: Severity::Error, place: problem.place, message: problem.message }
}

/// The number of things that are declared, in words.
fn summary(semantics: &Semantics) -> String {
    let Semantics { tables, joins, dimensions, metrics, .. } = semantics;
    format!(
        "{} tables, {} joins, {} dimensions, {} metrics",
        tables.len(),
        joins.len(),
        dimensions.len(),
        metrics.len()
    )
}

/// Compares semantics with the catalog and, unless only with names, with the rows.
async fn compare(
    context: &Context,
    semantics: &Semantics,
    database: &dyn Database,
    names_only: bool,
) -> Outcome<Vec<Finding>> {
    let catalog = database.catalog().await?;
    let mut findings = check(semantics, &catalog);
    if names_only {
        return Ok(findings);
    }
    let probes = probes(semantics, &catalog, &catalog.dialect);
    for (index, probe) in probes.iter().take(STATEMENTS).enumerate() {
        context.console.progress(&format!("{index}/{} statements", probes.len()));
        match database.run(&SqlQuery::new(probe.sql.clone())).await {
            Ok(result) => findings.extend(probe.judge(&result)),
            Err(error) => findings.push(probe.judge_failure(&error)),
        }
    }
    context.console.clear();
    if let Some(left) = probes.len().checked_sub(STATEMENTS).filter(|left| *left > 0) {
        context.console.warn(&format!("{left} comparisons with rows are left out"));
    }
    findings.sort_by_key(|finding| {
        (finding.severity == Severity::Note, finding.place.file.clone(), finding.place.line)
    });
    Ok(findings)
}

fn show_findings(context: &Context, findings: &[Finding]) -> Outcome<()> {
    if matches!(context.format, Format::Auto | Format::Table) {
        let text: String = match findings {
            [] => "no findings\n".to_owned(),
            findings => findings
                .iter()
                .map(|finding| format!("{}\n", terminal::line(&finding.to_string())))
                .collect(),
        };
        return context.output.write(&context.scrubber.text(&text));
    }
    let mut grid = Grid::new(["severity", "file", "line", "column", "message"]);
    grid.rows = findings
        .iter()
        .map(|finding| {
            let place = &finding.place;
            vec![
                json!(finding.severity.name()),
                json!(place.file),
                json!(place.line),
                json!(place.column),
                json!(finding.message),
            ]
        })
        .collect();
    let documents: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let place = &finding.place;
            json!({
                "severity": finding.severity.name(), "file": place.file, "line": place.line,
                "column": place.column, "message": finding.message,
            })
        })
        .collect();
    context.rows(grid, || json!({"schema": "syrch.semantics-check/1", "findings": documents}))
}

async fn run_init(mut context: Context, arguments: &InitArgs) -> Outcome {
    context.needs_database()?;
    let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
    let model = match context.config.effective.settings.model.is_by_rules() {
        true => None,
        false => {
            // A file that is being written anew may be wrong, or not be there yet.
            context.config.effective.settings.semantics = SemanticsSettings::default();
            Some(asking::open(&mut context, &watch).await?)
        }
    };
    let database = match &model {
        Some(host) => Arc::clone(host.database()),
        None => context.open_database().await?,
    };
    let catalog = database.catalog().await?;
    let values = match arguments.names_only {
        true => Vec::new(),
        false => read_values(&context, database.as_ref(), &catalog).await,
    };
    let mut text = propose(&catalog, &values, &Descriptions::default());
    if let Some(host) = &model {
        let descriptions = describe(&context, host, &text, watch).await?;
        text = propose(&catalog, &values, &descriptions);
    }
    write_text(&context, "syrch.semantics-init/1", &text, &[])?;
    context
        .console
        .note("a proposal: review it, then run `syrch-host semantics check FILE --db DB`");
    Ok(Exit::Answered)
}

/// Returns the descriptions that the model gives for a proposal. Without any, standard error has
/// the reason.
async fn describe(
    context: &Context,
    host: &Host,
    text: &str,
    watch: Arc<Watch>,
) -> Outcome<Descriptions> {
    let source = Source { file: "the proposal".to_owned(), text: text.to_owned() };
    let proposal = Semantics::read(&[source]).map_err(SemanticsError::Wrong)?;
    context.console.progress("asking the model for descriptions");
    let report = host.describe_proposal(&proposal, watch, &Stop::new()).await?;
    context.console.clear();
    let (sent, cached) = report.calls;
    let count = report.descriptions.count();
    let summary = format!(
        "the model described {count} of {} tables, dimensions and metrics; {sent} model calls, \
         {cached} from the cache",
        report.wanted
    );
    match &report.failure {
        Some(failure) => context.console.warn(&format!("{summary}: {failure}")),
        None if count < report.wanted => context.console.warn(&summary),
        None => context.console.note(&summary),
    }
    Ok(report.descriptions)
}

/// The values of columns that may have few. A column whose values cannot be read has none.
async fn read_values(
    context: &Context,
    database: &dyn Database,
    catalog: &Arc<Catalog>,
) -> Vec<ColumnValues> {
    let probes = values_probes(catalog);
    let mut found = Vec::new();
    for (index, probe) in probes.iter().take(COLUMNS).enumerate() {
        context.console.progress(&format!("{index}/{} columns", probes.len()));
        let Ok(result) = database.run(&SqlQuery::new(probe.sql.clone())).await else { continue };
        let texts = result.rows(0, u64::MAX).into_iter().flatten().filter_map(|cell| match cell {
            Cell::Text(text) | Cell::Temporal(text) => Some(text),
            // Numbers in a column of days are none.
            Cell::Integer(number) => Some(number.to_string()),
            Cell::Real(number) => Some(number.to_string()),
            _ => None,
        });
        found.push(ColumnValues {
            table: probe.table.clone(),
            column: probe.column.clone(),
            values: texts.collect(),
        });
    }
    context.console.clear();
    found
}

fn run_import(context: &Context, file: &Path) -> Outcome {
    let name = file.display();
    let text = yaml::text_within(file, false, &BOUNDS)
        .map_err(|why| Failure::config(format!("`{name}` {why}")).hint("check the path"))?;
    let imported = import(&text).map_err(|why| {
        Failure::config(format!("`{name}` {why}"))
            .hint("name a YAML file of dbt with `semantic_models`, or an mdl.json of WrenAI")
    })?;
    write_text(context, "syrch.semantics-import/1", &imported.text, &imported.left_out)?;
    imported.left_out.iter().for_each(|line| context.console.warn(&format!("left out: {line}")));
    for problem in &imported.problems {
        let line = problem.place.line;
        context.console.warn(&format!("line {line} of the result: {}", problem.message));
    }
    Ok(if imported.problems.is_empty() { Exit::Answered } else { Exit::Gate })
}

/// Writes the text of a semantics file; in the formats of programs as a document.
fn write_text(context: &Context, schema: &str, text: &str, left_out: &[String]) -> Outcome<()> {
    if matches!(context.format, Format::Auto | Format::Table) {
        return context.output.write(&context.scrubber.text(text));
    }
    let mut grid = Grid::new(["text"]);
    grid.rows = vec![vec![json!(text)]];
    context.rows(grid, || json!({"schema": schema, "text": text, "left_out": left_out}))
}

fn run_show(context: &Context, files: &[PathBuf]) -> Outcome {
    let semantics = read_semantics(files)?;
    let mut grid = Grid::new(["kind", "name", "definition", "synonyms", "description"]);
    for metric in &semantics.metrics {
        let definition = definition(&metric.kind);
        let description = metric.description.as_deref();
        grid.rows.push(row("metric", &metric.name, &definition, &metric.synonyms, description));
    }
    for dimension in &semantics.dimensions {
        let name = format!("{}.{}", dimension.table, dimension.name);
        let text = &dimension.expression.text;
        let shown = if dimension.is_time { format!("{text} (time)") } else { text.clone() };
        let description = dimension.description.as_deref();
        grid.rows.push(row("dimension", &name, &shown, &dimension.synonyms, description));
    }
    for join in &semantics.joins {
        let name = format!("{} → {}", join.from, join.to);
        let columns: Vec<String> = join
            .from_columns
            .iter()
            .zip(&join.to_columns)
            .map(|(own, other)| format!("{own} = {other}"))
            .collect();
        grid.rows.push(row("join", &name, &columns.join(", "), &[], None));
    }
    let rows = grid.rows.clone();
    context.rows(grid, || {
        let entries: Vec<Value> = rows
            .iter()
            .map(|row| {
                json!({
                    "kind": row[0], "name": row[1], "definition": row[2], "synonyms": row[3],
                    "description": row[4],
                })
            })
            .collect();
        json!({"schema": "syrch.semantics/1", "entries": entries})
    })?;
    Ok(Exit::Answered)
}

fn row(
    kind: &str,
    name: &str,
    definition: &str,
    synonyms: &[String],
    description: Option<&str>,
) -> Vec<Value> {
    vec![
        json!(kind),
        json!(name),
        json!(definition),
        json!(synonyms.join(", ")),
        json!(description.unwrap_or_default()),
    ]
}

/// The computation of a metric as its file states it.
fn definition(kind: &MetricKind) -> String {
    match kind {
        MetricKind::Measure(measure) => {
            let argument = match &measure.argument {
                Some(argument) => argument.text.clone(),
                None => format!("{}.*", measure.base),
            };
            let aggregate = match measure.aggregate {
                Aggregate::Sum => format!("sum({argument})"),
                Aggregate::Count => format!("count({argument})"),
                Aggregate::CountDistinct => format!("count(distinct {argument})"),
                Aggregate::Avg => format!("avg({argument})"),
                Aggregate::Min => format!("min({argument})"),
                Aggregate::Max => format!("max({argument})"),
            };
            match &measure.filter {
                Some(filter) => format!("{aggregate} where {}", filter.text),
                None => aggregate,
            }
        }
        MetricKind::Ratio { numerator, denominator } => format!("{numerator} / {denominator}"),
        MetricKind::Derived(expression) => expression.text.clone(),
    }
}
