//! The layer over a database that gives what the test wants.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use syrch_core::ledger::Budgets;
use syrch_core::ports::UseKind;
use syrch_core::{Column, DoubtKind, Ledger, Limits, SqlErrorKind, Table};

use super::*;
use crate::BudgetedDatabase;

/// The results of statements that count.
enum Counts {
    Row(Vec<i64>),
    Cells(Vec<(&'static str, i64)>),
    Hang,
    Fail,
}

struct Fake {
    dialect: Dialect,
    sql_type: &'static str,
    uses: Vec<Use>,
    counts: Counts,
    checks: AtomicUsize,
    probes: Mutex<Vec<String>>,
}

const ASKED: &str = "SELECT asked FROM t";

impl Fake {
    fn new(sql_type: &'static str, kind: UseKind, counts: Counts) -> Self {
        let uses =
            vec![Use { table: "t".into(), column: "c".into(), value: None, filter: None, kind }];
        let dialect = Dialect::Sqlite;
        Self {
            dialect,
            sql_type,
            uses,
            counts,
            checks: AtomicUsize::new(0),
            probes: Mutex::default(),
        }
    }

    fn probes(&self) -> Vec<String> {
        self.probes.lock().unwrap().clone()
    }
}

fn results(columns: Vec<ArrayRef>, sql: &str) -> ResultSet {
    let schema = Arc::new(Schema::new(
        columns
            .iter()
            .map(|column: &ArrayRef| Field::new("n", column.data_type().clone(), true))
            .collect::<Vec<_>>(),
    ));
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    ResultSet::new(schema, vec![batch], false, Vec::new(), sql.to_owned())
}

#[async_trait]
impl CellIndex for Fake {
    async fn samples(&self, _: &str, _: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        Err(PortError::Unsupported)
    }

    async fn find(&self, _: &[String], _: Match, _: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        Err(PortError::Unsupported)
    }
}

#[async_trait]
impl Database for Fake {
    fn name(&self) -> &str {
        "fake"
    }

    fn dialect(&self) -> Dialect {
        self.dialect.clone()
    }

    async fn identity(&self) -> Option<String> {
        None
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        let column =
            Column { name: "c".into(), sql_type: self.sql_type.into(), ..Column::default() };
        let table = Table { name: "t".into(), columns: vec![column], ..Table::default() };
        Ok(Arc::new(Catalog {
            database: "d".into(),
            dialect: self.dialect.clone(),
            tables: vec![table],
        }))
    }

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        Ok(query.text.clone())
    }

    async fn check(&self, _: &SqlQuery) -> Result<Facts, SqlError> {
        self.checks.fetch_add(1, Ordering::SeqCst);
        Ok(Facts { uses: self.uses.clone(), ..Facts::default() })
    }

    async fn explain(&self, _: &SqlQuery) -> Result<Plan, SqlError> {
        Err(SqlError::new(SqlErrorKind::Other, "no plan"))
    }

    async fn run(&self, query: &SqlQuery) -> Result<ResultSet, SqlError> {
        if query.text == ASKED {
            return Ok(results(vec![Arc::new(Int64Array::from(vec![7]))], &query.text));
        }
        self.probes.lock().unwrap().push(query.text.clone());
        let number = |number: i64| Arc::new(Int64Array::from(vec![number])) as ArrayRef;
        match &self.counts {
            Counts::Row(counts) => {
                Ok(results(counts.iter().map(|count| number(*count)).collect(), &query.text))
            }
            Counts::Cells(cells) => {
                let texts = StringArray::from_iter_values(cells.iter().map(|(text, _)| text));
                let counts = Int64Array::from_iter_values(cells.iter().map(|(_, count)| *count));
                Ok(results(vec![Arc::new(texts), Arc::new(counts)], &query.text))
            }
            Counts::Hang => std::future::pending().await,
            Counts::Fail => Err(SqlError::new(SqlErrorKind::Other, "fails")),
        }
    }

    async fn column_stats(&self, _: &str, _: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        Err(PortError::Unsupported)
    }
}

fn layer(fake: Fake, grant: RowsGrant) -> (Arc<Fake>, DoubtingDatabase) {
    let fake = Arc::new(fake);
    (
        Arc::clone(&fake),
        DoubtingDatabase::new(Arc::clone(&fake) as _, Arc::clone(&fake) as _, grant, Author::Rules),
    )
}

async fn doubts(fake: Fake) -> Vec<(DoubtKind, String)> {
    let (_, layer) = layer(fake, RowsGrant::Full);
    let results = layer.run(&SqlQuery::new(ASKED)).await.unwrap();
    results.doubts().iter().map(|doubt| (doubt.kind, doubt.text.clone())).collect()
}

fn sum() -> UseKind {
    UseKind::Number("SUM".into())
}

#[tokio::test]
async fn values_that_are_no_numbers_are_counted() {
    // Values, texts, numbers, digits alone, and the fewest and the most digits before the point.
    let of =
        async |sql_type, kind, [values, texts, numbers, digits, shortest, longest]: [i64; 6]| {
            let counts = vec![values, texts, numbers, digits, 0, shortest, longest];
            doubts(Fake::new(sql_type, kind, Counts::Row(counts))).await
        };
    let found = of("TEXT", sum(), [344, 344, 336, 300, 1, 4]).await;
    assert_eq!(found[0].0, DoubtKind::NoNumbers);
    assert!(
        found[0].1.starts_with("8 of 344 values of c are no numbers: SUM takes each for"),
        "{found:?}"
    );
    assert_eq!(of("TEXT", sum(), [344, 344, 344, 300, 1, 4]).await, []);
    fn order() -> UseKind {
        UseKind::Order("ORDER BY".into())
    }
    assert_eq!(of("TEXT", order(), [9, 9, 9, 9, 2, 3]).await[0].0, DoubtKind::TextOrder);
    assert_eq!(of("TEXT", order(), [9, 9, 8, 8, 2, 2]).await[0].0, DoubtKind::NoNumbers);
    // Years, and words.
    assert_eq!(of("TEXT", order(), [9, 9, 9, 9, 4, 4]).await, []);
    assert_eq!(of("TEXT", order(), [9, 9, 4, 4, 2, 3]).await, []);
    assert_eq!(of("TEXT", order(), [0, 0, 0, 0, 0, 0]).await, []);
    assert_eq!(of("TIMESTAMP", order(), [9, 9, 9, 9, 2, 3]).await, []);
    // Words are in no order of numbers, and are not equal to one.
    fn compare(by: &str) -> UseKind {
        UseKind::Compared { operator: by.into(), number: "7".into() }
    }
    assert_eq!(of("TEXT", compare(">"), [9, 9, 4, 4, 2, 3]).await[0].0, DoubtKind::NoNumbers);
    assert_eq!(of("TEXT", compare(">"), [9, 9, 9, 9, 2, 3]).await[0].0, DoubtKind::TextOrder);
    assert_eq!(of("TEXT", compare(">"), [9, 9, 9, 9, 4, 4]).await, []);
    assert_eq!(of("TEXT", compare("="), [9, 9, 0, 0, 0, 0]).await[0].0, DoubtKind::NoNumbers);
    // A column of numbers that holds texts.
    let found = of("REAL", sum(), [9, 1, 8, 0, 0, 0]).await;
    assert!(found[0].1.starts_with("1 of 9 values of c is no number"), "{found:?}");
    assert_eq!(of("BOOLEAN", sum(), [9, 9, 0, 0, 0, 0]).await, []);
}

#[tokio::test(start_paused = true)]
async fn counts_are_bounded_and_failures_are_no_doubts() {
    assert_eq!(doubts(Fake::new("TEXT", sum(), Counts::Fail)).await, []);
    // What could not be counted in time is no doubt either.
    assert_eq!(doubts(Fake::new("TEXT", sum(), Counts::Hang)).await, []);
    assert_eq!(doubts(Fake::new("TEXT", UseKind::Cast, Counts::Hang)).await, []);
    let beside = UseKind::Beside { keys: Some(Vec::new()) };
    assert_eq!(doubts(Fake::new("TEXT", beside, Counts::Hang)).await, []);
    let texts = UseKind::Texts(vec!["a".into()]);
    assert_eq!(doubts(Fake::new("TEXT", texts, Counts::Hang)).await, []);
    let mut many = Fake::new("TEXT", sum(), Counts::Row(vec![2, 2, 1, 0, 0, 1, 1]));
    many.uses = (0..100)
        .map(|n: usize| Use { filter: Some(format!("c <> {n}")), ..many.uses[0].clone() })
        .collect();
    let (fake, layer) = layer(many, RowsGrant::Full);
    let results = layer.run(&SqlQuery::new(ASKED)).await.unwrap();
    assert_eq!(fake.probes().len(), PROBES);
    assert!(
        results.doubts().len() <= DOUBTS
            && results.profile().warnings.len() == results.doubts().len()
    );
}

#[tokio::test]
async fn nothing_is_counted_twice_or_charged() {
    let fake = Arc::new(Fake::new("TEXT", sum(), Counts::Row(vec![2, 2, 1, 0, 0, 1, 1])));
    let ledger = Ledger::new(Budgets { sql_runs: 2, ..Budgets::default() });
    let budgeted =
        BudgetedDatabase::new(Arc::clone(&fake) as _, Arc::clone(&ledger), &Limits::default());
    let layer = DoubtingDatabase::new(
        Arc::new(budgeted),
        Arc::clone(&fake) as _,
        RowsGrant::Full,
        Author::Rules,
    );
    let query = SqlQuery::new(ASKED);
    layer.check(&query).await.unwrap();
    for _ in 0..2 {
        assert_eq!(layer.run(&query).await.unwrap().doubts().len(), 1);
    }
    assert_eq!(
        (fake.checks.load(Ordering::SeqCst), fake.probes().len(), ledger.spending().sql_runs),
        (1, 1, 2)
    );
}

#[tokio::test]
async fn spellings_are_shown_as_far_as_rows_are_granted() {
    fn fake() -> Fake {
        let texts = UseKind::Texts(vec!["germline".into(), "it's".into()]);
        Fake::new("TEXT", texts, Counts::Cells(vec![("GERMLINE", 3), ("Germline", 1)]))
    }
    let (full, shown) = layer(fake(), RowsGrant::Full);
    let (_, hidden) = layer(fake(), RowsGrant::Aggregates);
    let text = async |layer: &DoubtingDatabase| {
        layer.run(&SqlQuery::new(ASKED)).await.unwrap().doubts()[0].text.clone()
    };
    let shown = text(&shown).await;
    assert!(shown.starts_with("2 further spellings of `germline`, `it's` in c"), "{shown}");
    assert!(shown.ends_with("`GERMLINE` (3), `Germline` (1)"), "{shown}");
    let hidden = text(&hidden).await;
    assert!(hidden.ends_with("in 4 rows") && !hidden.contains("GERMLINE"), "{hidden}");
    assert!(full.probes()[0].contains("lower(trim('it''s'))"), "{:?}", full.probes());
    let none = Fake::new("TEXT", UseKind::Texts(vec!["a".into()]), Counts::Cells(Vec::new()));
    assert_eq!(doubts(none).await, []);
}

#[tokio::test]
async fn groups_by_spelling_and_lists_with_null_are_doubtful() {
    fn cells() -> Counts {
        Counts::Cells(vec![("Ops", 1), ("Sales", 2)])
    }
    let found =
        doubts(Fake::new("TEXT", UseKind::Groups { keys: Vec::new(), is_shown: false }, cells()))
            .await;
    assert!(found[0].1.starts_with("2 values of c in several spellings: each"), "{found:?}");
    assert_eq!(
        doubts(Fake::new(
            "INTEGER",
            UseKind::Groups { keys: Vec::new(), is_shown: false },
            cells()
        ))
        .await,
        []
    );
    assert_eq!(
        doubts(Fake::new(
            "TEXT",
            UseKind::Groups { keys: Vec::new(), is_shown: false },
            Counts::Cells(Vec::new())
        ))
        .await,
        []
    );
    assert_eq!(
        doubts(Fake::new("TEXT", UseKind::NotIn, Counts::Row(vec![1]))).await[0].0,
        DoubtKind::NullInList
    );
    assert_eq!(doubts(Fake::new("TEXT", UseKind::NotIn, Counts::Row(vec![0]))).await, []);
}

#[tokio::test]
async fn conditions_that_no_row_meets_and_rows_of_left_joins_are_doubtful() {
    let mut never = Fake::new("TEXT", UseKind::Never, Counts::Fail);
    never.uses[0].value = Some("c = NULL".into());
    let text = "no row meets the condition c = NULL: NULL is met by IS NULL".to_owned();
    assert_eq!(doubts(never).await, [(DoubtKind::Never, text)]);
    fn pad() -> UseKind {
        UseKind::Padded { rows: "SELECT 1 AS v FROM t".into() }
    }
    let found = doubts(Fake::new("TEXT", pad(), Counts::Row(vec![1]))).await;
    let text = "COUNT gives 1 where t has no row: count t.c to get 0".to_owned();
    assert_eq!(found, [(DoubtKind::PaddedRows, text)]);
    assert_eq!(doubts(Fake::new("TEXT", pad(), Counts::Row(vec![0]))).await, []);
}

#[tokio::test]
async fn days_beside_times_numbers_and_other_texts_are_doubtful() {
    fn day(operator: &str) -> UseKind {
        UseKind::Day { operator: operator.into(), day: "2024-05-11".into() }
    }
    // Values, days, and days with times.
    let of = async |sql_type, operator, counts: [i64; 3]| {
        doubts(Fake::new(sql_type, day(operator), Counts::Row(counts.to_vec()))).await
    };
    assert!(of("TIMESTAMP", "=", [4, 4, 3]).await[0].1.contains("not with the whole day"));
    assert!(of("TEXT", "<=", [4, 4, 3]).await[0].1.contains("holds times of day"));
    assert_eq!(of("TEXT", ">=", [4, 4, 3]).await, []);
    assert_eq!(of("DATE", "=", [4, 4, 0]).await, []);
    assert!(
        of("TEXT", ">=", [4, 0, 0]).await[0].1.contains("no value of c is written as YYYY-MM-DD")
    );
    assert!(of("INTEGER", "=", [4, 0, 0]).await[0].1.contains("no value of c"));
    let elsewhere = |sql_type, operator, counts: Vec<i64>| Fake {
        dialect: Dialect::Postgres,
        ..Fake::new(sql_type, day(operator), Counts::Row(counts))
    };
    assert_eq!(doubts(elsewhere("timestamp without time zone", "=", vec![1])).await.len(), 1);
    assert_eq!(doubts(elsewhere("timestamp without time zone", "=", vec![0])).await, []);
    assert_eq!(doubts(elsewhere("timestamp without time zone", "<", vec![1])).await, []);
    assert_eq!(doubts(elsewhere("date", "=", vec![1])).await, []);
    assert_eq!(doubts(elsewhere("integer", "=", vec![1])).await.len(), 1);
}

#[tokio::test]
async fn conditions_of_every_row_and_queries_of_several_values_are_doubtful() {
    let mut always = Fake::new("TEXT", UseKind::Always, Counts::Fail);
    always.uses[0].value = Some("c <> 'a' OR c <> 'b'".into());
    let text = "every value of c meets the condition c <> 'a' OR c <> 'b'".to_owned();
    assert_eq!(doubts(always).await, [(DoubtKind::Always, text)]);
    fn scalar(counts: Counts) -> Fake {
        let values = "SELECT count(*) AS n FROM t".into();
        Fake::new("TEXT", UseKind::Scalar { values }, counts)
    }
    assert_eq!(doubts(scalar(Counts::Row(vec![2]))).await[0].0, DoubtKind::SeveralValues);
    for counts in [Counts::Row(vec![1]), Counts::Row(vec![0]), Counts::Fail] {
        assert_eq!(doubts(scalar(counts)).await, []);
    }
}
