//! The parts of a statement in canonical spelling, and the comparisons with literals among them,
//! wherever they stand.

use super::Asked;

/// Signs between the parts of a sum or a product.
const ARITHMETIC: &[&str] = &["%", "*", "+", "-", "/", "||"];
/// Comparisons that are read.
const MOST: usize = 64;

/// A comparison of a column, or of a call that has it, with a literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition<'f> {
    /// The name of the one column; empty if there is none, as in `COUNT(*)`.
    pub(super) column: &'f str,
    /// The text of the call in lower case; empty for the column alone.
    pub(super) call: String,
    /// The operator with the column on its left: `=`, `<>`, `<`, `<=`, `>`, `>=` or `LIKE`.
    pub(super) operator: &'static str,
    /// The literal without its quotes.
    pub(super) literal: &'f str,
    pub(super) is_text: bool,
    /// True behind a NOT.
    pub(super) is_denied: bool,
}

impl Condition<'_> {
    /// The literal as a number.
    pub(super) fn number(&self) -> Option<f64> {
        self.literal.parse().ok().filter(|number: &f64| number.is_finite())
    }
}

impl Asked<'_> {
    /// The comparisons with literals in the statement.
    pub(super) fn list_conditions(&self) -> Vec<Condition<'_>> {
        let names: Vec<&str> =
            self.facts.columns.iter().map(|path| path.rsplit('.').next().unwrap_or(path)).collect();
        let parts = split(&self.facts.normalized);
        let reader = Reader { parts: &parts, names: &names };
        let mut found: Vec<Condition<'_>> =
            (0..parts.len()).flat_map(|at| reader.read(at)).take(MOST).collect();
        found.dedup();
        found
    }
}

/// The parts of a statement: words with their qualifiers, literals, signs.
pub(super) fn split(text: &str) -> Vec<&str> {
    fn is_operator(c: char) -> bool {
        "<>=!|".contains(c)
    }
    let mut parts = Vec::new();
    let mut start = None;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        if let Some(end) = quote {
            // A quote in a text stands there twice: the text goes on behind it.
            if c == end {
                quote = None;
            }
            continue;
        }
        let begun = start.map(|start: usize| &text[start..at]);
        let ends = begun.is_some_and(|begun| begun.starts_with(is_operator) != is_operator(c));
        if "(),*+-/%".contains(c) || c.is_whitespace() || ends {
            parts.extend(begun.filter(|begun| !begun.is_empty()));
            start = None;
        }
        if "(),*+-/%".contains(c) {
            parts.push(&text[at..at + c.len_utf8()]);
        } else if !c.is_whitespace() {
            start = start.or(Some(at));
        }
        if ['\'', '"', '`'].contains(&c) {
            quote = Some(c);
        }
    }
    parts.extend(start.map(|start| &text[start..]));
    parts
}

/// The last name of a word, without quotes and qualifiers.
pub(super) fn last_name(word: &str) -> &str {
    let word = word.trim_end_matches(['"', '`']);
    word.rsplit(['.', '"', '`']).next().unwrap_or(word)
}

/// The place of the parenthesis that closes the one at a place.
pub(super) fn find_close(parts: &[&str], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    parts.iter().enumerate().skip(open).find_map(|(at, part)| {
        match *part {
            "(" => depth += 1,
            ")" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

fn find_open(parts: &[&str], close: usize) -> Option<usize> {
    let mut depth = 0_usize;
    parts.iter().enumerate().take(close + 1).rev().find_map(|(at, part)| {
        match *part {
            ")" => depth += 1,
            "(" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

/// Returns true for a word that may be the name of a function or a column.
pub(super) fn is_word(part: &str) -> bool {
    part.starts_with(|c: char| c.is_alphabetic() || ['_', '"', '`'].contains(&c))
}

fn is_arithmetic(part: Option<&&str>) -> bool {
    part.is_some_and(|part| ARITHMETIC.contains(part))
}

struct Reader<'p, 'f> {
    parts: &'p [&'f str],
    /// The names of the columns that the statement reads.
    names: &'p [&'f str],
}

/// One side of a comparison: its column, its call, and the place of its first part.
struct Operand<'f> {
    column: &'f str,
    call: String,
    start: usize,
}

struct Literal<'f> {
    text: &'f str,
    is_text: bool,
    end: usize,
}

impl<'f> Reader<'_, 'f> {
    /// The comparisons whose operator stands at a place.
    fn read(&self, at: usize) -> Vec<Condition<'f>> {
        let operator = self.parts[at];
        let is_not = at > 0 && self.parts[at - 1] == "NOT";
        let before = at - usize::from(is_not);
        match operator {
            "=" | "==" | "<>" | "!=" | "<" | "<=" | ">" | ">=" => {
                self.read_comparison(at).into_iter().collect()
            }
            "LIKE" | "ILIKE" => {
                let read = self.read_operand_before(before).zip(self.read_literal(at + 1));
                let read = read.map(|(operand, value)| condition(operand, "LIKE", value, is_not));
                read.into_iter().collect()
            }
            "BETWEEN" => self.read_between(before, at, is_not).unwrap_or_default(),
            "IN" => self.read_list(before, at, is_not).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    fn read_comparison(&self, at: usize) -> Option<Condition<'f>> {
        let [operator, turned] = match self.parts[at] {
            "=" | "==" => ["=", "="],
            "<" => ["<", ">"],
            "<=" => ["<=", ">="],
            ">" => [">", "<"],
            ">=" => [">=", "<="],
            _ => ["<>", "<>"],
        };
        if let Some(value) = self.read_literal(at + 1) {
            let operand = self.read_operand_before(at)?;
            let is_denied = self.is_denied(operand.start);
            return Some(condition(operand, operator, value, is_denied));
        }
        let value = self.read_literal(at.checked_sub(1)?)?;
        let is_denied = self.is_denied(at - 1);
        let operand = self.read_operand_behind(at + 1)?;
        let is_part = at > 1 && is_arithmetic(self.parts.get(at - 2));
        (!is_part).then(|| condition(operand, turned, value, is_denied))
    }

    fn read_between(&self, before: usize, at: usize, is_not: bool) -> Option<Vec<Condition<'f>>> {
        let low = self.read_literal(at + 1)?;
        self.parts.get(low.end).filter(|and| **and == "AND")?;
        let high = self.read_literal(low.end + 1)?;
        let one = self.read_operand_before(before)?;
        let other = self.read_operand_before(before)?;
        Some(vec![condition(one, ">=", low, is_not), condition(other, "<=", high, is_not)])
    }

    fn read_list(&self, before: usize, at: usize, is_not: bool) -> Option<Vec<Condition<'f>>> {
        let close = find_close(self.parts, at + 1)?;
        let mut found = Vec::new();
        let mut next = at + 2;
        while next < close {
            let value = self.read_literal(next)?;
            next = value.end + 1;
            found.push(condition(self.read_operand_before(before)?, "=", value, is_not));
        }
        Some(found)
    }

    fn is_denied(&self, start: usize) -> bool {
        let mut before = self.parts[..start].iter().rev().copied();
        before.find(|part| *part != "(") == Some("NOT")
    }

    /// The literal at a place, which is no part of a sum.
    fn read_literal(&self, at: usize) -> Option<Literal<'f>> {
        let part = self.parts.get(at)?;
        let literal = match *part {
            "DATE" | "TIMESTAMP" if self.parts.get(at + 1)?.starts_with('\'') => {
                Literal { end: at + 2, ..read_text(self.parts[at + 1], at + 1)? }
            }
            "date" | "DATE" | "datetime" | "DATETIME" => match self.parts.get(at + 1..at + 4)? {
                ["(", text, ")"] => Literal { end: at + 4, ..read_text(text, at)? },
                _ => return None,
            },
            "CAST" => match self.parts.get(at + 1..at + 6)? {
                ["(", text, "AS", "DATE" | "TIMESTAMP", ")"] => {
                    Literal { end: at + 6, ..read_text(text, at)? }
                }
                _ => return None,
            },
            "true" | "TRUE" => Literal { text: "1", is_text: false, end: at + 1 },
            "false" | "FALSE" => Literal { text: "0", is_text: false, end: at + 1 },
            part if part.starts_with('\'') => read_text(part, at)?,
            part if part.starts_with(|c: char| c.is_ascii_digit()) => {
                Literal { text: part, is_text: false, end: at + 1 }
            }
            _ => return None,
        };
        (!is_arithmetic(self.parts.get(literal.end))).then_some(literal)
    }

    /// The operand that ends before a place.
    fn read_operand_before(&self, end: usize) -> Option<Operand<'f>> {
        let last = *self.parts.get(end.checked_sub(1)?)?;
        let start = match last {
            ")" => {
                let open = find_open(self.parts, end - 1)?;
                let is_call =
                    open > 0 && is_word(self.parts[open - 1]) && !is_key(self.parts[open - 1]);
                open - usize::from(is_call)
            }
            _ => end - 1,
        };
        let is_part = start > 0 && is_arithmetic(self.parts.get(start - 1));
        self.read_operand(start, end).filter(|_| !is_part)
    }

    /// The operand that begins at a place.
    fn read_operand_behind(&self, start: usize) -> Option<Operand<'f>> {
        let is_call = self.parts.get(start + 1) == Some(&"(");
        let end = match is_call && is_word(self.parts[start]) {
            true => find_close(self.parts, start + 1)? + 1,
            false => start + 1,
        };
        self.read_operand(start, end).filter(|_| !is_arithmetic(self.parts.get(end)))
    }

    fn read_operand(&self, start: usize, end: usize) -> Option<Operand<'f>> {
        let parts = self.parts.get(start..end)?;
        if parts.contains(&"SELECT") {
            return None;
        }
        let mut columns: Vec<&'f str> = Vec::new();
        for name in parts.iter().copied().filter(|part| is_word(part)).map(last_name) {
            let is_known = self.names.iter().any(|known| known.eq_ignore_ascii_case(name));
            if is_known && !columns.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                columns.push(name);
            }
        }
        let column = match (columns.as_slice(), parts.len()) {
            ([column], _) => column,
            ([], 2..) => "",
            _ => return None,
        };
        let call = if parts.len() > 1 { parts.join(" ").to_lowercase() } else { String::new() };
        Some(Operand { column, call, start })
    }
}

/// Returns true for a word before a parenthesis that calls nothing.
fn is_key(word: &str) -> bool {
    ["AND", "OR", "NOT", "WHERE", "HAVING", "ON", "WHEN", "IN", "BY", "SELECT"].contains(&word)
}

fn read_text(part: &str, at: usize) -> Option<Literal<'_>> {
    let text = part.strip_prefix('\'')?.strip_suffix('\'')?;
    Some(Literal { text, is_text: true, end: at + 1 })
}

fn condition<'f>(
    operand: Operand<'f>,
    operator: &'static str,
    value: Literal<'f>,
    is_denied: bool,
) -> Condition<'f> {
    let Operand { column, call, .. } = operand;
    Condition { column, call, operator, literal: value.text, is_text: value.is_text, is_denied }
}
