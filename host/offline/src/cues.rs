//! Cues: the words for operations on what is named, such as to count, compare, group, order or
//! exclude.

use super::lexicon::{self, Scale};
use super::query::{Function, Operator};
use super::words::{Kind, Token};

/// The part of a cell in which a text is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Within,
    Beginning,
    End,
}

/// The operation that some words of the question ask for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cue {
    /// A count, such as `how many`.
    Count,
    /// An aggregate, such as `average` and `total`.
    Aggregate(Function),
    /// A column by what it measures, such as `how old` and `how tall`.
    Measure(&'static [&'static str]),
    /// Each value once, such as `different` and `distinct`.
    Distinct,
    /// A superlative, such as `highest` and `oldest`.
    Superlative(Scale),
    /// The most or fewest rows, such as `most number of`; true is the most.
    MostRows(bool),
    /// The most or least frequent value, such as `most common`; true is the most.
    Frequent(bool),
    /// A comparison, such as `more than`, `older than` and `after`.
    Compare(Operator, Scale),
    /// A comparison after its number, such as `3 or more`.
    OrMore(Operator),
    /// A comparison with two numbers.
    Between,
    /// The key of groups follows, such as `each`, `every` and `per`.
    Each,
    /// The word `by`, which groups after an aggregate.
    By,
    /// The key of an order follows, such as `ordered by`.
    OrderBy,
    /// A direction of an order, such as `ascending` and `descending`; true is the greatest first.
    Direction(bool),
    /// An order by what is measured with its direction, such as `newest first` and `in
    /// chronological order`.
    Sorted(Scale),
    /// A negation, such as `not` and `isn't`.
    Not,
    /// The word `only` in a condition: nothing else may be true, which no rule expresses.
    Only,
    Both,
    Or,
    And,
    Like(Part),
    /// A part of a whole, such as `percentage of` and `share of`; true is of a hundred.
    Share(bool),
    /// A limit, such as `top 3`.
    Top(u64),
    /// All columns, such as `all the information`.
    Everything,
    /// A word that opens a condition.
    Trigger,
    /// A verb that opens a request, or the end of a sentence.
    Request,
    /// A comma in a list.
    Comma,
}

/// A cue and the tokens it covers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct At {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) cue: Cue,
}

const ANY: Scale = Scale { up: true, of: &[], counts: false };

/// The cues of a question, in order. Tokens for which `taken` holds belong to a name.
pub(crate) fn cues(tokens: &[Token], taken: &[bool]) -> Vec<At> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if taken[at] {
            at += 1;
            continue;
        }
        let reader = Reader { tokens, taken, at };
        match reader.cue() {
            Some((length, cue)) => {
                out.push(At { from: at, to: at + length, cue });
                at += length;
            }
            None => at += 1,
        }
    }
    out
}

struct Reader<'a> {
    tokens: &'a [Token],
    taken: &'a [bool],
    at: usize,
}

impl Reader<'_> {
    /// The word so many tokens ahead; empty if it is not a free word.
    fn word(&self, ahead: usize) -> &str {
        let at = self.at + ahead;
        match self.tokens.get(at) {
            Some(token) if !self.taken[at] && token.kind == Kind::Word => &token.lower,
            _ => "",
        }
    }

    fn match_words(&self, words: &str) -> Option<usize> {
        let mut length = 0;
        for word in words.split(' ') {
            if self.word(length) != word {
                return None;
            }
            length += 1;
        }
        Some(length)
    }

    fn match_any(&self, phrases: &[&str]) -> Option<usize> {
        phrases.iter().find_map(|words| self.match_words(words))
    }

    /// Returns true if a request may begin here: at the start of a sentence or of a part of one.
    fn may_begin_here(&self) -> bool {
        let Some(before) = self.at.checked_sub(1).map(|at| &self.tokens[at]) else { return true };
        before.kind == Kind::Break
            || matches!(before.lower.as_str(), "and" | "then" | "please" | "only" | "also")
    }

    fn number(&self, ahead: usize) -> Option<&str> {
        let token = self.tokens.get(self.at + ahead)?;
        (token.kind == Kind::Number).then_some(token.lower.as_str())
    }

    /// The cue here and how many tokens it covers. The order matters: longer phrases first.
    fn cue(&self) -> Option<(usize, Cue)> {
        let token = &self.tokens[self.at];
        if token.kind == Kind::Break {
            return Some((1, if token.ends_sentence() { Cue::Request } else { Cue::Comma }));
        }
        if token.kind == Kind::Sign {
            return sign(&token.text).map(|cue| (1, cue));
        }
        if token.kind != Kind::Word {
            return None;
        }
        self.order()
            .or_else(|| self.amount())
            .or_else(|| self.degree())
            .or_else(|| self.comparison())
            .or_else(|| self.connective())
    }

    fn order(&self) -> Option<(usize, Cue)> {
        if matches!(self.word(0), "sort" | "order" | "rank") && self.at == 0 && self.word(1) != "by"
        {
            return Some((1, Cue::Request));
        }
        if self.asks_for_order() {
            let by = self.match_any(&[
                "order by",
                "ordered by",
                "sort by",
                "sorted by",
                "ranked by",
                "arranged by",
                "ordered by the",
            ]);
            return Some((by.unwrap_or(1), Cue::OrderBy));
        }
        if let Some(length) = self.match_any(&["order of", "order for", "order according to"]) {
            return Some((length, Cue::OrderBy));
        }
        fn read_direction(word: &str) -> Option<bool> {
            match word {
                "high" | "large" | "big" | "old" | "most" | "z" => Some(true),
                "low" | "small" | "young" | "least" | "a" => Some(false),
                other => lexicon::superlative_scale(other).map(|scale| scale.up),
            }
        }
        let from = usize::from(self.word(0) == "from");
        let second =
            |at: usize| if self.word(at) == "the" { self.word(at + 1) } else { self.word(at) };
        let first = from + usize::from(from == 1 && self.word(1) == "the");
        if self.word(first + 1) == "to"
            && let (Some(down), Some(up)) =
                (read_direction(self.word(first)), read_direction(second(first + 2)))
            && down != up
        {
            let the = usize::from(self.word(first + 2) == "the");
            return Some((first + 3 + the, Cue::Direction(down)));
        }
        if let Some(found) = self.read_order_name() {
            return Some(found);
        }
        if let Some(scale) =
            lexicon::superlative_scale(self.word(0)).filter(|_| self.word(1) == "first")
        {
            return Some((
                2,
                if scale.of.is_empty() { Cue::Direction(scale.up) } else { Cue::Sorted(scale) },
            ));
        }
        match self.word(0) {
            "ascending" | "increasing" => Some((1, Cue::Direction(false))),
            "descending" | "decreasing" => Some((1, Cue::Direction(true))),
            _ => None,
        }
    }

    /// `in reverse alphabetical order`, `chronologically`.
    fn read_order_name(&self) -> Option<(usize, Cue)> {
        let mut at = usize::from(self.word(0) == "in");
        let reversed = matches!(self.word(at), "reverse" | "reversed" | "inverse");
        at += usize::from(reversed);
        let before = at;
        let kind = self.word(at);
        at += 1;
        let by_time = match kind {
            "alphabetical" | "lexicographical" | "alphabetic" | "alphabetically"
            | "lexicographically" => false,
            "chronological" | "chronologically" => true,
            // `in reverse order of age` and `in order of` are followed by what is ordered.
            _ if reversed => return Some((before, Cue::Direction(true))),
            _ => return None,
        };
        if !kind.ends_with("ly") {
            if self.word(at) != "order" {
                return Some((at, Cue::Direction(reversed))).filter(|_| !by_time);
            }
            at += 1;
        }
        let says_what = matches!(self.word(at), "of" | "by");
        Some(match (by_time, says_what) {
            (true, _) => {
                (at, Cue::Sorted(Scale { up: reversed, of: lexicon::TIME_WORDS, counts: false }))
            }
            // The words for what is ordered follow; a direction before them holds.
            (false, true) if reversed => (before, Cue::Direction(true)),
            (false, true) => (at, Cue::OrderBy),
            (false, false) => (at, Cue::Direction(reversed)),
        })
    }

    /// Returns true if the word here asks for an order of rows.
    fn asks_for_order(&self) -> bool {
        const BY: &[&str] = &[
            "by",
            "in",
            "according",
            "based",
            "from",
            "them",
            "the",
            "alphabetically",
            "ascending",
            "descending",
        ];
        /// Words before which `order` is what customers do.
        const PURCHASES: &[&str] = &["did", "do", "does", "who", "that", "to"];
        match self.word(0) {
            "sort" | "sorted" => true,
            "ordered" => self.orders_rows(),
            "order" if self.any_before(lexicon::NEGATIONS) || self.any_before(PURCHASES) => false,
            // `customers who order in 2024`, but `in order from the oldest to the youngest`.
            "order" if matches!(self.word(1), "in" | "from" | "the") => {
                self.may_begin_here()
                    || (1..6).any(|ahead| lexicon::describes_order(self.word(ahead)))
            }
            "order" | "arranged" | "rank" | "ranked" | "ordering" | "sorting" => {
                BY.contains(&self.word(1))
            }
            _ => false,
        }
    }

    /// Returns true if `ordered` means the order of rows; it may also mean that something was
    /// purchased.
    fn orders_rows(&self) -> bool {
        let before = self.at.checked_sub(1).map_or("", |at| self.tokens[at].lower.as_str());
        let passive = matches!(before, "was" | "were" | "been" | "ever")
            || self.any_before(lexicon::NEGATIONS);
        let reported = match self.word(1) {
            "by" | "according" | "based" => true,
            _ => (1..6).any(|ahead| lexicon::describes_order(self.word(ahead))),
        };
        reported && !passive
    }

    /// Returns true if the word before is one of `words` or ends in `n't`.
    fn any_before(&self, words: &[&str]) -> bool {
        let before = self.at.checked_sub(1).map(|at| self.tokens[at].lower.as_str());
        before.is_some_and(|before| words.contains(&before) || before.ends_with("n't"))
    }

    /// Returns true if `only` restricts a condition; after a verb of request it restricts nothing.
    fn is_restriction(&self) -> bool {
        !self.may_begin_here()
            && !self.any_before(lexicon::REQUESTS)
            && !lexicon::REQUESTS.contains(&self.word(1))
    }

    /// `out of stock`; `3 out of 5` and `out of all` mean a part of a whole.
    fn runs_out(&self) -> Option<usize> {
        let before =
            self.at.checked_sub(1).is_some_and(|before| self.tokens[before].kind == Kind::Number);
        let whole = ["all", "the", "these", "those", "every", "our", "their"];
        let of = self
            .tokens
            .get(self.at + 2)
            .filter(|next| next.kind == Kind::Word && !whole.contains(&next.lower.as_str()));
        self.match_words("out of").filter(|_| !before && of.is_some())
    }

    fn amount(&self) -> Option<(usize, Cue)> {
        if let Some(length) = self.match_any(&["percentage of", "percent of"]) {
            return Some((length, Cue::Share(true)));
        }
        if let Some(length) = self.match_any(&["share of", "proportion of", "fraction of"]) {
            return Some((length, Cue::Share(false)));
        }
        let rows = ["number of", "numbers of", "amount of", "count of"];
        if let Some(scale) =
            lexicon::superlative_scale(self.word(0)).filter(|scale| scale.of.is_empty())
        {
            let the = self.match_any(&["most of"]).map(|length| (length, Cue::MostRows(true)));
            let ahead = Reader { at: self.at + 1, ..*self };
            let counted =
                ahead.match_any(&rows).map(|length| (length + 1, Cue::MostRows(scale.up)));
            if let Some(found) =
                counted.filter(|_| ahead.match_words("amount of").is_none()).or(the)
            {
                return Some(found);
            }
            if lexicon::FREQUENT.contains(&self.word(1)) {
                return Some((2, Cue::Frequent(scale.up)));
            }
        }
        let measured = lexicon::measure(self.word(1));
        if self.word(0) == "how" && !measured.is_empty() {
            return Some((2, Cue::Measure(measured)));
        }
        let counts = [
            "how many times",
            "how many",
            "total number of",
            "total count of",
            "number of",
            "numbers of",
            "count of",
            "count the number of",
            "the number",
            "the count",
            "count",
        ];
        if let Some(length) = self.match_any(&counts) {
            return Some((length, Cue::Count));
        }
        if let Some(length) = self.match_any(&[
            "all the information",
            "all information",
            "all the details",
            "all details",
            "all the data",
            "all attributes",
            "all columns",
            "everything",
        ]) {
            return Some((length, Cue::Everything));
        }
        if self.word(0) == "top" && self.number(1).is_some() {
            return self.number(1)?.parse().ok().map(|count| (2, Cue::Top(count)));
        }
        match self.word(0) {
            "average" | "mean" | "avg" => Some((1, Cue::Aggregate(Function::Avg))),
            // `how many in total`.
            "total" if self.any_before(&["in"]) && self.word(1).is_empty() => {
                Some((1, Cue::Trigger))
            }
            "overall" | "altogether" if self.word(1).is_empty() => Some((1, Cue::Trigger)),
            "total" | "sum" | "combined" | "overall" => Some((
                self.match_any(&["total amount of", "sum of", "total"]).unwrap_or(1),
                Cue::Aggregate(Function::Sum),
            )),
            "different" | "distinct" | "unique" | "distinctive" => Some((1, Cue::Distinct)),
            _ => None,
        }
    }

    fn degree(&self) -> Option<(usize, Cue)> {
        if matches!(self.word(0), "most" | "least") {
            let next =
                lexicon::superlative_scale(self.word(1)).filter(|scale| !scale.of.is_empty());
            if let Some(scale) = next {
                return Some((
                    2,
                    Cue::Superlative(Scale { up: scale.up == (self.word(0) == "most"), ..scale }),
                ));
            }
        }
        if matches!(
            self.word(0),
            "recent" | "recently" | "expensive" | "populous" | "profitable" | "powerful"
        ) {
            return None;
        }
        lexicon::superlative_scale(self.word(0)).map(|scale| (1, Cue::Superlative(scale)))
    }

    fn comparison(&self) -> Option<(usize, Cue)> {
        let fixed: &[(&str, Operator)] = &[
            ("at least", Operator::AtLeast),
            ("at most", Operator::AtMost),
            ("no less than", Operator::AtLeast),
            ("no fewer than", Operator::AtLeast),
            ("not less than", Operator::AtLeast),
            ("no more than", Operator::AtMost),
            ("not more than", Operator::AtMost),
            ("up to", Operator::AtMost),
            ("greater than or equal to", Operator::AtLeast),
            ("more than or equal to", Operator::AtLeast),
            ("less than or equal to", Operator::AtMost),
            ("a minimum of", Operator::AtLeast),
            ("on or after", Operator::AtLeast),
            ("on or before", Operator::AtMost),
            ("no earlier than", Operator::AtLeast),
            ("no later than", Operator::AtMost),
        ];
        if let Some((length, operator)) =
            fixed.iter().find_map(|(words, op)| Some((self.match_words(words)?, *op)))
        {
            return Some((length, Cue::Compare(operator, ANY)));
        }
        if matches!(self.word(0), "exactly" | "precisely") && self.number(1).is_some() {
            return Some((1, Cue::Compare(Operator::Equal, ANY)));
        }
        if self.word(0) == "since"
            && (self.number(1).is_some()
                || self.tokens.get(self.at + 1).is_some_and(|t| t.kind == Kind::Date))
        {
            return Some((
                1,
                Cue::Compare(
                    Operator::AtLeast,
                    Scale { up: true, of: lexicon::TIME_WORDS, counts: false },
                ),
            ));
        }
        if self.word(0) == "or" {
            let scale =
                lexicon::comparative_scale(self.word(1)).filter(|_| self.number(2).is_none());
            let after_number = self.at > 0 && self.tokens[self.at - 1].kind == Kind::Number;
            let than = self.word(2) == "than";
            if let Some(scale) = scale.filter(|_| after_number && !than) {
                return Some((
                    2,
                    Cue::OrMore(if scale.up { Operator::AtLeast } else { Operator::AtMost }),
                ));
            }
        }
        if self.word(0) == "between" {
            return Some((1, Cue::Between));
        }
        let scale = lexicon::comparative_scale(self.word(0))?;
        let alone = matches!(
            self.word(0),
            "above"
                | "over"
                | "exceeding"
                | "exceeds"
                | "exceed"
                | "below"
                | "under"
                | "after"
                | "before"
        );
        let than = self.word(1) == "than";
        let gap = (2..=4).any(|ahead| {
            self.word(ahead) == "than"
                || self.tokens.get(self.at + ahead).is_some_and(|t| t.lower == "than")
        });
        let operator = if scale.up { Operator::Greater } else { Operator::Less };
        match () {
            () if than => Some((2, Cue::Compare(operator, scale))),
            () if alone || gap => Some((1, Cue::Compare(operator, scale))),
            () => None,
        }
    }

    fn connective(&self) -> Option<(usize, Cue)> {
        let begins = self.match_any(&[
            "start with",
            "starts with",
            "starting with",
            "begin with",
            "begins with",
            "beginning with",
        ]);
        if let Some(length) = begins {
            return Some((length, Cue::Like(Part::Beginning)));
        }
        if let Some(length) = self.match_any(&["end with", "ends with", "ending with", "ending in"])
        {
            return Some((length, Cue::Like(Part::End)));
        }
        if let Some(length) = self.runs_out().or_else(|| self.match_any(lexicon::NEGATIONS)) {
            return Some((length, Cue::Not));
        }
        let cue = match self.word(0) {
            "contain" | "contains" | "containing" | "substring" | "letter" | "letters" | "word"
            | "phrase" | "include" | "includes" | "including" => Cue::Like(Part::Within),
            word if word.ends_with("n't") => Cue::Not,
            "only" if self.is_restriction() => Cue::Only,
            "both" => Cue::Both,
            "or" | "either" => Cue::Or,
            "and" | "but" => Cue::And,
            "each" | "every" | "per" => Cue::Each,
            "by" if matches!(self.tokens[0].lower.as_str(), "sort" | "order" | "rank") => {
                Cue::OrderBy
            }
            "by" => Cue::By,
            "what" | "how" => Cue::Request,
            word if lexicon::REQUESTS.contains(&word) && self.may_begin_here() => Cue::Request,
            "which" if self.may_begin_here() || self.at == 1 => Cue::Request,
            word if lexicon::TRIGGERS.contains(&word) => Cue::Trigger,
            _ => return None,
        };
        Some((1, cue))
    }
}

/// The operation of a sign; `None` if no rule knows it.
fn sign(text: &str) -> Option<Cue> {
    let operator = match text {
        "&" => return Some(Cue::And),
        "=" | "==" => Operator::Equal,
        "<" => Operator::Less,
        ">" => Operator::Greater,
        "<=" | "=<" | "≤" => Operator::AtMost,
        ">=" | "=>" | "≥" => Operator::AtLeast,
        "<>" | "≠" => Operator::NotEqual,
        _ => return None,
    };
    Some(Cue::Compare(operator, ANY))
}
