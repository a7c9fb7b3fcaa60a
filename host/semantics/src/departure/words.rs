//! The aggregates that the words of a question ask for.

use super::aggregates::Kind;

/// Words that ask for an aggregate.
const ASKING: &[(Kind, &[&str])] = &[
    (Kind::Sum, &["all", "altogether", "overall", "sum", "total", "totals"]),
    (Kind::Mean, &["average", "averages", "avg", "mean", "per", "typical", "typically"]),
    (Kind::Count, &["count", "counts", "frequency", "many", "number", "numbers", "often", "times"]),
    (Kind::Distinct, &["different", "distinct", "unique"]),
    (
        Kind::Max,
        &[
            "best", "biggest", "greatest", "highest", "largest", "last", "latest", "max",
            "maximum", "most", "newest", "peak", "recent", "top",
        ],
    ),
    (
        Kind::Min,
        &[
            "bottom", "earliest", "fewest", "first", "least", "lowest", "min", "minimum", "oldest",
            "smallest", "worst",
        ],
    ),
];

/// Returns the aggregates that a question asks for.
pub(super) fn find_asked(question: &str) -> Vec<Kind> {
    let lower = question.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let asked = ASKING.iter().filter(|(_, asking)| asking.iter().any(|one| words.contains(one)));
    asked.map(|(kind, _)| *kind).collect()
}
