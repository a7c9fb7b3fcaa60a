//! The parts of a reply beside the answer: the model's thinking, in the marks of each family of
//! models, and the marks that end a turn.

use crate::statement::begins_clause;

/// The marks around thinking, each pair in lower case: those of DeepSeek, Qwen and most others,
/// Mistral, Kimi, Cohere, OpenThinker, and Gemma.
const MARKS: [(&str, &str); 13] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[think]", "[/think]"),
    ("◁think▷", "◁/think▷"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel>thought", "<channel|>"),
    ("<start_of_thought>", "<end_of_thought>"),
    ("<unused94>thought", "<unused95>"),
];

/// The marks that end a turn, in lower case. What stands behind one is no part of the reply.
const ENDS: [&str; 11] = [
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "<turn|>",
    "<|end_of_turn|>",
    "<｜end▁of▁sentence｜>",
];

/// The mark before the name of a channel.
const CHANNEL: &str = "<|channel|>";
/// The mark between the name of a channel and its text.
const MESSAGE: &str = "<|message|>";
/// The channel that holds the answer.
const FINAL: &str = "final";
/// The mark at which the answer begins once a server has taken the marks of channels out of a
/// reply.
const BARE_FINAL: &str = "assistantfinal";
/// The channels of thinking, with which such a reply begins.
const BARE: [&str; 2] = ["analysis", "commentary"];
/// Bytes between the name of a channel and its text.
const HEADER: usize = 64;

/// Returns the text without the model's thinking. A block without an end reaches to the end of the
/// text; a closing mark without an opening one (chat templates often remove the first) ends a block
/// that began with the text. Of a reply in channels the last final one is left, and nothing where
/// there is none.
pub(super) fn without_thinking(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let from = answer_in_channels(&lower);
    let Some(from) = from else { return String::new() };
    until_end(&outside_marks(&text[from..], &lower[from..])).to_owned()
}

/// Returns true if the text holds a mark of thinking.
#[must_use]
pub fn has_thinking(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    MARKS.iter().any(|(open, close)| lower.contains(open) || lower.contains(close))
        || is_in_channels(&lower)
}

/// Returns true if a reply is in channels, with their marks or without. `lower` is in lower case.
fn is_in_channels(lower: &str) -> bool {
    lower.contains(CHANNEL) || lower.contains(BARE_FINAL) && begins_with_channel(lower)
}

fn begins_with_channel(lower: &str) -> bool {
    BARE.iter().any(|name| lower.trim_start().starts_with(name))
}

/// Returns the place where the answer begins in a reply that may be in channels; `None` if it is in
/// channels and none of them is final.
fn answer_in_channels(lower: &str) -> Option<usize> {
    if lower.contains(CHANNEL) {
        let last = lower.rmatch_indices(CHANNEL).find_map(|(at, _)| {
            let name = at + CHANNEL.len();
            let header = syrch_core::text::clip(&lower[name..], HEADER);
            let size = header.find(MESSAGE).filter(|_| header.trim_start().starts_with(FINAL))?;
            Some(name + size + MESSAGE.len())
        });
        return last;
    }
    if begins_with_channel(lower) {
        if let Some(at) = lower.rfind(BARE_FINAL) {
            return Some(at + BARE_FINAL.len());
        }
        // The name of the channel and the first word of its text are one word then, such as
        // `analysisWe`.
        let text = lower.trim_start();
        let mut rests = BARE.iter().filter_map(|name| text.strip_prefix(*name));
        let is_glued = rests.any(|rest| rest.starts_with(char::is_alphanumeric));
        return (!is_glued).then_some(0);
    }
    Some(0)
}

/// The text outside of [`MARKS`]. `lower` is the text in lower case.
fn outside_marks(text: &str, lower: &str) -> String {
    let mut prose = String::new();
    let mut at = 0;
    let mut from = 0;
    while let Some(mark) = lower[at..].find(['<', '[', '◁']).map(|offset| at + offset) {
        let rest = &lower[mark..];
        if let Some((open, close)) = MARKS.iter().find(|(open, _)| rest.starts_with(open)) {
            prose.push_str(&text[from..mark]);
            let inside = mark + open.len();
            let Some(offset) = lower[inside..].find(close) else { return prose };
            at = inside + offset + close.len();
            from = at;
        } else if let Some((_, close)) = MARKS.iter().find(|(_, close)| rest.starts_with(close)) {
            prose.clear();
            at = mark + close.len();
            from = at;
        } else {
            at = mark + rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    prose.push_str(&text[from..]);
    prose
}

/// The text up to the first mark of [`ENDS`] that stands at the end of a line or before another
/// mark, as none does in a literal, and that no clause of SQL follows; such marks before any other
/// text do not count.
fn until_end(text: &str) -> &str {
    let lower = text.to_ascii_lowercase();
    let mut from = 0;
    let mut at = 0;
    while let Some(start) = lower[at..].find('<').map(|offset| at + offset) {
        at = start + 1;
        let Some(mark) = ENDS.iter().find(|mark| lower[start..].starts_with(**mark)) else {
            continue;
        };
        let behind = &lower[start + mark.len()..];
        let behind_blanks = behind.trim_start_matches([' ', '\r']);
        let is_end = behind_blanks.is_empty() || behind_blanks.starts_with(['\n', '<']);
        if !is_end || begins_clause(behind) {
            continue;
        }
        at = start + mark.len();
        if !lower[from..start].trim().is_empty() {
            return &text[from..start];
        }
        from = at;
    }
    &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_removed() {
        assert_eq!(without_thinking("a<think>b</think>c"), "ac");
        assert_eq!(without_thinking("b</THINK>c"), "c");
        assert_eq!(without_thinking("a<Thinking>b"), "a");
        assert_eq!(without_thinking("<think>a<think>b</think>c</think>d"), "d");
        assert_eq!(without_thinking("a < b and <i> and [x] and ◁"), "a < b and <i> and [x] and ◁");
        assert_eq!(without_thinking("[THINK]a[/THINK]b"), "b");
        assert_eq!(without_thinking("◁think▷a◁/think▷b"), "b");
        assert_eq!(without_thinking("<|START_THINKING|>a<|END_THINKING|>b"), "b");
        assert_eq!(without_thinking("<|channel>thought\na<channel|>b<turn|>\nc"), "b");
        assert_eq!(without_thinking("<unused94>thought\na<unused95>b"), "b");
    }

    #[test]
    fn of_channels_the_final_one_is_the_answer() {
        for (text, answer) in [
            (
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>",
                "b",
            ),
            ("<|channel|>final <|constrain|>json<|message|>b", "b"),
            ("<|channel|>analysis<|message|>a<|end|>", ""),
            (
                "<|channel|>analysis<|message|>a<|channel|>commentary to=functions.sql<|message|>b<|call|>",
                "",
            ),
            (
                "<|channel|>final<|message|>a<|end|><|channel|>analysis<|message|>x<|channel|>final<|message|>b",
                "b",
            ),
            ("analysisWe count.assistantfinalb", "b"),
            ("analysisWe count.assistantcommentaryxassistantfinal b", " b"),
            ("analysisWe count", ""),
            ("analysis of the tables: b", "analysis of the tables: b"),
            ("The assistantfinal word", "The assistantfinal word"),
        ] {
            assert_eq!(without_thinking(text), answer, "{text}");
        }
    }

    #[test]
    fn what_stands_behind_the_end_of_a_turn_is_no_part_of_it() {
        assert_eq!(without_thinking("a<|im_end|>\n<|im_start|>user\nb"), "a");
        assert_eq!(without_thinking("<|end|>\na<end_of_turn><start_of_turn>user\nb"), "\na");
        assert_eq!(without_thinking("b = '<|im_end|>' AND c"), "b = '<|im_end|>' AND c");
        assert_eq!(without_thinking("a<|end|>\nWHERE b<|end|>\nc"), "a<|end|>\nWHERE b");
    }

    #[test]
    fn marks_are_seen() {
        assert!(has_thinking("a</think>b") && has_thinking("<|channel|>final<|message|>b"));
        assert!(!has_thinking("SELECT a < b FROM t") && !has_thinking("analysis of it"));
    }
}
