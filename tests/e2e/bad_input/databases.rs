//! Databases that are missing, something else, damaged, locked or closed, and tables that are not
//! there.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::{Place, assert_refused, finish, read_streams};

/// All commands that open a database meet the same wall.
fn no_database(place: &Place, database: &str, words: &[&str]) {
    for command in [
        &mut place.words(&format!("schema {database}")),
        &mut place.words(&format!("sql SELECT --db {database}")),
        &mut place.words(&format!("--llm offline -q how_many? --db {database}")),
    ] {
        assert_refused(command, 11, words);
    }
}

#[test]
fn a_mistyped_database_is_not_created_and_its_neighbour_is_named() {
    let place = Place::new();
    let before = place.names();
    no_database(
        &place,
        "shpo.sqlite",
        &["`shpo.sqlite` does not exist", "did you mean `shop.sqlite`"],
    );
    no_database(&place, "sqlite:shpo.sqlite", &["does not exist", "did you mean `shop.sqlite`"]);
    no_database(&place, "no/such/folder.db", &["does not exist", "nothing was created"]);
    no_database(&place, "shop.sqlite/x.db", &["does not exist"]);
    assert_eq!(place.names(), before);
    assert_refused(
        &mut place.words("schema graphs://localhost/shop"),
        10,
        &["graphs", "sqlite:PATH", "postgres://USER@HOST/DATABASE"],
    );
    assert_refused(
        &mut place.words("schema oracle://localhost/shop"),
        10,
        &["Oracle can be reached by a driver of ODBC"],
    );
    assert_refused(&mut place.words("schema"), 2, &["no database", "--db"]);
}

#[test]
fn what_is_no_database_is_reported_by_its_kind() {
    let place = Place::new();
    fs::create_dir(place.path().join("folder")).unwrap();
    place.file("text.txt", "id,name\n1,Ada\n");
    place.file("empty.sqlite", "");
    place.file("data.parquet", "PAR1 and so on");
    assert!(Command::new("mkfifo").arg(place.path().join("pipe")).status().unwrap().success());
    no_database(
        &place,
        "folder",
        &["`folder` is not a database", "it has no file that ends with .csv"],
    );
    no_database(&place, "text.txt", &["does not begin like a SQLite file"]);
    no_database(&place, "empty.sqlite", &["the file is empty"]);
    no_database(
        &place,
        "data.parquet",
        &["`data.parquet`: it is no Parquet file, or its end is missing"],
    );
    no_database(&place, "pipe", &["special file"]);
}

#[test]
fn a_damaged_database_is_distinguished_and_left_alone() {
    let place = Place::new();
    let good = fs::read(place.path().join("shop.sqlite")).unwrap();
    let mut scratched = good.clone();
    scratched[100..700].fill(0xff);
    place.file("scratched.sqlite", &scratched);
    place.file("cut.sqlite", &good[..good.len() / 2]);
    place.file("header.sqlite", &good[..16]);
    let before = place.names();
    no_database(&place, "scratched.sqlite", &["is damaged", ".recover"]);
    no_database(&place, "cut.sqlite", &["is damaged", ".recover"]);
    assert_refused(&mut place.words("schema header.sqlite"), 11, &["header.sqlite"]);
    assert_eq!(place.names(), before);
    assert_eq!(fs::read(place.path().join("scratched.sqlite")).unwrap(), scratched);
}

#[test]
fn a_locked_database_is_reported_and_read_when_it_is_free_again() {
    let place = Place::new();
    let writer = rusqlite::Connection::open(place.path().join("shop.sqlite")).unwrap();
    writer
        .execute_batch("BEGIN EXCLUSIVE; INSERT INTO customers VALUES (9, 'Zoe', 'Chad')")
        .unwrap();
    no_database(&place, "shop.sqlite", &["is locked", "try again"]);
    writer.execute_batch("COMMIT").unwrap();
    let (stdout, _) = read_streams(&finish(
        &mut place.words("sql --db shop.sqlite SELECT(count(*))FROM(customers)"),
        "",
    ));
    assert!(stdout.contains('5'), "{stdout}");
}

#[test]
fn a_file_that_may_not_be_read_is_reported() {
    let place = Place::new();
    for path in ["", "shop.sqlite"] {
        fs::set_permissions(place.path().join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let closed = |name: &str, content: &[u8]| {
        let path = place.file(name, content);
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    };
    closed("closed.sqlite", b"SQLite format 3\0");
    closed("closed.wasm", b"\0asm");
    closed("closed.yml", b"llm: {}");
    // The superuser may read everything, so it acts as another user.
    let is_superuser = fs::metadata("/proc/self").unwrap().uid() == 0;
    let as_somebody = |mut command: Command| {
        if is_superuser {
            command.uid(65_534);
        }
        command
    };
    if is_superuser && as_somebody(place.words("--version")).output().is_err() {
        println!(
            "skipped: the superuser reads everything, and nobody else may run the program here"
        );
        return;
    }
    assert_refused(
        &mut as_somebody(place.words("schema closed.sqlite")),
        11,
        &["closed.sqlite", "no permission"],
    );
    assert_refused(
        &mut as_somebody(place.search("--planner closed.wasm")),
        13,
        &["closed.wasm", "denied"],
    );
    assert_refused(
        &mut as_somebody(place.words("config --config closed.yml")),
        10,
        &["closed.yml", "denied"],
    );
}

#[test]
fn a_table_that_is_not_there_is_reported_with_its_neighbours() {
    let place = Place::new();
    assert_refused(
        &mut place.words("schema shop.sqlite -t custmers"),
        11,
        &["`custmers`", "did you mean `customers`?"],
    );
    assert_refused(&mut place.words("schema shop.sqlite -t xyzzy"), 11, &["`xyzzy`", "shows all"]);
    for command in
        [&mut place.words("schema shop.sqlite --tables foo*"), &mut place.search("--tables foo*")]
    {
        assert_refused(command, 11, &["foo*", "`customers`", "`orders`"]);
    }
    assert_refused(
        &mut place.words("schema shop.sqlite --tables ["),
        2,
        &["--tables", "pattern `[`"],
    );
    assert_refused(
        &mut place.words("schema shop.sqlite --tables orders -t customers"),
        11,
        &["`customers`"],
    );
}

#[test]
fn names_that_are_not_utf8_panic_nothing_and_cost_only_their_tables() {
    let place = Place::new();
    let path = syrch_kit::sqlite(
        place.path().join("odd.sqlite"),
        "CREATE TABLE good(a TEXT); CREATE TABLE \"zz_z1\"(a); CREATE TABLE bad(a, \"zz_z2\"); \
         CREATE INDEX \"zz_z3\" ON good(a); INSERT INTO good VALUES ('fine');",
    );
    let mut bytes = fs::read(&path).unwrap();
    while let Some(at) = bytes.windows(4).position(|part| part == b"zz_z") {
        bytes[at..at + 4].copy_from_slice(b"\x1b[\xff\xfe");
    }
    fs::write(&path, bytes).unwrap();
    let output = finish(&mut place.words("schema odd.sqlite"), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stdout.contains("good") && !stdout.contains("bad"), "{stdout}");
    assert!(
        stderr.contains("not UTF-8") && !stderr.contains("panicked") && !stderr.contains('\u{1b}'),
        "{stderr:?}"
    );
    let mut command = place.words("sql --db odd.sqlite --quiet");
    let output = finish(command.arg("SELECT a FROM good"), "");
    assert_eq!((output.status.code(), read_streams(&output).1.as_str()), (Some(0), ""));
    assert_refused(
        place.words("sql --db odd.sqlite --quiet").arg("SELECT a FROM bad"),
        15,
        &["`bad` cannot be read", "is not UTF-8"],
    );
}
