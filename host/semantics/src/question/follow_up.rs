//! Reads a text that follows an answer as a change of the request before: `and for 2023?`,
//! `without Germany`, `only the top three`.

use chrono::{Datelike, NaiveDate};

use super::draft::{Draft, Rank};
use super::parse::Parser;
use super::resolve::{RANKS_APART, Resolver, names_no_owner};
use super::time::{self, Calendar, Clock, Span};
use super::tokens::{Kind, Token};
use super::vocabulary::{self, Links, Meaning};
use super::{Cell, Reading, Understood, Unread, cues, model, read, read_tokens};
use crate::compile::begin;
use crate::{
    Comparison, Filter, Grain, MetricKind, Operator, Order, Period, Request, Semantics, WeekStart,
};

/// The confidence of a change that the text states in full.
const SURE: f64 = 0.85;

/// Words at the start that say that the text goes on from the request before.
const MARKERS: &[&str] = &[
    "actually",
    "add",
    "also",
    "and",
    "as",
    "back to",
    "but",
    "change it to",
    "change that to",
    "drop",
    "go back to",
    "how about",
    "i mean",
    "i meant",
    "include",
    "just",
    "make it",
    "make that",
    "now",
    "ok",
    "okay",
    "only",
    "rather",
    "remove",
    "same",
    "same thing",
    "sorry",
    "switch to",
    "the same",
    "the same thing",
    "then",
    "what about",
];
/// Words that may stand behind a marker and change nothing.
const JOINS: &[&str] = &["and", "but", "how about", "now", "the same", "then", "what about"];
/// Words that begin a question of its own.
const OPENERS: &[&str] = &[
    "calculate",
    "compute",
    "display",
    "give",
    "how",
    "list",
    "report",
    "show",
    "tell",
    "what",
    "which",
];
/// Words with which a part of a question begins, and no question of its own.
const FRAGMENTS: &[&str] = &[
    "actually",
    "add",
    "also",
    "and",
    "as",
    "bottom",
    "but",
    "by",
    "drop",
    "except",
    "exclude",
    "excluding",
    "filter",
    "for",
    "from",
    "group",
    "hide",
    "ignore",
    "in",
    "include",
    "instead",
    "just",
    "limit",
    "not",
    "now",
    "of",
    "omit",
    "only",
    "or",
    "per",
    "remove",
    "reverse",
    "same",
    "since",
    "sort",
    "sorted",
    "then",
    "to",
    "top",
    "until",
    "with",
    "without",
];
/// Words with which a text goes on from another one, and which begin no part of a question.
const PHRASES: &[&str] = &[
    "go back",
    "how about",
    "make it",
    "what about",
    "which are",
    "which is",
    "which one",
    "which ones",
    "which was",
    "which were",
];
/// Words that stand for something of the question before.
const PRONOUNS: &[&str] = &["it", "its", "their", "them", "these", "they", "those"];
/// Those of them that stand for whose metric is asked for.
const OWNERS: &[&str] = &["its", "their"];
/// Words that take away a metric, or a part of the breakdown, that they stand before.
const REMOVALS: &[&str] =
    &["drop", "exclude", "excluding", "hide", "leave out", "omit", "remove", "without"];
/// Words that add to what is there.
const ALSO: &[&str] = &[
    "add",
    "additionally",
    "also",
    "as well",
    "in addition",
    "include",
    "including",
    "plus",
    "too",
];
/// Words that leave nothing but what follows.
const ONLY: &[&str] = &["just", "only"];
/// Words that take away the breakdown.
const TOTALS: &[&str] = &[
    "altogether",
    "as a total",
    "as one number",
    "grand total",
    "in total",
    "no breakdown",
    "overall",
    "summed up",
    "without a breakdown",
    "without breakdown",
    "without the breakdown",
];
/// Words that take away the bounds of time.
const ALL_TIMES: &[&str] = &[
    "all dates",
    "all months",
    "all periods",
    "all quarters",
    "all time",
    "all times",
    "all years",
    "at any time",
    "over all time",
    "the whole time",
];
/// Words that take away the limit.
const ALL_ROWS: &[&str] = &[
    "all of them",
    "all rows",
    "show all",
    "show everything",
    "show them all",
    "the full list",
    "without a limit",
    "without the limit",
];
/// Words that turn the order round.
const REVERSE: &[&str] = &[
    "in reverse order",
    "in the reverse order",
    "reverse",
    "reverse it",
    "reverse order",
    "reverse the order",
    "reversed",
    "the other way around",
    "the other way round",
];
/// Words that take away the comparison.
const PLAIN: &[&str] = &[
    "as absolute values",
    "in absolute numbers",
    "in absolute terms",
    "without comparison",
    "without the comparison",
];
/// The same period a year before, which `a year ago` alone does not say.
const YEAR_AGO: &[&str] = &[
    "a year before",
    "a year earlier",
    "one year before",
    "one year earlier",
    "same period a year ago",
    "same period a year earlier",
    "same period last year",
    "same period of last year",
    "same period of the previous year",
    "same period the year before",
];
/// Words that take away every condition.
const NO_FILTERS: &[&str] = &[
    "drop all filters",
    "drop the filter",
    "drop the filters",
    "remove all filters",
    "remove the filter",
    "remove the filters",
    "without any filter",
    "without filters",
    "without the filter",
];

/// Returns true for a text that has a meaning behind another question alone, such as `by month` or
/// `and in Spain?`.
#[must_use]
pub fn is_fragment(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.take(3).collect();
    let opens = words.first().is_some_and(|word| OPENERS.contains(word));
    let head = &words[..words.len().min(2)];
    // `show their countries`, but not `customers and their countries`.
    let near = if opens { &words[..] } else { head };
    words.first().is_some_and(|word| FRAGMENTS.contains(word))
        || PHRASES.contains(&head.join(" ").as_str())
        || near.iter().any(|word| PRONOUNS.contains(word))
}

/// Returns true for a text that is such a part and asks for nothing by itself, as `in 2024, how
/// many orders are there?` does.
#[must_use]
pub fn needs_question(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).skip(2);
    is_fragment(text) && !words.any(|word| OPENERS.contains(&word))
}

/// The changes that a text asks for beyond the parts that it names.
#[derive(Debug, Clone, PartialEq, Default)]
struct Change {
    also: bool,
    only: bool,
    instead: bool,
    again: bool,
    totals: bool,
    all_times: bool,
    all_rows: bool,
    /// True if the text says `remove`, of a condition or of the rows that meet it.
    removes: bool,
    reverse: bool,
    plain: bool,
    no_filters: bool,
    /// Dimensions whose conditions are taken away; each list is of one name.
    all: Vec<Vec<usize>>,
    /// Metrics that are taken away, or replaced by those that the text names.
    dropped: Vec<usize>,
    /// Dimensions and a grain of the breakdown that are taken away; a list is of one name.
    merged: Vec<Vec<usize>>,
    merged_grain: Option<Grain>,
    /// True if the text names the value that another one replaces.
    replaces_value: bool,
    top: Option<Top>,
    /// True for the greatest and false for the least in place of the one that was asked for.
    end: Option<bool>,
    step: Option<Step>,
    /// True if the text begins with `as`.
    says_as: bool,
    /// True if the metric is that of what the request before is about: `its revenue`.
    is_owned: bool,
}

/// The units by which the period moves.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    unit: Grain,
    by: i32,
    /// True for the same period of another year, whatever its unit.
    is_same_period: bool,
}

/// The first rows that a text asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Top {
    /// The greatest or the least, by that metric where the text names one.
    Rank(Rank, Option<usize>),
    /// The first or the last of those that were shown.
    Shown { is_first: bool, limit: u64 },
}

/// Reads a text that follows a request: as a change of it, or as a question of its own.
#[must_use]
pub fn read_follow_up(
    semantics: &Semantics,
    previous: &Request,
    text: &str,
    cells: &[Cell],
    today: NaiveDate,
) -> Reading {
    follow(semantics, previous, text, cells, today, &[]).into()
}

pub(super) fn follow(
    semantics: &Semantics,
    previous: &Request,
    text: &str,
    cells: &[Cell],
    today: NaiveDate,
    chosen: &[String],
) -> Result<Understood, Unread> {
    let tokens = read_tokens(text)?;
    let links = vocabulary::link(semantics, &tokens, cells);
    let calendar = Calendar { today, week_start: semantics.week_start };
    let clock = Clock { tokens: &tokens, calendar };
    let mut parser = Parser::new(semantics, &tokens, &links, clock);
    let known = (0..semantics.metrics.len())
        .filter(|at| previous.metrics.contains(&semantics.metrics[*at].name));
    parser.before = known.collect();
    parser.limit_before = previous.limit;
    let start = parser.phrase(0, MARKERS);
    let says_as = parser.word(0) == "as";
    let mut change = Change { says_as, ..Change::default() };
    // The marker may be a word of a change itself: `only`, `also`.
    let is_change = [ALSO, ONLY, NO_FILTERS, REMOVALS, cues::NEGATIONS, &["as"]]
        .into_iter()
        .any(|phrases| parser.phrase(0, phrases).is_some())
        || step(&parser, 0).is_some();
    let mut at = if is_change { 0 } else { start.unwrap_or(0) };
    // `ok, and now the same`
    while let Some(end) = parser.phrase(at, JOINS).filter(|_| start.is_some() && !is_change) {
        at = end;
    }
    while at < tokens.len() {
        at = match take_change(&mut parser, &links, &tokens, at, &mut change) {
            Some(end) => end,
            None => parser.step(at)?,
        };
    }
    let is_own = start.is_none() && change == Change { says_as, ..Change::default() };
    let opens = tokens.first().is_some_and(|first| OPENERS.contains(&first.lower.as_str()));
    if is_own && !parser.draft.metrics.is_empty() && (opens || parser.draft.has_parts()) {
        return read(semantics, text, cells, today, chosen);
    }
    let resolver = Resolver { semantics, calendar, draft: &parser.draft, chosen };
    Merger { semantics, resolver, draft: &parser.draft, change: &change, previous }.merge()
}

/// Records a word that changes the request before, and returns the index of the next token.
fn take_change(
    parser: &mut Parser<'_>,
    links: &Links,
    tokens: &[Token],
    at: usize,
    change: &mut Change,
) -> Option<usize> {
    if let Some(end) = parser.phrase(at, &["instead"]) {
        change.instead = true;
        return match parser.phrase(end, &["of", "of by", "of in", "of for", "of the"]) {
            Some(replaced) => replace(parser, links, replaced, change),
            None => Some(end),
        };
    }
    if OWNERS.contains(&parser.word(at)) && parser.metric(at + 1).is_some() {
        change.is_owned = true;
        return Some(at + 1);
    }
    if let Some(end) = remove(parser, links, at, change) {
        return Some(end);
    }
    let flags: [(&[&str], &mut bool); 6] = [
        (TOTALS, &mut change.totals),
        (ALL_TIMES, &mut change.all_times),
        (ALL_ROWS, &mut change.all_rows),
        (REVERSE, &mut change.reverse),
        (PLAIN, &mut change.plain),
        (NO_FILTERS, &mut change.no_filters),
    ];
    for (phrases, flag) in flags {
        if let Some(end) = parser.phrase(at, phrases) {
            *flag = true;
            return Some(end);
        }
    }
    if let Some(end) = parser.phrase(at, ALSO) {
        change.also = true;
        return Some(end);
    }
    if let Some(end) = parser.phrase(at, ONLY) {
        change.only = true;
        let next = parser.skip(end, &["the", "for", "in", "from"]);
        return parser.values(next, false).or(Some(end));
    }
    change.removes |= parser.phrase(at, &["drop", "remove"]).is_some();
    if let Some((step, end)) = step(parser, at) {
        change.step = Some(step);
        return Some(end);
    }
    if let Some((top, end)) = top(parser, tokens, at) {
        change.top = Some(top);
        return Some(end);
    }
    // `and the lowest?` after the one with the highest.
    let next = parser.skip(at + 1, &["one"]);
    let is_last = tokens.get(next..).unwrap_or_default().iter().all(|it| it.kind == Kind::End);
    if let Some(descending) = cues::superlative(parser.word(at))
        && is_last
        && parser.limit_before == Some(1)
    {
        change.end = Some(descending);
        return Some(next);
    }
    change.again |= parser.word(at) == "again";
    if matches!(parser.word(at), "ones" | "one" | "again" | "it" | "them") && at > 0 {
        return Some(at + 1);
    }
    let next = parser.phrase(at, &["all", "all the", "every", "any"])?;
    let named = links.names.get(next)?.as_ref()?;
    let dimensions = list_dimensions(&named.meanings);
    if dimensions.is_empty() {
        return None;
    }
    change.all.push(dimensions);
    Some(named.end)
}

/// The words behind `instead of`: the name, the value or the time that something replaces.
/// Returns the place behind it.
fn replace(parser: &Parser<'_>, links: &Links, at: usize, change: &mut Change) -> Option<usize> {
    if let Some(metrics) = find_metrics(parser, links, at) {
        change.dropped.extend(metrics);
    }
    if let Some(name) = links.names.get(at)?.as_ref() {
        let dimensions = list_dimensions(&name.meanings);
        if change.dropped.is_empty() && !dimensions.is_empty() {
            change.merged.push(dimensions);
            change.instead = false;
        }
        return Some(name.end);
    }
    if let Some(value) = links.values.get(at)?.as_ref() {
        change.replaces_value = true;
        return Some(value.end);
    }
    if let Some(unit) = time::unit(parser.word(at)) {
        change.merged_grain = Some(unit);
        change.instead = false;
        return Some(at + 1);
    }
    parser.clock.point(at).map(|(_, end)| end)
}

fn list_dimensions(meanings: &[Meaning]) -> Vec<usize> {
    let dimensions = meanings.iter().filter_map(|meaning| match meaning {
        Meaning::Dimension(dimension) => Some(*dimension),
        _ => None,
    });
    dimensions.collect()
}

/// The metrics of the request before that are named here.
fn find_metrics(parser: &Parser<'_>, links: &Links, at: usize) -> Option<Vec<usize>> {
    let named = links.names.get(at)?.as_ref()?;
    let known = named.meanings.iter().filter_map(|meaning| match meaning {
        Meaning::Metric(metric) if parser.before.contains(metric) => Some(*metric),
        _ => None,
    });
    let known: Vec<usize> = known.collect();
    (!known.is_empty()).then_some(known)
}

/// `remove the orders`, `without the month`: takes away a metric or a part of the breakdown.
fn remove(parser: &Parser<'_>, links: &Links, at: usize, change: &mut Change) -> Option<usize> {
    let next = parser.skip(parser.phrase(at, REMOVALS)?, &["the", "by"]);
    if let Some(unit) = time::unit(parser.word(next)) {
        change.merged_grain = Some(unit);
        return Some(next + 1);
    }
    let named = links.names.get(next)?.as_ref()?;
    // `without cancelled orders` is a condition, and so is `without the country Germany`.
    if links.values.get(next)?.is_some() || links.values.get(named.end).is_some_and(Option::is_some)
    {
        return None;
    }
    if let Some(metrics) = find_metrics(parser, links, next) {
        change.dropped.extend(metrics);
        return Some(named.end);
    }
    let dimensions = list_dimensions(&named.meanings);
    if dimensions.is_empty() {
        return None;
    }
    change.merged.push(dimensions);
    Some(named.end)
}

/// `the year before`, `the previous month`, `next quarter`.
fn step(parser: &Parser<'_>, at: usize) -> Option<(Step, usize)> {
    let at = parser.skip(at, &["the", "for", "and", "what", "about", "how"]);
    if let Some(end) = parser.phrase(at, YEAR_AGO) {
        return Some((Step { unit: Grain::Year, by: -1, is_same_period: true }, end));
    }
    let (unit, by) = match (time::unit(parser.word(at)), parser.word(at + 1)) {
        (Some(unit), "before" | "earlier") => (unit, -1),
        (Some(unit), "after" | "later") => (unit, 1),
        _ => {
            let unit = time::unit(parser.word(at + 1))?;
            match parser.word(at) {
                "previous" | "preceding" | "prior" => (unit, -1),
                "next" | "following" => (unit, 1),
                _ => return None,
            }
        }
    };
    Some((Step { unit, by, is_same_period: false }, at + 2))
}

/// `the top three`, `bottom 5`, where nothing is named that is ranked.
fn top(parser: &Parser<'_>, tokens: &[Token], at: usize) -> Option<(Top, usize)> {
    let number = tokens.get(at + 1).and_then(Token::number)?;
    let top = match parser.word(at) {
        word @ ("top" | "bottom") => {
            let rank = Rank { descending: word == "top", limit: Some(number) };
            let by = parser.metric(at + 3).filter(|_| parser.word(at + 2) == "by");
            if let Some((pick, end)) = by
                && let [only] = pick.metrics.as_slice()
            {
                return Some((Top::Rank(rank, Some(*only)), end));
            }
            Top::Rank(rank, None)
        }
        "first" => Top::Shown { is_first: true, limit: number },
        "last" => Top::Shown { is_first: false, limit: number },
        _ => return None,
    };
    let end = at + 2;
    let is_alone = parser.group_at(end).is_none() && time::unit(parser.word(end)).is_none();
    is_alone.then_some((top, end))
}

/// Applies what a text says to a request.
struct Merger<'a> {
    semantics: &'a Semantics,
    resolver: Resolver<'a>,
    draft: &'a Draft,
    change: &'a Change,
    previous: &'a Request,
}

fn refuse<T>(why: impl Into<String>) -> Result<T, Unread> {
    Err(Unread::Unsupported(why.into()))
}

impl Merger<'_> {
    fn merge(&self) -> Result<Understood, Unread> {
        self.resolver.check_words()?;
        let flags = Change {
            also: self.change.also,
            only: self.change.only,
            instead: self.change.instead,
            again: self.change.again,
            says_as: self.change.says_as,
            ..Change::default()
        };
        if self.draft.is_empty() && *self.change == flags {
            return refuse("the text changes nothing of the request before");
        }
        if self.draft.averages {
            return refuse("which average is meant is not said: name a metric");
        }
        if self.draft.lists {
            return refuse("the text asks for something else than the request before");
        }
        self.check_counts()?;
        self.check_owner()?;
        let mut request = self.previous.clone();
        self.metrics(&mut request)?;
        self.groups(&mut request)?;
        self.filters(&mut request)?;
        self.period(&mut request)?;
        self.comparison(&mut request)?;
        self.order(&mut request)?;
        self.within(&mut request)?;
        self.check(&request)?;
        let restates = !self.draft.times.is_empty() || self.draft.sort.is_some();
        if request == *self.previous && !restates && self.draft.conditions.is_empty() {
            return refuse("the text changes nothing of the request before");
        }
        Ok(Understood { request, confidence: SURE, is_change: true })
    }

    /// Refuses `how many?` where the request before counts nothing.
    fn check_counts(&self) -> Result<(), Unread> {
        let counts = self.draft.counts && self.draft.metrics.is_empty();
        let other = self
            .previous
            .metrics
            .iter()
            .find(|name| !model::metric(self.semantics, name).is_some_and(model::is_count));
        match other.filter(|_| counts) {
            Some(name) => refuse(format!("{name} is no number of things")),
            None => Ok(()),
        }
    }

    /// Refuses `its revenue` where the request before is not about one thing alone: of the rows
    /// that it shows, one or all may be meant.
    fn check_owner(&self) -> Result<(), Unread> {
        let Request { filters, by, limit, .. } = self.previous;
        let is_one = match filters.as_slice() {
            [only] => only.operator == Operator::In && only.values.len() == 1,
            _ => false,
        };
        if self.change.is_owned && (!is_one || !by.is_empty() || limit.is_some()) {
            return refuse("whose value is meant is not said: name it");
        }
        Ok(())
    }

    /// Returns true if the text asks for the total in place of the breakdown.
    fn takes_total(&self, named: &[String]) -> Result<bool, Unread> {
        let is_split = !self.previous.by.is_empty() || self.previous.grain.is_some();
        let splits = !self.draft.groups.is_empty() || !self.draft.grains.is_empty();
        if self.change.totals || !self.draft.totals || !is_split || splits {
            return Ok(self.change.totals);
        }
        if named.iter().any(|name| !self.previous.metrics.contains(name)) {
            return refuse("the total and the total of each group may be meant");
        }
        Ok(true)
    }

    /// Takes away the metrics that the text removes, or puts others in their place.
    fn drop_metrics(&self, request: &mut Request, named: Vec<String>) -> Result<(), Unread> {
        let dropped = self.change.dropped.iter().map(|at| &self.semantics.metrics[*at].name);
        let dropped: Vec<&String> = dropped.collect();
        let at = request.metrics.iter().position(|name| dropped.contains(&name));
        request.metrics.retain(|name| !dropped.contains(&name));
        let at = at.unwrap_or_default().min(request.metrics.len());
        let new = named.into_iter().filter(|name| !self.previous.metrics.contains(name));
        drop(request.metrics.splice(at..at, new));
        let Some(first) = request.metrics.first() else {
            return refuse("no metric would be left");
        };
        if let Some(order) = &mut request.order
            && dropped.contains(&&order.by)
        {
            if request.limit.is_some() {
                return refuse("the rows were chosen by what is taken away");
            }
            order.by.clone_from(first);
        }
        Ok(())
    }

    fn metrics(&self, request: &mut Request) -> Result<(), Unread> {
        if !self.change.dropped.is_empty() {
            let is_named = !self.draft.metrics.is_empty();
            let named = if is_named { self.resolver.metrics()? } else { Vec::new() };
            return self.drop_metrics(request, named);
        }
        if self.draft.metrics.is_empty() {
            return Ok(());
        }
        let named = self.resolver.metrics()?;
        let is_other = named.iter().any(|name| !self.previous.metrics.contains(name));
        if self.draft.shares && is_other && self.change.says_as {
            return refuse("a share of another metric is no share of the total");
        }
        if self.change.also {
            let new = named.into_iter().filter(|name| !self.previous.metrics.contains(name));
            request.metrics.extend(new);
            return Ok(());
        }
        if let Some(order) = &mut request.order
            && self.previous.metrics.contains(&order.by)
            && !named.contains(&order.by)
        {
            order.by.clone_from(&named[0]);
        }
        request.metrics = named;
        Ok(())
    }

    fn groups(&self, request: &mut Request) -> Result<(), Unread> {
        let (by, is_day) = self.resolver.groups(&self.draft.groups, &request.metrics)?;
        let grain = self.resolver.grain(is_day)?;
        let lead = self.draft.grain_lead;
        let ranks = self.draft.rank.is_some() || self.draft.shares || self.change.top.is_some();
        let shares = request.comparison == Some(Comparison::ShareOfTotal);
        let is_within =
            ranks && cues::EACH.contains(&lead) || shares && cues::WITHIN.contains(&lead);
        if is_within && request.grain.is_some_and(|known| grain.is_some_and(|it| it != known)) {
            return refuse("a unit of time within another one cannot be ranked or shared");
        }
        self.merge_groups(request)?;
        if self.takes_total(&request.metrics)? {
            if request.limit.is_some() {
                return refuse("the total of these rows and of all may be meant");
            }
            request.by.clear();
            request.grain = None;
            request.order = None;
            request.limit = None;
        }
        if by.is_empty() && grain.is_none() {
            return Ok(());
        }
        if request.limit.is_some() && by.is_empty() && !self.change.also {
            return refuse("the rows before are the first of a ranking: ask for all of them first");
        }
        let is_plain = self.draft.conditions.is_empty() && self.draft.times.is_empty();
        let replaces = self.change.instead
            || (self.change.only && is_plain && self.change.top.is_none())
            || (request.limit.is_some() && !self.change.also);
        let adds = self.change.also || !self.change.merged.is_empty();
        if replaces || (!by.is_empty() && !adds) {
            request.by.clear();
        }
        if replaces {
            request.grain = None;
        }
        for name in by {
            if !request.by.contains(&name) {
                request.by.push(name);
            }
        }
        request.grain = grain.or(request.grain);
        let keeps_order = request.order.as_ref().is_some_and(|order| {
            request.metrics.contains(&order.by)
                || request.by.contains(&order.by)
                || (order.by == "time" && request.grain.is_some())
        });
        if !keeps_order {
            request.order = None;
        }
        Ok(())
    }

    /// Takes parts of the breakdown away.
    fn merge_groups(&self, request: &mut Request) -> Result<(), Unread> {
        if self.change.merged_grain.is_some() {
            if request.grain != self.change.merged_grain {
                return refuse("the request before is not split by that unit of time");
            }
            request.grain = None;
        }
        for options in &self.change.merged {
            let names: Vec<String> =
                options.iter().map(|at| model::full_name(self.semantics, *at)).collect();
            let before = request.by.len();
            request.by.retain(|name| {
                let at = model::find_dimension(self.semantics, name);
                !at.is_some_and(|at| names.contains(&model::full_name(self.semantics, at)))
            });
            if request.by.len() == before {
                return refuse("the request before is not split by that");
            }
        }
        let is_merged = self.change.merged_grain.is_some() || !self.change.merged.is_empty();
        if is_merged && request.limit.is_some() {
            return refuse("the rows before are the first of a ranking: ask for all of them first");
        }
        if is_merged && request.by.is_empty() && request.grain.is_none() {
            request.order = None;
        }
        Ok(())
    }

    fn filters(&self, request: &mut Request) -> Result<(), Unread> {
        for options in &self.change.all {
            let names: Vec<String> =
                options.iter().map(|at| model::full_name(self.semantics, *at)).collect();
            let before = request.filters.len();
            request.filters.retain(|filter| {
                let at = model::find_dimension(self.semantics, &filter.dimension);
                !at.is_some_and(|at| names.contains(&model::full_name(self.semantics, at)))
            });
            let drops_limit =
                request.limit.is_some() && request.by.iter().any(|name| names.contains(name));
            if drops_limit {
                request.limit = None;
            } else if request.filters.len() == before && self.draft.conditions.is_empty() {
                return refuse("the request before has no such condition");
            }
        }
        if self.change.no_filters {
            request.filters.clear();
        }
        let new = self.resolver.filters(&request.metrics)?;
        if let [only] = new.as_slice()
            && self.is_other_place(request, only)
        {
            return refuse(
                "the place may be one within that of the request before or another one: name both, \
                 as in `in Paris, France`",
            );
        }
        for filter in new {
            self.filter(request, filter)?;
        }
        let compared = self.resolver.find_compared_dimension(&request.filters);
        if let Some(name) = compared.filter(|name| !request.by.contains(name)) {
            request.by.push(name);
        }
        Ok(())
    }

    /// Returns true if a condition is on a place of a table, and one of the request before, which
    /// stays, is on another place of it: no row may meet both.
    fn is_other_place(&self, request: &Request, filter: &Filter) -> bool {
        let Some(at) = model::find_dimension(self.semantics, &filter.dimension) else {
            return false;
        };
        let mut kept = request.filters.iter().filter(|known| {
            known.operator == Operator::In && self.previous.filters.contains(known)
        });
        filter.operator == Operator::In
            && self.draft.conditions.iter().all(names_no_owner)
            && kept.any(|known| {
                let other = model::find_dimension(self.semantics, &known.dimension);
                other.is_some_and(|it| it != at && self.resolver.are_places_of_one(it, at))
            })
    }

    /// Returns true if one of the names is that of a dimension.
    fn has_name(&self, names: &[String], dimension: &str) -> bool {
        let at = model::find_dimension(self.semantics, dimension);
        at.is_some() && names.iter().any(|name| model::find_dimension(self.semantics, name) == at)
    }

    /// Returns the condition that chooses some of the groups of a request.
    fn find_chosen<'r>(&self, request: &'r Request) -> Option<&'r Filter> {
        request.filters.iter().find(|filter| {
            filter.operator == Operator::In
                && self.has_name(&request.by, &filter.dimension)
                && !self.has_name(&request.within, &filter.dimension)
        })
    }

    /// Refuses a value of what a ratio is about: the cancellation rate of returned orders is zero,
    /// and their share may be meant.
    fn check_ratios(&self, request: &Request, filter: &Filter) -> Result<(), Unread> {
        let Some(at) = model::find_dimension(self.semantics, &filter.dimension) else {
            return Ok(());
        };
        let dimension = &self.semantics.dimensions[at];
        let ratio = request.metrics.iter().find(|name| {
            let known = model::metric(self.semantics, name);
            let is_ratio = known.is_some_and(|it| matches!(it.kind, MetricKind::Ratio { .. }));
            let measures = model::measures(self.semantics, name);
            let about = measures.iter().filter(|measure| {
                measure.filter.as_ref().is_some_and(|own| {
                    own.tables.contains(&dimension.table)
                        && own.text.contains(dimension.expression.text.as_str())
                })
            });
            is_ratio && (1..measures.len()).contains(&about.count())
        });
        match ratio {
            Some(name) => refuse(format!("{name} is itself about values of {}", filter.dimension)),
            None => Ok(()),
        }
    }

    fn filter(&self, request: &mut Request, filter: Filter) -> Result<(), Unread> {
        self.check_ratios(request, &filter)?;
        let same = request.filters.iter().position(|known| {
            known.dimension == filter.dimension
                && match filter.operator {
                    Operator::In | Operator::NotIn => {
                        matches!(known.operator, Operator::In | Operator::NotIn)
                    }
                    other => known.operator == other,
                }
        });
        let Some(same) = same else {
            // `also Germany` where nothing is left out adds nothing.
            let is_list = filter.operator == Operator::In;
            let is_compared = self.draft.compares && filter.values.len() == 1;
            if self.change.instead || (is_list && (self.change.also || is_compared)) {
                return refuse("the request before has no condition of this kind");
            }
            request.filters.push(filter);
            return Ok(());
        };
        // `compare with Italy` adds to what is there, `compare France and Italy` does not.
        let is_compared = self.draft.compares && filter.values.len() == 1;
        let known = &mut request.filters[same];
        if self.change.replaces_value && known.values.len() > 1 {
            return refuse("the request before has several values: name those that are meant");
        }
        let adds = known.operator == filter.operator
            && (filter.operator == Operator::NotIn
                || (filter.operator == Operator::In && (self.change.also || is_compared)));
        if adds {
            let new = filter.values.into_iter().filter(|value| !known.values.contains(value));
            let new: Vec<_> = new.collect();
            known.values.extend(new);
            return Ok(());
        }
        if (known.operator, filter.operator) == (Operator::In, Operator::NotIn) {
            let left: Vec<_> =
                known.values.iter().filter(|value| !filter.values.contains(value)).collect();
            if !left.is_empty() && left.len() < known.values.len() {
                known.values = left.into_iter().cloned().collect();
                return Ok(());
            }
            if left.is_empty() && self.change.removes {
                return refuse(
                    "the condition and the rows that meet it may be meant: say `all` of them, or \
                     `without` these",
                );
            }
        }
        // `with Germany again` takes back `without Germany`.
        let takes_back = (known.operator, filter.operator) == (Operator::NotIn, Operator::In)
            && (self.change.again || self.change.also)
            && filter.values.iter().all(|value| known.values.contains(value));
        if takes_back {
            known.values.retain(|value| !filter.values.contains(value));
            if known.values.is_empty() {
                request.filters.remove(same);
            }
            return Ok(());
        }
        if (known.operator, filter.operator) == (Operator::NotIn, Operator::In) && self.change.also
        {
            return refuse("only what was left out can be added");
        }
        *known = filter;
        Ok(())
    }

    fn period(&self, request: &mut Request) -> Result<(), Unread> {
        if self.change.all_times {
            request.period = None;
        }
        if let Some(Step { unit, by, is_same_period }) = self.change.step {
            let Some(period) = &self.previous.period else {
                return refuse("the request before has no period to go on from");
            };
            // `the month before` of a year may be its last one.
            let own = span_of(period).unit;
            if own != Some(unit) && !(is_same_period && own.is_some()) {
                return refuse("the period of the request before is no such unit of time");
            }
            let from = period.from.map(|day| time::shift(day, unit, by));
            let until = period.until.map(|day| time::shift(day, unit, by));
            if from == Some(None) || until == Some(None) {
                return refuse("the day is out of range");
            }
            request.period = Some(Period { from: from.flatten(), until: until.flatten() });
        }
        let Some(span) = self.resolver.span(self.year())? else { return Ok(()) };
        let new = span.period();
        request.period = Some(match (&self.previous.period, self.change.also) {
            (Some(known), true) => {
                let touches = known.until == new.from || new.until == known.from;
                if !touches {
                    return refuse("the times do not touch");
                }
                if request.grain.is_none() {
                    return refuse("both times together and each by itself may be meant");
                }
                Period { from: known.from.min(new.from), until: known.until.max(new.until) }
            }
            _ => new,
        });
        Ok(())
    }

    /// The year that the period of the request before is in.
    fn year(&self) -> Option<i32> {
        let period = self.previous.period.as_ref()?;
        let first = period.from?;
        let last = period.until?.pred_opt()?;
        (first.year() == last.year()).then_some(first.year())
    }

    fn comparison(&self, request: &mut Request) -> Result<(), Unread> {
        if self.change.plain {
            request.comparison = None;
        }
        let chosen = self.find_chosen(request);
        let is_chosen = chosen.is_some() && chosen != self.find_chosen(self.previous);
        if is_chosen && request.comparison == Some(Comparison::ShareOfTotal) {
            request.comparison = Some(Comparison::ShareOfAll);
        }
        let draft = self.draft;
        if draft.shares && !self.resolver.shows_percent(&request.metrics) {
            if !request.comparison.is_none_or(Comparison::is_share) {
                return refuse("the share of the total and the relative change may be meant");
            }
            let is_split = !request.by.is_empty() || request.grain.is_some();
            let is_sum =
                request.metrics.iter().all(|name| model::is_additive(self.semantics, name));
            if !is_split || !is_sum || request.metrics.len() > 1 {
                return refuse("there is nothing to have a share of");
            }
            if !draft.conditions.is_empty() {
                return refuse("the share in each group and the share of each group may be meant");
            }
            let has_several = self.find_chosen(request).map(|chosen| chosen.values.len() > 1);
            request.comparison = match (request.comparison, has_several) {
                (known @ Some(Comparison::ShareOfAll), _) => known,
                (None, Some(true)) => {
                    return refuse("the share of these and the share of all may be meant");
                }
                (_, Some(false)) => Some(Comparison::ShareOfAll),
                _ => Some(Comparison::ShareOfTotal),
            };
        }
        let asks = draft.runs
            || draft.is_trend
            || draft.grows
            || draft.compare.is_some()
            || draft.over.is_some();
        if !asks {
            return self.keep_step(request);
        }
        let span = request.period.as_ref().map(span_of);
        let compared = self.resolver.comparison(request.grain, span)?;
        request.comparison = compared.comparison.or(request.comparison);
        request.grain = compared.grain;
        request.period = compared.span.map(Span::period);
        Ok(())
    }

    /// Leaves a comparison with the year before as it is where the text names a finer unit of time.
    /// The step back of another one is not said then.
    fn keep_step(&self, request: &mut Request) -> Result<(), Unread> {
        let (Some(before), Some(grain)) = (self.previous.grain, request.grain) else {
            return Ok(());
        };
        let is_step =
            matches!(request.comparison, Some(Comparison::PreviousPeriod | Comparison::Growth));
        if !is_step || grain == before {
            return Ok(());
        }
        if before == Grain::Year && request.comparison == Some(Comparison::PreviousPeriod) {
            request.comparison = Some(Comparison::SamePeriodLastYear);
            return Ok(());
        }
        let unit = self.previous.period.as_ref().and_then(|period| span_of(period).unit);
        if unit == Some(before) || (before == Grain::Year && self.year().is_some()) {
            return refuse("the step back of the comparison may be either unit of time");
        }
        Ok(())
    }

    fn order(&self, request: &mut Request) -> Result<(), Unread> {
        if self.change.all_rows {
            request.limit = None;
        }
        if let Some((super::draft::Sort::Metric(pick), _)) = &self.draft.sort {
            // An order by a metric that is not shown could not be checked.
            let name = pick.metrics.first().map(|at| &self.semantics.metrics[*at].name);
            if let Some(name) = name.filter(|name| !request.metrics.contains(name)) {
                request.metrics.push(name.clone());
            }
        }
        let before = request.order.take();
        let limit = request.limit;
        self.resolver.order(request)?;
        let chooses = self.draft.rank.is_some() || self.change.top.is_some();
        if limit.is_some() && !chooses && request.order.is_some() && request.order != before {
            return refuse("another order has other first rows: ask for all of them first");
        }
        request.limit = request.limit.or(limit);
        request.order = request.order.take().or(before);
        if self.change.reverse {
            let order = match request.order.take() {
                Some(order) => order,
                None => default_order(request)?,
            };
            request.order = Some(Order { descending: !order.descending, ..order });
        }
        if let Some(descending) = self.change.end {
            match &mut request.order {
                Some(order) if request.metrics.contains(&order.by) => order.descending = descending,
                _ => return refuse("the request before has no greatest and no least"),
            }
        }
        match self.change.top {
            Some(Top::Rank(rank, by)) => {
                let by = by.map(|at| self.semantics.metrics[at].name.clone());
                rank_rows(request, rank, by)
            }
            Some(Top::Shown { is_first, limit }) => take_shown(request, is_first, limit),
            None => Ok(()),
        }
    }

    /// Leaves the groups that a limit or a share counts in as they are, as far as the request still
    /// has them. It may not count in others than the text says.
    fn within(&self, request: &mut Request) -> Result<(), Unread> {
        let is_shared = request.comparison.is_some_and(Comparison::is_share);
        let has_whole = request.limit.is_none() && !is_shared;
        if has_whole {
            request.within.clear();
        }
        let is_whole = request.within.iter().all(|name| match name.as_str() {
            "time" => request.grain.is_some(),
            name => request.by.iter().any(|by| by == name),
        });
        let groups = request.by.len() + usize::from(request.grain.is_some());
        if !is_whole || (!request.within.is_empty() && request.within.len() >= groups) {
            return refuse(RANKS_APART);
        }
        Ok(())
    }

    /// Refuses a request whose parts do not go together.
    fn check(&self, request: &Request) -> Result<(), Unread> {
        self.resolver.check_time(request)?;
        let dimensions = request.by.iter().chain(request.filters.iter().map(|one| &one.dimension));
        for name in dimensions {
            let Some(at) = model::find_dimension(self.semantics, name) else {
                return refuse(format!("{name} is no dimension"));
            };
            let table = &self.semantics.dimensions[at].table;
            let unreached = request
                .metrics
                .iter()
                .find(|metric| !model::reaches(self.semantics, metric, table));
            if let Some(metric) = unreached {
                return refuse(format!("{metric} has nothing to do with {name}"));
            }
        }
        let is_split = !request.by.is_empty() || request.grain.is_some();
        let mut ranked = request.by.clone();
        ranked.retain(|name| !request.within.contains(name));
        let has_time = request.grain.is_some() && !request.within.iter().any(|name| name == "time");
        if request.limit.is_some() && ranked.is_empty() != has_time {
            return refuse("one metric can be ranked by one thing at a time");
        }
        if request.limit == Some(0) {
            return refuse("the first 0 are asked for, which are none");
        }
        if request.limit.is_some() && !model::is_one_thing(self.semantics, &ranked) {
            return refuse(RANKS_APART);
        }
        if (request.order.is_some() || request.comparison.is_some()) && !is_split {
            return refuse("the result has only one row");
        }
        if request.comparison.is_some_and(Comparison::is_share)
            && let Some(name) =
                request.metrics.iter().find(|name| !model::is_additive(self.semantics, name))
        {
            return refuse(format!("{name} cannot be added up"));
        }
        if request.comparison.is_some() && request.metrics.len() > 1 {
            return refuse("only one metric can be compared");
        }
        let groups = request.by.len() + usize::from(request.grain.is_some());
        if request.comparison == Some(Comparison::ShareOfAll) && groups > 1 {
            return refuse("the share in each group and the share of each group may be meant");
        }
        if request.comparison == Some(Comparison::ShareOfAll) {
            self.check_share_of_all(request)?;
        }
        let needs_time = !request.comparison.is_none_or(Comparison::is_share);
        if needs_time && request.grain.is_none() {
            return refuse("a comparison with another time needs a unit of time");
        }
        Ok(())
    }

    /// Refuses a share of all in groups whose numbers do not add up to all, and one in other groups
    /// than those that a condition chose: its whole would be no longer all, but what meets that.
    fn check_share_of_all(&self, request: &Request) -> Result<(), Unread> {
        if let Some(name) = request.metrics.iter().find(|name| !self.resolver.adds_up(name)) {
            return refuse(format!("{name} of several groups add up to more than all"));
        }
        let is_of_condition = request.filters.iter().any(|filter| {
            self.has_name(&self.previous.by, &filter.dimension)
                && !self.has_name(&request.by, &filter.dimension)
        });
        if is_of_condition {
            return refuse("the share in each group and the share of each group may be meant");
        }
        Ok(())
    }
}

/// The order of rows for which none is asked: by time or by the one dimension.
fn default_order(request: &Request) -> Result<Order, Unread> {
    let by = match (request.grain, request.by.as_slice()) {
        (Some(_), []) => "time".to_owned(),
        (None, [only]) => only.clone(),
        _ => return refuse("the rows are in the order of several columns"),
    };
    Ok(Order { by, descending: false })
}

/// Leaves the greatest or the least, by that metric or the one that the request is ordered by.
fn rank_rows(request: &mut Request, rank: Rank, named: Option<String>) -> Result<(), Unread> {
    if !request.comparison.is_none_or(Comparison::is_share) {
        return refuse("what is compared cannot be ranked");
    }
    if let Some(name) = named.iter().find(|name| !request.metrics.contains(name)) {
        request.metrics.push(name.clone());
    }
    let by = named.or_else(|| request.order.as_ref().map(|order| order.by.clone()));
    let by = match (by.filter(|by| request.metrics.contains(by)), request.metrics.as_slice()) {
        (Some(by), _) => by,
        (None, [only]) => only.clone(),
        (None, _) => return refuse("by which metric is not said"),
    };
    request.limit = rank.limit;
    request.order = Some(Order { by, descending: rank.descending });
    Ok(())
}

/// Leaves the first or the last rows of those that were shown, which need an order by a metric: the
/// first in the order of groups and the greatest may both be meant.
fn take_shown(request: &mut Request, is_first: bool, limit: u64) -> Result<(), Unread> {
    let by_metric = request.order.as_mut().filter(|order| request.metrics.contains(&order.by));
    let Some(order) = by_metric else {
        return refuse("the rows are in no order of a metric: say `top` or `bottom`");
    };
    match (is_first, request.limit) {
        (true, known) => request.limit = Some(known.map_or(limit, |known| known.min(limit))),
        (false, None) => {
            order.descending = !order.descending;
            request.limit = Some(limit);
        }
        (false, Some(_)) => return refuse("the last of the first rows are not chosen alone"),
    }
    Ok(())
}

/// The period of a request with the unit that it is one of.
fn span_of(period: &Period) -> Span {
    let units = [Grain::Day, Grain::Week, Grain::Month, Grain::Quarter, Grain::Year];
    let unit = units.into_iter().find(|unit| {
        period.from.zip(period.until).is_some_and(|(from, until)| {
            (*unit == Grain::Week || begin(*unit, from, WeekStart::Monday) == from)
                && time::shift(from, *unit, 1) == Some(until)
        })
    });
    Span { from: period.from, until: period.until, unit, is_relative: false }
}
