//! A reward that likes short results.

use syrch_plugin::prelude::*;

syrch_plugin::settings! {
    /// What the user may set: `-P reward.most_rows=20`.
    pub struct Settings {
        /// Results with more rows are rejected.
        most_rows: u64 = 100, 1 ..= 1_000_000;
    }
}

syrch_plugin::plugin! {
    /// The plugin.
    pub struct Short(Settings) = "short", "likes short results";
}

impl RewardRole for Short {
    fn judge(
        &self,
        _: &impl RewardHost,
        _: &Problem,
        _: &Catalog,
        _: &Task,
        rivals: &[Rival],
    ) -> Result<Vec<Verdict>, Failure> {
        Ok(rivals
            .iter()
            .map(|rival| match rival.results.profile().rows {
                rows if rows > self.settings.most_rows => {
                    rejected(0.0, format!("{rows} rows are too many"))
                }
                rows => accepted(1.0, format!("{rows} rows")),
            })
            .collect())
    }
}

syrch_plugin::export!(Short: reward);

#[cfg(test)]
mod tests {
    use super::*;
    use syrch_plugin::fakes::{FakeHost, FakeRows};

    fn verdict(rows: u64) -> Verdict {
        let rival = Rival {
            candidate: Candidate::default(),
            results: FakeRows::new(&["n"], Vec::new()).counted(rows).handle(),
        };
        let catalog = Catalog { database: "shop".into(), ..Catalog::default() };
        let plugin = Short::new(Settings { most_rows: 2 });
        let task = Task::new("A", "all customers");
        plugin
            .judge(&FakeHost::default(), &Problem::new("all customers"), &catalog, &task, &[rival])
            .unwrap()
            .remove(0)
    }

    #[test]
    fn long_results_are_rejected() {
        assert_eq!(verdict(2), accepted(1.0, "2 rows"));
        assert_eq!(verdict(3), rejected(0.0, "3 rows are too many"));
    }
}
