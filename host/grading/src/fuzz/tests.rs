//! Suites on changed copies of their databases.

use std::fs;
use std::path::PathBuf;

use syrch::Silent;
use syrch_grade::rules::Rule;
use syrch_grade::suite::{self, Suite};
use tempfile::TempDir;

use super::*;

const SHOP: &str = "
    CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, country TEXT);
    CREATE TABLE orders(customer INTEGER REFERENCES customers(id), total REAL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
    INSERT INTO customers
        SELECT i, 'name ' || char(64 + i % 26) || char(96 + i % 7),
            CASE i % 3 WHEN 0 THEN 'Spain' ELSE 'Italy' END FROM n;
    INSERT INTO orders SELECT id, id * 1.5 FROM customers WHERE id <= 30;
";
const GOLD: &str = "SELECT count(*) FROM customers WHERE country = 'Spain'";

struct World {
    folder: TempDir,
    suite: Suite,
    databases: BTreeMap<String, DatabaseUrl>,
}

fn world() -> World {
    let folder = syrch_kit::scratch();
    let path = syrch_kit::sqlite(folder.path().join("shop.sqlite"), SHOP);
    fn line(id: &str, gold: &str) -> String {
        format!(
            "{}\n",
            serde_json::json!({
                "id": id, "db": "shop", "question": format!("Question {id}?"), "gold_sql": gold
            })
        )
    }
    let lines = line("a", GOLD)
        + &line(
            "b",
            "SELECT name FROM customers JOIN orders ON id = customer ORDER BY total DESC LIMIT 3",
        );
    fs::write(folder.path().join("suite.jsonl"), lines).unwrap();
    let suite = suite::read(&folder.path().join("suite.jsonl")).unwrap();
    World {
        databases: BTreeMap::from([("shop".to_owned(), DatabaseUrl::from_path(&path))]),
        suite,
        folder,
    }
}

impl World {
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn make(&self, name: &str, variants: u32, seed: u64) -> Result<FuzzManifest, Error> {
        let options = FuzzOptions { variants, seed };
        let settings = Settings::default();
        fuzz(&self.suite, &self.databases, &self.at(name), options, &settings, &Silent).await
    }

    async fn open(&self, name: &str) -> Result<Fuzzed, Error> {
        Fuzzed::open(&self.at(name), &self.suite, &Settings::default()).await
    }
}

#[tokio::test]
async fn luck_is_distinguished_from_right() {
    let world = world();
    let manifest = world.make("fuzzed", 12, 7).await.unwrap();
    assert_eq!((manifest.databases["shop"].variants.len(), manifest.seed), (12, 7));
    let fuzzed = world.open("fuzzed").await.unwrap();
    let says =
        async |sql: &str| fuzzed.agree("shop", &[GOLD], sql, Rule::BAG_V1, false).await.unwrap();
    let right = says("SELECT sum(country = 'Spain') FROM customers").await;
    assert_eq!((right.variants, right.agreed, right.is_right()), (12, 12, true));
    // Right on the original: 13 are from Spain.
    let lucky = says("SELECT 13").await;
    assert!(!lucky.is_right() && lucky.variants == 12 && lucky.agreed < 12, "{lucky:?}");
    assert!(lucky.first_disagreement.unwrap().starts_with("shop/"));
    let fails = says("SELECT nothing FROM customers").await;
    assert_eq!((fails.agreed, fails.first_disagreement.as_deref()), (0, Some("shop/1.sqlite")));
    let either =
        fuzzed.agree("shop", &["SELECT 13", GOLD], "SELECT 13", Rule::BAG_V1, false).await.unwrap();
    assert!(either.is_right(), "any expected statement suffices");
    assert!(matches!(
        fuzzed.agree("none", &[GOLD], GOLD, Rule::BAG_V1, false).await,
        Err(Error::Unfit(_))
    ));
}

#[tokio::test]
async fn a_variant_on_which_nothing_is_expected_cannot_tell() {
    let world = world();
    world.make("fuzzed", 2, 1).await.unwrap();
    let fuzzed = world.open("fuzzed").await.unwrap();
    let nothing = "SELECT name FROM customers WHERE country = 'Nowhere'";
    let found = fuzzed.agree("shop", &[nothing], "SELECT 1", Rule::BAG_V1, false).await.unwrap();
    assert_eq!((found.variants, found.is_right()), (0, true));
}

#[tokio::test]
async fn a_variant_that_is_locked_for_a_while_decides_nothing() {
    let world = world();
    world.make("fuzzed", 1, 7).await.unwrap();
    let fuzzed = world.open("fuzzed").await.unwrap();
    let agree =
        async |gold: &str, sql: &str| fuzzed.agree("shop", &[gold], sql, Rule::BAG_V1, false).await;
    assert!(agree(GOLD, GOLD).await.unwrap().is_right());
    let lock = rusqlite::Connection::open(world.at("fuzzed/shop/1.sqlite")).unwrap();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let other = "SELECT count(*) FROM customers";
    // Neither when the expected statement cannot be run, nor when only the answer cannot.
    for gold in [other, GOLD] {
        assert!(matches!(agree(gold, other).await, Err(Error::Sql(_))), "{gold}");
    }
    lock.execute_batch("ROLLBACK").unwrap();
    let found = agree(other, other).await.unwrap();
    assert_eq!((found.variants, found.agreed), (1, 1));
}

#[tokio::test]
async fn the_seed_decides_and_the_manifest_says_what_was_made() {
    let world = world();
    let one = world.make("one", 3, 5).await.unwrap();
    let same = world.make("same", 3, 5).await.unwrap();
    assert_eq!(one, same);
    assert_ne!(one.databases, world.make("other", 3, 6).await.unwrap().databases);
    let text = fs::read_to_string(world.at("one").join(FUZZ_FILE)).unwrap();
    assert_eq!(serde_json::from_str::<FuzzManifest>(&text).unwrap(), one);
    let shop = &one.databases["shop"];
    assert!(
        shop.variants
            .iter()
            .all(|variant| variant.of == 2 && variant.golds * 2 >= variant.of && variant.rows > 20)
    );
}

#[cfg(unix)]
#[tokio::test]
async fn links_in_the_folder_are_refused() {
    use std::os::unix::fs::symlink;

    let world = world();
    world.make("fuzzed", 1, 1).await.unwrap();
    let outside = world.at("outside");
    for (inside, target) in [
        ("fuzz.json", world.at("fuzzed/fuzz.json")),
        ("shop/1.sqlite", world.at("fuzzed/shop/1.sqlite")),
        ("shop", world.at("fuzzed/shop")),
    ] {
        let place = world.at("fuzzed").join(inside);
        fs::rename(&target, &outside).unwrap();
        symlink(&outside, &place).unwrap();
        let error = world.open("fuzzed").await.map(drop).unwrap_err();
        assert!(
            matches!(&error, Error::Unfit(why) if why.contains("links are not followed")),
            "{inside}: {error}"
        );
        fs::remove_file(&place).unwrap();
        fs::rename(&outside, &target).unwrap();
        assert!(world.open("fuzzed").await.is_ok(), "{inside}");
    }
    symlink(world.at("shop.sqlite"), world.at("fuzzed/shop/1.sqlite-wal")).unwrap();
    assert!(world.open("fuzzed").await.is_err());
}

#[tokio::test]
async fn the_manifest_is_read_within_a_bound() {
    let world = world();
    world.make("fuzzed", 1, 1).await.unwrap();
    let manifest = world.at("fuzzed").join(FUZZ_FILE);
    // The file has a size of a terabyte, and no memory is taken for it.
    fs::OpenOptions::new().write(true).open(&manifest).unwrap().set_len(1 << 40).unwrap();
    let error = world.open("fuzzed").await.map(drop).unwrap_err().to_string();
    assert!(error.contains("is larger than"), "{error}");
}

#[tokio::test]
async fn what_does_not_fit_is_refused() {
    let mut world = world();
    world.make("fuzzed", 1, 1).await.unwrap();
    let again = world.make("fuzzed", 1, 1).await.unwrap_err().to_string();
    assert!(again.contains("is not empty; name a new one"), "{again}");
    fn error(result: Result<Fuzzed, Error>) -> String {
        result.map(drop).unwrap_err().to_string()
    }
    assert!(error(world.open("nowhere").await).contains("there is no fuzzed suite in"));
    let digest = std::mem::replace(&mut world.suite.digest, "other".to_owned());
    assert!(error(world.open("fuzzed").await).contains("made for other questions"));
    world.suite.digest = digest;
    let manifest = world.at("fuzzed").join(FUZZ_FILE);
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("shop/1.sqlite", "../shop.sqlite")).unwrap();
    assert!(error(world.open("fuzzed").await).contains("leads out of its folder"));
    fs::write(&manifest, &text).unwrap();
    let variant = world.at("fuzzed/shop/1.sqlite");
    rusqlite::Connection::open(&variant).unwrap().execute_batch("DELETE FROM orders").unwrap();
    assert!(error(world.open("fuzzed").await).contains("has changed since it was made"));
}

#[tokio::test]
async fn variants_without_rows_for_the_expected_are_dropped() {
    let mut world = world();
    // So much only where every row is there, and once.
    let rare = "SELECT sum(id) FROM customers GROUP BY country HAVING sum(id) = 547";
    for question in &mut world.suite.questions {
        question.golds = vec![suite::Gold::Sql(rare.to_owned())];
    }
    let error = world.make("fuzzed", 1, 1).await.map(drop).unwrap_err().to_string();
    assert!(error.contains("cannot be fuzzed"), "{error}");
}
