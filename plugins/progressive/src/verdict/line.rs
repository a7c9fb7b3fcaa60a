//! One line of a judge's reply.

/// A yes or no on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
    /// Neither word, or one that is taken back on the same line.
    Unclear,
}

/// What takes a YES back, wherever it stands behind it.
const TAKES_BACK: &[&str] = &[
    "but",
    "however",
    "except",
    "although",
    "though",
    "if",
    "unless",
    "partially",
    "partly",
    "mostly",
    "almost",
    "nearly",
    "would",
    "wrong",
    "incorrect",
    "incomplete",
    "missing",
    "lacks",
    "maybe",
    "perhaps",
    "probably",
    "possibly",
    "otherwise",
    "actually",
    "wait",
];

/// What takes a verdict back when it stands right behind it.
const TURNS: &[&str] = &["if", "unless", "or", "yes", "no", "not", "wait", "actually", "hmm"];

/// The answer on a line that begins with this label and a colon; none for another line.
pub(crate) fn answer(line: &str, label: &str) -> Option<Answer> {
    let line = plain(line);
    let head = line.get(..label.len()).filter(|head| head.eq_ignore_ascii_case(label))?;
    let rest = line[head.len()..].trim_start();
    rest.strip_prefix([':', '：', '=']).map(ruling)
}

/// What a text that should begin with YES or NO says.
pub(crate) fn ruling(text: &str) -> Answer {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let (word, tail) = text.split_at(end);
    // On one line with the verdict the reasoning is free to say what it likes.
    let tail = tail.to_ascii_lowercase();
    let tail = tail.split("reasoning").next().unwrap_or_default().trim_start();
    let stands_apart = tail.chars().next().is_none_or(|c| ".,;:!-–—…(".contains(c));
    let words: Vec<&str> = tail.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let turns = words.first().is_some_and(|word| TURNS.contains(word));
    if !stands_apart || turns {
        return Answer::Unclear;
    }
    if word.eq_ignore_ascii_case("no") {
        Answer::No
    } else if word.eq_ignore_ascii_case("yes") && !words.iter().any(|word| TAKES_BACK.contains(word)) {
        Answer::Yes
    } else {
        Answer::Unclear
    }
}

/// The line without marks of emphasis and of lists. A quotation keeps its mark: it is not the judge's own word.
pub(crate) fn plain(line: &str) -> String {
    let line: String = line.chars().filter(|c| !"*_`[]#\"".contains(*c)).collect();
    let line = line.trim();
    let listed = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let unlisted = if listed.len() < line.len() { listed.strip_prefix(['.', ')']) } else { line.strip_prefix("- ") };
    unlisted.unwrap_or(line).trim().to_owned()
}
