//! Names as languages spell them, and the text of a file while it is written.

/// The text of a file.
#[derive(Default)]
pub(crate) struct Text(String);

impl Text {
    /// Begins a file with that comment, which says where it comes from.
    pub(crate) fn new(head: &str) -> Self {
        Self(format!("{head}\n"))
    }

    /// Adds a line, without white space at its end.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        self.0.push_str(line.as_ref().trim_end());
        self.0.push('\n');
    }

    /// Adds empty lines.
    pub(crate) fn space(&mut self, lines: usize) {
        self.0.extend(std::iter::repeat_n('\n', lines));
    }

    /// Adds a text as it is.
    pub(crate) fn add(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// Adds prose as comments, each line after `before`.
    pub(crate) fn comment(&mut self, before: &str, prose: &str, width: usize) {
        for line in wrap(prose, width - before.len()) {
            self.line(format!("{before}{line}"));
        }
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// The lines of prose, each of at most `width` characters, with an empty one between paragraphs.
pub(crate) fn wrap(prose: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in prose.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let mut line = String::new();
        for word in paragraph.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// `retrieval-query` as `RetrievalQuery`.
pub(crate) fn pascal(name: &str) -> String {
    name.split('-').map(capitalize).collect()
}

/// `retrieval-query` as `retrievalQuery`.
pub(crate) fn camel(name: &str) -> String {
    let mut parts = name.split('-');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |camel, part| camel + &capitalize(part))
}

/// `retrieval-query` as `retrieval_query`.
pub(crate) fn snake(name: &str) -> String {
    name.replace('-', "_")
}

/// A word with a capital at its beginning.
pub(crate) fn capitalize(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The word with its article.
pub(crate) fn with_article(word: &str) -> String {
    let article = if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {word}")
}

/// Prose in which the names of these fields are spelled as a language spells them.
pub(crate) fn respell<'a>(
    prose: &str,
    names: impl Iterator<Item = &'a str>,
    spell: fn(&str) -> String,
) -> String {
    names.fold(prose.to_owned(), |prose, name| {
        prose.replace(&format!("`{name}`"), &format!("`{}`", spell(name)))
    })
}
