//! Makes a request of a draft, or returns the reason why there is none: each name must have one
//! meaning that the metrics support.

use std::collections::BTreeSet;

use syrch_words::stem;

use super::draft::{Condition, Draft, Group, Pick, Sort, Target, Value};
use super::time::{self, Calendar, Span, Time};
use super::{Understood, Unread, cues, model};
use crate::compile::{are_equal, begin};
use crate::{
    Aggregate, Comparison, Dimension, Filter, Format, Grain, Literal, Operator, Order, Request,
    Semantics,
};

/// The confidence of a request that the text states in full.
const SURE: f64 = 0.95;
/// The confidence where the grain is assumed.
const ASSUMED: f64 = 0.75;

/// The length of a word that may be a misspelled name, in bytes, and the least likeness to it.
const SPELLED: usize = 5;
const LONGEST: usize = 40;
const ALIKE: f64 = 0.75;

/// The reason why a ranking within groups is refused.
pub(super) const RANKS_APART: &str = "one metric can be ranked by one thing at a time: say \
     `in each` before what it is ranked within each group of";

/// The meanings of two values of one column with `and` between them.
pub(super) const EITHER_OR_BOTH: [&str; 2] = ["rows of either", "rows of both at once"];

/// The meanings of two places of one table.
const ONE_OR_TWO: [&str; 2] = ["one place within the other", "the places of two things"];

/// The reason why a share with further conditions is refused.
const SHARED: &str = "the conditions may be those of the share or of the whole: put those of the \
     whole before `are` or `were`, and that of the share behind it";

/// Resolves the parts of a draft.
#[derive(Clone, Copy)]
pub(super) struct Resolver<'a> {
    pub(super) semantics: &'a Semantics,
    pub(super) calendar: Calendar,
    pub(super) draft: &'a Draft,
    /// Names of metrics and dimensions that the user chose where words have several meanings.
    pub(super) chosen: &'a [String],
}

/// A share that a text asks for.
enum Share {
    /// A metric of that name.
    Ratio(String),
    /// That of each group.
    OfTotal,
    /// That of one value of a dimension.
    OfAll(String),
}

/// A comparison with the grain and the days that it is made at.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Compared {
    pub(super) comparison: Option<Comparison>,
    pub(super) grain: Option<Grain>,
    pub(super) span: Option<Span>,
    /// True if the grain is assumed.
    pub(super) is_assumed: bool,
}

fn refuse<T>(why: impl Into<String>) -> Result<T, Unread> {
    Err(Unread::Unsupported(why.into()))
}

impl Resolver<'_> {
    /// The request of a question of its own.
    pub(super) fn request(&self) -> Result<Understood, Unread> {
        let draft = self.draft;
        self.check_words()?;
        let mut metrics = self.metrics()?;
        let mut groups = draft.groups.clone();
        if let Some((ratio, group)) = self.ratio(&metrics)? {
            metrics = vec![ratio];
            groups.remove(group);
        }
        self.check_rows(&metrics)?;
        let (mut by, day) = self.groups(&groups, &metrics)?;
        let mut filters = self.filters(&metrics)?;
        let compared = self.find_compared_dimension(&filters);
        if let Some(name) = compared.filter(|name| !by.contains(name)) {
            by.push(name);
        }
        let grain = self.grain(day)?;
        let span = self.span(None)?;
        let shares = draft.shares && !self.shows_percent(&metrics);
        let mut comparison = None;
        if shares {
            match self.share(&metrics, &mut filters, &by, grain)? {
                Share::Ratio(ratio) => metrics = vec![ratio],
                Share::OfTotal => comparison = Some(Comparison::ShareOfTotal),
                Share::OfAll(dimension) => {
                    by.push(dimension);
                    comparison = Some(Comparison::ShareOfAll);
                }
            }
        }
        if draft.compares && draft.compare.is_none() && by.is_empty() && grain.is_none() {
            return refuse("the text does not say what to compare with");
        }
        let compared = self.comparison(grain, span)?;
        if compared.comparison.is_some() && comparison.is_some() {
            return refuse("a share and a comparison cannot be asked for at once");
        }
        let comparison = comparison.or(compared.comparison);
        if comparison.is_some() && metrics.len() > 1 {
            return refuse("only one metric can be compared");
        }
        let mut request = Request {
            metrics,
            by,
            grain: compared.grain,
            filters,
            period: compared.span.map(Span::period),
            order: None,
            limit: None,
            within: Vec::new(),
            comparison,
        };
        if request.comparison == Some(Comparison::ShareOfTotal) {
            request.within = self.within(cues::WITHIN, &request);
        }
        self.order(&mut request)?;
        self.check_time(&request)?;
        let confidence = if compared.is_assumed { ASSUMED } else { SURE };
        Ok(Understood { request, confidence, is_change: false })
    }

    /// The dimension whose values are compared with each other, as in `compare France and Italy`.
    pub(super) fn find_compared_dimension(&self, filters: &[Filter]) -> Option<String> {
        if !self.draft.compares || self.draft.compare.is_some() {
            return None;
        }
        let mut lists = filters
            .iter()
            .filter(|filter| filter.operator == Operator::In && filter.values.len() > 1);
        let only = lists.next().filter(|_| lists.next().is_none())?;
        Some(only.dimension.clone())
    }

    /// Returns the place of the choice that the user made.
    fn choose(&self, phrase: &str, choices: Vec<String>) -> Result<usize, Unread> {
        let mut made = (0..choices.len()).filter(|at| self.chosen.contains(&choices[*at]));
        match (made.next(), made.next()) {
            (Some(only), None) => Ok(only),
            _ => Err(Unread::Ambiguous { phrase: phrase.to_owned(), choices }),
        }
    }

    /// Refuses a text with words that no rule understands. Words such as `by` are named only where
    /// nothing else is to blame.
    pub(super) fn check_words(&self) -> Result<(), Unread> {
        let unknown = &self.draft.unknown;
        let others = unknown.iter().filter(|word| !cues::is_cue(&word.to_lowercase()));
        let others: Vec<String> = others.cloned().collect();
        match (unknown.as_slice(), others.as_slice()) {
            ([], _) => Ok(()),
            (words, []) => Err(Unread::Words(words.to_vec())),
            (_, words) => Err(Unread::Words(words.iter().map(|word| self.suggest(word)).collect())),
        }
    }

    /// A word that is not understood, with the name that it may be a misspelling of.
    fn suggest(&self, word: &str) -> String {
        let Semantics { metrics, dimensions, .. } = self.semantics;
        let names = metrics.iter().flat_map(|one| one.synonyms.iter().chain([&one.name]));
        let others = dimensions.iter().flat_map(|one| one.synonyms.iter().chain([&one.name]));
        if !(SPELLED..=LONGEST).contains(&word.len()) {
            return word.to_owned();
        }
        let lower = word.to_lowercase();
        let scored = names.chain(others).filter(|name| name.len() <= LONGEST).map(|name| {
            (strsim::normalized_damerau_levenshtein(&lower, &name.to_lowercase()), name)
        });
        let near = scored.filter(|(likeness, _)| (ALIKE..1.0).contains(likeness));
        match near.max_by(|(one, _), (other, _)| one.total_cmp(other)) {
            Some((_, near)) => format!("{word} (`{near}`?)"),
            None => word.to_owned(),
        }
    }

    /// The metrics that are named.
    pub(super) fn metrics(&self) -> Result<Vec<String>, Unread> {
        let draft = self.draft;
        let mut out: Vec<String> = Vec::new();
        for pick in &draft.metrics {
            let name = self.semantics.metrics[self.metric(pick)?].name.clone();
            if !out.contains(&name) {
                out.push(name);
            }
        }
        if out.is_empty() {
            return Err(Unread::NoMetric);
        }
        if let Some(name) =
            out.iter().find(|name| draft.totals && !model::is_additive(self.semantics, name))
        {
            return refuse(format!("{name} cannot be added up"));
        }
        for (word, known) in &draft.verbs {
            let fits = out.iter().any(|name| {
                known.iter().any(|metric| self.semantics.metrics[*metric].name == *name)
            });
            if !fits {
                return Err(Unread::Words(vec![word.clone()]));
            }
        }
        Ok(out)
    }

    /// The one metric that a name means here.
    fn metric(&self, pick: &Pick) -> Result<usize, Unread> {
        let all = &self.semantics.metrics;
        let mut found = pick.metrics.clone();
        if self.draft.counts && !self.draft.averages {
            found.retain(|metric| model::is_count(&all[*metric]));
            if found.is_empty() {
                found.extend(pick.tables.iter().filter_map(|table| {
                    model::count_of(self.semantics, &self.semantics.tables[*table].name)
                }));
            }
            if self.draft.is_distinct {
                found.retain(|metric| model::is_distinct_count(&all[*metric]));
            }
        }
        match found.as_slice() {
            [only] => Ok(*only),
            // The rules may count rows of which no metric says anything.
            [] if self.names_no_metric() => {
                Err(Unread::Rows(format!("no metric is a number of {}", pick.text)))
            }
            [] => refuse(format!("no metric is a number of {}", pick.text)),
            several => {
                let names = several.iter().map(|metric| all[*metric].name.clone());
                Ok(several[self.choose(&pick.text, names.collect())?])
            }
        }
    }

    /// Returns true if the text names tables alone, whose rows it counts.
    fn names_no_metric(&self) -> bool {
        !self.draft.averages && self.draft.metrics.iter().all(|pick| pick.metrics.is_empty())
    }

    /// The ratio that `average revenue per order` and `revenue per order` mean, with the place of
    /// the group that it takes up.
    fn ratio(&self, metrics: &[String]) -> Result<Option<(String, usize)>, Unread> {
        let semantics = self.semantics;
        let averages = self.draft.averages;
        let first = &metrics[0];
        let is_mean = model::metric(semantics, first).is_some_and(model::is_mean);
        if averages && is_mean && metrics.len() == 1 {
            return Ok(None);
        }
        for (at, group) in self.draft.groups.iter().enumerate() {
            let lowers = group.per.iter().map(|metric| &semantics.metrics[*metric].name);
            let found: Vec<usize> =
                lowers.flat_map(|lower| model::ratios(semantics, first, lower)).collect();
            match found.as_slice() {
                [ratio] if metrics.len() == 1 => {
                    let name = semantics.metrics[*ratio].name.clone();
                    if !averages && !group.options.is_empty() {
                        let phrase = format!("{first} per {}", group.text);
                        let choices = vec![name.clone(), format!("{first} by {}", group.text)];
                        if self.choose(&phrase, choices)? == 1 {
                            continue;
                        }
                    }
                    return Ok(Some((name, at)));
                }
                _ => {}
            }
        }
        if averages {
            return refuse(format!("no average of {first} is defined"));
        }
        Ok(None)
    }

    /// Refuses a text that asks for a list of rows or for nothing that can be ranked.
    fn check_rows(&self, metrics: &[String]) -> Result<(), Unread> {
        let draft = self.draft;
        let counts_rows = metrics
            .iter()
            .all(|name| model::metric(self.semantics, name).is_some_and(model::counts_rows));
        let is_number = draft.counts || draft.totals || draft.shares || draft.is_trend;
        let is_rows = (draft.lists || draft.shows && !is_number && counts_rows)
            && draft.groups.is_empty()
            && draft.grains.is_empty()
            && draft.rank.is_none()
            && !draft.compares
            && !draft.counts
            && draft.metrics.iter().any(|pick| !pick.tables.is_empty());
        if is_rows {
            return refuse(format!("{} is a number, and a list is asked for", metrics[0]));
        }
        if draft.asks_which && draft.rank.is_none() {
            return refuse("the question asks for which, but not for the most or the least");
        }
        Ok(())
    }

    /// The dimensions of the groups, and true if one is the metrics' own time.
    pub(super) fn groups(
        &self,
        groups: &[Group],
        metrics: &[String],
    ) -> Result<(Vec<String>, bool), Unread> {
        let mut by: Vec<String> = Vec::new();
        let mut is_day = false;
        for group in groups {
            for dimension in self.group(group, metrics)? {
                if !self.semantics.dimensions[dimension].is_time {
                    let name = model::full_name(self.semantics, dimension);
                    if !by.contains(&name) {
                        by.push(name);
                    }
                    continue;
                }
                if self.times(metrics)?.iter().any(|time| *time != dimension) {
                    return refuse(format!("{} does not date {}", group.text, metrics[0]));
                }
                is_day = true;
            }
        }
        Ok((by, is_day))
    }

    fn group(&self, group: &Group, metrics: &[String]) -> Result<Vec<usize>, Unread> {
        let reached = group
            .options
            .iter()
            .filter(|option| option.iter().all(|dimension| self.reaches(metrics, *dimension)));
        let reached: Vec<&Vec<usize>> = reached.collect();
        let own = reached
            .iter()
            .copied()
            .filter(|option| option.iter().all(|dimension| self.is_own(metrics, *dimension)));
        let own: Vec<&Vec<usize>> = own.collect();
        let found = if own.len() == 1 { own } else { reached };
        match found.as_slice() {
            [only] => Ok((*only).clone()),
            [] => refuse(self.describe_unreached(group, metrics)),
            several => {
                let names = several
                    .iter()
                    .filter_map(|option| option.last())
                    .map(|dimension| model::full_name(self.semantics, *dimension));
                Ok(several[self.choose(&group.text, names.collect())?].clone())
            }
        }
    }

    /// The reason why no dimension of a group is reached.
    fn describe_unreached(&self, group: &Group, metrics: &[String]) -> String {
        let dimensions = group.options.iter().flatten();
        let tables: BTreeSet<&str> =
            dimensions.map(|at| self.semantics.dimensions[*at].table.as_str()).collect();
        let several = tables.iter().find(|table| {
            metrics.iter().any(|metric| model::has_several_paths(self.semantics, metric, table))
        });
        let reason = match (several, tables.len()) {
            (Some(table), _) => format!(": several paths of joins lead to `{table}`"),
            (None, 1) => format!(": no joins lead to `{}`", Vec::from_iter(tables).concat()),
            (None, _) => String::new(),
        };
        format!("{} cannot be split by {}{reason}", metrics.join(", "), group.text)
    }

    fn reaches(&self, metrics: &[String], dimension: usize) -> bool {
        let table = &self.semantics.dimensions[dimension].table;
        metrics.iter().all(|metric| model::reaches(self.semantics, metric, table))
    }

    /// Returns true if the dimension is of the table that the metrics aggregate.
    fn is_own(&self, metrics: &[String], dimension: usize) -> bool {
        let table = &self.semantics.dimensions[dimension].table;
        metrics.iter().all(|metric| {
            model::measures(self.semantics, metric)
                .iter()
                .all(|measure| are_equal(&measure.base, table))
        })
    }

    /// The conditions on rows.
    pub(super) fn filters(&self, metrics: &[String]) -> Result<Vec<Filter>, Unread> {
        let mut out: Vec<Filter> = Vec::new();
        let mut tables: Vec<String> = Vec::new();
        let mut places: Vec<(usize, &Condition)> = Vec::new();
        for condition in &self.draft.conditions {
            for (dimension, values) in self.condition(condition, metrics)? {
                self.check_places(&places, dimension, condition)?;
                places.push((dimension, condition));
                tables.push(self.semantics.dimensions[dimension].table.clone());
                let name = model::full_name(self.semantics, dimension);
                let operator = condition.operator;
                let known =
                    out.iter_mut().find(|one| one.dimension == name && one.operator == operator);
                match known {
                    Some(known) if operator == Operator::NotIn => known.values.extend(values),
                    Some(known) if operator == Operator::In && self.draft.compares => {
                        known.values.extend(values);
                    }
                    Some(_) if operator == Operator::In => {
                        return Err(Unread::Contradictory(name));
                    }
                    Some(_) => return refuse(format!("there are two conditions on {name}")),
                    None => out.push(Filter { dimension: name, operator, values }),
                }
            }
        }
        self.check_contexts(metrics, &tables)?;
        Ok(out)
    }

    /// Refuses a second place of one table that may be that of something else: `from Germany in
    /// Paris`, but not `in Paris, Germany`.
    fn check_places(
        &self,
        known: &[(usize, &Condition)],
        dimension: usize,
        condition: &Condition,
    ) -> Result<(), Unread> {
        let has_other = known.iter().any(|&(at, one)| {
            let is_apart = match (one.place, condition.place) {
                (Some(_), Some(_)) if std::ptr::eq(one, condition) => one.is_and,
                (Some(first), Some(second)) => first != second,
                _ => false,
            };
            at != dimension
                && is_apart
                && self.are_places_of_one(at, dimension)
                && names_no_owner(one)
                && names_no_owner(condition)
        });
        if !has_other {
            return Ok(());
        }
        let conditions = self.draft.conditions.iter().filter(|one| one.place.is_some());
        let texts = conditions.flat_map(|one| one.values.iter().map(|value| value.text.as_str()));
        Err(Unread::Ambiguous {
            phrase: texts.collect::<Vec<_>>().join(", "),
            choices: ONE_OR_TWO.map(str::to_owned).to_vec(),
        })
    }

    /// Returns true if two dimensions hold places and belong to one table.
    pub(super) fn are_places_of_one(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|at| &self.semantics.dimensions[at]);
        are_equal(&one.table, &other.table) && holds_places(one) && holds_places(other)
    }

    /// Refuses a table beside the metric that no condition is on: the text may ask for something
    /// else than the metric.
    fn check_contexts(&self, metrics: &[String], conditions: &[String]) -> Result<(), Unread> {
        for context in &self.draft.contexts {
            let fits = context.tables.iter().any(|table| {
                let name = &self.semantics.tables[*table].name;
                conditions.iter().any(|known| are_equal(known, name))
                    || metrics.iter().all(|metric| {
                        let times = model::times(self.semantics, metric).unwrap_or_default();
                        !self.draft.times.is_empty()
                            && times.iter().all(|time| {
                                are_equal(&self.semantics.dimensions[*time].table, name)
                            })
                    })
            });
            if !fits {
                return Err(Unread::Words(vec![context.text.clone()]));
            }
        }
        Ok(())
    }

    /// The dimension of a condition with its values; several of a list whose values are of
    /// different dimensions.
    fn condition(
        &self,
        condition: &Condition,
        metrics: &[String],
    ) -> Result<Vec<(usize, Vec<Literal>)>, Unread> {
        let words: Vec<&str> = condition.values.iter().map(|one| one.text.as_str()).collect();
        let text = words.join(", ");
        let common = self.common_dimensions(condition);
        if common.is_empty() {
            let can_divide = condition.values.len() > 1
                && !condition.is_or
                && condition.operator == Operator::In;
            if !can_divide {
                return refuse(format!("{text} is of no single dimension"));
            }
            let mut out = Vec::new();
            for value in &condition.values {
                let one = Condition { values: vec![value.clone()], ..condition.clone() };
                out.extend(self.condition(&one, metrics)?);
            }
            return Ok(out);
        }
        let mut found: Vec<usize> =
            common.into_iter().filter(|dimension| self.reaches(metrics, *dimension)).collect();
        if found.is_empty() {
            return refuse(format!("{} has nothing to do with {}", text, metrics.join(", ")));
        }
        self.narrow(&mut found, condition, metrics);
        let only = match found.as_slice() {
            [only] => *only,
            several => {
                let names =
                    several.iter().map(|dimension| model::full_name(self.semantics, *dimension));
                several[self.choose(&text, names.collect())?]
            }
        };
        let mut values: Vec<Literal> = Vec::new();
        for choice in &condition.values {
            let own = choice.options.iter().filter(|one| one.dimension == only);
            for Value { literal, .. } in own {
                if !values.contains(literal) {
                    values.push(literal.clone());
                }
            }
        }
        self.check_event(only, &text, metrics)?;
        self.check_both(condition, &values, metrics)?;
        Ok(vec![(only, values)])
    }

    fn common_dimensions(&self, condition: &Condition) -> Vec<usize> {
        let mut out: Vec<usize> = Vec::new();
        let Some(first) = condition.values.first() else { return out };
        for Value { dimension, .. } in &first.options {
            let is_common = condition
                .values
                .iter()
                .all(|choice| choice.options.iter().any(|other| other.dimension == *dimension));
            if is_common && !out.contains(dimension) {
                out.push(*dimension);
            }
        }
        out
    }

    /// Leaves those of several dimensions that the words beside the value speak of, then those of
    /// the metrics' own table, then those whose values the file names.
    fn narrow(&self, found: &mut Vec<usize>, condition: &Condition, metrics: &[String]) {
        retain_some(found, |at| condition.dimensions.contains(&at));
        retain_some(found, |at| self.is_of_tables(at, &condition.tables));
        let contexts = self.draft.contexts.iter().flat_map(|pick| pick.tables.iter().copied());
        let contexts: Vec<usize> = contexts.collect();
        retain_some(found, |at| self.is_of_tables(at, &contexts));
        if condition.place.is_none() {
            self.narrow_to_own(found, metrics);
        }
        // Where two tables have a dimension of one name, labels of one say nothing of the other.
        let names = found.iter().map(|at| &self.semantics.dimensions[*at].name);
        let names: Vec<&String> = names.collect();
        if names
            .iter()
            .enumerate()
            .any(|(at, name)| names.iter().skip(at + 1).any(|other| are_equal(name, other)))
        {
            return;
        }
        retain_some(found, |at| {
            condition.values.iter().all(|choice| {
                choice.options.iter().any(|value| value.dimension == at && value.is_label)
            })
        });
    }

    /// Leaves those of the metrics' own table: `cancelled` in `how many orders are cancelled`. A
    /// place may as well be that of another table, as `orders in Paris` are.
    fn narrow_to_own(&self, found: &mut Vec<usize>, metrics: &[String]) {
        let beside = self.draft.metrics.iter().flat_map(|pick| pick.tables.iter().copied());
        let beside: Vec<usize> = beside.collect();
        retain_some(found, |at| self.is_of_tables(at, &beside));
        retain_some(found, |at| self.is_own(metrics, at));
    }

    fn is_of_tables(&self, dimension: usize, tables: &[usize]) -> bool {
        let table = &self.semantics.dimensions[dimension].table;
        tables.iter().any(|at| are_equal(&self.semantics.tables[*at].name, table))
    }

    /// Refuses `buyers cancelled and delivered`, where those of either and those of both may be
    /// meant. A row has one value, so that a number of rows is of either.
    fn check_both(
        &self,
        condition: &Condition,
        values: &[Literal],
        metrics: &[String],
    ) -> Result<(), Unread> {
        let is_list = values.len() > 1 && condition.operator == Operator::In;
        let is_distinct = metrics
            .iter()
            .any(|name| model::metric(self.semantics, name).is_some_and(model::is_distinct_count));
        if !is_list || !is_distinct || condition.is_or || condition.place.is_some() {
            return Ok(());
        }
        let words: Vec<&str> = condition.values.iter().map(|one| one.text.as_str()).collect();
        Err(Unread::Ambiguous {
            phrase: words.join(" and "),
            choices: EITHER_OR_BOTH.map(str::to_owned).to_vec(),
        })
    }

    /// Refuses `orders shipped in May` where the status and a day of shipping may be meant.
    fn check_event(&self, dimension: usize, text: &str, metrics: &[String]) -> Result<(), Unread> {
        if self.draft.times.is_empty() {
            return Ok(());
        }
        let own = self.times(metrics)?;
        let wanted = stem(&text.to_lowercase());
        let table = &self.semantics.dimensions[dimension].table;
        let other = (0..self.semantics.dimensions.len()).find(|at| {
            let known = &self.semantics.dimensions[*at];
            known.is_time
                && are_equal(&known.table, table)
                && !own.contains(at)
                && known.name.split(['_', ' ']).any(|word| stem(&word.to_lowercase()) == wanted)
        });
        let Some(other) = other else { return Ok(()) };
        let choices = own.iter().chain(std::iter::once(&other));
        Err(Unread::Ambiguous {
            phrase: text.to_owned(),
            choices: choices.map(|at| model::full_name(self.semantics, *at)).collect(),
        })
    }

    /// The dimensions that date the metrics.
    fn times(&self, metrics: &[String]) -> Result<Vec<usize>, Unread> {
        let mut out = Vec::new();
        for metric in metrics {
            match model::times(self.semantics, metric) {
                Some(times) => out.extend(times),
                None => return refuse(format!("{metric} has no time")),
            }
        }
        Ok(out)
    }

    /// The one grain of all that are named: `by year and month` is by month. Within another one
    /// nothing is ranked, and nothing is a share of it.
    pub(super) fn grain(&self, is_day: bool) -> Result<Option<Grain>, Unread> {
        let mut grains = self.draft.grains.clone();
        grains.extend(is_day.then_some(Grain::Day));
        grains.dedup();
        match grains.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(*only)),
            _ if self.draft.rank.is_some() || self.draft.shares || self.draft.runs => {
                refuse("a unit of time within another one cannot be ranked, shared or added up")
            }
            [Grain::Year, Grain::Month] | [Grain::Month, Grain::Year] => Ok(Some(Grain::Month)),
            [Grain::Year, Grain::Quarter] | [Grain::Quarter, Grain::Year] => {
                Ok(Some(Grain::Quarter))
            }
            _ => refuse("only one unit of time can be grouped by"),
        }
    }

    /// The days that are named. A part of a year that is not named is in `year`.
    pub(super) fn span(&self, year: Option<i32>) -> Result<Option<Span>, Unread> {
        let unclear = self.draft.times.iter().find_map(|time| match time {
            Time::Unclear(why) => Some(*why),
            Time::Span(_) | Time::Yearless(..) | Time::Divided => None,
        });
        if let Some(why) = unclear {
            return refuse(why);
        }
        match (self.draft.times.as_slice(), year) {
            ([], _) => Ok(None),
            ([Time::Span(span)], _) => Ok(Some(*span)),
            ([Time::Yearless(first, count)], Some(year)) => Ok(time::months(year, *first, *count)),
            ([Time::Yearless(..)], None) => refuse(time::NO_YEAR),
            ([Time::Divided], _) => refuse("the times do not touch"),
            _ => refuse("more than one time is named"),
        }
    }

    /// Returns true if the only metric is shown as a percentage anyway.
    pub(super) fn shows_percent(&self, metrics: &[String]) -> bool {
        metrics.len() == 1
            && model::metric(self.semantics, &metrics[0])
                .is_some_and(|metric| metric.format == Format::Percent)
    }

    /// The share in question.
    fn share(
        &self,
        metrics: &[String],
        filters: &mut Vec<Filter>,
        by: &[String],
        grain: Option<Grain>,
    ) -> Result<Share, Unread> {
        let [metric] = metrics else { return refuse("only one metric can have shares") };
        let all = &self.semantics.metrics;
        let mut found: Vec<(usize, Option<usize>)> = Vec::new();
        let mut is_unclear = false;
        for (at, filter) in filters.iter().enumerate() {
            if let Some(dimension) = model::find_dimension(self.semantics, &filter.dimension)
                && filter.operator == Operator::In
            {
                let shares = model::shares_of(self.semantics, metric, dimension, &filter.values);
                let is_clear = self.is_of_share(filter);
                is_unclear |= !is_clear && !shares.is_empty();
                let shares = shares.into_iter().filter(|_| is_clear);
                found.extend(shares.map(|share| (share, Some(at))));
            }
        }
        let uppers = (0..all.len()).filter(|at| {
            matches!(&all[*at].kind, crate::MetricKind::Ratio { numerator, .. }
                if are_equal(numerator, metric)
                    && all[*at].format == Format::Percent)
        });
        let uppers: Vec<usize> = uppers.collect();
        let is_split = !by.is_empty() || grain.is_some();
        // `what percent of cancelled orders are from Germany` asks for no cancellation rate.
        let is_narrow = !filters.is_empty() || (!is_split && !self.draft.times.is_empty());
        is_unclear |= is_narrow && !uppers.is_empty();
        if is_unclear && found.is_empty() {
            return refuse(SHARED);
        }
        found.extend(uppers.into_iter().map(|at| (at, None)));
        match found.as_slice() {
            // With a condition it may be the share of each group or the share in each group.
            [] if is_split && !filters.is_empty() => refuse(format!(
                "no metric is this share of {metric}: define a ratio of it, or ask without the \
                 condition for the share of each group"
            )),
            [] if is_split && model::is_additive(self.semantics, metric) => Ok(Share::OfTotal),
            [] => match filters.as_slice() {
                [only] if !is_split && self.is_share_of_all(metric, only) => {
                    Ok(Share::OfAll(only.dimension.clone()))
                }
                _ => refuse(format!("no metric is this share of {metric}")),
            },
            [(only, filter)] if !is_split => {
                filter.iter().for_each(|at| drop(filters.remove(*at)));
                Ok(Share::Ratio(all[*only].name.clone()))
            }
            several => {
                let names = several.iter().map(|(at, _)| all[*at].name.clone());
                let shares = is_split.then(|| format!("share of all {metric}"));
                let choices: Vec<String> = names.chain(shares).collect();
                let made = self.choose(&format!("share of {metric}"), choices)?;
                let Some((only, filter)) = several.get(made).copied() else {
                    return Ok(Share::OfTotal);
                };
                filter.iter().for_each(|at| drop(filters.remove(*at)));
                Ok(Share::Ratio(all[only].name.clone()))
            }
        }
    }

    /// Returns true if the numbers of all groups add up to that of all rows. Things that several
    /// groups have add up to more than all.
    pub(super) fn adds_up(&self, metric: &str) -> bool {
        model::is_additive(self.semantics, metric)
            && model::measures(self.semantics, metric)
                .iter()
                .all(|measure| measure.aggregate != Aggregate::CountDistinct)
    }

    /// Returns true if a condition names the one value whose share of all is asked for: `the share
    /// of revenue from Germany`.
    fn is_share_of_all(&self, metric: &str, filter: &Filter) -> bool {
        self.adds_up(metric) && filter.operator == Operator::In && filter.values.len() == 1
    }

    /// Returns true if a condition is certainly that of the share, and all others are those of the
    /// whole: `cancelled` in `what percent of orders from Germany were cancelled`.
    fn is_of_share(&self, filter: &Filter) -> bool {
        let before = self.draft.conditions_before_verb.unwrap_or_default();
        let [only] = self.draft.conditions.get(before..).unwrap_or_default() else { return false };
        only.values.iter().all(|choice| {
            let mut names =
                choice.options.iter().map(|one| model::full_name(self.semantics, one.dimension));
            names.any(|name| name == filter.dimension)
        })
    }

    /// The comparison that is asked for, with the grain and the days of the request.
    pub(super) fn comparison(
        &self,
        grain: Option<Grain>,
        span: Option<Span>,
    ) -> Result<Compared, Unread> {
        let draft = self.draft;
        let plain = Compared { comparison: None, grain, span, is_assumed: false };
        let asks = usize::from(draft.runs)
            + usize::from(draft.compare.is_some() || draft.over.is_some() || draft.grows);
        if asks > 1 || (draft.compare.is_some() && draft.over.is_some()) {
            return refuse("only one comparison can be asked for");
        }
        if draft.runs || draft.is_trend {
            let comparison = draft.runs.then_some(Comparison::RunningTotal);
            let assumed = match span.and_then(|span| span.unit) {
                Some(Grain::Day | Grain::Week | Grain::Month) => Grain::Day,
                _ => Grain::Month,
            };
            if asks > 0 && !draft.runs {
                return match grain {
                    Some(_) => self.changes(plain),
                    None => refuse("the unit of time is not said"),
                };
            }
            let is_assumed = grain.is_none();
            return Ok(Compared {
                comparison,
                grain: grain.or(Some(assumed)),
                is_assumed,
                ..plain
            });
        }
        if asks == 0 {
            return Ok(plain);
        }
        self.changes(plain)
    }

    /// A comparison with another period.
    fn changes(&self, plain: Compared) -> Result<Compared, Unread> {
        let draft = self.draft;
        let unit = plain.span.and_then(|span| span.unit);
        let (grain, is_year_ago) = match (draft.over, draft.compare) {
            (Some(over), _) => steps(plain.grain, over)?,
            (None, None) => match (plain.grain.or(unit), draft.ends) {
                (Some(grain), _) => (grain, false),
                (None, Some((first, last))) => {
                    return self.between(Compared { span: Some(last), ..plain }, first);
                }
                (None, None) => return refuse("the unit of time of the growth is not said"),
            },
            (None, Some(target)) => return self.compare(plain, target),
        };
        Ok(Compared { comparison: Some(self.kind(is_year_ago)), grain: Some(grain), ..plain })
    }

    fn kind(&self, is_year_ago: bool) -> Comparison {
        match (self.draft.grows, is_year_ago) {
            (true, true) => Comparison::GrowthLastYear,
            (true, false) => Comparison::Growth,
            (false, true) => Comparison::SamePeriodLastYear,
            (false, false) => Comparison::PreviousPeriod,
        }
    }

    fn compare(&self, plain: Compared, target: Target) -> Result<Compared, Unread> {
        let unit = plain.span.and_then(|span| span.unit);
        let natural = plain.grain.or(unit);
        match target {
            Target::Period => match natural {
                Some(grain) => Ok(self.at(plain, grain, false)),
                None => refuse("the unit of time is not said"),
            },
            Target::YearAgo => match natural {
                Some(Grain::Year) => Ok(self.at(plain, Grain::Year, false)),
                Some(grain) => Ok(self.at(plain, grain, true)),
                None => refuse("the unit of time is not said"),
            },
            Target::Before(before, from_today) => self.before(plain, before, from_today),
            Target::Time(Time::Span(other)) => self.between(plain, other),
            Target::Time(Time::Unclear(why)) => refuse(why),
            Target::Time(_) => refuse("the year of the comparison is not said"),
        }
    }

    fn at(&self, plain: Compared, grain: Grain, is_year_ago: bool) -> Compared {
        Compared { comparison: Some(self.kind(is_year_ago)), grain: Some(grain), ..plain }
    }

    /// A comparison with the unit before, which may be said of today.
    fn before(&self, plain: Compared, before: Grain, from_today: bool) -> Result<Compared, Unread> {
        let unit = plain.span.and_then(|span| span.unit);
        let Some(natural) = plain.grain.or(unit) else {
            if plain.span.is_some() {
                return refuse("the period is no single unit of time");
            }
            // `revenue compared with last month` is of this month.
            let span = if from_today { Some(self.current(before)?) } else { None };
            return Ok(Compared { span, ..self.at(plain, before, false) });
        };
        let (grain, is_year_ago) = steps(Some(natural), before)?;
        if let (Some(span), true, None) = (plain.span, from_today, plain.grain) {
            let is_current = Some(span.from) == self.current(natural).ok().map(|now| now.from);
            if !is_current && !is_year_ago {
                return refuse("the period before may be that of today or of the question");
            }
        }
        Ok(self.at(plain, grain, is_year_ago))
    }

    fn current(&self, unit: Grain) -> Result<Span, Unread> {
        let Calendar { today, week_start } = self.calendar;
        let from = begin(unit, today, week_start);
        let until = time::shift(from, unit, 1);
        if until.is_none() {
            return refuse("the day is out of range");
        }
        Ok(Span { from: Some(from), until, unit: Some(unit), is_relative: true })
    }

    /// A comparison of two spans that are named: of one unit, and one unit or a year apart.
    fn between(&self, plain: Compared, other: Span) -> Result<Compared, Unread> {
        let Some(span) = plain.span.filter(|span| span.unit == other.unit) else {
            return refuse("the two periods are not of one length");
        };
        let (Some(unit), Some(one), Some(two)) = (span.unit, span.from, other.from) else {
            return refuse("the two periods are no units of time");
        };
        let (later, first, last) = if one > two { (span, two, one) } else { (other, one, two) };
        let is_next = time::shift(first, unit, 1) == Some(last);
        let is_year = time::shift(first, Grain::Year, 1) == Some(last);
        let grain = plain.grain.unwrap_or(unit);
        if !is_year && (!is_next || grain != unit) {
            return refuse("the two periods are neither one unit nor a year apart");
        }
        let plain = Compared { span: Some(later), ..plain };
        Ok(self.at(plain, grain, is_year && grain != Grain::Year))
    }

    /// Sets the order and the limit.
    pub(super) fn order(&self, request: &mut Request) -> Result<(), Unread> {
        let draft = self.draft;
        if let Some(rank) = draft.rank {
            let within = self.within(cues::EACH, request);
            let has_time = within.iter().any(|name| name == "time");
            let by = request.by.iter().filter(|name| !within.contains(name)).cloned();
            let by: Vec<String> = by.collect();
            let is_one = by.is_empty() != (request.grain.is_none() || has_time);
            if request.metrics.len() > 1 || (!is_one && within.is_empty()) {
                return refuse("one metric can be ranked by one thing at a time");
            }
            if !is_one || !model::is_one_thing(self.semantics, &by) {
                return refuse(RANKS_APART);
            }
            request.within = within;
            if !request.comparison.is_none_or(Comparison::is_share) {
                return refuse("what is compared cannot be ranked");
            }
            let Some(limit) = rank.limit.or(draft.number) else {
                return refuse("how many are asked for is not said");
            };
            if limit == 0 {
                return refuse("the first 0 are asked for, which are none");
            }
            request.limit = Some(limit);
            request.order =
                Some(Order { by: request.metrics[0].clone(), descending: rank.descending });
        }
        if let Some((sort, descending)) = &draft.sort {
            let order = self.sort(sort, *descending, request)?;
            if request.order.as_ref().is_some_and(|known| *known != order) {
                return refuse("only one order can be asked for");
            }
            request.order = Some(order);
        }
        Ok(())
    }

    /// The groups of the request that stand behind one of these phrases, if something else is
    /// grouped by as well: `the top 2 products in each country`.
    fn within(&self, leads: &[&str], request: &Request) -> Vec<String> {
        let draft = self.draft;
        let mut within: Vec<String> = Vec::new();
        let mut is_day = false;
        for group in draft.groups.iter().filter(|group| leads.contains(&group.lead)) {
            // What a ratio took up is no group of the request.
            let Ok((names, has_day)) = self.groups(std::slice::from_ref(group), &request.metrics)
            else {
                continue;
            };
            within.extend(names.into_iter().filter(|name| request.by.contains(name)));
            is_day |= has_day;
        }
        let has_time = request.grain.is_some() && (is_day || leads.contains(&draft.grain_lead));
        within.extend(has_time.then(|| "time".to_owned()));
        let groups = request.by.len() + usize::from(request.grain.is_some());
        if within.len() < groups { within } else { Vec::new() }
    }

    fn sort(
        &self,
        sort: &Sort,
        descending: Option<bool>,
        request: &Request,
    ) -> Result<Order, Unread> {
        let (by, natural) = match sort {
            Sort::First => (request.metrics[0].clone(), true),
            Sort::Time if request.grain.is_some() => ("time".to_owned(), false),
            Sort::Time => return refuse("nothing is grouped by time"),
            Sort::Name => match request.by.as_slice() {
                [only] => (only.clone(), false),
                _ => return refuse("the result has not one column of names"),
            },
            Sort::Metric(pick) => {
                let name = self.semantics.metrics[self.metric(pick)?].name.clone();
                if !request.metrics.contains(&name) {
                    return refuse(format!("the result has no {name}"));
                }
                (name, true)
            }
            Sort::Group(group) => {
                let dimensions = self.group(group, &request.metrics)?;
                let names = dimensions.iter().map(|at| model::full_name(self.semantics, *at));
                let Some(name) = names.into_iter().find(|name| request.by.contains(name)) else {
                    return refuse(format!("the result has no {}", group.text));
                };
                (name, false)
            }
        };
        Ok(Order { by, descending: descending.unwrap_or(natural) })
    }

    /// Refuses a time of a metric that has none.
    pub(super) fn check_time(&self, request: &Request) -> Result<(), Unread> {
        if request.grain.is_some() || request.period.is_some() {
            self.times(&request.metrics)?;
        }
        Ok(())
    }
}

/// Returns true if a dimension is called like a place.
fn holds_places(dimension: &Dimension) -> bool {
    dimension.synonyms.iter().chain([&dimension.name]).any(|name| {
        let lower = name.to_lowercase();
        lower.split([' ', '_']).any(|word| cues::PLACES.contains(&word))
    })
}

/// Returns true if a list of values stands without the dimension or the table that it is of.
pub(super) fn names_no_owner(condition: &Condition) -> bool {
    condition.operator == Operator::In
        && condition.dimensions.is_empty()
        && condition.tables.is_empty()
}

/// Leaves those that a test accepts, if it accepts any.
fn retain_some(found: &mut Vec<usize>, accepts: impl Fn(usize) -> bool) {
    if found.len() > 1 && found.iter().any(|at| accepts(*at)) {
        found.retain(|at| accepts(*at));
    }
}

/// The grain at which a step back by a unit is made, and true if it is a year at a finer grain.
fn steps(grain: Option<Grain>, step: Grain) -> Result<(Grain, bool), Unread> {
    match grain {
        None => Ok((step, false)),
        Some(grain) if grain == step => Ok((step, false)),
        Some(grain) if step == Grain::Year => Ok((grain, true)),
        Some(_) => refuse("the step of the comparison is not the unit of time"),
    }
}
