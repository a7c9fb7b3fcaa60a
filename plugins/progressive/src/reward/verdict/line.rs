//! One line of a judge's reply.

use syrch_plugin::text::is_one_of;

/// A yes or no on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
    /// A word that is taken back on the same line, or one that says less than yes.
    Hedged,
    /// Neither word, as in `N/A`.
    Unclear,
}

/// Words that take a YES back, wherever they stand behind it.
const TAKES_BACK: &str = "but yet however except apart although though despite if unless partial \
                          partially partly mostly almost nearly would maybe perhaps probably \
                          possibly unsure uncertain otherwise actually wait lacks lacking misses \
                          omits omitted ignores ignored forgets forgotten fails";

/// Words that take a YES back, unless they are denied: `none missing`, `nothing is wrong`.
const FAULTS: &[&str] = &["wrong", "incorrect", "incomplete", "missing", "missed", "absent"];

const DENIALS: &[&str] = &["no", "not", "none", "nothing", "never", "without"];

/// Words that take a verdict back when they stand right behind it. A `no` does when it stands
/// alone.
const TURNS: &[&str] = &["if", "unless", "or", "yes", "not", "wait", "actually", "hmm"];

/// Words for a part that the statement does not need, which is neither a yes nor a no.
const NEEDLESS: &[&str] = &["needed", "required", "necessary", "applicable", "relevant"];

/// The answer on a line that begins with this label and a colon; `None` if it is another line.
pub(crate) fn answer(line: &str, label: &str) -> Option<Answer> {
    let line = plain(line);
    let head = line.get(..label.len()).filter(|head| head.eq_ignore_ascii_case(label))?;
    let rest = line[head.len()..].trim_start();
    rest.strip_prefix(MARKS).map(ruling)
}

const MARKS: [char; 3] = [':', '：', '='];

/// The answers behind this label and a colon, wherever they stand in the text: also in a sentence,
/// or on the next line.
pub(crate) fn mentions(text: &str, label: &str) -> Vec<Answer> {
    let text = text.lines().map(plain).collect::<Vec<_>>().join("\n").to_ascii_lowercase();
    let label = label.to_ascii_lowercase();
    text.match_indices(&label)
        .filter_map(|(at, found): (usize, &str)| {
            let is_apart = !text[..at].ends_with(char::is_alphanumeric);
            let rest =
                text[at + found.len()..].trim_start().strip_prefix(MARKS).filter(|_| is_apart)?;
            let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "'’‘“”".contains(c));
            Some(ruling(rest.lines().next().unwrap_or_default()))
        })
        .collect()
}

/// Reads the verdict of a text that should begin with YES or NO.
pub(crate) fn ruling(text: &str) -> Answer {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let (word, tail) = text.split_at(end);
    let word = word.to_ascii_lowercase();
    // On one line with the verdict the reasoning is free to say what it likes.
    let tail = tail.to_ascii_lowercase();
    let tail = tail.split("reasoning").next().unwrap_or_default().trim_start();
    let stands_apart = tail.chars().next().is_none_or(|c| ".,;:!-–—…(".contains(c));
    let words = words(tail);
    let is_needless = words.iter().any(|word| NEEDLESS.contains(word));
    let turns = words.first().is_some_and(|first| TURNS.contains(first)) && !is_needless
        || is_contradicted(tail);
    let takes_back = takes_back(&words);
    match word.as_str() {
        "yes" if turns || takes_back => Answer::Hedged,
        "yes" if stands_apart => Answer::Yes,
        "no" if stands_apart && !turns && words.first() != Some(&"no") => Answer::No,
        "no" | "not" if !is_needless => Answer::Hedged,
        word if word != "yes" && !is_needless && (takes_back || self::takes_back(&[word])) => {
            Answer::Hedged
        }
        _ => Answer::Unclear,
    }
}

/// Returns true if a lone `no` follows, as in `YES/NO`.
fn is_contradicted(tail: &str) -> bool {
    let next = tail.trim_start_matches(|c: char| !c.is_alphanumeric());
    let rest = next.strip_prefix("no").filter(|rest| !rest.starts_with(char::is_alphanumeric));
    rest.is_some_and(|rest| rest.trim().is_empty() || !rest.starts_with(char::is_whitespace))
}

/// Returns true if a text objects to the statement, so that a YES beside it is worth nothing.
pub(crate) fn objects(text: &str) -> bool {
    const OBJECTIONS: [&[&str]; 6] = [
        &["not", "correct"],
        &["isn", "t", "correct"],
        &["incorrect", "yes"],
        &["verdict", "no"],
        &["is", "incorrect"],
        &["is", "wrong"],
    ];
    let text = text.to_ascii_lowercase().replace(['*', '_', '`'], "");
    let words = words(&text);
    OBJECTIONS.into_iter().any(|said| {
        let last = said.len() - 1;
        words.windows(said.len()).enumerate().any(|(at, window): (usize, &[&str])| {
            window == said && !(FAULTS.contains(&said[last]) && is_denied(&words, at + last))
        })
    })
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

fn takes_back(words: &[&str]) -> bool {
    words.iter().any(|word| is_one_of(TAKES_BACK, word))
        || words
            .iter()
            .enumerate()
            .any(|(at, word): (usize, &&str)| FAULTS.contains(word) && !is_denied(words, at))
}

/// Returns true if the word at this place is negated by the one before it, or by the one before
/// `is` or `are`.
fn is_denied(words: &[&str], at: usize) -> bool {
    let before = |back: usize| {
        at.checked_sub(back).and_then(|place| words.get(place)).copied().unwrap_or_default()
    };
    fn denies(word: &str) -> bool {
        DENIALS.contains(&word)
    }
    denies(before(1)) || (matches!(before(1), "is" | "are") && denies(before(2)))
}

/// The line without marks of emphasis and of lists. The mark of a quotation stays: it is not the
/// judge's own word.
pub(crate) fn plain(line: &str) -> String {
    let line: String = line.chars().filter(|c| !"*_`[]#\"".contains(*c)).collect();
    let line = line.trim();
    let listed = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let unlisted = if listed.len() < line.len() {
        listed.strip_prefix(['.', ')'])
    } else {
        line.strip_prefix("- ")
    };
    unlisted.unwrap_or(line).trim().to_owned()
}
