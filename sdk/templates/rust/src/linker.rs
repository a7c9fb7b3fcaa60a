//! The linker: selects the tables that the question names.

use syrch_plugin::prelude::*;

use crate::{{name_pascal}}Plugin;

impl LinkerRole for {{name_pascal}}Plugin {
    fn link(
        &self,
        _host: &impl LinkerHost,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Linked, Failure> {
        let question = problem.question.to_lowercase();
        let named = catalog
            .tables
            .iter()
            .filter(|table| question.contains(&table.name.to_lowercase()));
        // Without a table the catalog stays as it is.
        Ok(Linked {
            tables: named
                .take(self.settings.most as usize)
                .map(|table: &Table| Relevant {
                    table: catalog.table_name(table),
                    columns: Vec::new(), // all
                    score: 1.0,
                    reason: "the question names it".to_owned(),
                })
                .collect(),
            hints: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use syrch_plugin::fakes::FakeHost;

    #[test]
    fn named_tables_are_selected() {
        let table = |name: &str| Table {
            name: name.into(),
            ..Table::default()
        };
        let tables = vec![table("customers"), table("orders")];
        let catalog = Catalog { database: "shop".into(), tables, ..Catalog::default() };
        let plugin = {{name_pascal}}Plugin::new(Settings::default());
        let linked = plugin
            .link(
                &FakeHost::default(),
                &Problem::new("How many Orders?"),
                &catalog,
            )
            .unwrap();
        assert_eq!(linked.tables.len(), 1);
        assert_eq!(linked.tables[0].table, "orders");
    }
}
