//! The reward: rejects results with more rows than usual.

use syrch_plugin::prelude::*;
use syrch_plugin::text::count;

use crate::{{name_pascal}}Plugin;

impl RewardRole for {{name_pascal}}Plugin {
    fn judge(
        &self,
        _host: &impl RewardHost,
        _problem: &Problem,
        _catalog: &Catalog,
        _task: &Task,
        rivals: &[Rival],
    ) -> Result<Vec<Verdict>, Failure> {
        Ok(rivals
            .iter()
            .map(|rival: &Rival| match rival.results.profile().rows {
                rows if rows > u64::from(self.settings.most) => {
                    rejected(0.0, format!("{} are too many", count(rows, "row")))
                }
                rows => accepted(1.0, count(rows, "row")),
            })
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use syrch_plugin::fakes::{FakeHost, FakeRows};

    #[test]
    fn many_rows_are_rejected() {
        let results = FakeRows::new(&["n"], Vec::new()).counted(3).handle();
        let rival = Rival {
            candidate: Candidate::default(),
            results,
        };
        let catalog = Catalog { database: "shop".into(), ..Catalog::default() };
        let problem = Problem::new("Who?");
        let task = Task::new("A", "Who?");
        let plugin = {{name_pascal}}Plugin::new(Settings { most: 2 });
        let verdicts = plugin
            .judge(&FakeHost::default(), &problem, &catalog, &task, &[rival])
            .unwrap();
        assert_eq!(verdicts, [rejected(0.0, "3 rows are too many")]);
    }
}
