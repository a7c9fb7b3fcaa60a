//! Parts of pages that stand alone, as documents that the components of `serve` show. They hold
//! texts and no markup, apart from the pictures.

use serde_json::{Value, json};

use crate::Grid;
use crate::picture::Picture;

/// A picture with its title and its description.
#[must_use]
pub fn picture(picture: &Picture) -> Value {
    json!({"title": picture.title, "description": picture.description, "svg": picture.file()})
}

/// A table with its title.
#[must_use]
pub fn table(title: &str, grid: &Grid) -> Value {
    json!({"title": title, "columns": grid.columns, "rows": grid.rows})
}
