//! The comparisons of a condition or a statement: a column, an operator and a literal.

/// Functions and types that make a moment or a number of a literal, in lower case.
const CONVERSIONS: &[&str] = &[
    "cast",
    "date",
    "datetime",
    "julianday",
    "timestamp",
    "timestamptz",
    "to_date",
    "to_timestamp",
];
/// Words before a parenthesis that call nothing.
const KEYWORDS: &[&str] = &[
    "and",
    "as",
    "by",
    "distinct",
    "else",
    "from",
    "having",
    "intersect",
    "join",
    "not",
    "on",
    "or",
    "select",
    "then",
    "union",
    "when",
    "where",
];
/// Words that compare with a pattern.
const PATTERNS: &[&str] = &["glob", "ilike", "like", "regexp", "rlike"];
/// Tokens between the two bounds of BETWEEN, at most.
const BETWEEN: usize = 8;

/// The operator of a comparison, with the column on its left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    /// `=`, `IN`, or a pattern.
    Equal,
    NotEqual,
    Less,
    AtMost,
    More,
    AtLeast,
    Null,
    NotNull,
}

impl Operator {
    fn written(text: &str) -> Option<Self> {
        Some(match text {
            "=" | "==" => Self::Equal,
            "<>" | "!=" | "≠" => Self::NotEqual,
            "<" => Self::Less,
            "<=" | "≤" => Self::AtMost,
            ">" => Self::More,
            ">=" | "≥" => Self::AtLeast,
            _ => return None,
        })
    }

    fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::AtLeast,
            Self::AtMost => Self::More,
            Self::More => Self::AtMost,
            Self::AtLeast => Self::Less,
            Self::Null => Self::NotNull,
            Self::NotNull => Self::Null,
        }
    }

    /// The operator with its sides exchanged.
    fn turned(self) -> Self {
        match self {
            Self::Less => Self::More,
            Self::AtMost => Self::AtLeast,
            Self::More => Self::Less,
            Self::AtLeast => Self::AtMost,
            other => other,
        }
    }
}

/// A column beside a literal, or a test for NULL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// The name of the column, in lower case; empty if there is none.
    pub(crate) column: String,
    pub(crate) operator: Operator,
    /// The literal, trimmed and in lower case; empty in a test for NULL.
    pub(crate) literal: String,
    /// False where it is open whether the rows meet the comparison: in a call, in CASE, in a query
    /// behind NOT IN or NOT EXISTS, and in a statement that takes rows away.
    pub(crate) is_certain: bool,
}

/// Reads the comparisons in a text.
pub(crate) fn read(text: &str) -> Vec<Comparison> {
    let tokens = tokens(text);
    let outer = Frame { is_certain: true, ..Frame::default() };
    let mut reader = Reader { tokens: &tokens, frames: vec![outer], found: Vec::new() };
    for at in 0..tokens.len() {
        reader.take(at);
    }
    let mut found = reader.found;
    fn has_word(tokens: &[Token], wanted: &str) -> bool {
        tokens.iter().any(|token| token.word() == wanted)
    }
    let is_outer =
        has_word(&tokens, "left") && found.iter().any(|one| one.operator == Operator::Null);
    if is_outer || has_word(&tokens, "except") || has_word(&tokens, "minus") {
        found.iter_mut().for_each(|one| one.is_certain = false);
    }
    found
}

#[derive(Debug, PartialEq)]
enum Token {
    /// A word in lower case: a keyword or a name.
    Word(String),
    /// A quoted name in lower case.
    Name(String),
    Literal(String),
    Operator(Operator),
    Open,
    Close,
    Other(char),
}

impl Token {
    /// The word; empty for any other token.
    fn word(&self) -> &str {
        match self {
            Self::Word(word) => word,
            _ => "",
        }
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' | '`' => {
                let inner = quoted(&mut chars, c);
                found.push(if c == '\'' { Token::Literal(inner) } else { Token::Name(inner) });
            }
            '(' => found.push(Token::Open),
            ')' => found.push(Token::Close),
            '=' | '<' | '>' | '!' | '≥' | '≤' | '≠' => {
                let mut written = String::from(c);
                while let Some(next) = chars.next_if(|next| matches!(next, '=' | '<' | '>')) {
                    written.push(next);
                }
                found.push(Operator::written(&written).map_or(Token::Other(c), Token::Operator));
            }
            c if c.is_alphanumeric() || c == '_' => {
                let is_number = c.is_ascii_digit();
                let mut word = String::from(c);
                loop {
                    // A day such as `2014-01-31` may stand without quotes in a condition.
                    let is_day = is_number && matches!(word.len(), 4 | 7);
                    fn continues_token(is_day: bool, is_number: bool, next: &char) -> bool {
                        next.is_alphanumeric()
                            || *next == '_'
                            || (is_number && *next == '.')
                            || (is_day && *next == '-')
                    }
                    let Some(next) = chars.next_if(|next| continues_token(is_day, is_number, next))
                    else {
                        break;
                    };
                    word.push(next);
                }
                let word = word.to_lowercase();
                found.push(if is_number { Token::Literal(word) } else { Token::Word(word) });
            }
            c if c.is_whitespace() => {}
            c => found.push(Token::Other(c)),
        }
    }
    found
}

/// The text up to the closing quote, which a second one escapes.
fn quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, quote: char) -> String {
    let mut inner = String::new();
    while let Some(c) = chars.next() {
        if c == quote && chars.next_if_eq(&quote).is_none() {
            break;
        }
        inner.push(c);
    }
    inner.trim().to_lowercase()
}

/// The facts that are known within a pair of parentheses.
#[derive(Debug, Clone, Default)]
struct Frame {
    /// True if a NOT stands before it.
    is_negated: bool,
    /// True after a NOT within it, up to the next AND or OR.
    is_after_not: bool,
    is_certain: bool,
    /// The CASEs that are open.
    cases: usize,
    /// The column before the list of an IN, and whether it is a NOT IN.
    list: Option<(String, bool)>,
}

impl Frame {
    fn negates(&self) -> bool {
        self.is_negated != self.is_after_not
    }

    fn is_sure(&self) -> bool {
        self.is_certain && self.cases == 0
    }
}

struct Reader<'t> {
    tokens: &'t [Token],
    /// The parentheses that are open, the innermost last.
    frames: Vec<Frame>,
    found: Vec<Comparison>,
}

impl Reader<'_> {
    fn take(&mut self, at: usize) {
        let tokens = self.tokens;
        match &tokens[at] {
            Token::Open => self.open(at),
            Token::Close if self.frames.len() > 1 => {
                self.frames.pop();
            }
            Token::Literal(text) => self.literal(at, text),
            Token::Word(word) => self.keyword(at, word),
            Token::Other(',' | ';') => self.end_not(),
            _ => {}
        }
    }

    /// The word `back` tokens before a place; empty if there is none.
    fn word_before(&self, at: usize, back: usize) -> &str {
        at.checked_sub(back).and_then(|at| self.tokens.get(at)).map_or("", Token::word)
    }

    fn end_not(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.is_after_not = false;
        }
    }

    fn open(&mut self, at: usize) {
        let Some(outer) = self.frames.last() else { return };
        let is_negated = outer.negates();
        let is_certain = outer.is_sure();
        let name = self.word_before(at, 1);
        let is_not = self.word_before(at, 2) == "not";
        let is_query = matches!(self.tokens.get(at + 1).map_or("", Token::word), "select" | "with");
        let is_name = at > 0 && matches!(self.tokens[at - 1], Token::Word(_) | Token::Name(_));
        let plain = Frame { is_negated, is_certain, ..Frame::default() };
        let frame = match name {
            "in" if !is_query => {
                let column = self.column_before(at - 1 - usize::from(is_not));
                Frame { list: Some((column, is_not)), ..plain }
            }
            "in" | "exists" => {
                Frame { is_certain: is_certain && !is_not && !is_negated, ..Frame::default() }
            }
            name if KEYWORDS.contains(&name) || CONVERSIONS.contains(&name) => plain,
            _ if is_name => Frame::default(),
            _ if is_query => Frame { is_negated: false, ..plain },
            _ => plain,
        };
        self.frames.push(frame);
    }

    fn keyword(&mut self, at: usize, word: &str) {
        let before = self.word_before(at, 1);
        match word {
            "null" if before == "is" => {
                let column = self.column_before(at - 1);
                self.push(column, Operator::Null, "");
            }
            "null" if before == "not" && self.word_before(at, 2) == "is" => {
                let column = self.column_before(at - 2);
                self.push(column, Operator::NotNull, "");
            }
            "not" if before != "is" => {
                let next = self.tokens.get(at + 1).map_or("", Token::word);
                let is_part = matches!(next, "in" | "exists" | "between" | "null" | "similar")
                    || PATTERNS.contains(&next);
                if let Some(frame) = self.frames.last_mut().filter(|_| !is_part) {
                    frame.is_after_not = !frame.is_after_not;
                }
            }
            "and" if self.between(at).is_some() => {}
            "and" | "or" | "where" | "on" | "having" | "then" | "else" | "when" | "select"
            | "union" | "group" | "order" => self.end_not(),
            _ => {}
        }
        if let Some(frame) = self.frames.last_mut() {
            match word {
                "case" => frame.cases += 1,
                "end" => frame.cases = frame.cases.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// The place of the BETWEEN to which an AND belongs.
    fn between(&self, and: usize) -> Option<usize> {
        let word = |at: usize| self.tokens[at].word();
        let nearest = (and.saturating_sub(BETWEEN)..and)
            .rev()
            .find(|at| matches!(word(*at), "between" | "and" | "or"))?;
        (word(nearest) == "between").then_some(nearest)
    }

    fn literal(&mut self, at: usize, text: &str) {
        if let Some((column, is_not)) = self.frames.last().and_then(|frame| frame.list.clone()) {
            let operator = if is_not { Operator::NotEqual } else { Operator::Equal };
            return self.push(column, operator, text);
        }
        let mut start = at;
        let mut text = text.to_owned();
        if let [.., Token::Operator(_), Token::Other('-')] = &self.tokens[..at] {
            (start, text) = (at - 1, format!("-{text}"));
        }
        loop {
            match &self.tokens[..start] {
                [.., Token::Word(name), Token::Open] if CONVERSIONS.contains(&name.as_str()) => {
                    start -= 2;
                }
                [.., Token::Word(name)] if CONVERSIONS.contains(&name.as_str()) => start -= 1,
                _ => break,
            }
        }
        if let Some((column, operator)) = self.left_of(start).or_else(|| self.right_of(at)) {
            self.push(column, operator, &text);
            if self.is_moved(at, start != at)
                && let Some(last) = self.found.last_mut()
            {
                last.is_certain = false;
            }
        }
    }

    /// Returns true if a literal is only an operand of what is compared, as in `date('2023-01-01',
    /// '+1 year')`.
    fn is_moved(&self, at: usize, is_called: bool) -> bool {
        let rest = self.tokens.get(at + 1..).unwrap_or_default();
        fn is_bracket_or_cast(token: &&Token) -> bool {
            matches!(token, Token::Close | Token::Other(':')) || CONVERSIONS.contains(&token.word())
        }
        (is_called && rest.first() == Some(&Token::Other(',')))
            || rest
                .iter()
                .find(|token| !is_bracket_or_cast(token))
                .is_some_and(|token| matches!(token, Token::Other('+' | '-' | '*' | '/')))
    }

    /// The column and the operator before a literal.
    fn left_of(&self, start: usize) -> Option<(String, Operator)> {
        let at = start.checked_sub(1)?;
        let is_not = |at: usize| self.word_before(at, 1) == "not";
        let column = |at: usize| self.column_before(at - usize::from(is_not(at)));
        let either = |at: usize, operator: Operator| {
            if is_not(at) { operator.negated() } else { operator }
        };
        match &self.tokens[at] {
            Token::Operator(operator) => Some((self.column_before(at), *operator)),
            Token::Word(word) if PATTERNS.contains(&word.as_str()) => {
                Some((column(at), either(at, Operator::Equal)))
            }
            Token::Word(word) if word == "between" => {
                Some((column(at), either(at, Operator::AtLeast)))
            }
            Token::Word(word) if word == "and" => {
                let between = self.between(at)?;
                Some((column(between), either(between, Operator::AtMost)))
            }
            _ => None,
        }
    }

    /// The column and the operator behind a literal, as they read from the column.
    fn right_of(&self, at: usize) -> Option<(String, Operator)> {
        match self.tokens.get(at + 1)? {
            Token::Operator(operator) => {
                Some((self.first_name(at + 2, self.tokens.len()), operator.turned()))
            }
            _ => None,
        }
    }

    /// The name of the column whose expression ends before a place; of a call, its first column.
    fn column_before(&self, end: usize) -> String {
        let Some(last) = end.checked_sub(1) else { return String::new() };
        match &self.tokens[last] {
            Token::Word(name) | Token::Name(name) => name.clone(),
            Token::Close => {
                let mut depth = 0usize;
                for at in (0..last).rev() {
                    match self.tokens[at] {
                        Token::Close => depth += 1,
                        Token::Open if depth == 0 => return self.first_name(at + 1, last),
                        Token::Open => depth -= 1,
                        _ => {}
                    }
                }
                String::new()
            }
            _ => String::new(),
        }
    }

    /// The first name in a range that is not called, without what qualifies it.
    fn first_name(&self, from: usize, to: usize) -> String {
        let is_called = |at: usize| self.tokens.get(at + 1) == Some(&Token::Open);
        let name = |at: usize| match self.tokens.get(at) {
            Some(Token::Word(name) | Token::Name(name)) if name != "distinct" => Some(name),
            _ => None,
        };
        let first = (from..to).find(|at| name(*at).is_some() && !is_called(*at));
        let Some(mut at) = first else { return String::new() };
        while self.tokens.get(at + 1) == Some(&Token::Other('.')) && name(at + 2).is_some() {
            at += 2;
        }
        name(at).cloned().unwrap_or_default()
    }

    fn push(&mut self, column: String, operator: Operator, literal: &str) {
        let Some(frame) = self.frames.last() else { return };
        let operator = if frame.negates() { operator.negated() } else { operator };
        let is_certain = frame.is_sure();
        self.found.push(Comparison { column, operator, literal: literal.to_owned(), is_certain });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each comparison as `column operator literal`, with `?` behind one that is not certain.
    fn shown(text: &str) -> String {
        read(text)
            .into_iter()
            .map(|one: Comparison| {
                let mark = if one.is_certain { "" } else { "?" };
                format!("{} {:?} {}{mark}", one.column, one.operator, one.literal)
            })
            .collect::<Vec<_>>()
            .join(", ")
    }

    #[test]
    fn comparisons_are_read_in_their_forms() {
        for (text, wanted) in [
            ("price > 50", "price More 50"),
            ("p.Price >= 50.0 AND 3 < stock", "price AtLeast 50.0, stock More 3"),
            ("NOT (a <= 50 OR b = 'X')", "a More 50, b NotEqual x"),
            ("NOT a = 1 AND b = 2", "a NotEqual 1, b Equal 2"),
            ("a BETWEEN 1 AND 2 AND b <> 3", "a AtLeast 1, a AtMost 2, b NotEqual 3"),
            ("a NOT BETWEEN 1 AND 2", "a Less 1, a More 2"),
            ("a IN ('x', 'y') AND b NOT IN (1)", "a Equal x, a Equal y, b NotEqual 1"),
            ("a NOT LIKE 'x%'", "a NotEqual x%"),
            ("\"A\" IS NULL OR b IS NOT NULL", "a Null , b NotNull "),
            ("NOT a IS NULL", "a NotNull "),
            ("strftime('%Y', o.day) = '2023'", "day Equal 2023"),
            ("CAST(strftime('%Y', day) AS INTEGER) = 2023", "day Equal 2023"),
            ("day >= DATE '2023-01-01'", "day AtLeast 2023-01-01"),
            ("day >= date('2023-01-01')", "day AtLeast 2023-01-01"),
            ("day >= 2023-01-01", "day AtLeast 2023-01-01"),
            ("day < date('2023-01-01', '+1 year')", "day Less 2023-01-01?"),
            ("day < '2023-01-01'::date + 7", "day Less 2023-01-01?"),
            ("a > -5", "a More -5"),
            ("sum(CASE WHEN a = 'x' THEN 1 ELSE 0 END)", "a Equal x?"),
            ("c NOT IN (SELECT c FROM t WHERE a = 'x')", "a Equal x?"),
            ("NOT EXISTS (SELECT 1 FROM t WHERE a = 'x')", "a Equal x?"),
            ("c IN (SELECT c FROM t WHERE a = 'x')", "a Equal x"),
            ("SELECT 1 WHERE a = 'x' EXCEPT SELECT 2", "a Equal x?"),
            ("country = New Zealand", ""),
            ("= < > ( ' )", ""),
        ] {
            assert_eq!(shown(text), wanted, "{text}");
        }
    }
}
