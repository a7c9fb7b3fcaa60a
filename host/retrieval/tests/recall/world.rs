//! A database of 500 tables: all databases of the test data in one file, and decoys around them.
//!
//! The databases have no table name in common, so that every gold statement runs on the one file as
//! it is; should one come to be used twice, making the file fails.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

/// Tables of the whole.
pub(crate) const TABLES: usize = 500;

/// The subjects of decoys. Many are what the questions are about too, so that words alone do not
/// distinguish them.
const THINGS: &str = "invoice shipment warehouse supplier patient doctor prescription hotel \
    booking guest vehicle driver insurance claim agent loan branch account recipe ingredient \
    restaurant waiter ticket match team league referee lecture exam dormitory library book \
    publisher film actor director album artist playlist festival project task \
    milestone server incident sensor station train crew cargo port factory machine order product \
    brand campaign survey donor school class parent farm crop store member device contract \
    region county";

/// Tables around each thing.
const FACETS: &[&str] = &[
    "item", "history", "status", "schedule", "rating", "address", "payment", "note", "category",
    "budget", "visit", "song",
];

/// Things of the questions in other people's tables.
const NEAR: &str = "student_loan employee_payroll flight_crew museum_shop car_rental \
    customer_contact singer_agency city_budget country_tax state_holiday course_fee teacher_salary \
    document_archive template_version channel_advert series_award airport_lounge airline_alliance \
    river_level lake_permit author_royalty journal_subscription \
    conference_room keyword_bid business_license review_queue user_session sales_target \
    price_alert transaction_log poker_table pet_clinic voter_roll ship_repair battle_simulation";

const COLUMNS: &[(&str, &str)] = &[
    ("name", "TEXT"),
    ("city", "TEXT"),
    ("country", "TEXT"),
    ("year", "INTEGER"),
    ("amount", "REAL"),
    ("price", "REAL"),
    ("start_date", "DATE"),
    ("status", "TEXT"),
    ("email", "TEXT"),
    ("phone", "TEXT"),
    ("description", "TEXT"),
    ("capacity", "INTEGER"),
    ("age", "INTEGER"),
    ("weight", "REAL"),
    ("score", "REAL"),
    ("type", "TEXT"),
    ("language", "TEXT"),
    ("location", "TEXT"),
    ("title", "TEXT"),
    ("rank", "INTEGER"),
    ("population", "INTEGER"),
    ("state", "TEXT"),
    ("first_name", "TEXT"),
    ("last_name", "TEXT"),
    ("quantity", "INTEGER"),
    ("created_at", "TIMESTAMP"),
    ("is_active", "BOOLEAN"),
    ("currency", "TEXT"),
    ("rating", "REAL"),
    ("salary", "REAL"),
];

const TEXTS: &[&str] = &[
    "New York",
    "California",
    "Texas",
    "USA",
    "France",
    "Boston",
    "London",
    "open",
    "closed",
    "pending",
    "English",
    "Spanish",
    "John Smith",
    "Maria Garcia",
    "standard",
    "premium",
    "north",
    "south",
    "EUR",
    "USD",
    "2014",
    "cat",
    "dog",
    "volvo",
    "ford",
];

/// The file, gone when the value is dropped.
pub(crate) struct World {
    pub(crate) path: PathBuf,
    _folder: TempDir,
}

impl World {
    pub(crate) fn new(root: &Path) -> Self {
        let folder = syrch_kit::scratch();
        let path = syrch_kit::sqlite(folder.path().join("all.sqlite"), "");
        let file = Connection::open(&path).unwrap();
        file.execute_batch(
            "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;",
        )
        .unwrap();
        let mut tables = 0;
        for set in ["spider", "defog"] {
            let mut files: Vec<PathBuf> = std::fs::read_dir(root.join(set).join("db"))
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            files.sort();
            tables += files.iter().map(|source| copy(&file, source)).sum::<usize>();
        }
        let mut random = Random(17);
        let scripts = decoys().map(|(name, parent)| script(&mut random, &name, parent));
        let decoys: Vec<String> = scripts.take(TABLES - tables).collect();
        assert_eq!(decoys.len(), TABLES - tables, "there are too few words for decoys");
        file.execute_batch(&format!("BEGIN; {} COMMIT;", decoys.concat())).unwrap();
        Self { path, _folder: folder }
    }
}

/// Copies all tables of a database with their keys, and counts them.
fn copy(file: &Connection, source: &Path) -> usize {
    file.execute("ATTACH ?1 AS source", [format!("file:{}?immutable=1", source.display())])
        .unwrap();
    let tables: Vec<(String, String)> = {
        let mut list = file
            .prepare(
                "SELECT name, sql FROM source.sqlite_master WHERE type = 'table' \
                 AND name NOT LIKE 'sqlite_%'",
            )
            .unwrap();
        list.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect()
    };
    for (name, sql) in &tables {
        file.execute_batch(sql)
            .unwrap_or_else(|error| panic!("{name} of {}: {error}", source.display()));
        file.execute_batch(&format!("INSERT INTO main.\"{name}\" SELECT * FROM source.\"{name}\""))
            .unwrap();
    }
    file.execute_batch("DETACH source").unwrap();
    tables.len()
}

/// A sequence that is the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Names of decoys, and the table that each refers to.
fn decoys() -> impl Iterator<Item = (String, Option<&'static str>)> {
    let near = NEAR.split(' ').map(|name| (name.to_owned(), None));
    let things = THINGS.split(' ').map(|thing| (thing.to_owned(), None));
    let around = FACETS.iter().flat_map(|facet| {
        THINGS.split(' ').map(move |thing| (format!("{thing}_{facet}"), Some(thing)))
    });
    near.chain(things).chain(around)
}

/// A table of four to ten columns with a few rows.
fn script(random: &mut Random, name: &str, parent: Option<&str>) -> String {
    let mut columns = vec![("id".to_owned(), "INTEGER PRIMARY KEY".to_owned())];
    if let Some(parent) = parent {
        columns.push((format!("{parent}_id"), format!("INTEGER REFERENCES \"{parent}\"(id)")));
    }
    for _ in 0..3 + random.below(6) {
        let (column, sql_type) = COLUMNS[random.below(COLUMNS.len())];
        if columns.iter().all(|(name, _)| name != column) {
            columns.push((column.to_owned(), sql_type.to_owned()));
        }
    }
    let list = columns
        .iter()
        .map(|(name, sql_type)| format!("\"{name}\" {sql_type}"))
        .collect::<Vec<_>>()
        .join(", ");
    let mut script = format!("CREATE TABLE \"{name}\" ({list});");
    for row in 1..=5 {
        let values = columns
            .iter()
            .map(|(_, sql_type): &(String, String)| match sql_type.as_str() {
                "TEXT" => format!("'{}'", TEXTS[random.below(TEXTS.len())]),
                "INTEGER PRIMARY KEY" => row.to_string(),
                _ => random.below(100).to_string(),
            })
            .collect::<Vec<_>>()
            .join(", ");
        script += &format!("INSERT INTO \"{name}\" VALUES ({values});");
    }
    script
}
