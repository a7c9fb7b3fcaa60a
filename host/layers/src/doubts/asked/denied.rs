//! Values and things that a question denies and a statement asks for: `not paid` by `= 'paid'`.

use syrch_core::{Doubt, DoubtKind};
use syrch_words::stem;

use super::Asked;
use super::negation::LEFT_OUT;
use super::question::{NOT, stems, words};

/// Words that deny the value behind them, and those that may stand between.
const DENYING: &[&str] =
    &["besides", "except", "excluding", "neither", "nor", "not", "outside", "t"];
const BETWEEN: &[&str] = &[
    "a",
    "an",
    "any",
    "are",
    "at",
    "based",
    "be",
    "been",
    "being",
    "by",
    "come",
    "currently",
    "for",
    "from",
    "in",
    "is",
    "live",
    "living",
    "located",
    "of",
    "on",
    "the",
    "those",
    "to",
    "with",
    "yet",
    "made",
    "named",
    "called",
];
/// Words that say that a column is empty, and those that say that it is not.
const LACKING: &[&str] = &["lack", "lacking", "lacks", "missing", "no", "without"];
const HAVING: &[&str] = &["have", "having", "has", "with"];
const ARTICLES: &[&str] = &["a", "an", "any", "the", "their"];
/// Parts of statements in canonical spelling with which one may leave something out.
const LEAVING_OUT: &[&str] = &[
    "!=", "- ", "<>", "= 0", "CASE", "EXCEPT", "FALSE", "FILTER", "FULL ", "LEFT ", "NOT", "NULL",
    "RIGHT ", "< 1", "<= 0", "ALL (", "HAVING", "MAX(", "MIN(", "max(", "min(",
];

impl Asked<'_> {
    /// The doubt about what the question denies.
    pub(super) fn doubt_denied(&self) -> Option<Doubt> {
        let text = self
            .find_denied_value()
            .or_else(|| self.find_value_taken_out())
            .or_else(|| self.find_turned_null())
            .or_else(|| self.find_never())
            .or_else(|| self.find_none())?;
        Some(Doubt { kind: DoubtKind::OtherNegation, text })
    }

    /// Returns true if the statement has nothing that may leave rows out.
    fn leaves_nothing_out(&self) -> bool {
        LEAVING_OUT.iter().all(|part| self.lacks(part))
    }

    /// A value that every row has and that the question denies.
    fn find_denied_value(&self) -> Option<String> {
        if !self.leaves_nothing_out() || !self.facts.subqueries.is_empty() {
            return None;
        }
        let asked: Vec<&str> = self.question.words().collect();
        let denied = self.outline.all_of.iter().find(|one| {
            let is_word = one.literal.chars().any(char::is_alphabetic);
            if !["=", "LIKE"].contains(&one.operator) || !is_word {
                return false;
            }
            let Some((start, end)) = self.find_place(&one.literal) else { return false };
            let own = words(&one.literal);
            let is_again =
                asked[end..].iter().any(|word| own.first().is_some_and(|own| own == word));
            // `Do not have blood type O`.
            let column = stems(&one.column.column);
            let mut before = asked[..start].iter().rev().skip_while(|word| {
                BETWEEN.contains(word) || **word == "have" || column.contains(&stem(word))
            });
            let is_denied = match (before.next(), before.next()) {
                (Some(&"than"), Some(&"other")) => true,
                (Some(word), _) => DENYING.contains(word),
                _ => false,
            };
            is_denied && !is_again
        })?;
        Some(format!(
            "the question leaves {0} out, and the statement takes {0} alone",
            denied.literal
        ))
    }

    /// A value that the question names, which leaves nothing out, and that no row has.
    fn find_value_taken_out(&self) -> Option<String> {
        let asked: Vec<&str> = self.question.words().collect();
        let leaves_out = asked.iter().any(|word| {
            NOT.contains(word)
                || LEFT_OUT.contains(word)
                || word.starts_with("un")
                || *word == "than"
        });
        if leaves_out || ["CASE", "- ", " OR "].iter().any(|part| !self.lacks(part)) {
            return None;
        }
        let is_one_query = self.facts.subqueries.is_empty();
        let conditions = self.list_conditions();
        let one = conditions.iter().filter(|_| is_one_query).find(|one| {
            let is_word = one.is_text && one.literal.chars().any(char::is_alphabetic);
            let is_out = one.is_denied != (one.operator == "<>");
            let is_again = conditions.iter().any(|other| {
                other.literal == one.literal
                    && (other.is_denied, other.operator) != (one.is_denied, one.operator)
            });
            is_word && is_out && !is_again && self.find_place(one.literal).is_some()
        })?;
        Some(format!(
            "the question names {}, and the statement leaves it out",
            one.literal.trim_matches('%')
        ))
    }

    /// A column that is to be empty and is not, or the other way round.
    fn find_turned_null(&self) -> Option<String> {
        let text = self.facts.normalized.to_lowercase();
        let tables = self.facts.tables.iter().filter_map(|table| self.catalog.table(table));
        let asked: Vec<&str> = self.question.words().collect();
        if !self.lacks("CASE") || !self.facts.subqueries.is_empty() {
            return None;
        }
        tables.flat_map(|table| &table.columns).find_map(|column| {
            let name = column.name.to_lowercase();
            let mut own = stems(&name);
            // No manager is no `manager_id`, and no discharge no `discharged_at`.
            if own.len() > 1
                && own.last().is_some_and(|last| ["at", "id", "on"].contains(&last.as_str()))
            {
                own.pop();
            }
            let at = asked
                .windows(own.len().max(1))
                .position(|window| window.iter().map(|word| stem(word)).eq(own.iter().cloned()))?;
            let mut before = asked[..at].iter().rev().skip_while(|word| ARTICLES.contains(word));
            let word = before.next()?;
            let is_denied = before.next().is_some_and(|word| ["not", "t"].contains(word));
            let [is_null, is_given] = ["null", "not null"].map(|end| {
                let mut quotes = ["", "\"", "`"].iter();
                quotes.any(|quote| text.contains(&format!("{name}{quote} is {end}")))
            });
            let is_lacking = LACKING.contains(word) || HAVING.contains(word) && is_denied;
            let is_had = HAVING.contains(word) && !self.question.has_any(NOT);
            if is_lacking && is_given && !is_null {
                return Some(format!(
                    "the question asks for what has no {0}, and the statement for what has one",
                    column.name
                ));
            }
            (is_had && is_null && !is_given && !self.question.has_any(LACKING)).then(|| {
                format!(
                    "the question asks for what has a {0}, and the statement for what has none",
                    column.name
                )
            })
        })
    }

    /// Things that have what the question says that they never had.
    fn find_never(&self) -> Option<String> {
        let never = self.question.words().filter(|word| *word == "never").count();
        let is_other =
            self.facts.literals.iter().any(|literal| {
                stems(&literal.text).iter().any(|word| NOT.contains(&word.as_str()))
            });
        if never != 1 || is_other || !self.leaves_nothing_out() {
            return None;
        }
        Some(
            "the question asks for what never was, and the statement leaves nothing out".to_owned(),
        )
    }

    /// Things that have what the question says that they have none of: `have no email`, `have had
    /// no orders`.
    fn find_none(&self) -> Option<String> {
        let asked: Vec<&str> = self.question.words().collect();
        let at = asked.iter().position(|word| ["no", "without"].contains(word))?;
        let is_had = asked[at] == "without"
            || at > 0
                && (HAVING.contains(&asked[at - 1]) || ["had", "are"].contains(&asked[at - 1]));
        let negations = asked.iter().filter(|word| NOT.contains(word)).count();
        let behind = asked.iter().skip(at + 1).filter(|word| !ARTICLES.contains(word)).take(2);
        let names = self.names();
        let noun = behind.copied().find(|word| names.contains(&stem(word)))?;
        let is_other = self.facts.literals.iter().any(|literal| {
            let own = stems(&literal.text);
            own.is_empty() || own.iter().any(|word| NOT.contains(&word.as_str()) || word == "none")
        });
        let may_hold_it = self
            .facts
            .tables
            .iter()
            .any(|table| self.catalog.table(table).is_none_or(syrch_core::Table::is_view));
        if !is_had || negations != 1 || is_other || may_hold_it || !self.leaves_nothing_out() {
            return None;
        }
        Some(format!(
            "the question asks for what has no {noun}, and the statement leaves nothing out"
        ))
    }
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::{Facts, Outline};

    use super::super::tests::{assert_kind, column, columns, compare_by, facts};
    use super::*;

    const KIND: DoubtKind = DoubtKind::OtherNegation;

    fn cities(condition: &str) -> (Outline, Facts) {
        let sql = format!("SELECT city_name FROM city WHERE {condition}");
        let all_of = vec![compare_by("city.city_name", "=", "Rome")];
        let outline = Outline { all_of, ..columns(&[column("city.city_name")]) };
        (outline, facts(&sql, &["city"], &[]))
    }

    #[test]
    fn a_value_that_is_denied_is_left_out() {
        let (outline, known) = cities("city_name = 'Rome'");
        let cases = [
            ("Which cities are not Rome?", true),
            ("Which cities lie outside of Rome?", true),
            ("Which visits weren't made in Rome?", true),
            ("Show all cities other than Rome.", true),
            ("Show all cities except Rome.", true),
            ("Which cities do not live in Rome?", true),
            ("Which cities are named Rome?", false),
            ("Which cities are not only Rome?", false),
            ("Which cities that are not large lie near Rome?", false),
            ("Which cities are not Rome, or are called Rome?", false),
        ];
        assert_kind(KIND, &outline, &known, &cases);
        for condition in ["NOT city_name = 'Rome'", "city_name = 'Rome' IS FALSE"] {
            let (outline, known) = cities(condition);
            assert_kind(KIND, &outline, &known, &[("Which cities are not Rome?", false)]);
        }
    }

    #[test]
    fn a_column_is_empty_where_the_question_says_so() {
        let outline = columns(&[column("city.city_name")]);
        let given =
            facts("SELECT city_name FROM city AS c WHERE c.state_id IS NOT NULL", &["city"], &[]);
        let cases = [
            ("Which cities have no state?", true),
            ("Which cities are without a state?", true),
            ("Which cities do not have any state?", true),
            ("Which cities have a state?", false),
            ("Which cities have no population?", false),
        ];
        assert_kind(KIND, &outline, &given, &cases);
        let empty = facts("SELECT city_name FROM city WHERE \"state_id\" IS NULL", &["city"], &[]);
        let cases = [
            ("Which cities have a state?", true),
            ("Which cities have no state?", false),
            ("Which cities do not have a state?", false),
            ("Which cities are without a state?", false),
        ];
        assert_kind(KIND, &outline, &empty, &cases);
    }

    #[test]
    fn what_never_was_is_left_out() {
        let outline = columns(&[column("city.city_name")]);
        let asked = "Which cities were never visited?";
        for (rest, is_doubtful) in [
            ("WHERE city_id IN (SELECT city_id FROM visit)", true),
            ("JOIN visit ON visit.city_id = city.city_id", true),
            ("WHERE city_id NOT IN (SELECT city_id FROM visit)", false),
            ("LEFT JOIN visit ON visit.city_id = city.city_id WHERE visit_id IS NULL", false),
            ("WHERE (SELECT count(*) FROM visit WHERE visit.city_id = city.city_id) = 0", false),
            ("WHERE visits = 0", false),
        ] {
            let sql = format!("SELECT city_name FROM city {rest}");
            let known = facts(&sql, &["city", "visit"], &[]);
            assert_kind(KIND, &outline, &known, &[(asked, is_doubtful)]);
        }
        let joined = "SELECT city_name FROM city JOIN visit ON visit.city_id = city.city_id";
        let known = facts(joined, &["city", "visit"], &[]);
        assert_kind(KIND, &outline, &known, &[("Which cities were visited?", false)]);
    }

    #[test]
    fn what_has_none_is_left() {
        let outline = columns(&[column("city.city_name")]);
        let has_none = "Which cities have no population?";
        let had_none = "Which cities have had no recent visits?";
        for (asked, rest, is_doubtful) in [
            (has_none, "", true),
            (has_none, "WHERE city_name = 'Rome'", true),
            (had_none, "JOIN visit ON visit.city_id = city.city_id", true),
            (has_none, "WHERE population IS NULL", false),
            (has_none, "WHERE population = 0", false),
            (has_none, "EXCEPT SELECT city_name FROM city", false),
            ("Which cities have no more than 3 visits?", "", false),
            ("Which cities have no secrets?", "", false),
        ] {
            let known = facts(&format!("SELECT city_name FROM city {rest}"), &["city"], &[]);
            assert_kind(KIND, &outline, &known, &[(asked, is_doubtful)]);
        }
    }

    #[test]
    fn a_value_that_is_named_is_not_left_out() {
        let outline = columns(&[column("city.city_name")]);
        let near = "Which visits were made in Rome or Paris?";
        for (asked, condition, is_doubtful) in [
            (near, "city_name <> 'Rome'", true),
            (near, "city_name NOT IN ('Rome', 'Paris')", true),
            (near, "NOT city_name = 'Rome'", true),
            (near, "city_name <> 'Bonn'", false),
            (near, "city_name IN ('Rome', 'Paris')", false),
            ("Which visits were not made in Rome?", "city_name <> 'Rome'", false),
            ("Which visits were made outside of Rome?", "city_name <> 'Rome'", false),
            ("Which visits other than to Rome were made?", "city_name <> 'Rome'", false),
        ] {
            let sql = format!("SELECT city_name FROM city WHERE {condition}");
            let read = vec!["city.city_name".to_owned()];
            let known = Facts { columns: read, ..facts(&sql, &["city"], &[]) };
            assert_kind(KIND, &outline, &known, &[(asked, is_doubtful)]);
        }
    }
}
