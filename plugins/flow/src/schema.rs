//! The schema as the workflow's prompts have it: names and types, no keys, no samples.

use syrch_plugin::prelude::*;
use syrch_plugin::text::{count, line};

/// `Table: {name}` and `  - {column} ({type})`, with a blank line between tables. Tables that would
/// go over `bytes` are left out, and their number is stated.
pub(crate) fn text(catalog: &Catalog, bytes: usize) -> String {
    let mut out = String::new();
    for (shown, table) in catalog.tables.iter().enumerate() {
        let text = table_text(table);
        if !out.is_empty() && out.len() + text.len() > bytes {
            let left = (catalog.tables.len() - shown) as u64;
            return out + &format!("\n({} more not shown)\n", count(left, "table"));
        }
        if shown > 0 {
            out.push('\n');
        }
        out += &text;
    }
    out
}

fn table_text(table: &Table) -> String {
    let schema = table
        .schema_name
        .as_ref()
        .map(|schema| format!("{}.", line(schema, 200)))
        .unwrap_or_default();
    let mut out = format!("Table: {schema}{}\n", line(&table.name, 200));
    for column in &table.columns {
        out += &format!("  - {} ({})\n", line(&column.name, 200), line(&column.sql_type, 80));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, columns: &[(&str, &str)]) -> Table {
        Table {
            name: name.to_owned(),
            columns: columns
                .iter()
                .map(|(name, kind): &(&str, &str)| Column {
                    name: (*name).to_owned(),
                    sql_type: (*kind).to_owned(),
                    comment: Some("never shown".to_owned()),
                    ..Column::default()
                })
                .collect(),
            primary_key: vec!["id".to_owned()],
            ..Table::default()
        }
    }

    fn shop() -> Catalog {
        let tables = vec![
            table("customers", &[("id", "INTEGER"), ("full name", "TEXT")]),
            table("order", &[("id", "")]),
        ];
        Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables, ..Catalog::default() }
    }

    #[test]
    fn tables_stand_as_in_the_workflow() {
        assert_eq!(
            text(&shop(), 4096),
            "Table: customers\n  - id (INTEGER)\n  - full name (TEXT)\n\nTable: order\n  - id ()\n"
        );
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        assert_eq!(
            text(&shop(), 60),
            "Table: customers\n  - id (INTEGER)\n  - full name (TEXT)\n\n(1 table more not shown)\n"
        );
    }
}
