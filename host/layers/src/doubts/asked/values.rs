//! Values that the question names and a statement with conditions does not have: it compares their
//! column with another one, or not at all.

use syrch_core::ports::{ColumnName, Comparison, Database, Match};
use syrch_core::{Doubt, DoubtKind, Hit};
use syrch_words::stem;

use super::Asked;
use super::copied::has_like;
use super::question::{NOT, stems, words};
use super::statement::Condition;
use super::unused::{CELLS, TIME};

/// Words between two values of which either is asked for.
const EITHER: &[&str] = &["and", "or"];

impl Asked<'_> {
    /// The doubt about a value of a column that the statement compares with another one.
    pub(super) async fn find_other_value(&self, database: &dyn Database) -> Option<Doubt> {
        let equal: Vec<&Comparison> = self.outline.all_of.iter().filter(is_equal).collect();
        let phrases = self.phrases();
        if phrases.is_empty() || !self.facts.tasks.is_empty() {
            return None;
        }
        let others = self.list_unasked();
        let search = database.find(&phrases, Match::Exact, CELLS);
        let found = tokio::time::timeout(TIME, search).await.ok()?.ok()?;
        let literals: Vec<String> =
            self.facts.literals.iter().flat_map(|literal| stems(&literal.text)).collect();
        phrases.iter().zip(&found).find_map(|(phrase, hits)| {
            if self.is_written(phrase) || stems(phrase).iter().any(|word| literals.contains(word)) {
                return None;
            }
            equal
                .iter()
                .copied()
                .chain(&others)
                .find_map(|one| self.describe_other_value(phrase, hits, one))
                .or_else(|| self.describe_lost_value(phrase, hits))
        })
    }

    /// Returns true if a literal of the statement has the phrase in it: `jetblue` of the question
    /// in `JetBlue Airways`.
    fn is_written(&self, phrase: &str) -> bool {
        self.facts.literals.iter().any(|literal| literal.text.to_lowercase().contains(phrase))
    }

    /// The comparisons of columns with texts, wherever they stand in the statement, of which the
    /// question names none.
    fn list_unasked(&self) -> Vec<Comparison> {
        let conditions = self.list_conditions();
        let texts: Vec<&Condition<'_>> = conditions
            .iter()
            .filter(|one| one.is_text && ["=", "LIKE"].contains(&one.operator) && !one.is_denied)
            .collect();
        let unasked = texts.iter().filter_map(|one| {
            let own = texts.iter().filter(|other| other.column.eq_ignore_ascii_case(one.column));
            let mut named = own.flat_map(|own| words(own.literal));
            if named.any(|word| word.len() < 2 || has_like(self.question.stems(), &stem(&word))) {
                return None;
            }
            let column = self.find_read_column(one.column)?;
            let literal = one.literal.trim_matches('%').to_owned();
            // A pattern may be a part of a word of the question: `Lim%` of Lima.
            let part = literal.to_lowercase();
            if one.operator == "LIKE" && self.question.words().any(|asked| asked.contains(&part)) {
                return None;
            }
            let is_word = one.call.is_empty() && literal.chars().any(char::is_alphabetic);
            is_word.then_some(Comparison { column, operator: "=", literal })
        });
        unasked.collect()
    }

    /// The column of that name, where the statement reads one alone.
    fn find_read_column(&self, name: &str) -> Option<ColumnName> {
        let paths = self.facts.columns.iter().filter_map(|path| path.rsplit_once('.'));
        let mut own = paths.filter(|(_, column)| column.eq_ignore_ascii_case(name));
        let (table, column) = own.next().filter(|_| own.next().is_none())?;
        Some(ColumnName { table: table.to_owned(), column: column.to_owned() })
    }

    /// The doubt about another value of a column than the evidence gives: `VIP refers to segment =
    /// 'wholesale'`.
    pub(super) fn other_evidence(&self) -> Option<Doubt> {
        let evidence = self.question.evidence();
        let literals = self.facts.literals.iter().map(|literal| literal.text.to_lowercase());
        let literals: Vec<String> = literals.collect();
        let mut equal = self.outline.all_of.iter().filter(is_equal);
        let (one, given) = equal.find_map(|one| {
            let given = read_values(evidence, &one.column.column.to_lowercase());
            let other = given.first().copied()?;
            let is_known = given.iter().any(|value| literals.iter().any(|own| own == value));
            let is_named = words(&one.literal).iter().any(|word| {
                self.question.words().any(|asked| asked == word) || words(evidence).contains(word)
            });
            (!is_known && !is_named).then_some((one, other))
        })?;
        let text = format!(
            "the evidence says that {0} is {given}, and the statement compares {0} with {1}",
            one.column.column, one.literal
        );
        Some(Doubt { kind: DoubtKind::Unused, text })
    }

    fn describe_other_value(&self, phrase: &str, hits: &[Hit], one: &Comparison) -> Option<Doubt> {
        let Comparison { column, literal, .. } = one;
        let is_value = hits.iter().any(|hit| {
            let table = hit.table.as_deref().unwrap_or_default();
            hit.column.as_ref() == Some(&column.column) && self.is_table(&column.table, table)
        });
        let is_asked = words(literal)
            .iter()
            .any(|word| has_like(self.question.stems(), &stem(word)) || word.len() < 2);
        let text = match is_asked {
            _ if !is_value => return None,
            // What is neither of two is what the third one is.
            false if self.question.has_any(NOT) => return None,
            false => format!(
                "the question names {phrase}, a value of {0}, and the statement compares {0} with \
                 {literal}",
                column.column
            ),
            true if self.are_joined(phrase, literal) => format!(
                "the question names {phrase} and {literal}, values of {}, and the statement has \
                 one of both",
                column.column
            ),
            true => return None,
        };
        Some(Doubt { kind: DoubtKind::Unused, text })
    }

    /// A value of the one column that has it, where the statement reads its table and not it.
    fn describe_lost_value(&self, phrase: &str, hits: &[Hit]) -> Option<Doubt> {
        let [hit] = hits else { return None };
        let column = hit.column.as_deref()?;
        let table = self.catalog.table(hit.table.as_deref()?)?;
        let path = format!("{}.{column}", table.name);
        let is_read = self.facts.columns.iter().any(|known| known.eq_ignore_ascii_case(&path));
        // Of another table, the word behind the value names it: `public schools`.
        let is_near = self.find_place(phrase).is_some_and(|(_, end)| {
            let next = self.question.word(end).and_then(|next| self.find_table(next));
            next.is_some_and(|next| std::ptr::eq(next, table)) && !table.is_view()
        });
        let is_known =
            is_near || self.facts.tables.iter().any(|read| self.is_table(read, &table.name));
        let text = format!(
            "the question names {phrase}, a value of {column}, which the statement does not read"
        );
        (is_known && !is_read).then_some(Doubt { kind: DoubtKind::Unused, text })
    }

    /// Returns true if nothing but *and* or *or* stands between two values in the question.
    fn are_joined(&self, one: &str, other: &str) -> bool {
        let places = self.find_place(one).zip(self.find_place(other));
        let Some((one, other)) = places else { return false };
        let (first, second) = if one.0 < other.0 { (one, other) } else { (other, one) };
        let between = second.0.saturating_sub(first.1);
        let word = self.question.word(first.1);
        first.1 <= second.0
            && between <= 1
            && (between == 0 || word.is_some_and(|word| EITHER.contains(&word)))
    }
}

fn is_equal(one: &&Comparison) -> bool {
    one.operator == "=" && one.literal.chars().any(char::is_alphabetic)
}

/// The texts in quotes that a text makes equal to a column of that name.
fn read_values<'t>(text: &'t str, column: &str) -> Vec<&'t str> {
    let behind = text.match_indices(column).filter_map(|(at, _)| {
        let is_whole = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let rest = text[at + column.len()..].trim_start_matches(['"', '`', ' ']);
        let rest = rest.strip_prefix('=')?.trim_start_matches(['=', ' ']);
        let quote = rest.chars().next().filter(|quote| is_whole && ['\'', '"'].contains(quote))?;
        rest[1..].split(quote).next()
    });
    behind.filter(|value| !value.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use syrch_core::Corpus;
    use syrch_core::ports::{Facts, Literal, Outline};

    use super::super::Question;
    use super::super::tests::{columns, compare_by, count, facts, geography, rows};
    use super::*;

    fn hit(path: &str) -> Hit {
        let (table, column) = path.split_once('.').unwrap();
        Hit {
            corpus: Corpus::Cells,
            id: path.into(),
            path: path.into(),
            table: Some(table.into()),
            column: Some(column.into()),
            snippet: None,
            payload: None,
            score: 1.0,
        }
    }

    /// Judges a statement with `city_name = 'Rome'` that reads these columns.
    fn judge(question: Question, read: &[&str], is_doubtful: impl Fn(&Asked<'_>) -> bool) -> bool {
        let rome = compare_by("city.city_name", "=", "Rome");
        let outline = Outline { all_of: vec![rome], ..columns(&[count()]) };
        let read: Vec<String> = read.iter().map(|&path| path.to_owned()).collect();
        let sql = "SELECT count(*) FROM city WHERE city_name = 'Rome'";
        let facts = Facts { columns: read, ..facts(sql, &["city"], &[]) };
        let catalog = geography();
        let results = rows(&[1]);
        let question = &question;
        is_doubtful(&Asked {
            question,
            outline: &outline,
            facts: &facts,
            catalog: &catalog,
            results: &results,
        })
    }

    /// Returns whether that statement is doubtful where the phrase is a value of that column.
    fn is_doubtful(question: &str, phrase: &str, path: &str, read: &[&str]) -> bool {
        judge(Question::new(question), read, |asked| {
            let other = asked.describe_other_value(phrase, &[hit(path)], &asked.outline.all_of[0]);
            other.or_else(|| asked.describe_lost_value(phrase, &[hit(path)])).is_some()
        })
    }

    #[test]
    fn a_value_of_the_compared_column_is_the_one_that_is_asked_for() {
        let read = &["city.city_name"][..];
        for (question, phrase, path, is_wrong) in [
            ("How many visits to Paris were there?", "paris", "city.city_name", true),
            ("How many visits to Rome or Paris were there?", "paris", "city.city_name", true),
            ("How many visits to Paris and Rome were there?", "paris", "city.city_name", true),
            ("How many visits not to Paris were there?", "paris", "city.city_name", false),
            ("How many visits to small cities like Rome?", "small", "city.state_id", true),
            ("How many visits to Rome and not to Paris?", "paris", "city.city_name", false),
            ("How many visits to Rome by the Paris team?", "paris", "city.city_name", false),
            ("How many visits to small Rome were there?", "small", "state.name", false),
        ] {
            assert_eq!(is_doubtful(question, phrase, path, read), is_wrong, "{question}");
        }
        let read = &["city.city_name", "city.state_id"][..];
        assert!(!is_doubtful("How many small cities like Rome?", "small", "city.state_id", read));
    }

    #[test]
    fn a_value_is_compared_wherever_it_stands() {
        fn judge(sql: &str) -> bool {
            let question = &Question::new("What share of the visits were made to Paris?");
            let read = vec!["city.city_name".to_owned()];
            let facts = Facts { columns: read, ..facts(sql, &["city"], &["sum"]) };
            let catalog = &geography();
            let results = &rows(&[1]);
            let outline = &columns(&[count()]);
            let asked = Asked { question, outline, facts: &facts, catalog, results };
            let others = asked.list_unasked();
            let hits = [hit("city.city_name")];
            others.iter().any(|one| asked.describe_other_value("paris", &hits, one).is_some())
        }
        assert!(judge("SELECT sum(city_name = 'Rome') FROM city"));
        assert!(judge("SELECT sum(1) FROM city WHERE city_name IN ('Rome', 'Bonn')"));
        assert!(!judge("SELECT sum(1) FROM city WHERE city_name IN ('Rome', 'Paris')"));
        assert!(!judge("SELECT sum(city_name = 'Paris') FROM city"));
        assert!(!judge("SELECT sum(city_name <> 'Rome') FROM city"));
        assert!(judge("SELECT sum(city_name LIKE 'Rom%') FROM city"));
        assert!(!judge("SELECT sum(city_name LIKE 'Par%') FROM city"));
    }

    #[test]
    fn a_part_of_a_longer_value_is_written() {
        let literal = Literal { table: None, column: None, text: "RomeStar Lines".into() };
        let facts = Facts { literals: vec![literal], ..Facts::default() };
        let question = &Question::new("How many visits by Romestar?");
        let outline = &columns(&[count()]);
        let results = &rows(&[1]);
        let asked = Asked { question, outline, facts: &facts, catalog: &geography(), results };
        assert!(asked.is_written("romestar"));
        assert!(!asked.is_written("paris"));
    }

    #[test]
    fn the_evidence_says_which_value_is_meant() {
        for (evidence, is_wrong) in [
            ("Capital refers to city_name = 'Paris'", true),
            ("Capital means that `city_name` = \"Paris\"", true),
            ("Capital refers to city_name = 'Rome'", false),
            ("Capital refers to city_name = 'Paris', or Rome before", false),
            ("Capital refers to a city", false),
            ("", false),
        ] {
            let question = Question::new("How many visits to the capital?").with_evidence(evidence);
            let found = judge(question, &[], |asked| asked.other_evidence().is_some());
            assert_eq!(found, is_wrong, "{evidence}");
        }
        let question =
            Question::new("How many visits to Rome?").with_evidence("city_name = 'Paris'");
        assert!(!judge(question, &[], |asked| asked.other_evidence().is_some()));
        assert_eq!(read_values("vip refers to segment = 'gold'", "segment"), ["gold"]);
        assert_eq!(read_values("where `segment` == \"gold\"; segment > 3", "segment"), ["gold"]);
        assert_eq!(
            read_values("subsegment = 'gold', segment = gold, segment = '", "segment"),
            [""; 0]
        );
    }
}
