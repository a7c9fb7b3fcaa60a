//! Doubts about a result: its statement ran and may mean something else than it says.

use serde::{Deserialize, Serialize};

/// The highest confidence in a result of which there is a doubt.
const DOUBTFUL: f64 = 0.5;

/// A reason to distrust the result of a statement that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// The kind of doubt.
    pub kind: DoubtKind,
    /// The reason in a sentence, for people and models. It holds cell text only if rows are
    /// granted.
    pub text: String,
}

/// The kind of a [`Doubt`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DoubtKind {
    /// Values are used as numbers and are none.
    NoNumbers,
    /// Numbers are put in the order of texts.
    TextOrder,
    /// A day is compared with values that are no days.
    Day,
    /// A function reads values as dates that are none.
    NoDates,
    /// A condition is true of no row, since it is NULL for each.
    NullCondition,
    /// A `NOT IN` is true of no row, since one of its values is NULL.
    NullInList,
    /// A condition is true of no row, whatever the column holds.
    Never,
    /// A condition is true of every row, whatever the column holds.
    Always,
    /// A query in the place of one value gives several, of which the engine takes the first.
    SeveralValues,
    /// A text is compared that a column cannot have, as the schema says.
    OutsideSet,
    /// The result says nothing, and a text is compared that its column lacks.
    AbsentText,
    /// The result says nothing, and a number is compared that no value comes near.
    AbsentNumber,
    /// The result says nothing, and its column has no day in the time that is asked for.
    AbsentDay,
    /// A ratio of whole numbers loses its decimals.
    WholeRatio,
    /// Tables are joined by columns that do not refer to each other.
    JoinPath,
    /// A column beside an aggregate has several values, of which the engine takes any.
    BareColumn,
    /// A column holds further spellings of a text that the statement names or makes a group of.
    Spellings,
    /// A column is compared with the least or greatest value of another column.
    OtherExtreme,
    /// An aggregate counts rows of a table more than once, since a join repeats them.
    RepeatedRows,
    /// Rows that a LEFT JOIN makes where there is none are counted.
    PaddedRows,
    /// Things without a row of a joined table are asked for, and left out.
    InnerJoin,
    /// Tables are joined without a condition.
    CrossJoin,
    /// Values that number rows are added up or averaged.
    KeySum,
    /// The first rows of an order are those whose value is NULL.
    NullsFirst,
    /// Rows are grouped by a name that several of them have.
    SharedName,
    /// An aggregate is NULL, since no row meets the conditions.
    NullAggregate,
    /// Another row is as great as the first of a ranking, and is left out.
    Tie,
    /// Two columns of the result are equal in each row.
    SameColumns,
    /// The question asks for a thing, and the statement gives a number of it.
    Measure,
    /// The question does not ask for a number, and the statement gives one.
    Count,
    /// The question asks for one number, and the statement gives several rows.
    SeveralCounts,
    /// The question asks for things, and the statement gives their keys.
    KeyForName,
    /// The question asks for different values, and the result repeats some.
    NotDistinct,
    /// Things are listed several times, once for each row that is joined to them.
    RepeatedThings,
    /// The question connects conditions by another word than the statement does.
    OtherConnective,
    /// The question leaves out other things than the statement does.
    OtherNegation,
    /// The order puts the other end first than the question asks for.
    OtherEnd,
    /// The question asks for the first rows of an order, and the statement gives others.
    OtherRows,
    /// The question asks for an order, and the statement has none.
    NoOrder,
    /// The question asks for a column that the statement does not give.
    LostColumn,
    /// The question asks for a share, and the statement gives a number.
    NoShare,
    /// The question names another aggregate.
    OtherAggregate,
    /// The question names another year.
    OtherYear,
    /// The question bounds a number from the other side.
    OtherBound,
    /// The question asks for a number of each thing, and the statement gives one of all.
    NoGroups,
    /// More things are counted than there are.
    TooMany,
    /// The question names a value or a table that the statement does not use.
    Unused,
    /// The question asks about the data, and the statement reads no table.
    NoTable,
    /// The statement is that of a solved example, whose question asks for something else.
    CopiedExample,
    /// The question names a defined metric, and the statement computes it in another way.
    OtherDefinition,
}

impl DoubtKind {
    /// The highest confidence in a result of which there is such a doubt; with 0 the result is not
    /// acceptable.
    #[must_use]
    pub fn limit(self) -> f64 {
        match self {
            Self::NullCondition | Self::NoTable => 0.0,
            Self::NoNumbers
            | Self::TextOrder
            | Self::Day
            | Self::NoDates
            | Self::NullInList
            | Self::Never
            | Self::Always
            | Self::SeveralValues
            | Self::OutsideSet
            | Self::AbsentText
            | Self::AbsentNumber
            | Self::AbsentDay
            | Self::WholeRatio
            | Self::JoinPath
            | Self::BareColumn
            | Self::Spellings
            | Self::OtherExtreme
            | Self::RepeatedRows
            | Self::PaddedRows
            | Self::InnerJoin
            | Self::CrossJoin
            | Self::KeySum
            | Self::NullsFirst
            | Self::SharedName
            | Self::NullAggregate
            | Self::Tie
            | Self::SameColumns
            | Self::Measure
            | Self::Count
            | Self::SeveralCounts
            | Self::KeyForName
            | Self::NotDistinct
            | Self::RepeatedThings
            | Self::OtherConnective
            | Self::OtherNegation
            | Self::OtherEnd
            | Self::OtherRows
            | Self::NoOrder
            | Self::LostColumn
            | Self::NoShare
            | Self::OtherAggregate
            | Self::OtherYear
            | Self::OtherBound
            | Self::NoGroups
            | Self::TooMany
            | Self::Unused
            | Self::CopiedExample
            | Self::OtherDefinition => DOUBTFUL,
        }
    }
}

impl DoubtKind {
    /// Returns true if the doubt is that the statement answers another question, which a person who
    /// confirmed the statement for the question has judged.
    #[must_use]
    pub fn is_about_question(self) -> bool {
        matches!(
            self,
            Self::Measure
                | Self::Count
                | Self::SeveralCounts
                | Self::KeyForName
                | Self::NotDistinct
                | Self::RepeatedThings
                | Self::OtherConnective
                | Self::OtherNegation
                | Self::OtherEnd
                | Self::OtherRows
                | Self::NoOrder
                | Self::LostColumn
                | Self::NoShare
                | Self::OtherAggregate
                | Self::OtherYear
                | Self::OtherBound
                | Self::NoGroups
                | Self::Unused
                | Self::NoTable
                | Self::CopiedExample
                | Self::OtherDefinition
        )
    }
}

/// The highest confidence that these doubts leave, and the first of them that leaves no more.
#[must_use]
pub fn most_confidence(doubts: &[Doubt]) -> Option<(f64, &Doubt)> {
    let limits = doubts.iter().map(|doubt| (doubt.kind.limit(), doubt));
    limits.min_by(|(left, _), (right, _)| left.total_cmp(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_doubt_decides() {
        let doubt = |kind, text: &str| Doubt { kind, text: text.to_owned() };
        let doubts = [
            doubt(DoubtKind::Spellings, "a"),
            doubt(DoubtKind::NullCondition, "b"),
            doubt(DoubtKind::NullCondition, "c"),
        ];
        fn most(doubts: &[Doubt]) -> Option<(f64, String)> {
            most_confidence(doubts).map(|(limit, doubt)| (limit, doubt.text.clone()))
        }
        assert_eq!(most(&doubts), Some((0.0, "b".to_owned())));
        assert_eq!(most(&doubts[..1]), Some((0.5, "a".to_owned())));
        assert_eq!(most(&[]), None);
    }
}
