//! The output of a search: the answer on standard output, its confidence and cost on standard
//! error.

use syrch::report::{AnswerDocument, CandidateReport, CandidateStatus, OriginReport, RestsOn};
use syrch::syrch_core::roles::Role;
use syrch::syrch_core::text::escape::clip_with_remark;
use syrch::{Outcome as Ending, SearchReport};

use super::Context;
use super::amounts::format_amounts;
use crate::console::prompt;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{Format, Grid, json, markdown, table, terminal};

/// Rows that a terminal shows.
const ON_A_TERMINAL: usize = 20;

/// Candidates that are shown when none was acceptable.
const SHOWN: usize = 5;

/// Prints a finished search. Returns the exit code.
pub(crate) fn finish(context: &Context, report: &SearchReport) -> Outcome {
    print(context, report)?;
    Ok(match report.outcome {
        _ if report.interrupted => Exit::Interrupted,
        Ending::Answered => Exit::Answered,
        Ending::Partial => Exit::Budget,
        Ending::NoAnswer => Exit::NoAnswer,
        Ending::ClarificationNeeded => Exit::Clarify,
    })
}

/// Prints a finished search.
pub(crate) fn print(context: &Context, report: &SearchReport) -> Outcome<()> {
    let document = context.scrubber.document(report.document.clone())?;
    if context.format == Format::Json {
        let value = serde_json::to_value(&document).map_err(Failure::unwritable_document)?;
        context.output.write(&json::document(&value))?;
    } else {
        let most = if context.output.is_terminal() && !context.all_rows {
            ON_A_TERMINAL
        } else {
            usize::MAX
        };
        if let Some(text) = text(&document, context.format, context.output.width(), most) {
            context.output.write(&text)?;
        }
    }
    for warning in &document.warnings {
        context.console.warn(warning);
    }
    if document.answer.is_none() {
        explain(context, &document);
    }
    if report.outcome == Ending::Partial {
        let failure = Failure::new(
            Exit::Budget,
            "a budget or the time was used up before all parts of the question were answered",
        );
        context.console.error(&failure.hint(
            "--max-calls, --budget, --max-usd, --max-sql-runs and --deadline raise what a \
             search may use",
        ));
    }
    let settings = &context.config.effective.settings;
    let definitions = !settings.semantics.files.is_empty() || settings.retrieval.examples.is_some();
    for line in footer(&document, definitions) {
        context.console.note(&line);
    }
    Ok(())
}

/// The answer in a format of rows, a drawn table with `most` rows; `None` if there is no answer.
fn text(
    document: &AnswerDocument,
    format: Format,
    width: Option<u16>,
    most: usize,
) -> Option<String> {
    let answer = document.answer.as_ref()?;
    let rows = if matches!(format, Format::Auto | Format::Table) { most } else { usize::MAX };
    let rows: Vec<_> = answer.rows.iter().take(rows).cloned().collect();
    let left = answer.rows.len() - rows.len();
    let mut grid = Grid { columns: answer.columns.clone(), rows };
    let cut = || format!("Only the first {} rows were read.", answer.row_count);
    let sql = document.sql.as_deref();
    Some(match format {
        Format::Json | Format::Jsonl | Format::Csv => format.render(&grid, width)?,
        Format::Auto | Format::Table => {
            let mut parts = vec![format!("{}\n", terminal::block(answer.text.trim_end()))];
            let amounts = match &document.origin {
                Some(OriginReport::Metric(report)) => format_amounts(&mut grid, &report.values),
                _ => Vec::new(),
            };
            let drawn = table::render_amounts(&grid, width, &amounts);
            parts.extend(Some(drawn).filter(|table| !table.is_empty()));
            parts.extend((left > 0).then(|| {
                let all = answer.rows.len();
                format!(
                    "The first {most} of {all} rows. --all-rows shows all of them, -o FILE writes \
                     them to a file.\n"
                )
            }));
            parts.extend(answer.truncated.then(|| format!("{}\n", cut())));
            parts.extend(sql.map(|sql| format!("{}\n", terminal::block(sql.trim_end()))));
            parts.join("\n")
        }
        Format::Markdown => {
            let mut parts = vec![format!("{}\n", markdown::text(answer.text.trim_end()))];
            parts.extend(Some(markdown::table(&grid)).filter(|table| !table.is_empty()));
            parts.extend(answer.truncated.then(|| format!("{}\n", cut())));
            parts.extend(sql.map(|sql| markdown::code("sql", sql.trim_end())));
            parts.join("\n")
        }
    })
}

/// Reports why there is no answer.
fn explain(context: &Context, document: &AnswerDocument) {
    if let Some(clarify) = &document.clarify {
        let asked = prompt::question(&clarify.question, &clarify.choices);
        context.console.error(
            &Failure::new(Exit::Clarify, format!("the question needs a clarification: {asked}"))
                .hint(
                    "answer with --interactive, say it in the question, or explain terms by \
                     --evidence \"…\"",
                ),
        );
        return;
    }
    let mut message = "no acceptable answer was found".to_owned();
    // First the candidates whose confidence was too low.
    let (doubted, others): (Vec<_>, Vec<_>) = document
        .candidates
        .iter()
        .rev()
        .partition(|candidate| candidate.status == CandidateStatus::NotAccepted);
    let is_cut = document.cost.cut_off > 0;
    let other = if is_cut {
        "the warning says whether --max-tokens helps; else ask a model that thinks less"
    } else if has_model(document) || !context.config.effective.settings.model.is_by_rules() {
        "or use another model"
    } else {
        "or use a model"
    };
    let hint = if is_cut && doubted.is_empty() {
        other.to_owned()
    } else if doubted.is_empty() {
        let solver = document.plugins.iter().find(|plugin| plugin.role == Role::Solver);
        let solver = solver.map(|solver| {
            format!("; `syrch-host trace show last` shows what the solver `{}` did", solver.name)
        });
        format!(
            "ask with the words of the schema (`syrch-host schema DB`), explain terms by \
             --evidence, {other}"
        ) + &solver.unwrap_or_default()
    } else {
        format!(
            "if it is right, lower --min-confidence; else ask with the words of the schema \
             (`syrch-host schema DB`), {other}"
        )
    };
    for candidate in doubted.into_iter().chain(others).take(SHOWN) {
        let statement = candidate.sql.split_whitespace().collect::<Vec<_>>().join(" ");
        message += &format!(
            "\n{}: {}\n  {}",
            candidate.task,
            clip_with_remark(&statement, 120),
            candidate.reason
        );
    }
    context.console.error(&Failure::new(Exit::NoAnswer, message).hint(hint));
}

/// The confidence of the answer, its origin, the agreement of the candidates, and the cost, a line
/// each. That an answer was generated is said where it could have been defined or confirmed.
fn footer(document: &AnswerDocument, has_definitions: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let answer =
        document.candidates.iter().find(|candidate| candidate.status == CandidateStatus::Answer);
    if let Some(confidence) = &document.confidence {
        let claim = confidence.raw.map(|raw| format!(" (claimed {raw:.2})")).unwrap_or_default();
        let why = answer.map(|answer| format!(": {}", answer.reason)).unwrap_or_default();
        lines.push(format!("confidence {:.2}{claim}{why}", confidence.calibrated));
        lines.extend(confidence.rests_on.as_ref().map(rests_on));
    }
    let is_generated = document.origin == Some(OriginReport::Generated);
    if has_definitions || !is_generated {
        lines.extend(document.origin.as_ref().map(name_origin));
    }
    lines.extend(answer.and_then(|answer| agreement(answer, &document.candidates)));
    lines.push(cost(document));
    lines
}

/// Says where an answer comes from: the metrics with their files and what is applied, who confirmed
/// it, or that it was generated.
fn name_origin(origin: &OriginReport) -> String {
    let report = match origin {
        OriginReport::Metric(report) => report,
        OriginReport::Verified { question, by, at } => {
            let by = terminal::line(by);
            let question = terminal::line(question);
            return format!("verified by {by}, {at}, for the question: {question}");
        }
        OriginReport::Generated => return "generated".to_owned(),
    };
    let metrics: Vec<String> =
        report.metrics.iter().map(|metric| format!("{} ({})", metric.name, metric.file)).collect();
    // A run of an earlier version has no words.
    let words = if report.words.is_empty() { &report.request } else { &report.words };
    format!("metric {}: {words}", metrics.join(", "))
}

/// Says how often answers with about this confidence were right in the run that the calibrator was
/// fitted on.
fn rests_on(known: &RestsOn) -> String {
    let RestsOn { low, high, answers, right, databases, elsewhere, run, rule, model, .. } = known;
    let place = match &known.database {
        Some(database) => database.clone(),
        None => {
            let other = if *elsewhere { "other " } else { "" };
            syrch::syrch_core::text::count(*databases, &format!("{other}database"))
        }
    };
    let times = if *answers == 1 { "time" } else { "times" };
    format!(
        "answers at {low:.2}–{high:.2} were right {right} of {answers} {times} on {place} (run \
         {run}, {rule}, {model})"
    )
}

fn agreement(answer: &CandidateReport, all: &[CandidateReport]) -> Option<String> {
    answer.cluster?;
    let rivals: Vec<_> =
        all.iter().filter(|other| other.task == answer.task && other.cluster.is_some()).collect();
    let equal = rivals.iter().filter(|other| other.cluster == answer.cluster).count();
    (rivals.len() > 1)
        .then(|| format!("agreement {equal} of {} candidates have this result", rivals.len()))
}

/// Returns true if a model was asked. The offline rules answer calls, and are no model.
fn has_model(document: &AnswerDocument) -> bool {
    let cost = &document.cost;
    let tokens =
        [cost.input_tokens, cost.output_tokens, cost.saved.input_tokens, cost.saved.output_tokens];
    tokens.iter().any(|tokens| *tokens > 0) || cost.calls > 0 && cost.usd != Some(0.0)
}

fn cost(document: &AnswerDocument) -> String {
    let cost = &document.cost;
    let money = match cost.usd {
        Some(usd) if usd > 0.0 => format!("${usd:.4}"),
        None if cost.calls > 0 => "cost unknown".to_owned(),
        // Nothing was sent: a cache answered all calls.
        _ => "no cost".to_owned(),
    };
    let statements = syrch::syrch_core::text::count(cost.sql_runs, "statement");
    let seconds = document.time_ms.total / 1000.0;
    if !has_model(document) {
        return format!("{statements}, {seconds:.2} s");
    }
    let calls = syrch::syrch_core::text::count(cost.calls, "model call");
    let estimated = if cost.count_estimates() > 0 { " (estimated)" } else { "" };
    format!(
        "{calls}, {} + {} tokens{estimated}, {money}, {statements}, {seconds:.2} s",
        cost.input_tokens, cost.output_tokens
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn document(answer: Value) -> AnswerDocument {
        let candidate = |id: &str, status: &str, cluster: Value| {
            json!({"id": id, "task": "A", "sql": "SELECT 1", "status": status, "cluster": cluster,
                   "confidence": 0.8, "reason": "it ran"})
        };
        serde_json::from_value(json!({
            "schema": "syrch.answer/1", "run": "r", "question": "q", "answer": answer,
            "sql": "SELECT 1 -- \u{1b}[2J",
            "dialect": "sqlite", "confidence": {"raw": 0.9, "calibrated": 0.81},
            "candidates": [candidate("1", "dropped", json!(2)), candidate("2", "answer", json!(1)),
                           candidate("3", "kept", json!(1)), candidate(
                               "4", "dropped", json!(null)
                           )],
            "clarify": null,
            "cost": {
                "calls": 1, "input_tokens": 10, "output_tokens": 5, "usd": null, "sql_runs": 2,
                "by_purpose": {}
            },
            "time_ms": {"total": 1500.0, "plan": 1.0, "solve": 1.0, "aggregate": 1.0},
            "plugins": [], "warnings": []
        }))
        .unwrap()
    }

    fn answer() -> Value {
        json!({
            "text": "There are <3>.", "columns": ["n"], "rows": [[3]], "row_count": 1,
            "truncated": false, "basis": []
        })
    }

    #[test]
    fn people_read_a_sentence_a_table_and_the_statement() {
        let text = text(&document(answer()), Format::Auto, None, usize::MAX).unwrap();
        assert!(text.starts_with("There are <3>.\n\n"), "{text}");
        assert!(text.contains("│ 3 │") && text.ends_with("SELECT 1 -- \\u{1b}[2J\n"), "{text}");
    }

    #[test]
    fn other_formats_have_their_own_escape() {
        let document = document(answer());
        assert_eq!(text(&document, Format::Csv, None, usize::MAX).unwrap(), "n\n3\n");
        assert_eq!(text(&document, Format::Jsonl, None, usize::MAX).unwrap(), "{\"n\":3}\n");
        let markdown = text(&document, Format::Markdown, None, usize::MAX).unwrap();
        assert!(
            markdown.starts_with("There are &lt;3&gt;.\n\n| n |") && markdown.contains("```sql\n"),
            "{markdown}"
        );
    }

    #[test]
    fn without_an_answer_nothing_is_printed() {
        assert_eq!(text(&document(json!(null)), Format::Table, None, usize::MAX), None);
    }

    #[test]
    fn a_terminal_shows_the_first_rows() {
        let mut answer = answer();
        answer["rows"] = (0..30).map(|n| json!([n])).collect();
        let document = document(answer);
        let shown = text(&document, Format::Auto, None, 20).unwrap();
        assert!(shown.contains(" 19 ") && !shown.contains(" 20 │"), "{shown}");
        assert!(shown.contains("The first 20 of 30 rows. --all-rows shows all"), "{shown}");
        assert!(!text(&document, Format::Auto, None, 30).unwrap().contains("--all-rows"));
        assert_eq!(text(&document, Format::Csv, None, 20).unwrap().lines().count(), 31);
    }

    #[test]
    fn the_footer_names_the_run_of_a_fitted_confidence() {
        let mut document = document(answer());
        let known = |database: Value, elsewhere: bool| {
            let known = json!({"elsewhere": elsewhere, "low": 0.8, "high": 0.9, "answers": 47,
                "right": 41, "database": database, "databases": 12,
                               "run": "1a2b", "rule": "bag-v1", "model": "a-model"});
            serde_json::from_value(known).unwrap()
        };
        let mut line = |database: Value, elsewhere: bool| {
            document.confidence.as_mut().unwrap().rests_on = Some(known(database, elsewhere));
            footer(&document, false)[1].clone()
        };
        let run = "(run 1a2b, bag-v1, a-model)";
        assert_eq!(
            line(json!("shop"), false),
            format!("answers at 0.80–0.90 were right 41 of 47 times on shop {run}")
        );
        let others =
            format!("answers at 0.80–0.90 were right 41 of 47 times on 12 other databases {run}");
        assert_eq!(line(json!(null), true), others);
        assert_eq!(
            line(json!(null), false),
            format!("answers at 0.80–0.90 were right 41 of 47 times on 12 databases {run}")
        );
    }

    #[test]
    fn the_footer_has_confidence_agreement_and_cost() {
        assert_eq!(
            footer(&document(answer()), false),
            [
                "confidence 0.81 (claimed 0.90): it ran",
                "agreement 2 of 3 candidates have this result",
                "1 model call, 10 + 5 tokens, cost unknown, 2 statements, 1.50 s",
            ]
        );
    }
}
