//! The way in: tokens of the engine become tokens of the parser. What is only half understood is
//! refused.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token as Symbol, TokenWithSpan, TokenizerError, Word};
use syrch_core::Dialect;

use super::{COMPREHENSION, EXCLUSIONS, GROUP, MARK, PIVOT, SAMPLE, UNPIVOT};

/// Writes the forms of a dialect as the parser can read them.
pub(crate) fn carry(
    tokens: Vec<TokenWithSpan>,
    dialect: &Dialect,
) -> Result<Vec<TokenWithSpan>, TokenizerError> {
    if !matches!(dialect, Dialect::Duckdb | Dialect::Postgres) || !tokens.iter().any(may_begin) {
        return Ok(tokens);
    }
    let is_duckdb = *dialect == Dialect::Duckdb;
    let out = Vec::with_capacity(tokens.len() + 8);
    let mut reader = Reader { tokens, at: 0, out, frames: vec![Frame::new(0)], is_duckdb };
    while reader.at < reader.tokens.len() {
        reader.next()?;
    }
    reader.end_pivot()?;
    Ok(reader.out)
}

/// Returns true if a token may be part of a form that is carried through the parser's tree.
fn may_begin(token: &TokenWithSpan) -> bool {
    const WORDS: [&str; 14] = [
        "exclude",
        "search",
        "cycle",
        "asof",
        "positional",
        "sample",
        "pivot",
        "unpivot",
        "pivot_wider",
        "pivot_longer",
        "for",
        "straight_join",
        "semi",
        "anti",
    ];
    WORDS.iter().any(|word| is_unquoted(token, word))
}

fn is_unquoted(token: &TokenWithSpan, wanted: &str) -> bool {
    matches!(
        &token.token, Symbol::Word(word) if word.quote_style
            .is_none() && word.value
            .eq_ignore_ascii_case(wanted)
    )
}

/// A name as PostgreSQL reads it, in quotes.
fn name(token: &TokenWithSpan) -> Option<String> {
    let Symbol::Word(Word { value, quote_style, keyword: _ }) = &token.token else { return None };
    match quote_style {
        Some(_) => Some(format!("\"{}\"", value.replace('"', "\"\""))),
        None if value.is_ascii() => Some(format!("\"{}\"", value.to_ascii_lowercase())),
        None => None,
    }
}

/// A constant that is written in one way only.
fn constant(token: &TokenWithSpan) -> Option<String> {
    match &token.token {
        Symbol::Number(digits, false) => Some(digits.clone()),
        Symbol::SingleQuotedString(text) if !text.contains('\\') => {
            Some(format!("'{}'", text.replace('\'', "''")))
        }
        Symbol::Word(_) => ["true", "false", "null"]
            .into_iter()
            .find(|word| is_unquoted(token, word))
            .map(str::to_uppercase),
        _ => None,
    }
}

/// The part of a statement `PIVOT` or `UNPIVOT` that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Source,
    List,
    Rest,
}

/// The construct that an opening bracket began.
struct Frame {
    /// The bracket's place among the tokens of the parser, or that of the first token.
    open: usize,
    is_square: bool,
    /// Behind WITH and before the query.
    is_with: bool,
    /// Within `PIVOT (…)` behind a relation.
    is_pivoted: bool,
    has_groups: bool,
    pivot: Option<(Part, bool)>,
}

impl Frame {
    fn new(open: usize) -> Self {
        Self {
            open,
            is_square: false,
            is_with: false,
            is_pivoted: false,
            has_groups: false,
            pivot: None,
        }
    }
}

struct Reader {
    tokens: Vec<TokenWithSpan>,
    at: usize,
    out: Vec<TokenWithSpan>,
    /// The brackets around, the innermost last; the first stands for the statement.
    frames: Vec<Frame>,
    is_duckdb: bool,
}

impl Reader {
    fn is_word_ahead(&self, by: usize, word: &str) -> bool {
        self.tokens.get(self.at + by).is_some_and(|token| is_unquoted(token, word))
    }

    /// Returns true if these words stand here.
    fn are_words(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(by, word)| self.is_word_ahead(by, word))
    }

    fn symbol(&self, by: usize) -> Option<&Symbol> {
        self.tokens.get(self.at + by).map(|token| &token.token)
    }

    fn is_behind(&self, word: &str) -> bool {
        self.out.last().is_some_and(|token| is_unquoted(token, word))
    }

    fn is_behind_symbol(&self, symbol: &Symbol) -> bool {
        self.out.last().is_some_and(|token| token.token == *symbol)
    }

    /// Writes a token at the place of the present one.
    fn push(&mut self, token: Symbol) {
        let span = self.tokens.get(self.at).or(self.tokens.last()).map(|token| token.span);
        let span = span.unwrap_or_else(sqlparser::tokenizer::Span::empty);
        self.out.push(TokenWithSpan { token, span });
    }

    fn push_words(&mut self, words: &[&str]) {
        words.iter().for_each(|word| self.push(Symbol::make_keyword(word)));
    }

    fn push_mark(&mut self, value: String) {
        self.push(Symbol::Word(Word { value, quote_style: None, keyword: Keyword::NoKeyword }));
    }

    fn take(&mut self) {
        self.out.push(self.tokens[self.at].clone());
        self.at += 1;
    }

    fn fail_unsupported<T>(&self, form: &str) -> Result<T, TokenizerError> {
        let token = self.tokens.get(self.at).or(self.tokens.last());
        let location =
            token.map_or(sqlparser::tokenizer::Location::empty(), |token| token.span.start);
        Err(TokenizerError { message: format!("not supported: {form}"), location })
    }

    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::new(0));
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn next(&mut self) -> Result<(), TokenizerError> {
        match self.tokens[self.at].token.clone() {
            Symbol::LParen | Symbol::LBracket => {
                let mut frame = Frame::new(self.out.len());
                frame.is_square = self.tokens[self.at].token == Symbol::LBracket;
                frame.is_pivoted = self.is_duckdb && !frame.is_square && self.is_behind("pivot");
                self.take();
                self.frames.push(frame);
                return Ok(());
            }
            Symbol::RParen | Symbol::RBracket => {
                self.end_pivot()?;
                let frame = self.frames.pop();
                if frame.is_some_and(|frame| frame.has_groups) {
                    self.push(Symbol::RParen);
                    self.push(Symbol::RParen);
                }
                self.take();
                return Ok(());
            }
            Symbol::SemiColon => self.end_pivot()?,
            Symbol::Comma if matches!(self.frame().pivot, Some((Part::Source, _))) => {
                return self
                    .fail_unsupported("PIVOT of several tables; put a query in parentheses");
            }
            Symbol::Word(Word { quote_style: None, .. }) => return self.word(),
            _ => {}
        }
        self.take();
        Ok(())
    }

    fn word(&mut self) -> Result<(), TokenizerError> {
        if self.is_word_ahead(0, "exclude")
            && ["row", "preceding", "following"].iter().any(|word| self.is_behind(word))
        {
            return self.exclusion();
        }
        if !self.is_duckdb {
            if self.is_behind_symbol(&Symbol::RParen)
                && (self.is_word_ahead(0, "search") || self.is_word_ahead(0, "cycle"))
            {
                return self.recursion();
            }
            self.take();
            return Ok(());
        }
        if self.is_word_ahead(0, "with") && self.is_query_start() {
            self.frame().is_with = true;
        } else if ["select", "from", "values"].iter().any(|word| self.is_word_ahead(0, word)) {
            self.frame().is_with = false;
        }
        if let Some((part, is_unpivot)) = self.frame().pivot {
            return self.pivot(part, is_unpivot);
        }
        if self.frame().is_pivoted && self.are_words(&["group", "by"]) && !self.frame().has_groups {
            self.frame().has_groups = true;
            self.push_words(&["DEFAULT", "ON", "NULL"]);
            self.push(Symbol::LParen);
            self.push_mark(GROUP.to_owned());
            self.push(Symbol::LParen);
            self.at += 2;
            return Ok(());
        }
        if self.is_query_start() {
            let is_pivot = self.is_word_ahead(0, "pivot") || self.is_word_ahead(0, "pivot_wider");
            let is_unpivot =
                self.is_word_ahead(0, "unpivot") || self.is_word_ahead(0, "pivot_longer");
            if is_pivot || is_unpivot {
                self.push_words(&["FROM"]);
                self.at += 1;
                let frame = self.frame();
                frame.pivot = Some((Part::Source, is_unpivot));
                frame.is_with = false;
                return Ok(());
            }
        }
        self.joins_and_rest()
    }

    /// Returns true if a query may begin here.
    fn is_query_start(&mut self) -> bool {
        let is_with = self.frame().is_with;
        self.out.last().is_none_or(|last| last.token == Symbol::LParen)
            || (is_with && self.is_behind_symbol(&Symbol::RParen))
    }

    fn joins_and_rest(&mut self) -> Result<(), TokenizerError> {
        if self.are_words(&["positional", "join"]) {
            self.push(Symbol::Word(Word {
                value: "STRAIGHT_JOIN".to_owned(),
                quote_style: None,
                keyword: Keyword::STRAIGHT_JOIN,
            }));
            self.at += 2;
        } else if self.are_words(&["asof", "join"]) {
            self.push_words(&["RIGHT", "SEMI", "JOIN"]);
            self.at += 2;
        } else if self.are_words(&["asof", "inner", "join"]) {
            self.push_words(&["RIGHT", "SEMI", "JOIN"]);
            self.at += 3;
        } else if self.are_words(&["asof", "left", "join"]) {
            self.push_words(&["RIGHT", "ANTI", "JOIN"]);
            self.at += 3;
        } else if self.are_words(&["asof", "left", "outer", "join"]) {
            self.push_words(&["RIGHT", "ANTI", "JOIN"]);
            self.at += 4;
        } else if self.is_word_ahead(0, "asof") && (1..4).any(|by| self.is_word_ahead(by, "join")) {
            return self.fail_unsupported(
                "ASOF with this kind of JOIN; only ASOF JOIN and ASOF LEFT JOIN are",
            );
        } else if self.is_word_ahead(0, "straight_join") {
            return self.fail_unsupported("STRAIGHT_JOIN");
        } else if self.is_word_ahead(0, "right")
            && (self.is_word_ahead(1, "semi") || self.is_word_ahead(1, "anti"))
        {
            return self.fail_unsupported("RIGHT SEMI JOIN and RIGHT ANTI JOIN");
        } else if self.are_words(&["using", "sample"]) {
            return self.sample();
        } else if self.is_word_ahead(0, "for") && self.frame().is_square {
            let open = self.frame().open;
            if let Some(token) =
                self.out.get_mut(open).filter(|token| token.token == Symbol::LBracket)
            {
                let value = COMPREHENSION.to_owned();
                token.token =
                    Symbol::Word(Word { value, quote_style: None, keyword: Keyword::NoKeyword });
            }
            self.take();
        } else {
            self.take();
        }
        Ok(())
    }

    /// `EXCLUDE TIES)`: the bracket that it ends has the mark behind it.
    fn exclusion(&mut self) -> Result<(), TokenizerError> {
        let words = |exclusion: &str| exclusion.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let found = EXCLUSIONS.into_iter().map(|exclusion| (exclusion, words(exclusion))).find(
            |(_, words)| {
                let is_here =
                    words.iter().enumerate().all(|(by, word)| self.is_word_ahead(by, word));
                is_here && self.symbol(words.len()) == Some(&Symbol::RParen)
            },
        );
        let Some((exclusion, words)) = found.filter(|_| self.frames.len() > 1) else {
            return self.fail_unsupported("EXCLUDE in this place");
        };
        let mark = format!("{MARK}{exclusion}");
        let place = self.frame().open + 1;
        match self.out.get_mut(place).map(|token| &mut token.token) {
            Some(Symbol::Word(Word { value, quote_style: _, keyword: Keyword::NoKeyword })) => {
                value.push_str(&mark)
            }
            _ => {
                let word = Word { value: mark, quote_style: None, keyword: Keyword::NoKeyword };
                let span = self.tokens[self.at].span;
                self.out.insert(place, TokenWithSpan { token: Symbol::Word(word), span });
            }
        }
        self.at += words.len();
        Ok(())
    }

    /// `SEARCH DEPTH FIRST BY a SET b` and `CYCLE a SET b USING c`. Else the word is an alias.
    fn recursion(&mut self) -> Result<(), TokenizerError> {
        let mut at = self.at;
        let mut clauses = Vec::new();
        if let Some((clause, end)) = self.search(at) {
            clauses.push(clause);
            at = end;
        }
        if let Some((clause, end)) = self.cycle(at) {
            clauses.push(clause);
            at = end;
        }
        if clauses.is_empty() {
            if self.is_word_ahead(1, "depth") || self.is_word_ahead(1, "breadth") {
                return self.fail_unsupported("this form of SEARCH");
            }
            self.take();
            return Ok(());
        }
        self.push_words(&["FROM"]);
        self.push_mark(format!("{MARK}{}", clauses.join(" ")));
        self.at = at;
        Ok(())
    }

    fn search(&self, at: usize) -> Option<(String, usize)> {
        let is_word = |index: usize, word: &str| {
            self.tokens.get(index).is_some_and(|token| is_unquoted(token, word))
        };
        let order = ["DEPTH", "BREADTH"].into_iter().find(|order| is_word(at + 1, order))?;
        if !(is_word(at, "search") && is_word(at + 2, "first") && is_word(at + 3, "by")) {
            return None;
        }
        let (names, at) = self.names(at + 4)?;
        let set = is_word(at, "set").then(|| self.tokens.get(at + 1).and_then(name))??;
        Some((format!("SEARCH {order} FIRST BY {names} SET {set}"), at + 2))
    }

    fn cycle(&self, at: usize) -> Option<(String, usize)> {
        let is_word = |index: usize, word: &str| {
            self.tokens.get(index).is_some_and(|token| is_unquoted(token, word))
        };
        if !is_word(at, "cycle") {
            return None;
        }
        let (names, mut at) = self.names(at + 1)?;
        let set = is_word(at, "set").then(|| self.tokens.get(at + 1).and_then(name))??;
        at += 2;
        let mut values = String::new();
        if is_word(at, "to") && is_word(at + 2, "default") {
            let value = self.tokens.get(at + 1).and_then(constant)?;
            values = format!(" TO {value} DEFAULT {}", self.tokens.get(at + 3).and_then(constant)?);
            at += 4;
        }
        let path = is_word(at, "using").then(|| self.tokens.get(at + 1).and_then(name))??;
        Some((format!("CYCLE {names} SET {set}{values} USING {path}"), at + 2))
    }

    /// Names with commas between them, and the place behind them.
    fn names(&self, mut at: usize) -> Option<(String, usize)> {
        let mut names = vec![self.tokens.get(at).and_then(name)?];
        at += 1;
        while self.tokens.get(at).is_some_and(|token| token.token == Symbol::Comma) {
            names.push(self.tokens.get(at + 1).and_then(name)?);
            at += 2;
        }
        Some((names.join(", "), at))
    }

    /// `USING SAMPLE 10%`, `USING SAMPLE 5 ROWS (reservoir, 42)` and `USING SAMPLE bernoulli(10
    /// PERCENT) REPEATABLE (42)`.
    fn sample(&mut self) -> Result<(), TokenizerError> {
        self.at += 2;
        let Some((clause, length)) = self.read_sample() else {
            return self.fail_unsupported(
                "this form of USING SAMPLE; write `USING SAMPLE 10%` or `USING SAMPLE 50 ROWS`",
            );
        };
        self.push_words(&["QUALIFY"]);
        self.push_mark(format!("{SAMPLE}{clause}"));
        self.at += length;
        Ok(())
    }

    fn read_sample(&self) -> Option<(String, usize)> {
        const METHODS: [&str; 3] = ["bernoulli", "reservoir", "system"];
        let method = |by: usize| METHODS.into_iter().find(|method| self.is_word_ahead(by, method));
        let number = |by: usize| match self.symbol(by) {
            Some(Symbol::Number(digits, false))
                if digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') =>
            {
                Some(digits.clone())
            }
            _ => None,
        };
        let size = |by: usize| {
            let number = number(by)?;
            let (unit, length) = match self.symbol(by + 1) {
                Some(Symbol::Mod) => ("%", 2),
                Some(_) if self.is_word_ahead(by + 1, "percent") => ("%", 2),
                Some(_) if self.is_word_ahead(by + 1, "rows") => (" ROWS", 2),
                _ => ("", 1),
            };
            Some((format!("{number}{unit}"), length))
        };
        let is_open = |by: usize| self.symbol(by) == Some(&Symbol::LParen);
        let is_close = |by: usize| self.symbol(by) == Some(&Symbol::RParen);
        if let Some(method) = method(0) {
            let (size, length) = is_open(1).then(|| size(2))??;
            let mut at = is_close(2 + length).then_some(3 + length)?;
            let mut clause = format!("{method}({size})");
            if self.is_word_ahead(at, "repeatable") {
                let seed = is_open(at + 1).then(|| number(at + 2))??;
                clause.push_str(&format!(" REPEATABLE ({seed})"));
                at = is_close(at + 3).then_some(at + 4)?;
            }
            return Some((clause, at));
        }
        let (mut clause, mut at) = size(0)?;
        if is_open(at) {
            let method = method(at + 1)?;
            at += 2;
            let mut seeded = String::new();
            if self.symbol(at) == Some(&Symbol::Comma) {
                seeded = format!(", {}", number(at + 1)?);
                at += 2;
            }
            clause.push_str(&format!(" ({method}{seeded})"));
            at = is_close(at).then_some(at + 1)?;
        }
        Some((clause, at))
    }

    /// A word of a statement `PIVOT` or `UNPIVOT`, outside of brackets.
    fn pivot(&mut self, part: Part, is_unpivot: bool) -> Result<(), TokenizerError> {
        match part {
            Part::Source if self.is_word_ahead(0, "join") => {
                return self.fail_unsupported("PIVOT of a join; put a query in parentheses");
            }
            Part::Source if self.is_word_ahead(0, "on") => {
                self.push_words(&["SELECT"]);
                self.push_mark(if is_unpivot { UNPIVOT } else { PIVOT }.to_owned());
                self.push(Symbol::LParen);
                self.at += 1;
                self.frame().pivot = Some((Part::List, is_unpivot));
                return Ok(());
            }
            Part::List if !is_unpivot && self.is_word_ahead(0, "using") => {
                self.push(Symbol::RParen);
                self.push(Symbol::Comma);
                self.at += 1;
                self.frame().pivot = Some((Part::Rest, is_unpivot));
                return Ok(());
            }
            Part::List if is_unpivot && self.are_words(&["into", "name"]) => {
                return self.names_of_unpivot();
            }
            Part::List
                if ["group", "order", "limit", "offset"]
                    .iter()
                    .any(|word| self.is_word_ahead(0, word)) =>
            {
                self.push(Symbol::RParen);
                self.frame().pivot = Some((Part::Rest, is_unpivot));
            }
            Part::Rest
                if ["select", "from", "where", "having"]
                    .iter()
                    .any(|word| self.is_word_ahead(0, word)) =>
            {
                return self
                    .fail_unsupported("this clause behind PIVOT; put the PIVOT in parentheses");
            }
            _ => {}
        }
        if part == Part::Rest {
            return self.joins_and_rest();
        }
        self.take();
        Ok(())
    }

    /// `INTO NAME n VALUE v`
    fn names_of_unpivot(&mut self) -> Result<(), TokenizerError> {
        let is_name = |by: usize| matches!(self.symbol(by), Some(Symbol::Word(_)));
        if !(is_name(2) && self.is_word_ahead(3, "value") && is_name(4)) {
            return self.fail_unsupported("this form of UNPIVOT; write `INTO NAME n VALUE v`");
        }
        self.push(Symbol::RParen);
        self.push(Symbol::Comma);
        self.at += 2;
        self.take();
        self.push(Symbol::Comma);
        self.at += 1;
        self.take();
        self.frame().pivot = Some((Part::Rest, true));
        Ok(())
    }

    /// Ends a statement `PIVOT` where its bracket or the text ends.
    fn end_pivot(&mut self) -> Result<(), TokenizerError> {
        match self.frame().pivot.take() {
            None | Some((Part::Rest, _)) => {}
            Some((Part::List, _)) => self.push(Symbol::RParen),
            Some((Part::Source, _)) => return self.fail_unsupported("PIVOT without ON"),
        }
        Ok(())
    }
}
