//! The grants of one plugin: the part of what a search may use that the user lets this plugin use.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ports::RowsGrant;
use crate::text::escape::escape_dangerous;
use crate::text::{clip, nearest};

/// The ports that are granted by their names. Every plugin has `run`, `wait` and `trace`.
pub const GRANTED_PORTS: [&str; 7] =
    ["llm", "inspect", "sql", "rows", "cells", "evaluate", "retrieval"];
/// The limits that are granted, as `NAME=VALUE`.
const LIMITS: [&str; 11] = [
    "rows",
    "reads",
    "sends",
    "tables",
    "model-calls",
    "tokens",
    "usd",
    "statements",
    "retrievals",
    "memory",
    "seconds",
];
/// Millionths of a dollar.
const MICROS: f64 = 1e6;
/// Bytes of a word at most.
const LONGEST: usize = 4_096;
/// Bytes of a wrong word that an error shows.
const SHOWN: usize = 60;

/// The grants of one plugin. A limit that is `None` is that of the search; none of them is ever
/// above it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Grants {
    /// The ports of [`GRANTED_PORTS`] that the plugin may use. A call of another one is denied.
    pub ports: BTreeSet<String>,
    /// The amount of cell text that a search with this plugin may show.
    pub rows: Option<RowsGrant>,
    /// The amount of cell text that the host shows the plugin itself. Where it shows no cells, the
    /// plugin sends nothing that it knows of the data to a model either, unless [`Self::sends`]
    /// lets it.
    pub reads: Option<RowsGrant>,
    /// The amount of cell text that the plugin may send to a model. Under a grant that shows no
    /// cells it makes no model call once it may know something of the data, whatever it may read.
    pub sends: Option<RowsGrant>,
    /// The tables that a search with this plugin may read, as globs.
    pub tables: Option<Vec<String>>,
    /// Model calls in one search.
    pub model_calls: Option<u32>,
    /// Tokens of its model calls in one search.
    pub tokens: Option<u64>,
    /// Cost of its model calls in one search, in millionths of a dollar.
    pub cost_micros: Option<u64>,
    /// Statements that it runs or explains in one search.
    pub statements: Option<u32>,
    /// Queries of retrieval in one search.
    pub retrievals: Option<u32>,
    /// Linear memory of one call, in bytes.
    pub memory: Option<usize>,
    /// CPU time of one call.
    pub cpu: Option<Duration>,
}

impl Grants {
    /// Creates grants of these ports, of which those that are not granted by name are left out.
    pub fn for_ports<'a>(ports: impl IntoIterator<Item = &'a str>) -> Self {
        let ports = ports.into_iter().filter(|port| GRANTED_PORTS.contains(port));
        Self { ports: ports.map(str::to_owned).collect(), ..Self::default() }
    }

    /// The grant by which the plugin makes no model call once it may know something of the data,
    /// such as `sends=none`: it shows no cells.
    #[must_use]
    pub fn silence(&self) -> Option<String> {
        let name = if self.sends.is_some() { "sends" } else { "reads" };
        let grant = self.find_silence()?;
        Some(format!("{name}={grant}"))
    }

    /// Without a grant of its own, sending follows reading.
    fn find_silence(&self) -> Option<RowsGrant> {
        self.sends.or(self.reads).filter(|grant| !grant.shows_cells())
    }

    /// Returns true if a port of [`GRANTED_PORTS`] is granted.
    #[must_use]
    pub fn has(&self, port: &str) -> bool {
        self.ports.contains(port)
    }

    /// Adds one grant: the name of a port, or a limit such as `model-calls=5`.
    ///
    /// # Errors
    /// When the word is none of them, or its value is wrong.
    pub fn allow(&mut self, word: &str) -> Result<(), String> {
        // Grants are shown to whoever is to agree to them, and must not look like other lines.
        if word.len() > LONGEST || escape_dangerous(word, &[]) != word {
            let shown = clip(word, SHOWN).escape_debug();
            return Err(format!(
                "`{shown}` is no grant: it is too long or has a control character"
            ));
        }
        let Some((name, value)) = word.split_once('=') else {
            if !GRANTED_PORTS.contains(&word) {
                return Err(unknown(word));
            }
            self.ports.insert(word.to_owned());
            return Ok(());
        };
        let wrong = || format!("`{value}` is no value of {name}");
        match name {
            "rows" => self.rows = Some(value.parse()?),
            "reads" => self.reads = Some(value.parse()?),
            "sends" => self.sends = Some(value.parse()?),
            "tables" => {
                let globs: Vec<String> =
                    value.split(',').map(str::trim).map(str::to_owned).collect();
                if globs.iter().any(String::is_empty) {
                    return Err(wrong());
                }
                self.tables = Some(globs);
            }
            "model-calls" => self.model_calls = Some(value.parse().map_err(|_| wrong())?),
            "tokens" => self.tokens = Some(value.parse().map_err(|_| wrong())?),
            "usd" => self.cost_micros = Some(scale(value, MICROS).ok_or_else(wrong)?),
            "statements" => self.statements = Some(value.parse().map_err(|_| wrong())?),
            "retrievals" => self.retrievals = Some(value.parse().map_err(|_| wrong())?),
            // No call can be made without any.
            "memory" => {
                let bytes = value.parse().ok().filter(|bytes| *bytes > 0);
                self.memory = Some(bytes.ok_or_else(wrong)?);
            }
            "seconds" => {
                let millis = scale(value, 1e3).filter(|millis| *millis > 0).ok_or_else(wrong)?;
                self.cpu = Some(Duration::from_millis(millis));
            }
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    /// Takes a port away.
    ///
    /// # Errors
    /// When the word is no port.
    pub fn deny(&mut self, port: &str) -> Result<(), String> {
        let name = port.split_once('=').map_or(port, |(name, _)| name);
        // `rows` is both.
        if LIMITS.contains(&name) && !GRANTED_PORTS.contains(&port) {
            return Err(format!(
                "`{port}` is a limit and no port: another value of `{name}=` takes its place"
            ));
        }
        if !GRANTED_PORTS.contains(&port) {
            return Err(format!("`{port}` is no port: there are {}", GRANTED_PORTS.join(", ")));
        }
        self.ports.remove(port);
        Ok(())
    }

    /// Returns the part of these grants that is within `most`. What `most` has is only a bound: no
    /// permission comes from it.
    ///
    /// # Errors
    /// When both name tables and have no pattern in common: no list of tables stands for none.
    pub fn narrow(&self, most: &Self) -> Result<Self, String> {
        fn is_bound(most: &RowsGrant) -> bool {
            *most != RowsGrant::Full
        }
        let tables = match (&self.tables, &most.tables) {
            (Some(own), Some(most)) => Some(Self::intersect_tables(own, most)?),
            (Some(own), None) => Some(own.clone()),
            (None, most) => most.clone().filter(|most| !Self::are_all_tables(most)),
        };
        // Reading less means sending less, unless sending is granted by name: a bound that shows
        // cells names nothing.
        let sends = match (self.sends, most.find_silence()) {
            (Some(own), silence) => least(Some(own), silence.or(most.sends), RowsGrant::least),
            (None, silence) => silence.filter(|_| most.sends.is_some()),
        };
        Ok(Self {
            ports: self.ports.intersection(&most.ports).cloned().collect(),
            rows: least(self.rows, most.rows.filter(is_bound), RowsGrant::least),
            reads: least(self.reads, most.reads.filter(is_bound), RowsGrant::least),
            sends,
            tables,
            model_calls: least(self.model_calls, most.model_calls, Ord::min),
            tokens: least(self.tokens, most.tokens, Ord::min),
            cost_micros: least(self.cost_micros, most.cost_micros, Ord::min),
            statements: least(self.statements, most.statements, Ord::min),
            retrievals: least(self.retrievals, most.retrievals, Ord::min),
            memory: least(self.memory, most.memory, Ord::min),
            cpu: least(self.cpu, most.cpu, Ord::min),
        })
    }

    /// Returns whether patterns of tables stand for all tables.
    #[must_use]
    pub fn are_all_tables(patterns: &[String]) -> bool {
        patterns.iter().any(|pattern| pattern == "*")
    }

    /// Returns the patterns of tables that both lists have; `*` stands for all tables.
    ///
    /// # Errors
    /// When there is none, since an empty list would stand for all tables.
    pub fn intersect_tables(one: &[String], other: &[String]) -> Result<Vec<String>, String> {
        let both: Vec<String> = match (Self::are_all_tables(one), Self::are_all_tables(other)) {
            (true, _) => other.to_vec(),
            (_, true) => one.to_vec(),
            _ => one.iter().filter(|table| other.contains(table)).cloned().collect(),
        };
        if both.is_empty() {
            let [one, other] = [one, other].map(|tables| tables.join(","));
            return Err(format!("tables={one} and tables={other} have no pattern in common"));
        }
        Ok(both)
    }

    /// The grants as the words of [`Self::allow`]: the ports, then the limits, each in one order.
    #[must_use]
    pub fn list_words(&self) -> Vec<String> {
        let ports = GRANTED_PORTS.iter().filter(|port| self.has(port));
        let mut words: Vec<String> = ports.map(|port| (*port).to_owned()).collect();
        let limits = [
            self.rows.map(|rows| rows.to_string()),
            self.reads.map(|reads| reads.to_string()),
            self.sends.map(|sends| sends.to_string()),
            self.tables.as_ref().map(|tables| tables.join(",")),
            self.model_calls.map(|number| number.to_string()),
            self.tokens.map(|number| number.to_string()),
            self.cost_micros.map(|micros| unscale(micros, MICROS)),
            self.statements.map(|number| number.to_string()),
            self.retrievals.map(|number| number.to_string()),
            self.memory.map(|number| number.to_string()),
            self.cpu.map(|time| unscale(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), 1e3)),
        ];
        let limits = LIMITS.iter().zip(limits);
        words.extend(limits.filter_map(|(name, value)| Some(format!("{name}={}", value?))));
        words
    }

    /// The words that one of two grants has and the other has not: `+ sql` of the new one, `- llm`
    /// of the old one.
    #[must_use]
    pub fn list_differences(&self, new: &Self) -> Vec<String> {
        let before = self.list_words();
        let after = new.list_words();
        let gone = before.iter().filter(|word| !after.contains(word));
        let come = after.iter().filter(|word| !before.contains(word));
        let gone = gone.map(|word| format!("- {word}"));
        gone.chain(come.map(|word| format!("+ {word}"))).collect()
    }
}

impl TryFrom<Vec<String>> for Grants {
    type Error = String;

    fn try_from(words: Vec<String>) -> Result<Self, String> {
        let mut grants = Self::default();
        let mut limits = BTreeSet::new();
        for word in &words {
            grants.allow(word)?;
            // The last one would count, and a reader may see the first.
            if let Some((name, _)) = word.split_once('=')
                && !limits.insert(name)
            {
                return Err(format!("`{name}=` stands twice"));
            }
        }
        Ok(grants)
    }
}

impl From<Grants> for Vec<String> {
    fn from(grants: Grants) -> Self {
        grants.list_words()
    }
}

fn least<T>(one: Option<T>, other: Option<T>, min: fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(min(one, other)),
        (one, other) => one.or(other),
    }
}

/// A number with decimals as a whole number of its parts; `None` if it is none.
fn scale(text: &str, parts: f64) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    let scaled = (number * parts).round();
    // Up to here each whole number has a value of its own.
    (0.0..=9e15).contains(&scaled).then_some(scaled as u64)
}

fn unscale(number: u64, parts: f64) -> String {
    (number as f64 / parts).to_string()
}

fn unknown(word: &str) -> String {
    let known = GRANTED_PORTS.iter().chain(&LIMITS).copied();
    match nearest(word, known.clone()).first() {
        Some(near) => format!("`{word}` is no grant: did you mean `{near}`?"),
        None => format!("`{word}` is no grant: there are {}", known.collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn grants(words: &[&str]) -> Grants {
        Grants::try_from(words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn words_stand_for_grants_and_come_back_in_one_order() {
        let all = [
            "llm",
            "sql",
            "rows=sample:2",
            "reads=aggregates",
            "sends=none",
            "tables=orders,c*",
            "model-calls=5",
            "tokens=900",
            "usd=0.25",
            "statements=7",
            "retrievals=3",
            "memory=1000000",
            "seconds=1.5",
        ];
        let mut mixed = all;
        mixed.reverse();
        assert_eq!(grants(&mixed).list_words(), all);
        let written = serde_json::to_string(&grants(&all)).unwrap();
        assert_eq!(serde_json::from_str::<Grants>(&written).unwrap(), grants(&all));
        for (word, why) in [
            ("lm", "did you mean `llm`?"),
            ("model-calls", "is no grant"),
            ("model-calls=-1", "no value of model-calls"),
            ("usd=NaN", "no value of usd"),
            ("seconds=1e99", "no value of seconds"),
            ("seconds=0", "no value of seconds"),
            ("seconds=0.0001", "no value of seconds"),
            ("memory=0", "no value of memory"),
            ("rows=some", "is not one of none"),
            ("tables=a,,b", "no value of tables"),
            ("run=1", "is no grant"),
            ("tables=*\nit is granted nothing", "control character"),
            ("tables=\u{202e}a", "control character"),
        ] {
            let error = Grants::default().allow(word).unwrap_err();
            assert!(error.contains(why), "{word}: {error}");
        }
        for (word, why) in [
            ("rows=full", "`rows=full` is a limit and no port"),
            ("tables", "`tables` is a limit and no port"),
            ("sends", "another value of `sends=`"),
            ("files", "is no port"),
        ] {
            let error = Grants::default().deny(word).unwrap_err();
            assert!(error.contains(why), "{word}: {error}");
        }
        assert_eq!(Grants::default().deny("rows"), Ok(()));
    }

    #[test]
    fn the_narrower_of_two_grants_counts_and_nothing_is_added() {
        let wanted =
            grants(&["llm", "sql", "rows=sample:5", "sends=full", "model-calls=9", "tables=a,b"]);
        let given = grants(&[
            "sql",
            "cells",
            "rows=aggregates",
            "sends=none",
            "model-calls=20",
            "tables=b,c",
        ]);
        let both = grants(&["sql", "rows=aggregates", "sends=none", "model-calls=9", "tables=b"]);
        assert_eq!(wanted.narrow(&given).unwrap(), both);
        assert_eq!(given.narrow(&wanted).unwrap(), both);
        assert_eq!(wanted.narrow(&wanted).unwrap(), wanted);
        // A bound that is none adds nothing that would look like a grant.
        let unbound = grants(&["llm", "rows=full", "reads=full", "sends=full", "tables=*"]);
        assert_eq!(grants(&["llm"]).narrow(&unbound).unwrap(), grants(&["llm"]));
        let narrowed = grants(&["llm", "tables=a"]).narrow(&grants(&["llm"])).unwrap();
        assert_eq!(narrowed.tables.unwrap(), ["a"]);
        let all = grants(&["tables=*"]);
        for both in [all.narrow(&given), given.narrow(&all)] {
            assert_eq!(both.unwrap().tables.unwrap(), ["b", "c"]);
        }
        let error = grants(&["tables=a"]).narrow(&grants(&["tables=b,c"])).unwrap_err();
        assert!(error.contains("tables=a and tables=b,c"), "{error}");
        assert_eq!(
            wanted.list_differences(&given)[..4],
            ["- llm", "- rows=sample:5", "- sends=full", "- tables=a,b"].map(str::to_owned)
        );
        assert!(wanted.list_differences(&given).contains(&"+ cells".to_owned()));
    }

    #[test]
    fn a_plugin_that_reads_no_cells_sends_none_unless_it_is_granted() {
        for (words, silence) in [
            (&["reads=full"][..], None),
            (&["reads=sample:1", "sends=aggregates"], Some("sends=aggregates")),
            (&["reads=none"], Some("reads=none")),
            (&["reads=none", "sends=full"], None),
        ] {
            assert_eq!(grants(words).silence().as_deref(), silence, "{words:?}");
        }
        for (own, most, both) in [
            (&["reads=full"][..], &["reads=sample:2"][..], &["reads=sample:2"][..]),
            // The user alone lets it send.
            (&["reads=none"], &["sends=full"], &["reads=none"]),
            (&[], &["reads=none", "sends=full"], &["reads=none"]),
            (&["reads=none", "sends=full"], &["sends=full"], &["reads=none", "sends=full"]),
            (&["reads=none", "sends=full"], &[], &["reads=none", "sends=full"]),
            (&["sends=full"], &["reads=none"], &["reads=none", "sends=none"]),
            (&["sends=full"], &["sends=none"], &["sends=none"]),
        ] {
            let narrowed = grants(own).narrow(&grants(most)).unwrap();
            assert_eq!(narrowed, grants(both), "{own:?} within {most:?}");
        }
    }

    /// All that grants permit: a number for each limit, more for more, and the names.
    fn permissions(grants: &Grants) -> (Vec<u64>, BTreeSet<String>) {
        fn rank(grant: Option<RowsGrant>) -> u64 {
            match grant {
                Some(RowsGrant::None) => 0,
                Some(RowsGrant::Aggregates) => 1,
                Some(RowsGrant::Sample(rows)) => 2 + u64::from(rows),
                Some(RowsGrant::Full) | None => u64::MAX,
            }
        }
        let Grants { ports, rows, reads, sends: _, tables, model_calls, tokens, .. } = grants;
        let Grants { cost_micros, statements, retrievals, memory, cpu, .. } = grants;
        let numbers = [
            model_calls.map(u64::from),
            *tokens,
            *cost_micros,
            statements.map(u64::from),
            retrievals.map(u64::from),
            memory.map(|bytes| bytes as u64),
            cpu.map(|time| u64::try_from(time.as_millis()).unwrap()),
        ];
        let sends = grants.find_silence().map_or(u64::MAX, |_| 0);
        let rows = [rank(*rows), rank(*reads), sends];
        let numbers = numbers.map(|number| number.unwrap_or(u64::MAX));
        let all = ["a", "b", "c"].map(str::to_owned).to_vec();
        let tables = tables.clone().filter(|tables| !Grants::are_all_tables(tables));
        let tables = tables.unwrap_or(all).into_iter().map(|table| format!("table {table}"));
        (rows.into_iter().chain(numbers).collect(), ports.iter().cloned().chain(tables).collect())
    }

    fn some_grants() -> impl Strategy<Value = Grants> {
        fn cells() -> impl Strategy<Value = Option<&'static str>> {
            prop::option::of(prop::sample::select(vec!["none", "aggregates", "sample:1", "full"]))
        }
        let tables = prop::sample::subsequence(vec!["a", "b", "c", "*"], 1..3);
        let limits = (
            (cells(), cells(), cells()),
            prop::option::of(tables.prop_map(|tables| tables.join(","))),
            prop::array::uniform7(prop::option::of("[0-9]")),
        );
        let ports = prop::sample::subsequence(GRANTED_PORTS.to_vec(), 0..=GRANTED_PORTS.len());
        (ports, limits).prop_map(|(ports, ((rows, reads, sends), tables, numbers))| {
            let mut grants = Grants::for_ports(ports);
            let cells = [("rows", rows), ("reads", reads), ("sends", sends)];
            let cells = cells.map(|(name, value)| (name, value.map(str::to_owned)));
            let numbers = LIMITS[4..].iter().copied().zip(numbers);
            let limits = cells.into_iter().chain([("tables", tables)]).chain(numbers);
            for (name, value) in limits {
                // No call can be made without any memory or time.
                if let Some(value) = value.filter(|value| value != "0") {
                    grants.allow(&format!("{name}={value}")).unwrap();
                }
            }
            grants
        })
    }

    proptest! {
        /// No permission gets wider by what a plugin asks for, and all are within that.
        #[test]
        fn no_permission_comes_from_a_bound(own in some_grants(), most in some_grants()) {
            let Ok(narrowed) = own.narrow(&most) else { return Ok(()) };
            let (numbers, names) = permissions(&narrowed);
            for other in [&own, &most] {
                let (limits, all) = permissions(other);
                prop_assert!(numbers.iter().zip(&limits).all(|(one, limit)| one <= limit));
                prop_assert!(names.is_subset(&all), "{names:?} {all:?}");
            }
            prop_assert_eq!(narrowed.narrow(&most).unwrap(), narrowed);
        }
    }

    #[test]
    fn grants_of_rows_have_an_order() {
        use RowsGrant::{Aggregates, Full, None, Sample};
        let rising = [None, Aggregates, Sample(1), Sample(4), Full];
        for (at, less) in rising.iter().enumerate() {
            for more in &rising[at..] {
                assert_eq!((less.least(*more), more.least(*less)), (*less, *less));
            }
        }
    }
}
