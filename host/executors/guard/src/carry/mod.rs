//! Forms that an engine has and the parser lacks. They are carried through the parser's tree in
//! forms that it knows and that the engine lacks, and come back when the tree is written: `read` is
//! the way in, `write` the way out.
//!
//! | form | in the tree |
//! |---|---|
//! | `… EXCLUDE TIES)` of a frame | the name of the window, with a mark behind it |
//! | `WITH … (…) SEARCH … CYCLE …` | `FROM mark` behind the common table expression |
//! | `ASOF JOIN` | `RIGHT SEMI JOIN` |
//! | `ASOF LEFT JOIN` | `RIGHT ANTI JOIN` |
//! | `POSITIONAL JOIN` | `STRAIGHT_JOIN` |
//! | `… USING SAMPLE 10%` | `QUALIFY mark` |
//! | `PIVOT t ON a USING sum(b)` | `FROM t SELECT mark(a), sum(b)` |
//! | `UNPIVOT t ON a, b INTO NAME n VALUE v` | `FROM t SELECT mark(a, b), n, v` |
//! | `PIVOT (… IN (…) GROUP BY a)` | `DEFAULT ON NULL (mark(a))` |
//! | `[a FOR x IN l IF b]` | a mark for the bracket, then calls of `list_transform`, `list_filter` |
//!
//! A mark is a name with the character NUL, which no statement holds. Whoever walks the tree
//! refuses such a name wherever a name stands, but for the places above.

mod read;
mod write;

use sqlparser::ast::{Expr, Function, Ident, Select, SelectItem};

pub(crate) use read::carry;
pub(crate) use write::restore;

/// The first character of a mark.
pub(crate) const MARK: char = '\0';
/// The list of `PIVOT … ON`.
pub(crate) const PIVOT: &str = "\0pivot";
/// The list of `UNPIVOT … ON`.
pub(crate) const UNPIVOT: &str = "\0unpivot";
/// The groups of a `PIVOT` behind a relation.
pub(crate) const GROUP: &str = "\0group";
/// The rows that the frame of a window may leave out.
pub(crate) const COMPREHENSION: &str = "\0comprehension";
/// The beginning of a sample.
pub(crate) const SAMPLE: &str = "\0USING SAMPLE ";

/// Frames may leave out these rows.
const EXCLUSIONS: [&str; 4] =
    ["EXCLUDE CURRENT ROW", "EXCLUDE GROUP", "EXCLUDE TIES", "EXCLUDE NO OTHERS"];

/// Returns true if the whole of a name is a mark.
pub(crate) fn is_mark(ident: &Ident) -> bool {
    ident.quote_style.is_none() && ident.value.starts_with(MARK)
}

/// Returns true if an expression is a call of that mark.
pub(crate) fn is_call(function: &Function, mark: &str) -> bool {
    matches!(
        &function.name.0[..], [part] if part
            .as_ident()
            .is_some_and(|ident| is_mark(ident) && ident.value == mark)
    )
}

/// Returns true if a SELECT stands for a statement `PIVOT` or `UNPIVOT`.
pub(crate) fn is_pivot(select: &Select) -> bool {
    let first = match select.projection.first() {
        Some(SelectItem::UnnamedExpr(Expr::Function(function))) => Some(function),
        _ => None,
    };
    first.is_some_and(|function| is_call(function, PIVOT) || is_call(function, UNPIVOT))
}

/// Splits the mark of an exclusion off the name of a window. The name is empty where there is none.
pub(crate) fn split_exclusion(ident: &Ident) -> Option<(Ident, &'static str)> {
    let (name, mark) = ident.value.split_once(MARK)?;
    let exclusion = EXCLUSIONS.into_iter().find(|shown| *shown == mark)?;
    Some((Ident { value: name.to_owned(), ..ident.clone() }, exclusion))
}

/// Removes the marks from a text, for messages.
pub(crate) fn strip_marks(text: &str) -> String {
    text.replace(MARK, "")
}
