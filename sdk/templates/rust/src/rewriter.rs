//! The rewriter: drops a condition that always holds.

use syrch_plugin::prelude::*;

use crate::{{name_pascal}}Plugin;

impl RewriterRole for {{name_pascal}}Plugin {
    fn rewrite(
        &self,
        _host: &impl RewriterHost,
        _original: &str,
        best: &str,
        _plan: &Plan,
        _catalog: &Catalog,
        history: &[Attempt],
    ) -> Result<Option<Proposal>, Failure> {
        let sql = best.replace(" WHERE 1 = 1", "");
        let is_new = sql != best && history.iter().all(|attempt| attempt.sql != sql);
        // None ends the optimization.
        let proposes = is_new && history.len() < self.settings.most as usize;
        Ok(proposes.then(|| Proposal::new(sql, "drop-condition", "the condition always holds")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use syrch_plugin::fakes::{FakeHost, rewrites};

    #[test]
    fn the_condition_is_dropped_once() {
        let catalog = Catalog { database: "shop".into(), ..Catalog::default() };
        let plugin = {{name_pascal}}Plugin::new(Settings::default());
        let trials = [Trial::Mismatch, Trial::Mismatch];
        let sql = "SELECT id FROM orders WHERE 1 = 1";
        let proposals = rewrites(&plugin, &FakeHost::default(), sql, &catalog, &trials).unwrap();
        assert_eq!(
            proposals,
            [Proposal::new(
                "SELECT id FROM orders",
                "drop-condition",
                "the condition always holds"
            )]
        );
    }
}
