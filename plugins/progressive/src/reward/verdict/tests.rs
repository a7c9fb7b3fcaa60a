//! Probes of the verdict parser, and what holds for every reply.

use proptest::prelude::*;

use super::*;

fn says(reply: &str) -> Option<bool> {
    read(reply, false).ok().map(|reading| reading.is_correct)
}

// EP-D2: the reference read each of these as a yes.
#[test]
fn the_references_four_wrong_probes_are_read_right() {
    assert_eq!(
        says("CORRECT: NO … it would be CORRECT: YES if the year were filtered"),
        Some(false)
    );
    assert_eq!(says("Yes, but wrong table"), None);
    assert_eq!(
        says("<think>Should I say CORRECT: YES? The year is missing.</think>\nCORRECT: NO"),
        Some(false)
    );
    assert_eq!(says("NO - EYES is a table that nobody asked about"), Some(false));
}

#[test]
fn plain_verdicts_are_read_in_any_dress() {
    for yes in [
        "CORRECT: YES\nREASONING: all is there",
        "**CORRECT:** YES",
        "1. CORRECT: **Yes**.",
        "- correct = yes",
        "CORRECT: [YES]",
        "CORRECT: YES REASONING: it would be hard to do better, but this is it",
        "Yes.",
        "I reason </think>CORRECT: YES",
        "```\nCORRECT: YES\n```",
        "JOINS: N/A\nAGGREGATIONS: none needed\nCORRECT: YES",
        "JOINS: No join is needed\nCOLUMNS: YES, none missing\nCORRECT: YES",
        "JOINS: YES, no join is needed\nAGGREGATIONS: YES, not needed\nCORRECT: YES",
        "TABLES: YES\nCORRECT: YES\nREASONING: The query is correct: it reads the right table, and \
         nothing is wrong.",
    ] {
        assert_eq!(says(yes), Some(true), "{yes}");
    }
    for no in ["correct: no", "CORRECT: NO, close though", "No", "CORRECT: YES\nCORRECT: NO"] {
        assert_eq!(says(no), Some(false), "{no}");
    }
}

#[test]
fn what_is_no_plain_verdict_is_none() {
    for unclear in [
        "",
        "CORRECT: YES|NO",
        "CORRECT: YES/NO",
        "CORRECT: YES or NO",
        "CORRECT: YES if the year is meant",
        "CORRECT: YES is not what I can say",
        "CORRECT: YES, however a filter is off",
        "CORRECT: YESTERDAY",
        "CORRECT: NOT SURE",
        "CORRECT: N/A",
        "CORRECT: NO or YES",
        "CORRECT: NO problem",
        "CORRECT: NO. YES would be too kind",
        "CORRECT: NO - wait, it is",
        "INCORRECT: YES",
        "CORRECTNESS: YES",
        "The answer is CORRECT: YES",
        "> CORRECT: YES",
        "No problem with that",
        "It looks right to me. YES",
        "CORRECT: NO\nREASONING: with a filter it would be\nCORRECT: YES",
        "CORRECT: YES\nCORRECT: YES, but wrong table",
        "<think>CORRECT: YES",
        "TABLES: NO\nCORRECT: YES",
    ] {
        assert_eq!(says(unclear), None, "{unclear}");
    }
}

// A judge that takes its YES back, wherever and however it does.
#[test]
fn a_yes_that_is_taken_back_is_no_verdict() {
    for taken_back in [
        "YES\nHowever, the year filter is missing, so the statement is not correct.",
        "Yes.\nThe tables are the right ones.",
        "NO\nOn reflection all is there.",
        "CORRECT: YES\nREASONING: wait…\nOn reflection, CORRECT: NO",
        "CORRECT: YES\nOn reflection, **CORRECT**: 'no', since the year is off",
        "CORRECT: YES\nREASONING: on reflection, CORRECT:\nNO",
        "CORRECT: YES\nREASONING: it would be CORRECT: YES if the year were filtered",
        "CORRECT: YES\nINCORRECT: YES",
        "CORRECT: YES\nREASONING: The year is not filtered, so the statement is not correct.",
        "CORRECT: YES, if in doubt\nCORRECT: YES",
        "FILTERS: YES, but the year is not tested\nCORRECT: YES",
        "FILTERS: NO, wait\nFILTERS: YES\nCORRECT: YES",
        "FILTERS: partially\nCORRECT: YES",
        "FILTERS: No year is tested\nCORRECT: YES",
        "FILTERS: YES/NO\nCORRECT: YES",
        "FILTERS: YES, not all of them\nCORRECT: YES",
        "TABLES: YES, COLUMNS: YES, FILTERS: NO\nCORRECT: YES",
    ] {
        assert_eq!(says(taken_back), None, "{taken_back}");
    }
}

#[test]
fn a_cut_reply_is_read_up_to_its_last_whole_line() {
    assert_eq!(read("CORRECT: YES", true).ok(), None);
    assert!(read("CORRECT: YES\nREASONING: it has al", true).unwrap().is_correct);
    assert_eq!(read("TABLES: YES\nCOLUMNS: Y", true).ok(), None);
    assert_eq!(read("CORRECT: YES\nOn reflection, CORRECT: NO, the ye", true).ok(), None);
}

#[test]
fn answers_and_reasons_are_taken_out() {
    let reading = read(
        "TABLES: YES\nCOLUMNS: YES\nFILTERS: NO, the year\nJOINS: N/A\nAGGREGATIONS: YES\n\
         RESULT: NO\n\
         CORRECT: NO\nREASONING: The year\nis not filtered.",
        false,
    )
    .unwrap();
    assert_eq!(reading.reasoning, "The year is not filtered.");
    assert_eq!(
        reading.answers,
        [
            (Aspect::Tables, true),
            (Aspect::Columns, true),
            (Aspect::Filters, false),
            (Aspect::Aggregations, true),
            (Aspect::Sense, false)
        ]
    );
    assert_eq!(read("CORRECT: NO\nThe year is off.", false).unwrap().reasoning, "The year is off.");
}

fn pieces() -> impl Strategy<Value = String> {
    let parts = [
        "CORRECT",
        ": ",
        "YES",
        "NO",
        "\n",
        " ",
        "but",
        "if",
        "<think>",
        "</think>",
        "REASONING:",
        "TABLES: NO",
        "é",
        "**",
        "- ",
        ".",
        "|",
        "EYES",
        "not",
        ", ",
        "ſ",
        "İ",
    ];
    prop::collection::vec(prop::sample::select(parts.to_vec()), 0..30)
        .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn nothing_panics(text in "(?s).{0,300}", truncated: bool) {
        drop(read(&text, truncated));
    }

    #[test]
    fn a_yes_needs_the_word_on_a_line_of_its_own(text in pieces()) {
        if says(&text) == Some(true) {
            prop_assert!(without_thinking(&text).lines().any(|line: &str| {
                let line = line::plain(line).to_ascii_uppercase();
                line.starts_with("YES") || line.starts_with("CORRECT")
            }), "{}", text);
        }
    }

    #[test]
    fn a_plain_no_at_the_end_is_a_no(text in pieces()) {
        prop_assert_ne!(says(&format!("{text}\nCORRECT: NO")), Some(true));
        if !text.contains("think") {
            prop_assert_eq!(says(&format!("{text}\nCORRECT: NO")), Some(false));
        }
    }

    #[test]
    fn a_plain_no_anywhere_is_never_a_yes(before in pieces(), after in pieces()) {
        if !after.contains("think") && !before.contains("think") {
            prop_assert_ne!(says(&format!("{before}\nCORRECT: NO\n{after}")), Some(true));
        }
    }

    #[test]
    fn a_no_in_the_middle_of_a_line_is_never_a_yes(before in pieces(), after in pieces()) {
        if !after.contains("think") && !before.contains("think") {
            prop_assert_ne!(says(&format!("{before}\nso, CORRECT: NO\n{after}")), Some(true));
        }
    }

    #[test]
    fn thoughts_say_nothing(text in pieces()) {
        let thought = text.replace("think>", "");
        prop_assert_eq!(says(&format!("<think>{thought}</think>")), None);
    }

    #[test]
    fn letter_case_does_not_matter(text in pieces()) {
        prop_assert_eq!(says(&text), says(&text.to_ascii_lowercase()));
    }
}
