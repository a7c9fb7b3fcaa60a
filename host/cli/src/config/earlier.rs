//! Names of the Python package `syrch` 0.1.2 to 0.3.7 that this program does not have, with their
//! replacements.

/// The section of its configuration that had these keys.
const SECTION: &str = "execution.";

/// Keys of that section that are no options here, by their names. Its environment variables and
/// flags had the same ones.
const REPLACED: [(&str, &str); 9] = [
    ("search_policy", "`--strategy beam` or `--strategy exhaustive` searches in that way"),
    ("beam_width", "`--strategy beam -P solver.beam_width=N` sets it"),
    ("candidate_budget", "`--strategy beam -P solver.candidate_budget=N` sets it"),
    ("stop_margin", "`--strategy beam -P solver.stop_margin=P` sets it"),
    ("max_candidate_expansion", "`--strategy beam -P solver.expansion=N` sets it"),
    ("max_replans", "--max-rounds bounds how often a plan is changed"),
    (
        "materialize_context",
        "the results of finished tasks can always be read, and nothing is written into \
         the database",
    ),
    ("question", "-q takes the question"),
    ("log_level", "-v and -vv log more"),
];

/// The package's name for databases of SQLAlchemy URLs, and what it means here.
pub(super) const JDBC: (&str, &str) = (
    "jdbc",
    "`jdbc` was any database by an SQLAlchemy URL; here the address names the engine, and \
     `adbc:DRIVER;name=value` takes databases of ADBC drivers",
);

fn by_name(name: &str) -> Option<&'static str> {
    REPLACED.iter().find(|(known, _)| *known == name).map(|(_, instead)| *instead)
}

/// Returns the replacement of a key of a file that earlier versions had, such as
/// `execution.search_policy`.
pub(super) fn key(key: &str) -> Option<&'static str> {
    by_name(key.strip_prefix(SECTION)?)
}

/// Returns the replacement of an environment variable that earlier versions had, such as
/// `SYRCH_SEARCH_POLICY`.
pub(super) fn variable(name: &str) -> Option<&'static str> {
    by_name(&name.strip_prefix("SYRCH_")?.to_ascii_lowercase())
}

/// Returns the replacement of a flag that earlier versions had, such as `--search-policy`.
pub(crate) fn flag(flag: &str) -> Option<&'static str> {
    by_name(&flag.strip_prefix("--")?.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_has_three_spellings() {
        let instead = key("execution.beam_width");
        assert!(instead.is_some_and(|instead| instead.contains("solver.beam_width")));
        assert_eq!((variable("SYRCH_BEAM_WIDTH"), flag("--beam-width")), (instead, instead));
        assert_eq!((key("llm.beam_width"), variable("BEAM_WIDTH"), flag("-q")), (None, None, None));
        assert!(
            REPLACED
                .iter()
                .all(|(name, _)| super::super::options::find(&format!("{SECTION}{name}")).is_none())
        );
    }
}
