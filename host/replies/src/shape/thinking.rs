//! The parts of a reply beside the answer: the model's thinking, in the marks of each family of
//! models, and the marks that end a turn.

use super::prose::fences;
use crate::statement::begins_clause;

/// The names of tags around thinking, with or without a name space such as `mm:`: those of
/// DeepSeek, Qwen, MiniMax, Seed and most others, and what models are told to use. A tag without
/// attributes also is one if its name holds one of [`WORDS`].
const TAGS: [&str; 16] = [
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "analysis",
    "planning",
    "reflection",
    "scratchpad",
    "scratch_pad",
    "monologue",
    "inner_monologue",
    "chain_of_thought",
    "cot",
    "rationale",
    "critique",
];
/// Words in the names of tags around thinking: `longcat_think`, `begin_of_thought`.
const WORDS: [&str; 5] = ["think", "thought", "reason", "reflect", "analysis"];
/// Parts of a name that say that the tag opens a block, and those that say that it closes one.
const OPENS: [&str; 3] = ["begin", "start", "open"];
const CLOSES: [&str; 3] = ["end", "stop", "close"];
/// Bytes of a tag at most, its attributes included.
const TAG: usize = 80;

/// Other marks around thinking, each pair in lower case: those of Mistral, Pangu, Kimi, Gemma and
/// Apertus.
const MARKS: [(&str, &str); 6] = [
    ("[think]", "[/think]"),
    ("[unused16]", "[unused17]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel>thought", "<channel|>"),
    ("<unused94>thought", "<unused95>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
];
/// The words before the thinking of Apriel, and the marks around its answer.
const STEPS: &str = "here are my reasoning steps:";
const BEGIN_FINAL: &str = "[begin final response]";
const END_FINAL: &str = "[end final response]";
/// Sentences before and behind thinking, in lower case: those of Granite, and of Ollama's command
/// line.
const SENTENCES: [(&str, &str); 2] =
    [("here is my thought process:", "here is my response:"), ("thinking...", "...done thinking.")];
/// Languages of fences that hold thinking.
const FENCES: [&str; 6] = ["thinking", "think", "thought", "thoughts", "reasoning", "scratchpad"];
/// Bytes of a literal or a comment of a statement in which a mark is a text.
const LITERAL: usize = 200;

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
/// The mark of a call of a tool in such a reply.
const BARE_CALL: &str = "assistantcommentary to=";
/// The channels of thinking, with which such a reply begins.
const BARE: [&str; 2] = ["analysis", "commentary"];
/// Bytes between the name of a channel and its text.
const HEADER: usize = 64;

/// Returns the text without the model's thinking. A block without an end reaches to the end of the
/// text; a closing mark without an opening one (chat templates often remove the first) ends a block
/// that began with the text. Of a reply in channels the last final one is left, and nothing where
/// there is none.
pub(super) fn without_thinking(text: &str) -> String {
    let lower = outside_literals(&text.to_ascii_lowercase());
    let from = answer_in_channels(&lower);
    let Some(from) = from else { return String::new() };
    let to = lower[from..].find(END_FINAL).map_or(text.len(), |at| from + at);
    let answer = outside_marks(&text[from..to], &lower[from..to]);
    until_end(&without_asides(&answer)).to_owned()
}

/// Returns true if the text holds a mark of thinking.
#[must_use]
pub fn has_thinking(text: &str) -> bool {
    let lower = outside_literals(&text.to_ascii_lowercase());
    lower
        .match_indices(BEGINS)
        .any(|(at, _)| opening(&lower[at..]).is_some() || closing(&lower[at..]).is_some())
        || is_in_channels(&lower)
}

/// Characters with which a mark may begin.
const BEGINS: [char; 4] = ['<', '[', '◁', '&'];

/// A mark of thinking that a text begins with: its size, and where it ends what.
struct Mark {
    size: usize,
    close: Close,
}

/// The end of a block of thinking.
enum Close {
    /// The tag of that name.
    Tag(String),
    /// This text.
    Text(&'static str),
}

impl Close {
    /// Finds the end in a text, and returns where what follows it begins.
    fn find(&self, text: &str) -> Option<usize> {
        match self {
            Self::Text(close) => text.find(close).map(|at| at + close.len()),
            Self::Tag(name) => text.match_indices(['<', '&']).find_map(|(at, _)| {
                let (found, is_close, size) = tag(&text[at..])?;
                (is_close && found == *name).then_some(at + size)
            }),
        }
    }
}

/// Reads the mark that begins a block of thinking at the start of a text in lower case.
fn opening(text: &str) -> Option<Mark> {
    if let Some((name, false, size)) = tag(text) {
        return Some(Mark { size, close: Close::Tag(name.to_owned()) });
    }
    let (open, close) = MARKS.iter().find(|(open, _)| text.starts_with(open))?;
    Some(Mark { size: open.len(), close: Close::Text(close) })
}

/// Reads the mark that ends a block of thinking at the start of a text, and returns its size.
fn closing(text: &str) -> Option<usize> {
    if let Some((_, true, size)) = tag(text) {
        return Some(size);
    }
    MARKS.iter().find(|(_, close)| text.starts_with(close)).map(|(_, close)| close.len())
}

/// Reads a tag of thinking at the start of a text in lower case, as it stands or with its brackets
/// as character references: its name with its name space and without what says which end it is,
/// whether it is a closing one, and its size.
fn tag(text: &str) -> Option<(&str, bool, usize)> {
    let inside = text.strip_prefix('<').or_else(|| text.strip_prefix("&lt;"))?;
    let is_reference = text.starts_with('&');
    let end = if is_reference { "&gt;" } else { ">" };
    let near = syrch_core::text::clip(inside, TAG);
    let size = near.find(end).filter(|size| !near[..*size].contains(['<', '\n']))?;
    let words = near[..size].trim_matches(|c: char| c.is_whitespace() || "|｜".contains(c));
    let rest = words.strip_prefix('/').unwrap_or(words).trim_start_matches([' ', '|', '｜']);
    let name = rest.split(char::is_whitespace).next()?;
    let plain = name.rsplit_once(':').map_or(name, |(_, plain)| plain);
    let whole = text.len() - inside.len() + size + end.len();
    let is_close = words.starts_with('/');
    if TAGS.contains(&plain) {
        return Some((name, is_close, whole));
    }
    // A statement may compare with a column of such a name, and has blanks or signs about it.
    if name.len() != rest.len() || !name.chars().all(|c| c.is_alphanumeric() || "_-:▁".contains(c))
    {
        return None;
    }
    let (core, part) = without_end(name);
    let is_close = is_close || CLOSES.contains(&part);
    WORDS.iter().any(|word| core.contains(word)).then_some((core, is_close, whole))
}

/// The name of a tag without the part that says which end of a block it is, and that part; the
/// whole name and no part if there is none.
fn without_end(name: &str) -> (&str, &str) {
    const SIGNS: [char; 4] = ['_', '-', ':', '▁'];
    if let Some((part, core)) = name.split_once(SIGNS)
        && (OPENS.contains(&part) || CLOSES.contains(&part))
    {
        let core = core.strip_prefix("of").filter(|core| core.starts_with(SIGNS)).unwrap_or(core);
        return (core.trim_start_matches(SIGNS), part);
    }
    match name.rsplit_once(SIGNS) {
        Some((core, part)) if OPENS.contains(&part) || CLOSES.contains(&part) => (core, part),
        _ => (name, ""),
    }
}

/// The text with blanks in the place of short literals, quoted names and comments of a statement,
/// in which a mark is a text of the statement. Each byte keeps its place. Those within a block of
/// thinking are none.
fn outside_literals(lower: &str) -> String {
    let mut masked = String::with_capacity(lower.len());
    let mut at = 0;
    while let Some(c) = lower[at..].chars().next() {
        let rest = &lower[at..];
        if let Some(size) = literal(rest, lower[..at].chars().next_back()) {
            masked.extend(
                rest[..size].chars().map(|c: char| {
                    if c == '\n' { "\n".to_owned() } else { " ".repeat(c.len_utf8()) }
                }),
            );
            at += size;
        } else if BEGINS.contains(&c)
            && let Some(mark) = opening(rest)
        {
            let end = mark.close.find(&rest[mark.size..]).map(|end| mark.size + end);
            // A block without an end reaches to the end of the text.
            let size = end.unwrap_or(rest.len());
            masked.push_str(&rest[..size]);
            at += size;
        } else {
            masked.push(c);
            at += c.len_utf8();
        }
    }
    masked
}

/// The size of a literal, a quoted name or a comment that a text begins with and that ends soon.
/// `before`: the character before it. An apostrophe within a word begins none.
fn literal(text: &str, before: Option<char>) -> Option<usize> {
    let near = syrch_core::text::clip(text, LITERAL);
    if near.starts_with("/*") {
        return near.find("*/").map(|at| at + 2);
    }
    let line = near.find('\n').unwrap_or(near.len());
    if near.starts_with("--") {
        // A block that begins behind a dash and ends on another line is one of thinking.
        let comment = &near[..line];
        let is_block = comment.match_indices(BEGINS).any(|(at, _)| {
            opening(&comment[at..])
                .is_some_and(|mark| mark.close.find(&comment[at + mark.size..]).is_none())
        });
        return (!is_block).then_some(line);
    }
    let quote = near.chars().next().filter(|c| "'\"`".contains(*c))?;
    if before.is_some_and(|c| c.is_alphanumeric() || c == quote) || near.starts_with("```") {
        return None;
    }
    let mut ends = near[1..line.max(1)].match_indices(quote).map(|(at, _)| at + 1);
    ends.find(|end| {
        let next = near[end + 1..].chars().next();
        next.is_none_or(|next| !next.is_alphanumeric() && next != quote)
    })
    .map(|end| end + 1)
}

/// The text without comments of HTML, in which models hide their thinking.
fn without_comments(text: &str) -> String {
    const OPEN: &str = "<!--";
    const CLOSE: &str = "-->";
    let masked = outside_literals(text);
    let mut rest = String::new();
    let mut from = 0;
    for (at, _) in masked.match_indices("<!") {
        if at < from || !text[at..].starts_with(OPEN) {
            continue;
        }
        rest.push_str(&text[from..at]);
        let end = text[at..].find(CLOSE).map(|end| at + end + CLOSE.len());
        from = end.unwrap_or(text.len());
    }
    rest.push_str(&text[from..]);
    rest
}

/// The text without fences of thinking, without a folded part about it, and without a quotation
/// that begins with it.
fn without_asides(text: &str) -> String {
    let mut rest = without_comments(text);
    while let Some(fence) =
        fences(&rest).into_iter().find(|fence| FENCES.contains(&fence.language.as_str()))
    {
        let start = rest[..fence.body.start].rfind("```").unwrap_or(fence.body.start);
        let ticks = rest[fence.body.end..].bytes().take_while(|byte| *byte == b'`').count();
        rest.replace_range(start..fence.body.end + ticks, "");
    }
    for (open, close) in SENTENCES {
        let lower = rest.to_ascii_lowercase();
        if let Some(start) = lower.find(open)
            && let Some(end) = lower[start..].find(close)
        {
            rest.replace_range(start..start + end + close.len(), "");
        }
    }
    let lower = rest.to_ascii_lowercase();
    if let Some(start) = lower.find("<details")
        && let Some(end) = lower[start..].find("</details>")
        && is_about_thinking(&lower[start..start + end])
    {
        rest.replace_range(start..start + end + "</details>".len(), "");
    }
    let quoted: usize = rest
        .split_inclusive('\n')
        .take_while(|line| line.trim_start().starts_with('>') || line.trim().is_empty())
        .map(str::len)
        .sum();
    if is_about_thinking(&rest[..quoted].to_ascii_lowercase()) {
        rest.replace_range(..quoted, "");
    }
    rest
}

/// Returns true if the first words of a part say that it is thinking.
fn is_about_thinking(part: &str) -> bool {
    let words: Vec<&str> =
        part.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let heads = ["details", "open", "summary", "my", "the", "model"];
    let first = words.iter().find(|word| !heads.contains(word));
    first.is_some_and(|word| TAGS.contains(word))
}

/// Returns true if a reply is in channels, with their marks or without. `lower` is in lower case.
fn is_in_channels(lower: &str) -> bool {
    lower.contains(CHANNEL)
        || lower.contains(BARE_FINAL) && begins_with_channel(lower)
        || lower.contains(BEGIN_FINAL)
        || lower.trim_start().starts_with(STEPS)
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
        return last.or_else(|| call_in_channels(lower));
    }
    if let Some(at) = lower.rfind(BARE_CALL).filter(|_| begins_with_channel(lower)) {
        return Some(at + BARE_CALL.len());
    }
    if let Some(at) = lower.rfind(BEGIN_FINAL) {
        return Some(at + BEGIN_FINAL.len());
    }
    if lower.trim_start().starts_with(STEPS) {
        return None;
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

/// Returns the place of the arguments with which a reply in channels calls a tool last.
fn call_in_channels(lower: &str) -> Option<usize> {
    /// Bytes of the name of a tool and its format between the marks.
    const CALL: usize = 200;
    let (at, _) = lower.rmatch_indices(CHANNEL).next()?;
    let name = at + CHANNEL.len();
    let header = syrch_core::text::clip(&lower[name..], CALL);
    let size = header.find(MESSAGE)?;
    let before = lower[..at].rsplit("<|start|>").next().unwrap_or_default();
    let is_call = header[..size].contains("to=") || before.contains("to=functions");
    is_call.then_some(name + size + MESSAGE.len())
}

/// Returns the text outside of blocks of thinking. `lower` is the text in lower case. Of a reply
/// with fences on both sides of a block, that before it was thought over again, and is left out.
fn outside_marks(text: &str, lower: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut at = 0;
    let mut from = 0;
    while let Some(mark) = lower[at..].find(BEGINS).map(|offset| at + offset) {
        let rest = &lower[mark..];
        if let Some(open) = opening(rest) {
            parts.push(&text[from..mark]);
            let inside = mark + open.size;
            let Some(offset) = open.close.find(&lower[inside..]) else {
                from = text.len();
                break;
            };
            at = inside + offset;
            from = at;
        } else if let Some(size) = closing(rest) {
            parts.clear();
            at = mark + size;
            from = at;
        } else {
            at = mark + rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    parts.push(&text[from..]);
    let last = parts.iter().rposition(|part| has_fence(part)).unwrap_or(0);
    let is_corrected = parts[..last].iter().any(|part| has_fence(part));
    parts[if is_corrected { last } else { 0 }..].concat()
}

/// Returns true if a text holds a whole fence.
fn has_fence(text: &str) -> bool {
    text.matches("```").count() > 1
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
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|\
                 >b<|return|>",
                "b",
            ),
            ("<|channel|>final <|constrain|>json<|message|>b", "b"),
            ("<|channel|>analysis<|message|>a<|end|>", ""),
            (
                "<|channel|>analysis<|message|>a<|channel|>commentary \
                 to=functions.sql<|message|>b<|call|>",
                "b",
            ),
            (
                "<|channel|>final<|message|>a<|end|><|channel|>analysis<|message|>x<|channel|>\
                 final<|message|>b",
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
    fn a_fence_behind_thinking_corrects_one_before_it() {
        for (text, answer) in [
            ("```a```<reflection>no</reflection>```b```", "```b```"),
            ("```a```<think>no</think>```b```<think>```c```</think>d", "```b```d"),
            ("x<think>```a```</think>```b```", "x```b```"),
            ("```a```<think>so</think>b", "```a```b"),
            ("```a<think>so</think>b```", "```ab```"),
            ("```a```<think>```b", "```a```"),
        ] {
            assert_eq!(without_thinking(text), answer, "{text}");
        }
    }

    #[test]
    fn thinking_is_removed_in_further_spellings() {
        for text in [
            "<mm:think>a</mm:think>b",
            "< think >a</ think >b",
            "<analysis type=\"x\">a</analysis>b",
            "<planning>a</planning>b",
            "<reflection>a</reflection>b",
            "<scratchpad>a</scratchpad>b",
            "<inner_monologue>a</inner_monologue>b",
            "&lt;think&gt;a&lt;/think&gt;b",
            "<|think|>a<|/think|>b",
            "<|thinking|>a<|/thinking|>b",
            "<longcat_think>a</longcat_think>b",
            "<|inner_prefix|>a<|inner_suffix|>b",
            "<reasoning_steps>a</reasoning_steps>b",
            "<self-reflection>a</self-reflection>b",
            "<|reason_start|>a<|reason_end|>b",
            "<|begin_of_thought|>a<|end_of_thought|>b",
            "<｜start▁of▁thinking｜>a<｜end▁of▁thinking｜>b",
            "a</my_thoughts>b",
            "Here are my reasoning steps:\na [BEGIN FINAL RESPONSE]\nb\n[END FINAL RESPONSE]",
            "a\n[BEGIN FINAL RESPONSE]\nb\n[END FINAL RESPONSE]\n<|end|>",
            "<details><summary>Thinking</summary>a</details>b",
            "<details open><summary>My reasoning</summary>a</details>b",
            "```thinking\na\n```b",
            "Here is my thought process: a Here is my response:b",
            "Thinking...\na\n...done thinking.b",
            "> **Thinking:** a\n> and a\n\nb",
            "<rationale>a</rationale>b",
            "[unused16]a[unused17]b",
            "<!-- thinking: 'a -->b",
            "<!-- a -->\nb<!-- a",
        ] {
            assert_eq!(without_thinking(text).trim(), "b", "{text}");
        }
        for text in ["Here are my reasoning steps:\na", "<|think|>a", "<begin_of_thought>a"] {
            assert_eq!(without_thinking(text), "");
        }
        for text in [
            "SELECT a FROM t WHERE a <reason_code AND b> 3",
            "SELECT a FROM t WHERE a < reason_code AND b > 3",
            "SELECT CAST(a AS STRUCT<reason STRING>) FROM t",
            "SELECT a FROM t WHERE b = '[BEGIN FINAL RESPONSE]'",
            "SELECT a FROM t WHERE b = '<!-- c -->'",
        ] {
            assert_eq!(without_thinking(text), text);
        }
        // Nothing closes these, so that they are words.
        for text in ["I was thinking...\nb", "<details>b</details>", "> b", "<plan>b</plan>"] {
            assert_eq!(without_thinking(text), text);
        }
    }

    #[test]
    fn marks_within_texts_and_comments_of_a_statement_are_no_marks() {
        for text in [
            "SELECT a WHERE b <> '<think>' AND c = 'd' AND b <> '</think>'",
            "SELECT a WHERE b = '</think>'",
            "SELECT a AS \"<think>\"",
            "SELECT a /* <think> */ WHERE b /* </think> */",
            "SELECT a -- <think>b</think>\nFROM c",
            "SELECT a WHERE b = '[THINK]' OR b = '<|channel|>'",
            "SELECT a WHERE b = '&lt;think&gt;'",
        ] {
            assert_eq!(without_thinking(text), text);
            assert!(!has_thinking(text), "{text}");
        }
        for (text, answer) in [
            ("I don't know. <think>it's 'a</think>b", "I don't know. b"),
            ("-- <think>\nmaybe a\n</think>\nb", "-- \nb"),
            ("<think>country = 'x</think>\nb = 'y'", "\nb = 'y'"),
        ] {
            assert_eq!(without_thinking(text), answer, "{text}");
        }
    }

    #[test]
    fn marks_are_seen() {
        assert!(has_thinking("a</think>b") && has_thinking("<|channel|>final<|message|>b"));
        assert!(!has_thinking("SELECT a < b FROM t") && !has_thinking("analysis of it"));
    }
}
