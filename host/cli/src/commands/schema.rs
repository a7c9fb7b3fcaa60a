//! `schema`: shows the tables and columns of databases.

use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use syrch::databases::open_database;
use syrch::schema::{describe_tables, kind, references};
use syrch::syrch_core::ports::Database;
use syrch::syrch_core::text::nearest;
use syrch::syrch_core::{Catalog, Column, DatabaseUrl, Table};

use super::Context;
use super::Run;
use crate::config::Given;
use crate::config::flags::Flags;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome, alternatives};
use crate::sink::{Format, Grid, table, terminal};

#[derive(Args)]
pub(crate) struct SchemaArgs {
    /// The database, or several; one is the same as --db
    #[arg(value_name = "DB", conflicts_with = "execution.db_path")]
    pub(crate) databases: Vec<String>,
    /// Only this table or view, of one database
    #[arg(short, long, value_name = "TABLE")]
    pub(crate) table: Option<String>,
    /// The options of a database.
    #[command(flatten)]
    pub(crate) flags: Flags<false>,
}

impl Run for SchemaArgs {
    fn config_flags(&self) -> Option<Given<'_>> {
        let mut flags = self.flags.clone();
        if let Some(database) = self.databases.first() {
            flags.set("execution.db_path", json!(database));
        }
        Some(Given::new(&flags, &[]))
    }

    async fn run(self, context: Context) -> Outcome {
        context.needs_database()?;
        if self.databases.len() > 1 {
            return print_several(&context, &self.databases, self.table.as_deref()).await;
        }
        let database = context.open_database().await?;
        print(&context, database.as_ref(), self.table.as_deref()).await?;
        Ok(Exit::Answered)
    }
}

/// Prints the tables of several databases that may be seen.
async fn print_several(context: &Context, databases: &[String], wanted: Option<&str>) -> Outcome {
    if wanted.is_some() {
        return Err(Failure::usage("--table is for one database")
            .hint("name one database, or leave --table out"));
    }
    let mut catalogs = Vec::new();
    for given in databases {
        let mut settings = context.config.effective.settings.clone();
        settings.database = context.config.effective.address(given);
        // What a flag gives is on the command line, a name's address is not.
        settings.servers.is_on_command_line = settings.database == *given;
        settings.servers.named = Some(settings.database.clone());
        let database = open_database(&settings).await?;
        database.warnings().iter().for_each(|warning| context.console.warn(warning));
        catalogs
            .push((DatabaseUrl::parse(&settings.database).to_string(), database.catalog().await?));
    }
    if matches!(context.format, Format::Auto | Format::Table) {
        let width = context.output.width();
        let text: String = catalogs
            .iter()
            .map(|(url, catalog): &(String, Arc<Catalog>)| {
                let tables: String =
                    catalog.tables.iter().map(|table| picture(catalog, table, width)).collect();
                format!("{}\n\n{tables}", terminal::line(url))
            })
            .collect();
        context.output.write(&context.scrubber.text(&text))?;
        return Ok(Exit::Answered);
    }
    let mut rows = Grid::new(COLUMNS);
    rows.columns.insert(0, "database".to_owned());
    for (url, catalog) in &catalogs {
        let of_catalog = grid(catalog, &catalog.tables.iter().collect::<Vec<_>>()).rows;
        rows.rows.extend(of_catalog.into_iter().map(|row| [vec![json!(url)], row].concat()));
    }
    let documents = catalogs
        .iter()
        .map(|(_, catalog)| describe_tables(catalog, &catalog.tables.iter().collect::<Vec<_>>()));
    context.rows(
        rows,
        || json!({"schema": "syrch.schemas/1", "databases": documents.collect::<Vec<_>>()}),
    )?;
    Ok(Exit::Answered)
}

/// The columns of a row for each column of a table.
const COLUMNS: [&str; 7] =
    ["table", "kind", "column", "type", "nullable", "primary_key", "references"];

/// Prints the tables of an open database that may be seen, or the wanted one.
pub(super) async fn print(
    context: &Context,
    database: &dyn Database,
    wanted: Option<&str>,
) -> Outcome<()> {
    let catalog = database.catalog().await?;
    let tables = choose(&catalog, wanted)?;
    if matches!(context.format, Format::Auto | Format::Table) {
        let text: String =
            tables.iter().map(|table| picture(&catalog, table, context.output.width())).collect();
        context.output.write(&context.scrubber.text(&text))
    } else {
        context.rows(grid(&catalog, &tables), || describe_tables(&catalog, &tables))
    }
}

fn choose<'a>(catalog: &'a Catalog, wanted: Option<&str>) -> Outcome<Vec<&'a Table>> {
    let Some(wanted) = wanted else { return Ok(catalog.tables.iter().collect()) };
    if let Some(table) = catalog.table(wanted) {
        return Ok(vec![table]);
    }
    let names = catalog.table_names();
    let failure = Failure::new(
        Exit::Database,
        format!("`{}` has no table or view `{wanted}`", catalog.database),
    );
    Err(match alternatives(&nearest(wanted, names.iter().map(String::as_str))) {
        Some(similar) => failure.hint(format!("did you mean {similar}?")),
        None => failure.hint("`syrch-host schema` without -t shows all"),
    })
}

fn is_key(table: &Table, column: &Column) -> bool {
    table.primary_key.iter().any(|name| name.eq_ignore_ascii_case(&column.name))
}

fn row(table: &Table, column: &Column) -> Vec<Value> {
    vec![
        json!(column.name),
        json!(column.sql_type),
        json!(column.nullable),
        json!(is_key(table, column)),
        json!(references(table, column).join(", ")),
    ]
}

/// A heading and the columns of one table.
fn picture(catalog: &Catalog, table: &Table, width: Option<u16>) -> String {
    let mut grid = Grid::new(["column", "type", "nullable", "key", "refers to"]);
    grid.rows = table.columns.iter().map(|column| row(table, column)).collect();
    for cells in &mut grid.rows {
        cells[2] = json!(if cells[2] == json!(true) { "yes" } else { "" });
        cells[3] = json!(if cells[3] == json!(true) { "yes" } else { "" });
    }
    let rows = table.row_estimate.map(|rows| format!(", about {rows} rows")).unwrap_or_default();
    let comment = table.comment.as_ref().map(|comment| format!(": {comment}")).unwrap_or_default();
    let heading = format!("{} ({}{rows}){comment}", catalog.table_name(table), kind(table));
    let comments: String = table
        .columns
        .iter()
        .filter_map(|column: &Column| {
            let texts: Vec<String> =
                column.values_in_words().into_iter().chain(column.comment.clone()).collect();
            let text = if texts.is_empty() { None } else { Some(texts.join("; ")) }?;
            Some(terminal::line(&format!("{}: {text}", column.name)).into_owned() + "\n")
        })
        .collect();
    format!("{}\n{}\n{comments}", terminal::line(&heading), table::render(&grid, width))
}

/// One row a column, for programs that read rows.
fn grid(catalog: &Catalog, tables: &[&Table]) -> Grid {
    let mut grid = Grid::new(COLUMNS);
    for table in tables {
        let name = catalog.table_name(table);
        for column in &table.columns {
            grid.rows.push([vec![json!(name), json!(kind(table))], row(table, column)].concat());
        }
    }
    grid
}

#[cfg(test)]
mod tests {
    use syrch::syrch_core::{Dialect, ForeignKey};

    use super::*;

    fn catalog() -> Catalog {
        let column = |name: &str, nullable| Column {
            name: name.into(),
            sql_type: "INTEGER".into(),
            nullable,
            ..Column::default()
        };
        let orders = Table {
            name: "orders".into(),
            columns: vec![column("id", false), column("customer_id", true)],
            primary_key: vec!["id".into()],
            foreign_keys: vec![ForeignKey {
                columns: vec!["customer_id".into()],
                ref_table: "customers".into(),
                ref_columns: vec!["id".into()],
            }],
            ..Table::default()
        };
        let view = Table {
            name: "odd\u{1b}[2J".into(),
            extra: vec![("kind".into(), "\"view\"".into())],
            ..Table::default()
        };
        Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables: vec![orders, view] }
    }

    #[test]
    fn tables_show_keys_and_views_are_distinguished() {
        let catalog = catalog();
        let text = picture(&catalog, &catalog.tables[0], None);
        assert!(text.starts_with("orders (table)\n") && text.contains("customers.id"), "{text}");
        assert!(picture(&catalog, &catalog.tables[1], None).starts_with("odd\\u{1b}[2J (view)\n"));
        let all: Vec<&Table> = catalog.tables.iter().collect();
        assert_eq!(grid(&catalog, &all).rows[1][6], "customers.id");
        assert_eq!(describe_tables(&catalog, &all)["tables"][1]["kind"], "view");
    }

    #[test]
    fn an_unknown_table_names_the_nearest() {
        let catalog = catalog();
        assert_eq!(choose(&catalog, Some("ORDERS")).unwrap()[0].name, "orders");
        let failure = choose(&catalog, Some("order")).unwrap_err();
        assert_eq!(
            (failure.exit, failure.hint.as_deref()),
            (Exit::Database, Some("did you mean `orders`?"))
        );
    }
}
