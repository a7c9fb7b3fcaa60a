//! JUnit's XML, which systems for continuous integration read: a suite for each arm, and a case for
//! each question.

use std::fmt::Write;

use syrch_core::text::escape::html as escape;

use crate::Verdict;
use crate::report::{ResultRow, RunReport};
use crate::run::End;

/// The report as JUnit's XML. A question is a failure when its answer is wrong or missing, an error
/// when its search failed, and skipped when the rule does not count it.
#[must_use]
pub fn junit(report: &RunReport) -> String {
    let mut arms: Vec<&str> = Vec::new();
    for row in report.rows() {
        if !arms.contains(&row.arm.as_str()) {
            arms.push(&row.arm);
        }
    }
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all: Vec<&ResultRow> = report.rows().iter().collect();
    out += &format!("<testsuites {}>\n", counts(&all));
    for arm in arms {
        let rows: Vec<&ResultRow> = report.rows().iter().filter(|row| row.arm == arm).collect();
        out += &format!("  <testsuite name=\"{}\" {}>\n", escape(arm), counts(&rows));
        rows.iter().for_each(|row| case(&mut out, row));
        out += "  </testsuite>\n";
    }
    out + "</testsuites>\n"
}

/// The result of a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Result {
    Passed,
    Failed,
    Error,
    Skipped,
}

fn result(row: &ResultRow) -> Result {
    match (row.end, row.verdict) {
        (End::Failed, _) => Result::Error,
        (_, Some(Verdict::Right)) => Result::Passed,
        (_, Some(Verdict::Wrong)) => Result::Failed,
        (_, Some(Verdict::Excluded) | None) => Result::Skipped,
    }
}

/// The attributes that count the results.
fn counts(rows: &[&ResultRow]) -> String {
    let of = |wanted: Result| rows.iter().filter(|row| result(row) == wanted).count();
    let time: f64 = rows.iter().filter_map(|row| row.duration).sum();
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{time:.3}\"",
        rows.len(),
        of(Result::Failed),
        of(Result::Error),
        of(Result::Skipped)
    )
}

fn case(out: &mut String, row: &ResultRow) {
    let time = row.duration.unwrap_or(0.0);
    let name = escape(&format!("{}: {}", row.id, row.question));
    let class = escape(&row.db);
    let _ = write!(out, "    <testcase classname=\"{class}\" name=\"{name}\" time=\"{time:.3}\"");
    let (tag, kind, message) = match result(row) {
        Result::Passed => {
            match &row.origin {
                // As property of the case, which such systems show beside it.
                Some(origin) => {
                    let origin = escape(origin);
                    let property = format!("<property name=\"origin\" value=\"{origin}\"/>");
                    let properties = format!("<properties>{property}</properties>");
                    let _ = writeln!(out, ">{properties}</testcase>");
                }
                None => *out += "/>\n",
            }
            return;
        }
        Result::Skipped => {
            let why = row.gold_fault.as_deref().unwrap_or("the rule does not count it");
            let _ = writeln!(out, "><skipped message=\"{}\"/></testcase>", escape(why));
            return;
        }
        Result::Error => {
            ("error", row.error_class.as_deref().unwrap_or("unknown"), row.error.as_deref())
        }
        Result::Failed => match row.end {
            End::Answered => ("failure", "wrong", Some("other rows than expected")),
            End::Clarify => {
                ("failure", "clarification-needed", Some("the question was asked back"))
            }
            End::NoAnswer | End::Failed => ("failure", "no-answer", row.error.as_deref()),
        },
    };
    let message = escape(message.unwrap_or("no acceptable answer was found"));
    let given = row.sql.as_deref().map(|sql| format!("answer: {sql}\n"));
    let expected = row.gold_sql.as_deref().map(|sql| format!("expected: {sql}\n"));
    let body = escape(&format!("{}{}", given.unwrap_or_default(), expected.unwrap_or_default()));
    let _ = writeln!(
        out,
        "><{tag} type=\"{}\" message=\"{message}\">{body}</{tag}></testcase>",
        escape(kind)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::BenchmarkReport;
    use crate::report::tests::made::{self, SKILLS};
    use crate::run::Fault;

    #[test]
    fn each_question_is_a_case_by_how_it_ended() {
        let (header, mut graded) = made::run(&SKILLS[..1], 6);
        graded.iter_mut().for_each(|one| {
            one.verdicts.values_mut().for_each(|judged| judged.verdict = Verdict::Right)
        });
        graded[1].verdicts.values_mut().for_each(|judged| judged.verdict = Verdict::Wrong);
        graded[2].verdicts.values_mut().for_each(|judged| judged.verdict = Verdict::Excluded);
        graded[3].end = End::Failed;
        graded[3].fault = Some(Fault {
            class: "model".to_owned(),
            message: "no <reply> & \u{1}\"none\"".to_owned(),
        });
        graded[4].end = End::Clarify;
        graded[4].verdicts.values_mut().for_each(|judged| judged.verdict = Verdict::Wrong);
        let xml = junit(&BenchmarkReport::new(&header, &graded, "bag-v1").into());
        assert!(xml.contains("tests=\"6\" failures=\"2\" errors=\"1\" skipped=\"1\""), "{xml}");
        for part in [
            "type=\"wrong\"",
            "type=\"clarification-needed\"",
            "<error type=\"model\" message=\"no &lt;reply&gt; &amp; ",
            "<skipped message=\"the rule does not count it\"/>",
        ] {
            assert!(xml.contains(part), "{part}\n{xml}");
        }
        assert!(!xml.contains('\u{1}'));
        assert_eq!(xml.matches("<testcase ").count(), 6);
    }
}
