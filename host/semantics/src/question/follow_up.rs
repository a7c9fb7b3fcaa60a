//! Reads a text that follows an answer as a change of the request before: `and for 2023?`,
//! `without Germany`, `only the top three`.

use chrono::{Datelike, NaiveDate};

use super::draft::{Draft, Rank};
use super::parse::Parser;
use super::resolve::{RANKS_APART, Resolver};
use super::time::{self, Calendar, Clock, Span};
use super::tokens::Token;
use super::vocabulary::{self, Links, Meaning};
use super::{Cell, Reading, Understood, Unread, model, read, read_tokens};
use crate::compile::begin;
use crate::{Comparison, Filter, Grain, Operator, Order, Period, Request, Semantics, WeekStart};

/// The confidence of a change that the text states in full.
const SURE: f64 = 0.85;

/// Words at the start that say that the text goes on from the request before.
const MARKERS: &[&str] = &[
    "add",
    "also",
    "and",
    "and also",
    "and how about",
    "and now",
    "and the same",
    "and what about",
    "as",
    "but",
    "but only",
    "drop",
    "how about",
    "include",
    "just",
    "now",
    "ok",
    "okay",
    "only",
    "remove",
    "same",
    "same but",
    "same thing",
    "the same",
    "the same but",
    "the same thing",
    "then",
    "what about",
];
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
    "and",
    "as",
    "but",
    "by",
    "except",
    "excluding",
    "for",
    "from",
    "in",
    "instead",
    "just",
    "not",
    "of",
    "only",
    "or",
    "per",
    "since",
    "then",
    "to",
    "until",
    "with",
    "without",
];
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
    "as a total",
    "in total",
    "no breakdown",
    "overall",
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
    "show all",
    "show them all",
    "the full list",
    "without a limit",
    "without the limit",
];
/// Words that turn the order round.
const REVERSE: &[&str] = &["reverse", "reversed", "the other way around", "the other way round"];
/// Words that take away the comparison.
const PLAIN: &[&str] = &[
    "as absolute values",
    "in absolute numbers",
    "in absolute terms",
    "without comparison",
    "without the comparison",
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
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.next().is_some_and(|word| FRAGMENTS.contains(&word.to_lowercase().as_str()))
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
    reverse: bool,
    plain: bool,
    no_filters: bool,
    /// Dimensions whose conditions are taken away; each list is of one name.
    all: Vec<Vec<usize>>,
    top: Option<Rank>,
    /// The units by which the period moves.
    step: Option<(Grain, i32)>,
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
    let mut change = Change::default();
    // The marker may be a word of a change itself: `only`, `also`.
    let is_change = parser
        .phrase(0, ALSO)
        .or(parser.phrase(0, ONLY))
        .or(parser.phrase(0, NO_FILTERS))
        .or(parser.phrase(0, &["as"]));
    let mut at = if is_change.is_some() { 0 } else { start.unwrap_or(0) };
    while at < tokens.len() {
        at = match take_change(&mut parser, &links, &tokens, at, &mut change) {
            Some(end) => end,
            None => parser.step(at)?,
        };
    }
    let is_own = start.is_none() && change == Change::default();
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
        let of = parser.phrase(end, &["of"]);
        return of.map_or(Some(end), |of| end_of_mention(links, of));
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
    if let Some((step, end)) = step(parser, at) {
        change.step = Some(step);
        return Some(end);
    }
    if let Some((rank, end)) = top(parser, tokens, at) {
        change.top = Some(rank);
        return Some(end);
    }
    change.again |= parser.word(at) == "again";
    if matches!(parser.word(at), "ones" | "one" | "again" | "it" | "them") && at > 0 {
        return Some(at + 1);
    }
    let next = parser.phrase(at, &["all", "all the", "every", "any"])?;
    let named = links.names.get(next)?.as_ref()?;
    let dimensions = named.meanings.iter().filter_map(|meaning| match meaning {
        Meaning::Dimension(dimension) => Some(*dimension),
        _ => None,
    });
    let dimensions: Vec<usize> = dimensions.collect();
    if dimensions.is_empty() {
        return None;
    }
    change.all.push(dimensions);
    Some(named.end)
}

/// The place behind a name or a value.
fn end_of_mention(links: &Links, at: usize) -> Option<usize> {
    let name = links.names.get(at)?.as_ref().map(|name| name.end);
    name.or(links.values.get(at)?.as_ref().map(|value| value.end))
}

/// `the year before`, `the previous month`, `next quarter`.
fn step(parser: &Parser<'_>, at: usize) -> Option<((Grain, i32), usize)> {
    let at = parser.skip(at, &["the", "for"]);
    if let Some(unit) = time::unit(parser.word(at)) {
        return match parser.word(at + 1) {
            "before" | "earlier" => Some(((unit, -1), at + 2)),
            "after" | "later" => Some(((unit, 1), at + 2)),
            _ => None,
        };
    }
    let unit = time::unit(parser.word(at + 1))?;
    match parser.word(at) {
        "previous" | "preceding" | "prior" => Some(((unit, -1), at + 2)),
        "next" | "following" => Some(((unit, 1), at + 2)),
        _ => None,
    }
}

/// `the top three`, `bottom 5`, where nothing is named that is ranked.
fn top(parser: &Parser<'_>, tokens: &[Token], at: usize) -> Option<(Rank, usize)> {
    let descending = match parser.word(at) {
        "top" | "first" => true,
        "bottom" | "last" => false,
        _ => return None,
    };
    let number = tokens.get(at + 1).and_then(Token::number)?;
    let end = at + 2;
    let is_alone = parser.group_at(end).is_none() && time::unit(parser.word(end)).is_none();
    is_alone.then_some((Rank { descending, limit: Some(number) }, end))
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
            ..Change::default()
        };
        if self.draft.is_empty() && *self.change == flags {
            return refuse("the text changes nothing of the request before");
        }
        if self.draft.averages || self.draft.lists {
            return refuse("the text asks for something else than the request before");
        }
        let mut request = self.previous.clone();
        self.metrics(&mut request)?;
        self.groups(&mut request)?;
        self.filters(&mut request)?;
        self.period(&mut request)?;
        self.comparison(&mut request)?;
        self.order(&mut request)?;
        self.within(&mut request)?;
        self.check(&request)?;
        Ok(Understood { request, confidence: SURE, is_change: true })
    }

    fn metrics(&self, request: &mut Request) -> Result<(), Unread> {
        if self.draft.metrics.is_empty() {
            return Ok(());
        }
        let named = self.resolver.metrics()?;
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
        if self.change.totals {
            request.by.clear();
            request.grain = None;
            request.order = None;
            request.limit = None;
        }
        if by.is_empty() && grain.is_none() {
            return Ok(());
        }
        let replaces = self.change.instead || (request.limit.is_some() && !self.change.also);
        if replaces || (!by.is_empty() && !self.change.also) {
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
            } else if request.filters.len() == before {
                return refuse("the request before has no such condition");
            }
        }
        if self.change.no_filters {
            request.filters.clear();
        }
        for filter in self.resolver.filters(&request.metrics)? {
            self.filter(request, filter)?;
        }
        let compared = self.resolver.find_compared_dimension(&request.filters);
        if let Some(name) = compared.filter(|name| !request.by.contains(name)) {
            request.by.push(name);
        }
        Ok(())
    }

    fn filter(&self, request: &mut Request, filter: Filter) -> Result<(), Unread> {
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
            if self.change.instead {
                return refuse("the request before has no condition of this kind");
            }
            request.filters.push(filter);
            return Ok(());
        };
        // `compare with Italy` adds to what is there, `compare France and Italy` does not.
        let is_compared = self.draft.compares && filter.values.len() == 1;
        let known = &mut request.filters[same];
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
        *known = filter;
        Ok(())
    }

    fn period(&self, request: &mut Request) -> Result<(), Unread> {
        if self.change.all_times {
            request.period = None;
        }
        if let Some((unit, by)) = self.change.step {
            let Some(period) = &self.previous.period else {
                return refuse("the request before has no period to go on from");
            };
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
        let draft = self.draft;
        if draft.shares && !self.resolver.shows_percent(&request.metrics) {
            let is_split = !request.by.is_empty() || request.grain.is_some();
            let is_sum =
                request.metrics.iter().all(|name| model::is_additive(self.semantics, name));
            if !is_split || !is_sum || request.metrics.len() > 1 {
                return refuse("there is nothing to have a share of");
            }
            if !draft.conditions.is_empty() {
                return refuse("the share in each group and the share of each group may be meant");
            }
            request.comparison = Some(Comparison::ShareOfTotal);
        }
        let asks = draft.runs
            || draft.is_trend
            || draft.grows
            || draft.compare.is_some()
            || draft.over.is_some();
        if !asks {
            return Ok(());
        }
        let span = request.period.as_ref().map(span_of);
        let compared = self.resolver.comparison(request.grain, span)?;
        request.comparison = compared.comparison.or(request.comparison);
        request.grain = compared.grain;
        request.period = compared.span.map(Span::period);
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
        request.limit = request.limit.or(limit);
        request.order = request.order.take().or(before);
        if self.change.reverse {
            let order = request
                .order
                .get_or_insert_with(|| Order { by: request.metrics[0].clone(), descending: false });
            order.descending = !order.descending;
        }
        if let Some(rank) = self.change.top {
            request.limit = rank.limit;
            let by = request
                .order
                .as_ref()
                .map(|order| order.by.clone())
                .filter(|by| request.metrics.contains(by))
                .unwrap_or_else(|| request.metrics[0].clone());
            request.order = Some(Order { by, descending: rank.descending });
        }
        Ok(())
    }

    /// Leaves the groups that a limit or a share counts in as they are, as far as the request still
    /// has them. It may not count in others than the text says.
    fn within(&self, request: &mut Request) -> Result<(), Unread> {
        let is_shared = request.comparison == Some(Comparison::ShareOfTotal);
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
        if request.comparison.is_some() && request.metrics.len() > 1 {
            return refuse("only one metric can be compared");
        }
        let needs_time = !matches!(request.comparison, None | Some(Comparison::ShareOfTotal));
        if needs_time && request.grain.is_none() {
            return refuse("a comparison with another time needs a unit of time");
        }
        Ok(())
    }
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
