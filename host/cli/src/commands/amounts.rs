//! Shares and amounts of money in tables for people: in the format that the definition of their
//! metric has.

use serde_json::{Value, json};
use syrch::report::MetricColumn;
use syrch::syrch_core;

use crate::sink::Grid;

/// Writes the cells of percent and currency columns as people do. Returns the places of these
/// columns.
pub(super) fn format_amounts(grid: &mut Grid, columns: &[MetricColumn]) -> Vec<usize> {
    let mut places = Vec::new();
    for column in columns.iter().filter(|it| matches!(&*it.format, "percent" | "currency")) {
        let Some(place) = grid.columns.iter().position(|name| *name == column.name) else {
            continue;
        };
        for cell in grid.rows.iter_mut().filter_map(|row| row.get_mut(place)) {
            if let Some(number) = read_number(cell) {
                *cell = json!(column.show(&number));
            }
        }
        places.push(place);
    }
    places
}

/// The number in a cell; `None` for anything else.
fn read_number(cell: &Value) -> Option<syrch_core::Value> {
    match cell {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Some(syrch_core::Value::Integer(whole)),
            None => number.as_f64().map(syrch_core::Value::Real),
        },
        Value::String(text) if text.parse::<f64>().is_ok_and(f64::is_finite) => {
            Some(syrch_core::Value::Decimal(text.clone()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_amounts_have_their_format() {
        let columns = [
            ("margin", "percent", None),
            ("orders", "number", None),
            ("revenue", "currency", Some("EUR")),
        ];
        let columns = columns.map(|(name, format, unit)| MetricColumn {
            name: name.to_owned(),
            format: format.to_owned(),
            unit: unit.map(str::to_owned),
        });
        let row = vec![json!("Spain"), json!(0.365_61), json!(3), json!("109750.344")];
        let mut grid = Grid {
            columns: ["country", "margin", "orders", "revenue"].map(str::to_owned).to_vec(),
            rows: vec![row, vec![json!("Italy"), json!(null), json!(0), json!(7)]],
        };
        assert_eq!(format_amounts(&mut grid, &columns), [1, 3]);
        let shown =
            json!([["Spain", "36.56 %", 3, "109750.34 EUR"], ["Italy", null, 0, "7.00 EUR"],]);
        assert_eq!(json!(grid.rows), shown);
    }
}
