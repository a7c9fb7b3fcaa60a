//! The way out: the text that the parser's tree writes becomes the engine's.

use syrch_core::Dialect;

use super::{MARK, split_exclusion};
use crate::{Kind, Token, lex};

/// Writes a text of the parser's tree as the engine reads it. A text that holds nothing carried
/// stays as it is.
pub(crate) fn restore(text: String, dialect: &Dialect) -> String {
    let is_carried = match dialect {
        Dialect::Duckdb => ["RIGHT SEMI JOIN", "RIGHT ANTI JOIN", "STRAIGHT_JOIN"]
            .iter()
            .any(|join| text.contains(join)),
        Dialect::Postgres => false,
        _ => return text,
    };
    if !is_carried && !text.contains(MARK) && !text.contains("GROUPING SETS (") {
        return text;
    }
    let Ok(tokens) = lex(&text, dialect, usize::MAX) else { return text };
    let tokens: Vec<Token> = tokens.into_iter().filter(Token::is_significant).collect();
    let out = String::with_capacity(text.len());
    let mut writer = Writer {
        text: &text,
        tokens: &tokens,
        at: 0,
        end: 0,
        out,
        frames: vec![Frame::default()],
        words: Vec::new(),
    };
    while writer.at < tokens.len() {
        writer.next(*dialect == Dialect::Duckdb);
    }
    writer.out
}

#[derive(Default)]
struct Frame {
    /// The place of this bracket's last FROM in the output.
    from: Option<usize>,
    /// The exclusion that is written before the closing bracket.
    exclusion: Option<&'static str>,
    /// True if the closing bracket is left out.
    is_dropped: bool,
    /// The texts that replace the first and the second comma behind the closing bracket.
    commas: &'static [&'static str],
    /// The texts that replace the next commas within this bracket.
    pending: &'static [&'static str],
    is_sets: bool,
}

struct Writer<'t> {
    text: &'t str,
    tokens: &'t [Token],
    at: usize,
    /// The end of what was copied.
    end: usize,
    out: String,
    frames: Vec<Frame>,
    /// The beginnings of the last words in the output, with a place for brackets.
    words: Vec<usize>,
}

impl Writer<'_> {
    fn word(&self, by: usize) -> &str {
        self.tokens.get(self.at + by).map_or("", |token| token.text(self.text))
    }

    fn is_before(&self, word: &str) -> bool {
        self.at
            .checked_sub(1)
            .and_then(|at| self.tokens.get(at))
            .is_some_and(|token| token.text(self.text) == word)
    }

    fn are(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(by, word)| self.word(by) == *word)
    }

    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Copies the space before the token, and returns where the token begins.
    fn space(&mut self) -> usize {
        let start = self.tokens[self.at].start;
        if !self.out.is_empty() && self.end < start {
            self.out.push_str(&self.text[self.end..start]);
        }
        self.end = start;
        self.out.len()
    }

    fn copy(&mut self) {
        let place = self.space();
        self.words.push(place);
        let token = self.tokens[self.at];
        self.out.push_str(token.text(self.text));
        self.end = token.end;
        self.at += 1;
    }

    /// Writes words in place of so many tokens.
    fn replace(&mut self, count: usize, words: &str) {
        let place = self.space();
        self.words.push(place);
        self.out.push_str(words);
        self.skip(count);
    }

    fn skip(&mut self, count: usize) {
        self.at = (self.at + count).min(self.tokens.len());
        self.end = self
            .at
            .checked_sub(1)
            .and_then(|last| self.tokens.get(last))
            .map_or(0, |token| token.end);
    }

    /// Takes back the last tokens of the output.
    fn take_back(&mut self, count: usize) {
        for _ in 0..count {
            if let Some(place) = self.words.pop() {
                self.out.truncate(place);
            }
        }
    }

    fn next(&mut self, is_duckdb: bool) {
        let token = self.tokens[self.at];
        match (token.kind, token.text(self.text)) {
            (Kind::Symbol, "\0") => self.mark(),
            (Kind::Quoted, quoted) if quoted.contains(MARK) => self.write_window_name(),
            (Kind::Symbol, "(") => self.open(),
            (Kind::Symbol, ")") => self.close(),
            (Kind::Symbol, ",") => {
                let frame = self.frame();
                match frame.pending.split_first() {
                    Some((first, rest)) => {
                        frame.pending = rest;
                        self.replace(1, &format!(" {first}"));
                    }
                    None => self.copy(),
                }
            }
            (Kind::Word, "FROM") => {
                let place = self.space();
                self.frame().from = Some(place);
                self.copy();
            }
            (Kind::Word, _) if is_duckdb && self.are(&["RIGHT", "SEMI", "JOIN"]) => {
                self.replace(3, "ASOF JOIN")
            }
            (Kind::Word, _) if is_duckdb && self.are(&["RIGHT", "ANTI", "JOIN"]) => {
                self.replace(3, "ASOF LEFT JOIN")
            }
            (Kind::Word, "STRAIGHT_JOIN") if is_duckdb => self.replace(1, "POSITIONAL JOIN"),
            _ => self.copy(),
        }
    }

    fn open(&mut self) {
        let is_sets = self.is_before("SETS");
        let is_nested = self.frame().is_sets
            && (self.word(1) == "GROUPING" && self.word(2) == "SETS"
                || ["ROLLUP", "CUBE"].contains(&self.word(1)));
        if is_nested {
            self.space();
            self.skip(1);
        } else {
            self.copy();
        }
        self.frames.push(Frame { is_sets, is_dropped: is_nested, ..Frame::default() });
    }

    fn close(&mut self) {
        let frame = self.frames.pop().unwrap_or_default();
        if let Some(exclusion) = frame.exclusion {
            self.out.push(' ');
            self.out.push_str(exclusion);
        }
        if frame.is_dropped {
            self.skip(1);
        } else {
            self.copy();
        }
        if !frame.commas.is_empty() && self.word(0) == "," {
            self.frame().pending = frame.commas;
        }
    }

    /// The name of a window with a mark behind it.
    fn write_window_name(&mut self) {
        let token = self.tokens[self.at];
        let quoted = token.text(self.text);
        let ident = sqlparser::ast::Ident::new(quoted.trim_end_matches('"'));
        match split_exclusion(&ident) {
            Some((name, exclusion)) => {
                self.frame().exclusion = Some(exclusion);
                self.replace(1, &format!("{}\"", name.value));
            }
            None => self.copy(),
        }
    }

    fn mark(&mut self) {
        match self.word(1) {
            "pivot" if self.is_before("SELECT") => self.pivot("PIVOT", &["USING"]),
            "unpivot" if self.is_before("SELECT") => self.pivot("UNPIVOT", &["INTO NAME", "VALUE"]),
            // `DEFAULT ON NULL (` before the mark, and a bracket behind it.
            "group" => {
                self.take_back(4);
                self.space();
                self.frame().is_dropped = true;
                self.replace(3, "GROUP BY ");
                self.frames.push(Frame { is_dropped: true, ..Frame::default() });
            }
            "EXCLUDE" => self.exclusion(),
            _ => {
                self.take_back(1);
                self.skip(1);
            }
        }
    }

    fn pivot(&mut self, verb: &str, commas: &'static [&'static str]) {
        self.take_back(1);
        if let Some(from) = self.frame().from.filter(|from| self.out[*from..].starts_with("FROM")) {
            self.out.replace_range(from..from + 4, verb);
            let longer = verb.len().saturating_sub(4);
            self.words.iter_mut().filter(|place| **place > from).for_each(|place| *place += longer);
        }
        self.replace(3, "ON ");
        self.frames.push(Frame { is_dropped: true, commas, ..Frame::default() });
    }

    fn exclusion(&mut self) {
        let shown =
            |count: usize| (1..=count).map(|by| self.word(by)).collect::<Vec<_>>().join(" ");
        let found = (2..=3).find_map(|count| {
            let ident = sqlparser::ast::Ident::new(format!("{MARK}{}", shown(count)));
            split_exclusion(&ident).map(|(_, exclusion)| (count, exclusion))
        });
        match found {
            Some((count, exclusion)) => {
                self.frame().exclusion = Some(exclusion);
                self.skip(count + 1);
            }
            None => self.copy(),
        }
    }
}
