//! The judge's verdict on a statement.

use serde_json::Value as JsonValue;
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::serde_json;
use syrch_plugin::text::{clamp01, line};

/// Reads a judgement: it passes with the verdict PASS or a score of at least `pass_score`, as
/// PocketFlow's judge has it. Neither a verdict nor a score is no judgement, and a score is a
/// number from 0 to 10: on another scale it is none. The opinion's score is 0 to 1, its reason the
/// judge's feedback.
pub(crate) fn verdict(reply: &Result<Reply, LlmError>, pass_score: f64) -> Verdict {
    let parsed: Option<JsonValue> = match reply {
        Ok(reply) => reply.parsed.as_deref().and_then(|text| serde_json::from_str(text).ok()),
        Err(error) => return Verdict::Unavailable(llm_words(error)),
    };
    let field = |key: &str| parsed.as_ref().and_then(|parsed| parsed.get(key));
    let score = field("score").and_then(number);
    let passes = match field("verdict")
        .and_then(JsonValue::as_str)
        .map(|word| word.trim().to_ascii_uppercase())
        .as_deref()
    {
        Some("PASS") => Some(true),
        Some("FAIL") => Some(score.is_some_and(|score| score >= pass_score)),
        _ => score.map(|score| score >= pass_score),
    };
    let Some(passes) = passes else {
        return Verdict::Unavailable("the judge gave neither a verdict nor a score".to_owned());
    };
    let share = clamp01(score.map_or(if passes { 1.0 } else { 0.0 }, |score| score / 10.0));
    let reported = |key: &str| {
        field(key).and_then(JsonValue::as_str).map(str::trim).filter(|text| !text.is_empty())
    };
    let reason = line(
        reported("feedback").or_else(|| reported("reasoning")).unwrap_or("no reason was given"),
        600,
    );
    if passes { accepted(share, reason) } else { rejected(share, reason) }
}

/// `8`, `"8"` or `"8/10"`, from 0 to 10.
fn number(value: &JsonValue) -> Option<f64> {
    value
        .as_str()
        .map_or_else(
            || value.as_f64(),
            |text: &str| {
                let (score, scale) = text.split_once('/').unwrap_or((text, "10"));
                score.trim().parse().ok().filter(|_| scale.trim() == "10")
            },
        )
        .filter(|score| (0.0..=10.0).contains(score))
}

#[cfg(test)]
mod tests {
    use syrch_plugin::fakes::reply;
    use syrch_plugin::serde_json::json;

    use super::*;

    fn read(parsed: &JsonValue) -> Verdict {
        verdict(&Ok(reply("", Some(parsed))), 7.0)
    }

    #[test]
    fn pass_or_seven_passes() {
        let said = |score: JsonValue, verdict: &str| {
            read(&json!({ "score": score, "verdict": verdict, "feedback": " more\njoins " }))
        };
        assert_eq!(said(json!(3), "PASS"), accepted(0.3, "more joins"));
        assert_eq!(said(json!(7), "FAIL"), accepted(0.7, "more joins"));
        assert_eq!(said(json!("8/10"), "fail"), accepted(0.8, "more joins"));
        assert_eq!(said(json!(6.5), "FAIL"), rejected(0.65, "more joins"));
        assert_eq!(said(json!(null), "Pass"), accepted(1.0, "more joins"));
        assert_eq!(said(json!(null), "FAIL"), rejected(0.0, "more joins"));
        assert_eq!(said(json!(2), "it would be PASS if"), rejected(0.2, "more joins"));
    }

    // What is on another scale is no score, whatever its number.
    #[test]
    fn a_score_is_a_number_of_ten() {
        let said = |score: JsonValue, verdict: &str| {
            read(&json!({ "score": score, "verdict": verdict, "feedback": "off" }))
        };
        for score in [
            json!("7/100"),
            json!(70),
            json!("70"),
            json!(-1),
            json!("8/"),
            json!("8/10/2"),
            json!("+inf"),
            json!([9]),
        ] {
            assert_eq!(said(score.clone(), "FAIL"), rejected(0.0, "off"), "{score}");
            assert_eq!(said(score.clone(), "PASS"), accepted(1.0, "off"), "{score}");
            assert!(matches!(said(score.clone(), ""), Verdict::Unavailable(_)), "{score}");
        }
        for score in [json!(8), json!(8.0), json!("8"), json!(" 8 / 10 "), json!("8.0/10")] {
            assert_eq!(said(score.clone(), "FAIL"), accepted(0.8, "off"), "{score}");
        }
        assert_eq!(
            (said(json!(0), ""), said(json!("10/10"), "")),
            (rejected(0.0, "off"), accepted(1.0, "off"))
        );
    }

    #[test]
    fn neither_is_no_judgement() {
        assert!(matches!(
            read(&json!({ "score": "high", "verdict": "maybe" })),
            Verdict::Unavailable(_)
        ));
        assert!(matches!(
            verdict(&Err(LlmError::Unsupported("judge".into())), 7.0),
            Verdict::Unavailable(_)
        ));
    }

    #[test]
    fn the_reasoning_stands_in_for_missing_feedback() {
        assert_eq!(
            read(
                &json!({ "score": 1, "verdict": "FAIL", "reasoning": "wrong year", "feedback": "" })
            ),
            rejected(0.1, "wrong year")
        );
    }
}
