//! The data that a server shows: those of its database, within its tables. A session sees no other
//! database of its user.

use serde_json::{Value, json};
use syrch::Settings;
use syrch::databases::{database_name, database_path};
use syrch::syrch_core::DatabaseUrl;

/// The database of a server, and the tables that it is limited to.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    place: String,
    name: String,
    tables: Vec<String>,
}

impl Scope {
    pub(crate) fn new(settings: &Settings) -> Self {
        let name = database_name(&DatabaseUrl::parse(&settings.database));
        Self { place: find_place(&settings.database), name, tables: settings.tables.clone() }
    }

    /// The address of the database without secrets. It is the same from every folder, and another
    /// one for another file.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// The name of the database, by which suites call it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether a search with these settings, as a journal has them, was over this database
    /// and within its tables.
    pub(crate) fn covers(&self, settings: &Value) -> bool {
        self.is_within_tables(settings) && self.is_over_database(settings)
    }

    /// Returns whether these settings name this database. A path that does not begin at the root
    /// is one from the current folder.
    pub(crate) fn is_over_database(&self, settings: &Value) -> bool {
        settings["database"].as_str().is_some_and(|address| find_place(address) == self.place)
    }

    /// Returns whether a search with these settings reads only tables that the server reads.
    pub(crate) fn is_within_tables(&self, settings: &Value) -> bool {
        self.tables.is_empty() || settings["tables"] == json!(self.tables)
    }
}

fn find_place(address: &str) -> String {
    let url = DatabaseUrl::parse(address);
    let Some(path) = database_path(&url) else { return url.to_string() };
    let whole = path.canonicalize().or_else(|_| std::path::absolute(&path));
    whole.unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_its_file_and_not_how_it_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let [database, other] = ["shop.sqlite", "other.sqlite"].map(|name| {
            let path = folder.path().join(name);
            std::fs::write(&path, "").unwrap();
            path.display().to_string()
        });
        let dotted = folder.path().join("./shop.sqlite").display().to_string();
        let named = format!("sqlite:{database}");
        let settings = Settings { database: database.clone(), ..Settings::default() };
        let scope = Scope::new(&settings);
        assert_eq!(scope.name(), "shop");
        for address in [database, dotted, named] {
            assert!(scope.covers(&json!({"database": address, "tables": []})), "{address}");
        }
        for address in [&*other, "shop.sqlite", ""] {
            assert!(!scope.covers(&json!({"database": address})), "{address}");
        }
        assert!(!scope.covers(&json!({})));
        let server = "postgres://ann@localhost/shop".to_owned();
        let server = Scope::new(&Settings { database: server, ..Settings::default() });
        assert_eq!(server.place(), "postgres://ann@localhost/shop");
    }

    #[test]
    fn a_search_of_more_tables_is_not_shown() {
        let tables = vec!["orders".to_owned()];
        let database = "shop.sqlite".to_owned();
        let scope = Scope::new(&Settings { database, tables, ..Settings::default() });
        for (tables, is_covered) in
            [(json!(["orders"]), true), (json!([]), false), (json!(["orders", "customers"]), false)]
        {
            let settings = json!({"database": "shop.sqlite", "tables": tables});
            assert_eq!(scope.covers(&settings), is_covered, "{settings}");
        }
        assert!(!scope.covers(&json!({"database": "shop.sqlite"})));
    }
}
