//! `metric`: metrics by dimensions and time, compiled from a semantics file to one statement, under
//! the same guard and limits as those of a search.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use syrch::databases::with_doubts;
use syrch::metric::{MetricAnswer, MetricError, SemanticsError, read_semantics, run_metric};
use syrch::report::MetricColumn;
use syrch::semantics::{
    Applied, CompileError, Compiled, Dimension, Format as Shown, MetricKind, Request, RequestError,
    RequestText, Role, Semantics, compile, read_comparison, read_grain,
};
use syrch::syrch_core::ResultSet;

use super::amounts::format_amounts;
use super::{Context, Run};
use crate::config::Given;
use crate::config::flags::Flags;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{self, Format, Grid, table, terminal};

#[derive(Args)]
pub(crate) struct MetricArgs {
    /// The metrics, with commas between them; without any, they are listed with their dimensions
    #[arg(value_name = "METRICS", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    /// A file that defines tables, joins and metrics; may be repeated; without it, the files of the
    /// configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) semantics: Vec<PathBuf>,
    /// The dimensions to group by, as `name` or `table.name`; `day`, `week`, `month`, `quarter` and
    /// `year` group by time
    #[arg(long, value_name = "DIMENSIONS", value_delimiter = ',')]
    pub(crate) by: Vec<String>,
    /// The grain of time: day, week, month, quarter or year
    #[arg(long, value_name = "GRAIN")]
    pub(crate) grain: Option<String>,
    /// A condition over dimensions, such as "country = 'France' AND channel IN ('web', 'shop')"
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) condition: Option<String>,
    /// The part of time that counts: 2024, 2024-Q1, 2024-03, 2024-03-04, 2024-01..2024-06, today,
    /// yesterday, this_month, last_quarter, last_12_months
    #[arg(long, value_name = "PERIOD")]
    pub(crate) period: Option<String>,
    /// The column to order by, such as revenue:desc; by default time and the dimensions
    #[arg(long, value_name = "COLUMN")]
    pub(crate) order: Option<String>,
    /// The largest number of rows
    #[arg(long, value_name = "ROWS")]
    pub(crate) limit: Option<u64>,
    /// The dimensions, or a grain, in each of whose groups --limit and share_of_total count: with
    /// `--by product --within country --order revenue:desc --limit 3` the first 3 of each country
    #[arg(long, value_name = "DIMENSIONS", value_delimiter = ',')]
    pub(crate) within: Vec<String>,
    /// A further column about the first metric: previous_period, same_period_last_year, growth,
    /// growth_last_year, share_of_total, share_of_all or running_total
    #[arg(long, value_name = "COMPARISON")]
    pub(crate) compare: Option<String>,
    /// The whole request as JSON, in place of the flags above
    #[arg(long, value_name = "JSON", conflicts_with_all = [
        "metrics", "by", "grain", "condition", "period", "order", "limit", "within", "compare",
    ])]
    pub(crate) request: Option<String>,
    /// Print the statement without running it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The options of a database.
    #[command(flatten)]
    pub(crate) flags: Flags<false>,
}

impl Run for MetricArgs {
    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given::new(&self.flags, &[]))
    }

    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        self.semantics.iter().map(|path| ("a semantics file", path.clone())).collect()
    }

    async fn run(self, context: Context) -> Outcome {
        let semantics = self.read_files(&context)?;
        if self.metrics.is_empty() && self.request.is_none() {
            context.rows(list(&semantics), || list_document(&semantics))?;
            return Ok(Exit::Answered);
        }
        let clock = chrono::Local::now().date_naive();
        let today = semantics.today.unwrap_or(clock);
        let text = self.read_text()?;
        let request = text.read(today, semantics.week_start)?;
        context.needs_database()?;
        let database = context.open_database().await?;
        if self.dry_run {
            let compiled = compile(&semantics, &request, &database.dialect(), today)?;
            print_statement(&context, &compiled)?;
        } else {
            let database = with_doubts(&database);
            let answer = run_metric(&database, &semantics, &request, today).await?;
            print_answer(&context, &request, &answer)?;
        }
        Ok(Exit::Answered)
    }
}

impl MetricArgs {
    /// Reads the files of the flag, else those of the configuration.
    fn read_files(&self, context: &Context) -> Outcome<Semantics> {
        let configured = &context.config.effective.settings.semantics.files;
        let files = if self.semantics.is_empty() { configured } else { &self.semantics };
        if files.is_empty() {
            return Err(Failure::usage("no semantics file is given")
                .hint("name one by --semantics, or as semantics.files in the configuration"));
        }
        Ok(read_semantics(files)?)
    }

    fn read_text(&self) -> Outcome<RequestText> {
        if let Some(json) = &self.request {
            return Ok(RequestText::from_json(json)?);
        }
        let grain = match &self.grain {
            None => None,
            Some(word) => Some(read_grain(word).ok_or_else(|| {
                Failure::usage(format!("`{word}` is no grain"))
                    .hint("write day, week, month, quarter or year")
            })?),
        };
        Ok(RequestText {
            metrics: self.metrics.clone(),
            by: self.by.clone(),
            grain,
            condition: self.condition.clone(),
            period: self.period.clone(),
            order: self.order.clone(),
            limit: self.limit,
            within: self.within.clone(),
            compare: self.compare.as_deref().map(read_comparison).transpose()?,
        })
    }
}

fn print_statement(context: &Context, compiled: &Compiled) -> Outcome<()> {
    if context.format.is_json() {
        return context.document(json!({
            "schema": "syrch.metric/1",
            "sql": compiled.sql,
            "columns": columns(compiled),
            "applied": describe_applied(&compiled.applied),
        }));
    }
    context.output.write(&context.scrubber.text(&format!("{}\n", terminal::block(&compiled.sql))))
}

fn print_answer(context: &Context, request: &Request, answer: &MetricAnswer) -> Outcome<()> {
    for warning in answer.rows.profile().warnings {
        context.console.warn(&warning);
    }
    let mut grid = sink::grid(&answer.rows);
    if !matches!(context.format, Format::Auto | Format::Table) {
        return context.rows(grid, || document(request, answer));
    }
    context.scrubber.grid(&mut grid);
    let amounts = format_amounts(&mut grid, &metric_columns(&answer.compiled));
    context.output.write(&table::render_amounts(&grid, context.output.width(), &amounts))?;
    let words = answer.compiled.applied.words();
    let text =
        format!("\n{}\n\n{}\n", terminal::line(&words), terminal::block(&answer.compiled.sql));
    context.output.write(&context.scrubber.text(&text))
}

/// The answer as the document `syrch.metric/1`.
fn document(request: &Request, answer: &MetricAnswer) -> Value {
    let rows: &ResultSet = &answer.rows;
    json!({
        "schema": "syrch.metric/1",
        "request": request.describe(),
        "sql": answer.compiled.sql,
        "columns": columns(&answer.compiled),
        "rows": sink::grid(rows).rows,
        "row_count": rows.row_count(),
        "truncated": rows.is_truncated(),
        "applied": describe_applied(&answer.compiled.applied),
        "warnings": rows.profile().warnings,
    })
}

/// The columns as an answer's document has them.
fn metric_columns(compiled: &Compiled) -> Vec<MetricColumn> {
    let columns = compiled.columns.iter().map(|column| MetricColumn {
        name: column.name.clone(),
        format: format_name(column.format).to_owned(),
        unit: column.unit.clone(),
    });
    columns.collect()
}

fn columns(compiled: &Compiled) -> Vec<Value> {
    let columns = compiled.columns.iter().map(|column| {
        let role = match column.role {
            Role::Time => "time",
            Role::Dimension => "dimension",
            Role::Metric => "metric",
            Role::Comparison => "comparison",
        };
        json!({
            "name": column.name,
            "role": role,
            "format": format_name(column.format),
            "unit": column.unit,
        })
    });
    columns.collect()
}

fn format_name(format: Shown) -> &'static str {
    match format {
        Shown::Number => "number",
        Shown::Percent => "percent",
        Shown::Currency => "currency",
    }
}

fn describe_applied(applied: &Applied) -> Value {
    let metrics: Vec<Value> =
        applied.metrics.iter().map(|(name, file)| json!({"name": name, "file": file})).collect();
    let period = applied.period.as_ref().map(|period| {
        json!({
            "from": period.from.map(|day| day.to_string()),
            "until": period.until.map(|day| day.to_string()),
        })
    });
    json!({
        "words": applied.words(),
        "metrics": metrics,
        "by": applied.by,
        "filters": applied.filters,
        "time": applied.time,
        "period": period,
        "grain": applied.grain,
        "notes": applied.notes,
    })
}

/// The metrics and dimensions as rows.
fn list(semantics: &Semantics) -> Grid {
    let mut grid = Grid::new(["kind", "name", "table", "synonyms", "description"]);
    for metric in &semantics.metrics {
        let table = match &metric.kind {
            MetricKind::Measure(measure) => measure.base.as_str(),
            MetricKind::Ratio { .. } | MetricKind::Derived(_) => "",
        };
        grid.rows.push(vec![
            json!("metric"),
            json!(metric.name),
            json!(table),
            json!(metric.synonyms.join(", ")),
            json!(metric.description.as_deref().unwrap_or_default()),
        ]);
    }
    for dimension in &semantics.dimensions {
        grid.rows.push(vec![
            json!(kind(dimension)),
            json!(dimension.name),
            json!(dimension.table),
            json!(dimension.synonyms.join(", ")),
            json!(dimension.description.as_deref().unwrap_or_default()),
        ]);
    }
    grid
}

fn kind(dimension: &Dimension) -> &'static str {
    if dimension.is_time { "time" } else { "dimension" }
}

/// The metrics and dimensions as the document `syrch.metrics/1`.
fn list_document(semantics: &Semantics) -> Value {
    let metrics = semantics.metrics.iter().map(|metric| {
        json!({
            "name": metric.name,
            "synonyms": metric.synonyms,
            "description": metric.description,
            "format": format_name(metric.format),
            "unit": metric.unit,
        })
    });
    let dimensions = semantics.dimensions.iter().map(|dimension| {
        json!({
            "name": dimension.name,
            "table": dimension.table,
            "kind": kind(dimension),
            "synonyms": dimension.synonyms,
            "description": dimension.description,
        })
    });
    json!({
        "schema": "syrch.metrics/1",
        "metrics": metrics.collect::<Vec<_>>(),
        "dimensions": dimensions.collect::<Vec<_>>(),
    })
}

impl From<SemanticsError> for Failure {
    fn from(error: SemanticsError) -> Self {
        let hint = match &error {
            SemanticsError::File(_) => "check the path of the semantics file",
            SemanticsError::Wrong(_) => "correct the file at these places",
        };
        Self::config(error.to_string()).hint(hint)
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<CompileError> for Failure {
    fn from(error: CompileError) -> Self {
        let failure = match error {
            CompileError::Expression { .. }
            | CompileError::Undefined { .. }
            | CompileError::Cycle { .. } => return Self::config(error.to_string()),
            _ => Self::usage(error.to_string()),
        };
        failure.hint("`syrch-host metric --semantics FILE` lists the metrics and dimensions")
    }
}

impl From<MetricError> for Failure {
    fn from(error: MetricError) -> Self {
        match error {
            MetricError::Compile(error) => error.into(),
            MetricError::Sql(error) => error.into(),
        }
    }
}
