//! Goes through the words of a text and collects what it asks for. Every word is consumed by a
//! rule, changes nothing, or is unknown.

use syrch_words::looks_plural;

use super::cues;
use super::draft::{Choice, Condition, Draft, Group, Pick, Rank, Sort, Target, Value};
use super::resolve::EITHER_OR_BOTH;
use super::time::{self, Clock, Time};
use super::tokens::{Kind, Token};
use super::vocabulary::{Links, Meaning};
use super::{Unread, model};
use crate::compile::are_equal;
use crate::{Grain, Literal, Operator, Semantics};

/// The index of the token after those that a rule consumed; `None` if it does not apply.
type Taken = Result<Option<usize>, Unread>;

const BOTH_TIMES: &str = "`both` times may mean each by itself, all of them, or what was there in \
                          each of them";
const ADDED_UP: &str = "the sum of the first of a ranking is no metric: ask for the first, or for \
                        the sum of all";

/// Reads one text.
pub(super) struct Parser<'a> {
    pub(super) semantics: &'a Semantics,
    pub(super) tokens: &'a [Token],
    pub(super) links: &'a Links,
    pub(super) clock: Clock<'a>,
    pub(super) draft: Draft,
    /// The metrics of the request before, where the text follows one.
    pub(super) before: Vec<usize>,
    /// The limit of the request before.
    pub(super) limit_before: Option<u64>,
    /// The place behind the metric that was read last.
    metric_end: Option<usize>,
    /// The places of the values that were read last, and behind them.
    value_place: Option<(usize, usize)>,
    /// True if the text asks for a comparison, whose other side follows the metric.
    compares: bool,
}

impl<'a> Parser<'a> {
    /// A parser at the start of a text.
    pub(super) fn new(
        semantics: &'a Semantics,
        tokens: &'a [Token],
        links: &'a Links,
        clock: Clock<'a>,
    ) -> Self {
        Self {
            semantics,
            tokens,
            links,
            clock,
            draft: Draft::default(),
            before: Vec::new(),
            limit_before: None,
            metric_end: None,
            value_place: None,
            compares: false,
        }
    }

    /// Reads the tokens from a place to the end.
    pub(super) fn read(&mut self, from: usize) -> Result<(), Unread> {
        let mut at = from;
        while at < self.tokens.len() {
            at = self.step(at)?;
        }
        Ok(())
    }

    /// Reads what begins at a token and returns the place behind it.
    pub(super) fn step(&mut self, at: usize) -> Result<usize, Unread> {
        let rules: [fn(&mut Self, usize) -> Taken; 20] = [
            Self::sort,
            Self::both,
            Self::mention,
            Self::value,
            Self::negation,
            Self::comparison,
            Self::over,
            Self::rank,
            Self::superlative,
            Self::which,
            Self::time,
            Self::number,
            Self::group,
            Self::running,
            Self::growth,
            Self::share,
            Self::trend,
            Self::aggregate,
            Self::adverb,
            Self::verb,
        ];
        for rule in rules {
            if let Some(end) = rule(self, at)? {
                return Ok(end);
            }
        }
        let is_verb = matches!(self.word(at), "are" | "is" | "was" | "were");
        if is_verb && self.metric_end.is_some() {
            let before = self.draft.conditions.len();
            self.draft.conditions_before_verb.get_or_insert(before);
        }
        let token = &self.tokens[at];
        let is_last = self.tokens[at..].iter().all(|token| token.kind == Kind::End);
        let is_nothing = match token.kind {
            // `how many orders is that` is about what stands before.
            Kind::Word => {
                let is_end = self.tokens[at + 1..].iter().all(|token| token.kind == Kind::End);
                let refers = is_end && cues::REFERENCES.contains(&token.lower.as_str());
                cues::is_filler(&token.lower) && !refers
            }
            Kind::Comma => true,
            Kind::End => is_last,
            _ => false,
        };
        let is_first =
            self.tokens[..at].iter().all(|token| cues::POLITE.contains(&token.lower.as_str()));
        self.draft.shows |= is_first && cues::SHOWS.contains(&token.lower.as_str());
        if at == 0 && cues::LISTS.contains(&token.lower.as_str()) {
            self.draft.lists = true;
        } else if !is_nothing {
            self.draft.unknown.push(token.text.clone());
        }
        Ok(at + 1)
    }

    pub(super) fn word(&self, at: usize) -> &str {
        self.tokens
            .get(at)
            .filter(|token| token.kind == Kind::Word)
            .map_or("", |token| &token.lower)
    }

    /// The place behind the longest of these phrases that stands here.
    pub(super) fn phrase(&self, at: usize, phrases: &[&str]) -> Option<usize> {
        let ends = phrases.iter().filter_map(|phrase| {
            let mut end = at;
            for word in phrase.split(' ') {
                if self.word(end) != word {
                    return None;
                }
                end += 1;
            }
            Some(end)
        });
        ends.max()
    }

    /// Returns the place of the first token from a place on that is none of these words.
    pub(super) fn skip(&self, at: usize, words: &[&str]) -> usize {
        let mut at = at;
        while words.contains(&self.word(at)) && !self.word(at).is_empty() {
            at += 1;
        }
        at
    }

    fn text(&self, at: usize, end: usize) -> String {
        let words: Vec<&str> = self.tokens[at..end].iter().map(|t| t.text.as_str()).collect();
        words.join(" ")
    }

    /// The metrics and tables that are named here.
    pub(super) fn pick(&self, at: usize) -> Option<(Pick, usize)> {
        let named = self.links.names.get(at)?.as_ref()?;
        let mut pick = Pick { text: self.text(at, named.end), ..Pick::default() };
        for meaning in &named.meanings {
            match meaning {
                Meaning::Metric(metric) => pick.metrics.push(*metric),
                Meaning::Table(table) => pick.tables.push(*table),
                Meaning::Dimension(_) => {}
            }
        }
        Some((pick, named.end))
    }

    /// The metric that is named here.
    pub(super) fn metric(&self, at: usize) -> Option<(Pick, usize)> {
        self.pick(at).filter(|(pick, _)| !pick.metrics.is_empty())
    }

    fn dimensions(&self, at: usize) -> Option<(Vec<usize>, usize)> {
        let named = self.links.names.get(at)?.as_ref()?;
        let found = named.meanings.iter().filter_map(|meaning| match meaning {
            Meaning::Dimension(dimension) => Some(*dimension),
            _ => None,
        });
        let found: Vec<usize> = found.collect();
        (!found.is_empty()).then_some((found, named.end))
    }

    /// The things to group by that are named here: dimensions, or else the rows of a table.
    pub(super) fn group_at(&self, at: usize) -> Option<(Group, usize)> {
        let (pick, end) = self.pick(at)?;
        let mut options: Vec<Vec<usize>> = Vec::new();
        if let Some((dimensions, _)) = self.dimensions(at) {
            options.extend(dimensions.into_iter().map(|dimension| vec![dimension]));
        } else {
            let tables = pick.tables.iter();
            options.extend(
                tables
                    .map(|table| model::naming_dimensions(self.semantics, *table))
                    .filter(|names| !names.is_empty()),
            );
        }
        let group = Group { text: pick.text, options, per: Vec::new(), lead: "" };
        (!group.options.is_empty()).then_some((group, end))
    }

    /// `sorted by revenue`, `highest first`.
    fn sort(&mut self, at: usize) -> Taken {
        if let Some(next) = self.phrase(at, cues::SORTS) {
            let next = self.skip(next, &["the", "total"]);
            if let Some((sort, end)) = self.sort_by(next) {
                self.set_sort(sort, None)?;
                return Ok(Some(end));
            }
        }
        if let Some(end) = self.phrase(at, cues::BY_NAME) {
            self.set_sort(Sort::Name, None)?;
            return Ok(Some(end));
        }
        for (phrases, descending) in [(cues::DESCENDING, true), (cues::ASCENDING, false)] {
            if let Some(end) = self.phrase(at, phrases) {
                let sort = self.draft.sort.take();
                self.draft.sort =
                    Some((sort.map_or(Sort::First, |(sort, _)| sort), Some(descending)));
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// `both cancelled and attended`, `in both 2023 and 2024`: rows that are one of two things or,
    /// as often, things that are both at once.
    fn both(&mut self, at: usize) -> Taken {
        if self.word(at) != "both" {
            return Ok(None);
        }
        let next = self.skip(at + 1, &["in", "from", "for", "of", "the"]);
        let is_last = self.tokens[at + 1..].iter().all(|token| token.kind == Kind::End);
        if self.clock.point(next).is_some() || (is_last && !self.draft.times.is_empty()) {
            return Err(Unread::Unsupported(BOTH_TIMES.to_owned()));
        }
        let Some(value) = self.links.values.get(next).and_then(Option::as_ref) else {
            return Ok(None);
        };
        let name = self.links.names.get(next).and_then(Option::as_ref);
        if name.is_some_and(|name| name.end >= value.end) {
            return Ok(None);
        }
        Err(Unread::Ambiguous {
            phrase: format!("both {}", self.text(next, value.end)),
            choices: EITHER_OR_BOTH.map(str::to_owned).to_vec(),
        })
    }

    fn set_sort(&mut self, sort: Sort, descending: Option<bool>) -> Result<(), Unread> {
        if self.draft.sort.is_some() {
            return Err(Unread::Unsupported("only one order can be asked for".to_owned()));
        }
        self.draft.sort = Some((sort, descending));
        Ok(())
    }

    fn sort_by(&self, at: usize) -> Option<(Sort, usize)> {
        if let Some((pick, end)) = self.metric(at) {
            return Some((Sort::Metric(pick), end));
        }
        if let Some((group, end)) = self.group_at(at) {
            return Some((Sort::Group(group), end));
        }
        let is_time =
            time::unit(self.word(at)).is_some() || matches!(self.word(at), "time" | "date");
        is_time.then_some((Sort::Time, at + 1))
    }

    /// The name of a metric, a dimension or a table.
    fn mention(&mut self, at: usize) -> Taken {
        let Some((pick, end)) = self.pick(at) else { return Ok(None) };
        if self.is_value_first(at) {
            return Ok(None);
        }
        if let Some(end) = self.read_headed_group(at)? {
            return Ok(Some(end));
        }
        if let Some(end) = self.compare_dimension(at) {
            return Ok(Some(end));
        }
        if self.is_qualified(&pick, at)
            && let Some(end) = self.beside_value(at)
        {
            return Ok(Some(end));
        }
        if !pick.metrics.is_empty() && self.takes_metric(at) {
            self.push_metric(pick, end);
            return Ok(Some(end));
        }
        if let Some(end) = self.beside_value(at) {
            return Ok(Some(end));
        }
        if self.draft.counts && self.draft.metrics.is_empty() && !pick.tables.is_empty() {
            self.push_metric(pick, end);
            return Ok(Some(end));
        }
        let before = at.checked_sub(1).map_or("", |before| self.word(before));
        let is_beside = matches!(before, "from" | "of" | "by" | "for" | "with" | "to" | "the")
            && !self.draft.metrics.is_empty();
        if is_beside && !pick.tables.is_empty() {
            self.draft.contexts.push(pick);
            return Ok(Some(end));
        }
        Ok(None)
    }

    /// Returns true if a name in a text that follows a request belongs to the value before it:
    /// `for business customers` asks for no number of customers.
    fn is_qualified(&self, pick: &Pick, at: usize) -> bool {
        let Some((start, end)) = self.value_place else { return false };
        let before = start.checked_sub(1).map_or("", |before| self.word(before));
        let is_known = pick.metrics.iter().any(|metric| self.before.contains(metric));
        end == at
            && !self.before.is_empty()
            && (is_known || matches!(before, "for" | "from" | "of" | "to" | "by"))
    }

    fn push_metric(&mut self, pick: Pick, end: usize) {
        self.metric_end = Some(end);
        if !self.draft.metrics.contains(&pick) {
            self.draft.metrics.push(pick);
        }
    }

    /// Returns true if a value stands here that is meant rather than a longer name: behind a metric
    /// `from cancelled orders` is a condition, though `cancelled orders` may be a metric.
    fn is_value_first(&self, at: usize) -> bool {
        let Some(value) = self.links.values[at].as_ref() else { return false };
        let Some(name) = self.links.names[at].as_ref() else { return true };
        let is_metric = name.meanings.iter().all(|one| matches!(one, Meaning::Metric(_)));
        let is_apart = self.metric_end.is_some() && !self.is_joined(at);
        value.end > name.end
            || self.tokens[at].kind == Kind::Quoted
            || (is_apart && is_metric && value.end < name.end)
    }

    /// Returns true if a metric may stand here: it is the first, or in a list of them.
    fn takes_metric(&self, at: usize) -> bool {
        self.draft.metrics.is_empty() || self.is_joined(at)
    }

    /// Returns true if only words of a list stand between the last metric and here.
    fn is_joined(&self, at: usize) -> bool {
        let Some(end) = self.metric_end else { return false };
        let between = self.tokens.get(end..at).unwrap_or_default();
        let joins = between.iter().any(|token| {
            token.kind == Kind::Comma || matches!(token.lower.as_str(), "and" | "plus")
        });
        let glue = ["and", "plus", "the", "number", "of", "total", "how", "many"];
        joins
            && between
                .iter()
                .all(|one| one.kind == Kind::Comma || glue.contains(&one.lower.as_str()))
    }

    /// `the category with the highest revenue`, `the 5 customers with the most orders`.
    fn read_headed_group(&mut self, at: usize) -> Taken {
        let (found, end) = match (self.group_at(at), time::unit(self.word(at))) {
            (Some((group, end)), _) => (Some(group), end),
            (None, Some(_)) => (None, at + 1),
            (None, None) => return Ok(None),
        };
        let heads = matches!(self.word(end), "with" | "that" | "who" | "having");
        let next = self.skip(end + 1, &["had", "has", "have", "placed", "made", "the", "brought"]);
        if !heads || cues::superlative(self.word(next)).is_none() || !self.draft.metrics.is_empty()
        {
            return Ok(None);
        }
        let number = self.draft.number.take();
        self.check_sum(at - usize::from(number.is_some() && at > 0))?;
        let limit = self.limit_of(number, at, end)?;
        match found {
            Some(group) => self.draft.groups.push(group),
            None => self.draft.grains.extend(time::unit(self.word(at))),
        }
        self.draft.rank = Some(Rank { descending: true, limit: Some(limit) });
        Ok(Some(end + 1))
    }

    /// Refuses `total of the top 3 categories`, which is one number: a ranking has a row of each.
    fn check_sum(&self, at: usize) -> Result<(), Unread> {
        let mut before = at;
        while before > 0 && self.word(before - 1) == "the" {
            before -= 1;
        }
        let lead = before.checked_sub(1).map_or("", |before| self.word(before));
        let is_sum = self.draft.totals && matches!(lead, "across" | "for" | "from" | "in" | "of");
        let is_split = !self.draft.groups.is_empty() || !self.draft.grains.is_empty();
        if is_sum && !is_split { Err(Unread::Unsupported(ADDED_UP.to_owned())) } else { Ok(()) }
    }

    /// The number of things that are asked for; one where the name is a singular.
    fn limit_of(&self, number: Option<u64>, at: usize, end: usize) -> Result<u64, Unread> {
        let last = end.checked_sub(1).and_then(|last| self.tokens.get(last));
        match number {
            Some(number) => Ok(number),
            None if last.is_some_and(|last| !looks_plural(&last.lower)) => Ok(1),
            None => {
                Err(Unread::Unsupported(format!("how many {} is not said", self.text(at, end))))
            }
        }
    }

    /// `rating over 3`, `a rating of 5`.
    fn compare_dimension(&mut self, at: usize) -> Option<usize> {
        let (dimensions, end) = self.dimensions(at)?;
        let next = self.skip(end, &["is", "was", "of"]);
        let (operator, next) = self.operator(next).unwrap_or((Operator::In, next));
        let token = self.tokens.get(next)?;
        let literal = match (token.kind, token.number()) {
            (Kind::Number, _) => Literal::Number(token.lower.clone()),
            // `a rating of five`, but not `rating one`.
            (_, Some(number)) if next > end => Literal::Number(number.to_string()),
            _ => return None,
        };
        self.push_number(&dimensions, literal, operator, (at, next + 1));
        Some(next + 1)
    }

    /// `with five stars`: a number before the dimension that holds such amounts.
    fn read_amount(&mut self, at: usize) -> Option<usize> {
        let before = at.checked_sub(1).map_or("", |before| self.word(before));
        let number = self.tokens.get(at)?.number()?;
        let (dimensions, end) = self.dimensions(at + 1)?;
        let are_amounts = dimensions.iter().all(|at| model::is_amount(self.semantics, *at));
        if !are_amounts || !matches!(before, "had" | "has" | "have" | "having" | "of" | "with") {
            return None;
        }
        let literal = Literal::Number(number.to_string());
        self.push_number(&dimensions, literal, Operator::In, (at, end));
        Some(end)
    }

    /// Adds the condition that one of these dimensions is a number, with its place in the text.
    fn push_number(
        &mut self,
        dimensions: &[usize],
        literal: Literal,
        operator: Operator,
        (at, end): (usize, usize),
    ) {
        let options = dimensions
            .iter()
            .map(|at| Value { dimension: *at, literal: literal.clone(), is_label: false })
            .collect();
        self.draft.conditions.push(Condition {
            values: vec![Choice { text: self.text(at, end), options }],
            operator,
            is_or: false,
            is_and: false,
            place: None,
            dimensions: Vec::new(),
            tables: Vec::new(),
        });
        self.value_place = Some((at, end));
    }

    fn operator(&self, at: usize) -> Option<(Operator, usize)> {
        let phrases: [(&[&str], Operator); 4] = [
            (&["over", "above", "more than", "greater than", "higher than"], Operator::Greater),
            (&["under", "below", "less than", "lower than", "fewer than"], Operator::Less),
            (&["at least"], Operator::AtLeast),
            (&["at most"], Operator::AtMost),
        ];
        phrases.iter().find_map(|(phrases, operator)| Some((*operator, self.phrase(at, phrases)?)))
    }

    /// A dimension or a table beside a value of it: `the category Books`, `wholesale customers`.
    fn beside_value(&mut self, at: usize) -> Option<usize> {
        let (pick, end) = self.pick(at)?;
        let dimensions = self.dimensions(at).map(|(found, _)| found).unwrap_or_default();
        let is_behind = self.value_place.is_some_and(|(_, end)| end == at);
        if is_behind {
            let metrics: Vec<usize> =
                self.draft.metrics.iter().flat_map(|known| known.metrics.clone()).collect();
            let condition = self.draft.conditions.last_mut()?;
            let is_known = pick.metrics.iter().any(|metric| metrics.contains(metric));
            let has = condition.values.iter().all(|choice| {
                choice.options.iter().any(|value| {
                    dimensions.contains(&value.dimension)
                        || pick.tables.iter().any(|table| {
                            let name = &self.semantics.tables[*table].name;
                            let owner = &self.semantics.dimensions[value.dimension].table;
                            are_equal(owner, name)
                        })
                })
            });
            if has {
                condition.dimensions.extend(dimensions);
                condition.tables.extend(pick.tables);
                return Some(end);
            }
            return is_known.then_some(end);
        }
        let next = self.skip(end, &["is", "was", "are", "were", "of", "named", "called"]);
        let is_before = self.links.values.get(next)?.is_some();
        if !is_before || dimensions.is_empty() && pick.tables.is_empty() {
            return None;
        }
        let value = self.values(next, false)?;
        let condition = self.draft.conditions.last_mut()?;
        condition.dimensions.extend(dimensions);
        condition.tables.extend(pick.tables);
        Some(value)
    }

    /// Values: `Germany`, `Books and Toys`.
    fn value(&mut self, at: usize) -> Taken {
        Ok(self.values(at, false))
    }

    /// Reads a list of values as a condition.
    pub(super) fn values(&mut self, at: usize, is_negative: bool) -> Option<usize> {
        let mut values = Vec::new();
        let mut is_or = false;
        let mut is_and = false;
        let mut end = at;
        let mut next = at;
        while let Some(value) = self.links.values.get(next).and_then(Option::as_ref) {
            let is_name = self.links.names[next].as_ref().is_some_and(|name| name.end >= value.end);
            if is_name && !is_negative && !self.is_value_first(next) {
                break;
            }
            let text = self.text(next, value.end);
            values.push(Choice { text, options: value.options.clone() });
            end = value.end;
            let joins = self.skip(end, &["and", "or", "nor"]).max(
                end + usize::from(self.tokens.get(end).is_some_and(|t| t.kind == Kind::Comma)),
            );
            let joins = self.skip(joins, &["and", "or", "nor"]);
            if joins == end {
                break;
            }
            next = self.skip(joins, &["in", "from", "for", "of", "the"]);
            if self.links.values.get(next).is_some_and(Option::is_some) {
                is_or |= (end..joins).any(|at| self.word(at) == "or");
                is_and |= (end..joins).any(|at| self.word(at) == "and");
            }
        }
        if values.is_empty() {
            return None;
        }
        let before = at.checked_sub(1).map_or("", |before| self.word(before));
        self.draft.conditions.push(Condition {
            values,
            operator: if is_negative { Operator::NotIn } else { Operator::In },
            is_or,
            is_and,
            place: cues::PLACED.iter().find(|word| **word == before).copied(),
            dimensions: Vec::new(),
            tables: Vec::new(),
        });
        self.value_place = Some((at, end));
        Some(end)
    }

    /// `without Germany`, `not cancelled`.
    fn negation(&mut self, at: usize) -> Taken {
        let Some(next) = self.phrase(at, cues::NEGATIONS) else { return Ok(None) };
        let next = self.skip(next, &["in", "from", "for", "of", "the", "those", "all"]);
        if let Some(end) = self.values(next, true) {
            return Ok(Some(end));
        }
        // `not in the category Books`
        let named = self
            .pick(next)
            .filter(|(_, end)| self.links.values.get(*end).is_some_and(Option::is_some));
        let Some((pick, behind)) = named else { return Ok(None) };
        let dimensions = self.dimensions(next).map(|(found, _)| found).unwrap_or_default();
        let Some(end) = self.values(behind, true) else { return Ok(None) };
        if let Some(condition) = self.draft.conditions.last_mut() {
            condition.dimensions.extend(dimensions);
            condition.tables.extend(pick.tables);
        }
        Ok(Some(end))
    }

    /// `compared with the year before`, `vs 2023`.
    fn comparison(&mut self, at: usize) -> Taken {
        let joins: &[&str] = if self.compares { &["with", "to", "and"] } else { &[] };
        let phrase = self.phrase(at, cues::COMPARISONS).or_else(|| self.phrase(at, joins));
        let Some(next) = phrase else {
            let begins = self.phrase(at, &["compare", "comparing"]);
            self.compares |= begins.is_some();
            self.draft.compares |= begins.is_some();
            return Ok(begins);
        };
        let next = self.skip(next, &["that", "of", "its", "those"]);
        let Some((target, end)) = self.target(next) else {
            return Ok(self.compare_value(next));
        };
        if self.draft.compare.replace(target).is_some() {
            return Err(Unread::Unsupported("only one comparison can be asked for".to_owned()));
        }
        Ok(Some(end))
    }

    /// `France compared with Italy`: the values that are compared become groups.
    fn compare_value(&mut self, at: usize) -> Option<usize> {
        let at = self.skip(at, &["in", "from", "for", "of", "the"]);
        let has_other = !self.draft.conditions.is_empty() || !self.before.is_empty();
        let is_value = self.links.values.get(at)?.is_some() && has_other;
        self.draft.compares |= is_value;
        is_value.then_some(at)
    }

    pub(super) fn target(&self, at: usize) -> Option<(Target, usize)> {
        if let Some(end) = self.phrase(at, cues::YEAR_AGO) {
            return Some((Target::YearAgo, end));
        }
        let at = self.skip(at, &["the"]);
        if self.word(at) == "same" && time::unit(self.word(at + 1)).is_some() {
            let next = self.skip(at + 2, &["in", "of", "the", "a"]);
            let is_last = matches!(self.word(next), "last" | "previous" | "prior");
            if is_last && self.word(next + 1) == "year" {
                return Some((Target::YearAgo, next + 2));
            }
            let is_ago = self.word(next) == "year"
                && matches!(self.word(next + 1), "ago" | "before" | "earlier");
            return is_ago.then_some((Target::YearAgo, next + 2));
        }
        if let Some(unit) = time::unit(self.word(at))
            && self.word(at + 1) == "before"
        {
            return Some((Target::Before(unit, false), at + 2));
        }
        if matches!(self.word(at), "previous" | "prior" | "preceding" | "last") {
            if self.word(at + 1) == "period" {
                return Some((Target::Period, at + 2));
            }
            if let Some(unit) = time::unit(self.word(at + 1)) {
                let is_last = self.word(at) == "last";
                return Some((Target::Before(unit, is_last), at + 2));
            }
        }
        self.clock.point(at).map(|(time, end)| (Target::Time(time), end))
    }

    /// `month over month`, `yoy`.
    fn over(&mut self, at: usize) -> Taken {
        let (unit, end) = match self.word(at) {
            "yoy" => (Grain::Year, at + 1),
            "qoq" => (Grain::Quarter, at + 1),
            "mom" => (Grain::Month, at + 1),
            "wow" => (Grain::Week, at + 1),
            word => {
                let Some(unit) = time::unit(word) else { return Ok(None) };
                let is_same = matches!(self.word(at + 1), "over" | "on" | "to")
                    && time::unit(self.word(at + 2)) == Some(unit);
                if !is_same {
                    return Ok(None);
                }
                (unit, at + 3)
            }
        };
        if self.draft.over.replace(unit).is_some() {
            return Err(Unread::Unsupported("only one comparison can be asked for".to_owned()));
        }
        Ok(Some(end))
    }

    /// `top 5 customers`, `bottom 3 months`.
    fn rank(&mut self, at: usize) -> Taken {
        let descending = match self.word(at) {
            "top" => true,
            "bottom" => false,
            _ => return Ok(None),
        };
        let number = self.tokens.get(at + 1).and_then(Token::number);
        let next = at + 1 + usize::from(number.is_some());
        self.check_sum(at)?;
        if let Some((group, end)) = self.group_at(next) {
            let limit = self.limit_of(number, next, end)?;
            self.draft.groups.push(group);
            self.draft.rank = Some(Rank { descending, limit: Some(limit) });
            return Ok(Some(end));
        }
        if let Some(unit) = time::unit(self.word(next)) {
            let limit = self.limit_of(number, next, next + 1)?;
            self.draft.grains.push(unit);
            self.draft.rank = Some(Rank { descending, limit: Some(limit) });
            return Ok(Some(next + 1));
        }
        if number.is_none() || self.draft.rank.is_some() {
            return Ok(None);
        }
        let rank = Some(Rank { descending, limit: number });
        // `top 3 revenue by country`
        let metric = self.metric(next).filter(|(pick, _)| pick.tables.is_empty());
        if let Some((pick, end)) = metric.filter(|_| self.draft.metrics.is_empty()) {
            self.push_metric(pick, end);
            self.draft.rank = rank;
            return Ok(Some(end));
        }
        // `revenue by country, top 3`
        let is_behind = !self.draft.groups.is_empty() || !self.draft.grains.is_empty();
        if is_behind && !self.draft.metrics.is_empty() {
            self.draft.rank = rank;
            return Ok(Some(next));
        }
        Ok(None)
    }

    /// `the highest revenue`.
    fn superlative(&mut self, at: usize) -> Taken {
        let Some(descending) = cues::superlative(self.word(at)) else { return Ok(None) };
        let next = self.skip(at + 1, &["total", "number", "of", "the", "overall"]);
        let shares = self.phrase(next, cues::SHARES);
        let next = self.skip(shares.unwrap_or(next), &["of", "the", "total"]);
        let Some((pick, end)) = self.metric(next) else { return Ok(None) };
        let is_known = self.draft.metrics.is_empty() || self.draft.metrics.contains(&pick);
        if !is_known {
            return Ok(None);
        }
        self.draft.shares |= shares.is_some();
        self.push_metric(pick, end);
        let limit = self.draft.rank.and_then(|rank| rank.limit);
        self.draft.rank = Some(Rank { descending, limit });
        Ok(Some(end))
    }

    /// `which category`, `in which month`, `what 3 products`.
    fn which(&mut self, at: usize) -> Taken {
        if !matches!(self.word(at), "which" | "what") {
            return Ok(None);
        }
        let number = self.tokens.get(at + 1).and_then(Token::number);
        let next = at + 1 + usize::from(number.is_some());
        let is_what = self.word(at) == "what";
        let (group, end) = match (self.group_at(next), time::unit(self.word(next))) {
            (Some(_), _) if is_what && self.metric(next).is_some() => return Ok(None),
            (Some((group, end)), _) => (Some(group), end),
            (None, Some(_)) => (None, next + 1),
            (None, None) => return Ok(None),
        };
        let limit = self.limit_of(number, next, end)?;
        match group {
            Some(group) => self.draft.groups.push(group),
            None => self.draft.grains.extend(time::unit(self.word(next))),
        }
        self.draft.number = Some(limit);
        self.draft.asks_which = true;
        Ok(Some(end))
    }

    fn time(&mut self, at: usize) -> Taken {
        // `compare 2024 to 2023` names two times.
        let read = match self.compares {
            true => self.clock.time(at),
            false => self.clock.time_or_range(at),
        };
        let Some((time, end)) = read else { return Ok(None) };
        let is_relative = match time {
            Time::Span(span) => span.is_relative,
            Time::Unclear(_) => true,
            Time::Yearless(..) | Time::Divided => false,
        };
        // `orders over 2000` is no year.
        if self.word(at) == "over" && !is_relative {
            return Ok(None);
        }
        self.draft.times.push(time);
        self.draft.ends = self.clock.ends(at);
        Ok(Some(end))
    }

    /// A number before what is asked for: `the 5 customers with …`.
    fn number(&mut self, at: usize) -> Taken {
        let number = self.tokens[at].number().filter(|_| self.draft.number.is_none());
        let next = self.skip(at + 1, &[]);
        let is_head = self.group_at(next).is_some_and(|(_, end)| self.word(end) == "with");
        let is_unit = time::unit(self.word(next)).is_some() && self.word(next + 1) == "with";
        if number.is_none() || !(is_head || is_unit) {
            return match self.read_amount(at) {
                Some(end) => Ok(Some(end)),
                None => self.read_headed_unit(at),
            };
        }
        self.draft.number = number;
        Ok(Some(next))
    }

    /// `the month with the highest revenue`.
    fn read_headed_unit(&mut self, at: usize) -> Taken {
        match time::unit(self.word(at)) {
            Some(_) => self.read_headed_group(at),
            None => Ok(None),
        }
    }

    /// `by category and year`, `per month`, `for each customer`.
    fn group(&mut self, at: usize) -> Taken {
        let Some(next) = self.phrase(at, cues::GROUPS) else { return Ok(None) };
        let words = self.text(at, next).to_lowercase();
        let lead = cues::GROUPS.iter().find(|lead| **lead == words).copied().unwrap_or_default();
        let word = self.word(next - 1).to_owned();
        let is_agent = word == "by" && at.checked_sub(1).is_some_and(|at| self.is_participle(at));
        let mut next = self.skip(next, &["the", "calendar"]);
        if lead == "by"
            && let Some(end) = self.read_agent(next, is_agent)?
        {
            return Ok(Some(end));
        }
        let is_ranked = self.draft.rank.is_some()
            || (self.limit_before.is_some() && self.group_at(next).is_none());
        // `compare France and Italy by revenue`
        let is_compared = self.draft.compares
            && lead == "by"
            && (self.before.is_empty() || self.group_at(next).is_none());
        if (is_ranked || is_compared) && self.draft.metrics.is_empty() {
            let place = self.skip(next, &["total", "number", "of"]);
            let shares = self.phrase(place, cues::SHARES);
            let place = self.skip(shares.unwrap_or(place), &["of", "the", "total"]);
            if let Some((pick, end)) = self.metric(place) {
                self.draft.shares |= shares.is_some();
                self.push_metric(pick, end);
                return Ok(Some(end));
            }
        }
        let mut end = None;
        loop {
            if let Some((mut group, behind)) = self.group_at(next) {
                if is_agent && self.pick(next).is_some_and(|(pick, _)| !pick.tables.is_empty()) {
                    return Ok(None);
                }
                if word == "per"
                    && let Some((pick, _)) = self.pick(next)
                {
                    group.per = self.count_metrics(&pick);
                }
                self.draft.groups.push(Group { lead, ..group });
                end = Some(behind);
            } else if let Some(unit) = time::unit(self.word(next)) {
                self.draft.grains.push(unit);
                self.draft.grain_lead = lead;
                end = Some(next + 1);
            } else if word == "per"
                && end.is_none()
                && let Some((pick, behind)) = self.pick(next)
            {
                let per = self.count_metrics(&pick);
                let group = Group { text: pick.text, options: Vec::new(), per, lead };
                self.draft.groups.push(group);
                end = Some(behind);
            } else {
                break;
            }
            let Some(done) = end else { break };
            let comma = usize::from(self.tokens.get(done).is_some_and(|t| t.kind == Kind::Comma));
            let joins = self.skip(done + comma, &["and", "then"]);
            if joins == done {
                break;
            }
            let joins = self.skip(joins, &["by", "per", "the", "each"]);
            let is_item = self.group_at(joins).is_some() || time::unit(self.word(joins)).is_some();
            if !is_item {
                break;
            }
            next = joins;
        }
        Ok(end)
    }

    /// Returns the place of a table with a condition on it behind `by`: `by customers from Germany`
    /// splits no number of orders. Without a number or a verb before it, it may as well do so.
    fn read_agent(&self, at: usize, is_agent: bool) -> Taken {
        let Some((pick, end)) = self.pick(at) else { return Ok(None) };
        let place = self.skip(end + 1, &["the"]);
        let value = self.links.values.get(place).and_then(Option::as_ref);
        let is_own = value.is_some_and(|value| {
            value.options.iter().any(|option| {
                let owner = &self.semantics.dimensions[option.dimension].table;
                let mut tables = pick.tables.iter().map(|table| &self.semantics.tables[*table]);
                tables.any(|table| are_equal(&table.name, owner))
            })
        });
        let is_plural = end > at && looks_plural(self.word(end - 1));
        let has_condition = is_own && is_plural && matches!(self.word(end), "from" | "in" | "of");
        if !has_condition || self.draft.rank.is_some() {
            return Ok(None);
        }
        if (is_agent || self.draft.counts) && !self.draft.metrics.is_empty() {
            return Ok(Some(at));
        }
        let text = &pick.text;
        Err(Unread::Unsupported(format!(
            "`by {text}` with a condition may be a breakdown or a condition: name the condition \
             alone, or say `for each`"
        )))
    }

    /// The metrics that count what a name means.
    fn count_metrics(&self, pick: &Pick) -> Vec<usize> {
        let tables = pick.tables.iter().filter_map(|table| {
            model::count_of(self.semantics, &self.semantics.tables[*table].name)
        });
        let mut out: Vec<usize> = pick.metrics.iter().copied().chain(tables).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    fn is_participle(&self, at: usize) -> bool {
        let word = self.word(at);
        (word.len() > 4 && word.ends_with("ed")) || matches!(word, "made" | "brought" | "bought")
    }

    fn running(&mut self, at: usize) -> Taken {
        let end = self.phrase(at, cues::RUNNING);
        self.draft.runs |= end.is_some();
        Ok(end)
    }

    fn growth(&mut self, at: usize) -> Taken {
        let end = self.phrase(at, cues::GROWTHS);
        self.draft.grows |= end.is_some();
        Ok(end)
    }

    fn share(&mut self, at: usize) -> Taken {
        let end = self.phrase(at, cues::SHARES);
        self.draft.shares |= end.is_some();
        Ok(end)
    }

    /// `over time`, `how did revenue change`.
    fn trend(&mut self, at: usize) -> Taken {
        let end = self.phrase(at, cues::TRENDS).or_else(|| {
            let asks_how =
                self.word(0) == "how" && self.word(1) != "many" && self.word(1) != "much";
            (asks_how && cues::CHANGES.contains(&self.word(at))).then_some(at + 1)
        });
        self.draft.is_trend |= end.is_some();
        if end.is_none() && at == 0 && matches!(self.word(1), "did" | "has" | "have") {
            // `how did`
            return Ok((self.word(0) == "how").then_some(1));
        }
        Ok(end)
    }

    /// `how many`, `total`, `average`.
    fn aggregate(&mut self, at: usize) -> Taken {
        if let Some(end) = self.phrase(at, cues::COUNTS) {
            self.draft.counts = true;
            let next = self.skip(end, &["the"]);
            let is_distinct = matches!(self.word(next), "different" | "distinct" | "unique");
            self.draft.is_distinct |= is_distinct;
            return Ok(Some(if is_distinct { next + 1 } else { end }));
        }
        if let Some(end) = self.phrase(at, cues::AVERAGES) {
            self.draft.averages = true;
            return Ok(Some(end));
        }
        if let Some(end) = self.phrase(at, cues::TOTALS) {
            self.draft.totals = true;
            return Ok(Some(end));
        }
        Ok(self.phrase(at, &["how much"]))
    }

    /// `monthly`, `month by month`.
    fn adverb(&mut self, at: usize) -> Taken {
        if let Some(unit) = time::adverb(self.word(at)) {
            self.draft.grains.push(unit);
            return Ok(Some(at + 1));
        }
        let unit = time::unit(self.word(at)).filter(|unit| {
            self.word(at + 1) == "by" && time::unit(self.word(at + 2)) == Some(*unit)
        });
        self.draft.grains.extend(unit);
        Ok(unit.map(|_| at + 3))
    }

    /// A verb that a synonym has beside the name of a metric, as `placed` in `orders placed`.
    fn verb(&mut self, at: usize) -> Taken {
        let word = self.word(at);
        if word.is_empty() || cues::is_filler(word) {
            return Ok(None);
        }
        let index = self.semantics.index();
        let metrics = index.vocabulary(self.semantics).verbs(word);
        if metrics.is_empty() {
            return Ok(None);
        }
        self.draft.verbs.push((word.to_owned(), metrics));
        Ok(Some(at + 1))
    }
}
