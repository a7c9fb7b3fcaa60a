//! The model as a judge: it accepts right and wrong statements as often as measured judges do, and
//! chooses between two accordingly.

use serde_json::{Map, Value, json};
use syrch_core::Limits;
use syrch_core::ports::{LlmError, Shape};
use syrch_replies::shape;
use syrch_replies::written::Written;

use super::chance::Chance;
use super::knobs::SimulatedKnobs;

/// The verdict on one statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judged {
    pub(super) accepted: bool,
    /// The score, 0 to 1; above 0.5 if the statement is accepted.
    pub(super) score: f64,
}

/// Judges the statement of that number among those that a call is about.
pub(super) fn judge_statement(
    knobs: &SimulatedKnobs,
    source: &Chance,
    number: usize,
    is_right: bool,
) -> Judged {
    let draw = source.uniform(&format!("judge {number}"));
    let accepted = if is_right { draw >= knobs.false_reject } else { draw < knobs.false_accept };
    let half = source.uniform(&format!("score {number}")) / 2.0;
    let score = if accepted { 0.5 + half } else { half };
    Judged { accepted, score: (score * 100.0).round() / 100.0 }
}

/// The verdict in the expected shape: a document with `accepted` or a mapping with `verdict`, each
/// with the other fields that it requires.
///
/// # Errors
/// [`LlmError::Unsupported`] for a shape that cannot hold a verdict.
pub(super) fn verdict(
    judged: Judged,
    expect: &Shape,
    limits: &Limits,
) -> Result<Written, LlmError> {
    shape::accept(expect, limits)?;
    match expect {
        Shape::Json(schema) => {
            let schema: Value = serde_json::from_str(schema).unwrap_or_default();
            let known =
                schema.get("properties").and_then(Value::as_object).ok_or_else(unfit_request)?;
            let fields = known
                .keys()
                .map(String::as_str)
                .filter_map(|key| Some((key.to_owned(), field(judged, key, 1.0)?)));
            let document: Map<String, Value> = fields.collect();
            let text = Value::Object(document.clone()).to_string();
            let parsed = shape::parse(&text, expect, limits).map_err(|_| unfit_request())?;
            if document.contains_key("accepted") || document.contains_key("verdict") {
                Ok(Written { text, parsed })
            } else {
                Err(unfit_request())
            }
        }
        Shape::Yaml(keys) if keys.iter().any(|key| key == "verdict" || key == "accepted") => {
            let value = |key: &String| field(judged, key, 10.0).unwrap_or(Value::Null);
            let lines: String = keys
                .iter()
                .map(|key| format!("{}: {}\n", Value::from(key.as_str()), value(key)))
                .collect();
            let parsed: Map<String, Value> =
                keys.iter().map(|key| (key.clone(), value(key))).collect();
            Ok(Written {
                text: format!("```yaml\n{lines}```"),
                parsed: Some(Value::Object(parsed).to_string()),
            })
        }
        _ => Err(unfit_request()),
    }
}

/// The value of a key; scores are from 0 to `most`.
fn field(judged: Judged, key: &str, most: f64) -> Option<Value> {
    let words =
        if judged.accepted { "it answers the question" } else { "it does not answer the question" };
    Some(match key {
        "accepted" => json!(judged.accepted),
        "verdict" => json!(if judged.accepted { "PASS" } else { "FAIL" }),
        "score" if most > 1.0 => json!((judged.score * most).round().max(1.0) as u64),
        "score" => json!(judged.score),
        "reason" | "reasoning" | "feedback" => json!(words),
        _ => return None,
    })
}

/// The word for the better of two: the one that is accepted if the other is not, else either.
///
/// # Errors
/// [`LlmError::Unsupported`] for another shape than a choice of two words.
pub(super) fn choice(
    first: Judged,
    second: Judged,
    source: &Chance,
    expect: &Shape,
) -> Result<Written, LlmError> {
    let Shape::Choice(words) = expect else { return Err(unfit_request()) };
    let [one, other] = words.as_slice() else { return Err(unfit_request()) };
    let is_first = match (first.accepted, second.accepted) {
        (true, false) => true,
        (false, true) => false,
        _ => source.uniform("toss") < 0.5,
    };
    let word = if is_first { one } else { other };
    Ok(Written { text: word.clone(), parsed: Some(json!(word).to_string()) })
}

fn unfit_request() -> LlmError {
    LlmError::Unsupported("the simulated model has no verdict for this shape".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(n: u32) -> Chance {
        Chance::from_parts([n.to_le_bytes().as_slice()])
    }

    fn share(knobs: &SimulatedKnobs, is_right: bool) -> f64 {
        (0..2_000).filter(|n| judge_statement(knobs, &source(*n), 0, is_right).accepted).count()
            as f64
            / 2_000.0
    }

    #[test]
    fn a_judge_errs_as_often_as_its_knobs_say() {
        let knobs =
            SimulatedKnobs { false_accept: 0.7, false_reject: 0.1, ..SimulatedKnobs::default() };
        assert!(
            (share(&knobs, true) - 0.9).abs() < 0.02 && (share(&knobs, false) - 0.7).abs() < 0.03
        );
        let honest = SimulatedKnobs { false_accept: 0.0, false_reject: 0.0, ..knobs };
        assert_eq!((share(&honest, true), share(&honest, false)), (1.0, 0.0));
        for n in 0..100 {
            let said = judge_statement(&SimulatedKnobs::default(), &source(n), 0, false);
            assert_eq!(
                said.accepted,
                said.score > 0.5 || said.accepted && said.score == 0.5,
                "{said:?}"
            );
        }
    }

    #[test]
    fn verdicts_are_written_where_there_is_a_place_for_them() {
        let accepted = Judged { accepted: true, score: 0.8 };
        let read = |expect: &Shape| -> Value {
            let Written { text, parsed } = verdict(accepted, expect, &Limits::default()).unwrap();
            assert_eq!(shape::parse(&text, expect, &Limits::default()).unwrap(), parsed);
            serde_json::from_str(&parsed.unwrap()).unwrap()
        };
        let schema = json!({
            "title": "syrch-verdict",
            "type": "object",
            "properties": {
                "accepted": { "type": "boolean" }, "score": { "type": "number" },
                "reason": { "type": "string" }
            },
            "required": ["accepted", "score"],
        });
        let document = read(&Shape::Json(schema.to_string()));
        assert_eq!((&document["accepted"], &document["score"]), (&json!(true), &json!(0.8)));
        let keys = ["score", "reasoning", "verdict", "feedback"].map(str::to_owned).to_vec();
        let mapping = read(&Shape::Yaml(keys));
        assert_eq!((&mapping["verdict"], &mapping["score"]), (&json!("PASS"), &json!(8)));
        let other = Shape::Json(
            json!({ "type": "object", "properties": { "score": { "type": "number" } } })
                .to_string(),
        );
        for expect in [Shape::Text, Shape::Sql, Shape::Yaml(vec!["sql".to_owned()]), other] {
            let error = verdict(accepted, &expect, &Limits::default()).unwrap_err();
            assert!(matches!(error, LlmError::Unsupported(_)), "{expect:?}: {error}");
        }
    }

    #[test]
    fn of_two_it_chooses_the_one_that_it_accepts() {
        let yes = Judged { accepted: true, score: 0.9 };
        let no = Judged { accepted: false, score: 0.1 };
        let words = Shape::Choice(vec!["A".to_owned(), "B".to_owned()]);
        let chosen = |first, second, n| choice(first, second, &source(n), &words).unwrap().text;
        assert!((0..20).all(|n| chosen(yes, no, n) == "A" && chosen(no, yes, n) == "B"));
        let tossed: Vec<String> = (0..40).map(|n| chosen(yes, yes, n)).collect();
        assert!(tossed.contains(&"A".to_owned()) && tossed.contains(&"B".to_owned()));
        assert!(choice(yes, no, &source(0), &Shape::Choice(vec!["A".to_owned()])).is_err());
    }
}
