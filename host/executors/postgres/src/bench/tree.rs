//! A reader of the server's text form of analysed statements: `{KIND :field value …}`, lists `( …
//! )`, `<>` for nothing, and the bytes of a constant as `4 [ 1 0 0 0 ]`. It interprets no kind and
//! no field. It is positional, as the server's own reader is: whatever stands behind a field's name
//! is its value, so that no name of a column can be taken for a field. Memory and time are linear
//! in the text, without recursion.

/// The longest text that is read.
pub(super) const MAX_TREE: usize = 4 << 20;

/// The depth limit of nodes within each other.
const MAX_DEPTH: usize = 4_096;

/// The longest line of the server, which breaks the text at spaces, and within a word where a line
/// has none.
const LINE: usize = 78;

/// A node with what stands directly in it.
#[derive(Debug)]
pub(super) struct Node<'t> {
    pub(super) kind: &'t str,
    /// The node in which it stands, which precedes it.
    pub(super) parent: Option<usize>,
    /// The field of `parent` in which it stands, by itself or in a list.
    pub(super) field: &'t str,
    /// The words of each field in their order, those of lists one by one; without the bytes of
    /// constants.
    words: Vec<(&'t str, &'t str)>,
}

impl<'t> Node<'t> {
    /// The words of a field.
    pub(super) fn all(&self, field: &str) -> impl Iterator<Item = &'t str> {
        self.words.iter().filter(move |(name, _)| *name == field).map(|(_, word)| *word)
    }

    /// The first word of a field; `None` where the field is absent, empty or a node.
    pub(super) fn word(&self, field: &str) -> Option<&'t str> {
        self.all(field).next().filter(|word| *word != "<>")
    }

    /// A field that is a number.
    pub(super) fn number(&self, field: &str) -> Option<i64> {
        self.word(field)?.parse().ok()
    }

    /// Returns true if a field is `true`.
    pub(super) fn is(&self, field: &str) -> bool {
        self.word(field) == Some("true")
    }

    /// Returns all fields with their words.
    pub(super) fn words(&self) -> &[(&'t str, &'t str)] {
        &self.words
    }
}

/// The reason why a text is no tree; the host refuses its statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("it has more than {MAX_TREE} bytes")]
    TooLong,
    #[error("it nests more than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("a name in it is too long to be distinguished from two")]
    Broken,
    #[error("it is not in the form that is known")]
    Malformed,
}

/// A node under construction.
struct Open<'t> {
    node: usize,
    /// The field whose value comes next, or whose list is open.
    field: Option<&'t str>,
    lists: usize,
}

/// The nodes of a text, each after the one in which it stands.
pub(super) fn read(text: &str) -> Result<Vec<Node<'_>>, Unreadable> {
    if text.len() > MAX_TREE {
        return Err(Unreadable::TooLong);
    }
    if has_broken_word(text.as_bytes()) {
        return Err(Unreadable::Broken);
    }
    let mut words = Words { text, at: 0 };
    let mut nodes: Vec<Node<'_>> = Vec::new();
    let mut stack: Vec<Open<'_>> = Vec::new();
    while let Some(word) = words.next() {
        let Some(open) = stack.last_mut() else {
            // The first word opens the only tree.
            if word != "{" || !nodes.is_empty() {
                return Err(Unreadable::Malformed);
            }
            begin(&mut words, &mut nodes, &mut stack)?;
            continue;
        };
        match (open.field, word) {
            (None, "}") => {
                stack.pop();
                if let Some(outer) = stack.last_mut().filter(|outer| outer.lists == 0) {
                    outer.field = None;
                }
            }
            (None, "[") => words.skip_bytes()?,
            (None, name) => open.field = Some(name.strip_prefix(':').ok_or(Unreadable::Malformed)?),
            (Some(_), "{") => begin(&mut words, &mut nodes, &mut stack)?,
            (Some(_), "(") => open.lists += 1,
            (Some(_), ")") => {
                open.lists = open.lists.checked_sub(1).ok_or(Unreadable::Malformed)?;
                if open.lists == 0 {
                    open.field = None;
                }
            }
            (Some(_), "}") => return Err(Unreadable::Malformed),
            (Some(field), word) => {
                nodes[open.node].words.push((field, word));
                if open.lists == 0 {
                    open.field = None;
                }
            }
        }
    }
    if stack.is_empty() && !nodes.is_empty() { Ok(nodes) } else { Err(Unreadable::Malformed) }
}

/// Opens a node, whose kind is the next word.
fn begin<'t>(
    words: &mut Words<'t>,
    nodes: &mut Vec<Node<'t>>,
    stack: &mut Vec<Open<'t>>,
) -> Result<(), Unreadable> {
    if stack.len() >= MAX_DEPTH {
        return Err(Unreadable::TooDeep);
    }
    let kind = words
        .next()
        .filter(|word: &&str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
        .ok_or(Unreadable::Malformed)?;
    let (parent, field) =
        stack.last().map_or((None, ""), |open| (Some(open.node), open.field.unwrap_or_default()));
    stack.push(Open { node: nodes.len(), field: None, lists: 0 });
    nodes.push(Node { kind, parent, field, words: Vec::new() });
    Ok(())
}

/// Returns true if the server may have broken a word in two: a line of 78 bytes without a space
/// behind its first. A line break that follows a backslash may also belong to a name; then the line
/// is taken to go on.
fn has_broken_word(text: &[u8]) -> bool {
    let mut start = 0;
    let mut last_space = None;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b' ' => last_space = Some(at),
            b'\n' => {
                let window = (start + 1).max((at + 1).saturating_sub(LINE));
                let has_space = last_space.is_some_and(|space| space >= window);
                if at - start >= LINE && !has_space {
                    return true;
                }
                if at == 0 || text[at - 1] != b'\\' {
                    start = at + 1;
                }
            }
            _ => {}
        }
    }
    false
}

/// The words of a text as the server's own reader divides it: braces and brackets of lists stand
/// for themselves, a backslash takes the next character into the word.
struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Words<'t> {
    /// Moves behind the bytes of a constant, whose opening bracket was read.
    fn skip_bytes(&mut self) -> Result<(), Unreadable> {
        for word in self.by_ref() {
            match word {
                "]" => return Ok(()),
                byte if byte.parse::<i16>().is_ok() => {}
                _ => break,
            }
        }
        Err(Unreadable::Malformed)
    }
}

impl<'t> Iterator for Words<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let bytes = self.text.as_bytes();
        fn is_space(byte: &u8) -> bool {
            matches!(byte, b' ' | b'\n' | b'\t')
        }
        self.at += bytes[self.at..].iter().take_while(|byte| is_space(byte)).count();
        let start = self.at;
        let first = *bytes.get(start)?;
        if matches!(first, b'{' | b'}' | b'(' | b')') {
            self.at += 1;
            return self.text.get(start..self.at);
        }
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 1 + usize::from(self.at + 1 < bytes.len()),
                b'{' | b'}' | b'(' | b')' => break,
                byte if is_space(byte) => break,
                _ => self.at += 1,
            }
        }
        // A backslash before a character of several bytes leaves the place within it.
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        self.text.get(start..self.at)
    }
}

#[cfg(test)]
mod tests;
