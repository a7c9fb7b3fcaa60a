//! The grant of cells to roles: the user's `--rows`.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{
    CellIndex, CellsPort, Match, Page, PortError, RowsGrant, RowsPort, Sample,
};
use syrch_core::text::clip;
use syrch_core::{Hit, ResultSet, Value};

/// The most rows of one page.
const PAGE_ROWS: u64 = 1_000;
/// The most bytes of one page's cells.
const PAGE_BYTES: usize = 1 << 20;
/// The most values of a column, or hits of a phrase, that one call of the port `cells` gets.
const MAX_CELLS: u32 = 1_000;
/// The most phrases of one call.
const MAX_PHRASES: usize = 256;
/// The most hits of one call; each phrase has an equal share.
const MAX_HITS: u32 = 10_000;

/// The port `rows` under the user's grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrantedRows(pub RowsGrant);

impl GrantedRows {
    /// The part of these rows that the grant allows.
    fn page(self, results: &ResultSet, offset: u64, limit: u32) -> Result<Page, PortError> {
        let shown = match self.0 {
            RowsGrant::None | RowsGrant::Aggregates => return Err(refusal(self.0)),
            RowsGrant::Sample(rows) => u64::from(rows),
            RowsGrant::Full => u64::MAX,
        };
        let wanted = u64::from(limit).min(results.row_count().saturating_sub(offset));
        let allowed = wanted.min(shown.saturating_sub(offset)).min(PAGE_ROWS);
        let rows = rows_of_page(results.rows(offset, allowed));
        let clipped = (rows.len() as u64) < wanted;
        let columns = results.schema().fields().iter().map(|field| field.name().clone()).collect();
        Ok(Page { columns, rows, clipped })
    }
}

#[async_trait]
impl RowsPort for GrantedRows {
    async fn read(&self, results: &ResultSet, offset: u64, limit: u32) -> Result<Page, PortError> {
        self.page(results, offset, limit)
    }
}

fn refusal(grant: RowsGrant) -> PortError {
    PortError::Denied(format!("cells are not granted (--rows {grant})"))
}

/// The rows that fit a page. If the first row alone is larger, its long cells are cut: a page
/// without a row would make no progress.
fn rows_of_page(mut rows: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
    let mut left = PAGE_BYTES;
    let fit = rows.iter().position(|row| {
        let size: usize = row.iter().map(size).sum();
        let is_over = size > left;
        left = left.saturating_sub(size);
        is_over
    });
    if let Some(first) = rows.first_mut().filter(|_| fit == Some(0)) {
        let share = PAGE_BYTES / first.len().max(1);
        first.iter_mut().for_each(|value| cut(value, share));
    }
    rows.truncate(fit.map_or(rows.len(), |fit| fit.max(1)));
    rows
}

/// Bytes of a cell, with the overhead of a value.
fn size(value: &Value) -> usize {
    8 + match value {
        Value::Decimal(text) | Value::Text(text) | Value::Temporal(text) | Value::Other(text) => {
            text.len()
        }
        Value::Bytes(bytes) => bytes.len(),
        Value::Null | Value::Boolean(_) | Value::Integer(_) | Value::Real(_) => 0,
    }
}

fn cut(value: &mut Value, most: usize) {
    let most = most.saturating_sub(8);
    match value {
        Value::Decimal(text) | Value::Text(text) | Value::Temporal(text) | Value::Other(text) => {
            *text = clip(text, most).to_owned();
        }
        Value::Bytes(bytes) => bytes.truncate(most),
        Value::Null | Value::Boolean(_) | Value::Integer(_) | Value::Real(_) => {}
    }
}

/// Samples as far as the grant allows.
async fn samples(
    index: &dyn CellIndex,
    grant: RowsGrant,
    table: &str,
    columns: &[String],
    limit: u32,
) -> Result<Vec<Sample>, PortError> {
    match grant {
        RowsGrant::None => Err(refusal(grant)),
        RowsGrant::Aggregates => {
            let mut samples = index.samples(table, columns, 0).await?;
            samples.iter_mut().for_each(|sample| sample.frequent.clear());
            Ok(samples)
        }
        RowsGrant::Sample(_) | RowsGrant::Full => {
            index.samples(table, columns, limit.min(MAX_CELLS)).await
        }
    }
}

/// The port `cells` under the user's grant: `sample:N` allows `N` frequent values of a column and
/// `N` cells for a phrase. One call may have 256 phrases, and gets 10,000 cells for all of them
/// together.
#[derive(Clone)]
pub struct GrantedCells {
    /// The index of the database's cells.
    pub index: Arc<dyn CellIndex>,
    /// The user's setting of `--rows`.
    pub grant: RowsGrant,
}

impl GrantedCells {
    /// The most values of a column, or hits of a phrase.
    fn cap_limit(&self, limit: u32) -> u32 {
        match self.grant {
            RowsGrant::Sample(rows) => limit.min(rows),
            RowsGrant::None | RowsGrant::Aggregates | RowsGrant::Full => limit,
        }
    }
}

#[async_trait]
impl CellsPort for GrantedCells {
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        samples(self.index.as_ref(), self.grant, table, columns, self.cap_limit(limit)).await
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        match self.grant {
            RowsGrant::None | RowsGrant::Aggregates => Err(refusal(self.grant)),
            // That there are cells needs no index.
            RowsGrant::Sample(_) | RowsGrant::Full if phrases.is_empty() => Ok(Vec::new()),
            RowsGrant::Sample(_) | RowsGrant::Full if phrases.len() > MAX_PHRASES => {
                Err(PortError::Other(format!(
                    "{} phrases; one call may have {MAX_PHRASES}",
                    phrases.len()
                )))
            }
            RowsGrant::Sample(_) | RowsGrant::Full => {
                let share = MAX_HITS / u32::try_from(phrases.len().max(1)).unwrap_or(u32::MAX);
                self.index.find(phrases, how, self.cap_limit(limit).min(MAX_CELLS).min(share)).await
            }
        }
    }
}

/// An index for the host's own providers, under the user's grant. `sample:N` is no bound here,
/// since the index is not read out. It finds nothing where the port would answer `denied`: what a
/// provider writes into a statement reaches a guest too.
#[derive(Clone)]
pub struct GrantedIndex {
    /// The index of the database's cells.
    pub index: Arc<dyn CellIndex>,
    /// The user's setting of `--rows`.
    pub grant: RowsGrant,
}

#[async_trait]
impl CellIndex for GrantedIndex {
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        if self.grant == RowsGrant::None {
            return Ok(Vec::new());
        }
        samples(self.index.as_ref(), self.grant, table, columns, limit).await
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        match self.grant {
            RowsGrant::None | RowsGrant::Aggregates => Ok(vec![Vec::new(); phrases.len()]),
            RowsGrant::Sample(_) | RowsGrant::Full => self.index.find(phrases, how, limit).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fakes::{FakeDatabase, numbers, texts};

    fn first(page: &Page) -> Vec<&Value> {
        page.rows.iter().map(|row| &row[0]).collect()
    }

    #[test]
    fn a_sample_shows_the_first_rows_of_a_result_and_no_others() {
        let results = numbers(10);
        let three = GrantedRows(RowsGrant::Sample(3));
        let page = three.page(&results, 0, 100).unwrap();
        assert_eq!((page.rows.len(), page.clipped, page.columns), (3, true, vec!["n".to_owned()]));
        let page = three.page(&results, 1, 2).unwrap();
        assert_eq!(
            (first(&page), page.clipped),
            (vec![&Value::Integer(1), &Value::Integer(2)], false)
        );
        let page = three.page(&results, 3, 1).unwrap();
        assert_eq!((page.rows.len(), page.clipped), (0, true));
        let page = GrantedRows(RowsGrant::Sample(30)).page(&results, 8, 100).unwrap();
        assert_eq!((page.rows.len(), page.clipped), (2, false));
    }

    #[test]
    fn without_the_grant_no_row_is_shown() {
        for grant in [RowsGrant::None, RowsGrant::Aggregates] {
            assert!(matches!(
                GrantedRows(grant).page(&numbers(1), 0, 1),
                Err(PortError::Denied(_))
            ));
        }
    }

    #[test]
    fn pages_have_a_size() {
        let full = GrantedRows(RowsGrant::Full);
        let page = full.page(&numbers(3_000), 0, u32::MAX).unwrap();
        assert_eq!((page.rows.len(), page.clipped), (1_000, true));
        let page =
            full.page(&texts(&["x".repeat(600 << 10), "y".repeat(600 << 10)]), 0, 2).unwrap();
        assert_eq!((page.rows.len(), page.clipped), (1, true));
        let page = full.page(&texts(&["é".repeat(1 << 20)]), 0, 1).unwrap();
        let Value::Text(text) = first(&page)[0] else { panic!("{page:?}") };
        assert!(text.len() <= PAGE_BYTES && text.len() > PAGE_BYTES - 16);
    }

    proptest! {
        #[test]
        fn no_page_goes_beyond_the_grant(
            rows in 0..50_i64, sample in 1..60_u32, offset in 0..80_u64, limit in 0..80_u32
        ) {
            let page =
                GrantedRows(RowsGrant::Sample(sample)).page(&numbers(rows), offset, limit).unwrap();
            for value in first(&page) {
                prop_assert!(matches!(value, Value::Integer(n) if *n < i64::from(sample)));
            }
            let whole = u64::from(limit).min((rows as u64).saturating_sub(offset));
            prop_assert_eq!(page.clipped, (page.rows.len() as u64) < whole);
        }
    }

    #[tokio::test]
    async fn cells_follow_the_grant() {
        let index: Arc<dyn CellIndex> = Arc::new(FakeDatabase::default());
        let columns = ["n".to_owned()];
        let phrases = ["a".to_owned(), "b".to_owned()];
        for (grant, frequent, hits) in [
            (RowsGrant::None, None, None),
            (RowsGrant::Aggregates, Some(0), None),
            (RowsGrant::Sample(3), Some(2), Some(1)),
            (RowsGrant::Full, Some(2), Some(1)),
        ] {
            let cells = GrantedCells { index: Arc::clone(&index), grant };
            let samples = cells.samples("t", &columns, 2).await;
            assert_eq!(
                samples.as_ref().ok().map(|samples| samples[0].frequent.len()),
                frequent,
                "{grant}"
            );
            let found = cells.find(&phrases, Match::Exact, 1).await;
            assert_eq!(found.as_ref().ok().map(|found| found[0].len()), hits, "{grant}");
            let own = GrantedIndex { index: Arc::clone(&index), grant };
            let samples = own.samples("t", &columns, 2).await.unwrap();
            assert_eq!(samples.first().map(|sample| sample.frequent.len()), frequent, "{grant}");
            let found = own.find(&phrases, Match::Exact, 1).await.unwrap();
            assert_eq!((found.len(), found[0].len()), (2, hits.unwrap_or(0)), "{grant}");
        }
    }

    #[tokio::test]
    async fn a_sample_of_cells_is_as_large_as_one_of_rows() {
        let index: Arc<dyn CellIndex> = Arc::new(FakeDatabase::default());
        let phrases = ["a".to_owned(), "b".to_owned()];
        for (grant, limit, shown, own) in [
            (RowsGrant::Sample(3), 50, 3, 50),
            (RowsGrant::Sample(3), 2, 2, 2),
            (RowsGrant::Sample(5_000), 2_000, 1_000, 1_000),
            (RowsGrant::Full, 50, 50, 50),
        ] {
            let cells = GrantedCells { index: Arc::clone(&index), grant };
            let samples = cells.samples("t", &["n".to_owned()], limit).await.unwrap();
            assert_eq!(samples[0].frequent.len(), shown, "{grant}");
            let found = cells.find(&phrases, Match::Exact, limit).await.unwrap();
            assert!(found.len() == 2 && found.iter().all(|hits| hits.len() == shown), "{grant}");
            let host = GrantedIndex { index: Arc::clone(&index), grant };
            assert_eq!(
                host.samples("t", &["n".to_owned()], limit).await.unwrap()[0].frequent.len(),
                own,
                "{grant}"
            );
        }
    }

    #[tokio::test]
    async fn one_call_finds_only_so_much() {
        let cells =
            GrantedCells { index: Arc::new(FakeDatabase::default()), grant: RowsGrant::Full };
        let many = vec!["a".to_owned(); MAX_PHRASES];
        let found = cells.find(&many, Match::Fuzzy, u32::MAX).await.unwrap();
        assert_eq!((found.len(), found[0].len()), (256, 39));
        let more = vec![String::new(); 500_000];
        assert!(matches!(cells.find(&more, Match::Fuzzy, 1).await, Err(PortError::Other(_))));
    }
}
