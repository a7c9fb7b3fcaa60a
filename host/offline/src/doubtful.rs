//! Questions that are easily read as something else, over tables as people have them: they are
//! understood, or the answer is unsure.

use syrch_core::Catalog;

use super::fixture;
use super::kinds::{assert_reads, assert_silent, assert_unsure, catalog};

fn tips() -> Catalog {
    catalog(
        "tips",
        &[
            ("total_bill", "REAL"),
            ("tip", "REAL"),
            ("sex", "TEXT"),
            ("smoker", "TEXT"),
            ("day", "TEXT"),
            ("size", "INTEGER"),
        ],
    )
}

fn salaries() -> Catalog {
    catalog(
        "salaries",
        &[("rank", "TEXT"), ("discipline", "TEXT"), ("sex", "TEXT"), ("salary", "INTEGER")],
    )
}

fn amounts() -> Catalog {
    catalog("amounts", &[("name", "TEXT"), ("amount", "REAL")])
}

fn cars() -> Catalog {
    catalog(
        "cars",
        &[
            ("manufacturer", "TEXT"),
            ("model", "TEXT"),
            ("make", "TEXT"),
            ("kind", "TEXT"),
            ("engines", "INTEGER"),
            ("seat_room", "REAL"),
            ("passengers", "INTEGER"),
            ("year", "INTEGER"),
            ("hwy", "INTEGER"),
        ],
    )
}

fn trips() -> Catalog {
    catalog(
        "trips",
        &[
            ("year", "INTEGER"),
            ("month", "INTEGER"),
            ("day", "INTEGER"),
            ("carrier", "TEXT"),
            ("origin", "TEXT"),
            ("delay", "INTEGER"),
        ],
    )
}

fn birds() -> Catalog {
    catalog(
        "birds",
        &[
            ("species", "TEXT"),
            ("island", "TEXT"),
            ("mass", "INTEGER"),
            ("died_on", "DATE"),
            ("year", "INTEGER"),
        ],
    )
}

fn weather() -> Catalog {
    catalog("weather", &[("date", "DATE"), ("temp_max", "REAL"), ("rain", "REAL"), ("sky", "TEXT")])
}

/// Tracks, which belong to albums, which belong to artists.
fn music() -> Catalog {
    let id = "INTEGER";
    let artists = [("artist_id", id), ("name", "TEXT")];
    let albums = [("album_id", id), ("title", "TEXT"), ("artist_id", id)];
    let tracks = [("track_id", id), ("name", "TEXT"), ("album_id", id), ("composer", "TEXT")];
    let of_artist = [("artist_id", "artists", "artist_id")];
    let of_album = [("album_id", "albums", "album_id")];
    let tables = vec![
        fixture::table("artists", &artists, "artist_id", &[]),
        fixture::table("albums", &albums, "album_id", &of_artist),
        fixture::table("tracks", &tracks, "track_id", &of_album),
    ];
    Catalog { tables, ..catalog("music", &[]) }
}

#[test]
fn a_value_that_names_the_owner_of_the_rows_as_well_is_doubted() {
    for question in ["Which tracks are by Queen?", "How many tracks by Queen are there?"] {
        let (sql, confidence) = fixture::best(question, &music());
        assert!(confidence <= 0.5, "{question}: {confidence} {sql}");
    }
    for (question, condition) in [
        ("Which tracks are by Mercury?", "composer = 'Mercury'"),
        ("Which tracks have the composer Queen?", "composer = 'Queen'"),
        ("Which tracks are by the artist Queen?", "artists.name = 'Queen'"),
    ] {
        let (sql, confidence) = fixture::best(question, &music());
        assert!(sql.ends_with(condition) && confidence > 0.7, "{question}: {confidence} {sql}");
    }
}

#[test]
fn a_measure_named_like_its_table_is_told_from_its_rows() {
    assert_reads(
        &tips(),
        &[
            ("average tip by day", "SELECT day, AVG(tip) FROM tips GROUP BY day"),
            ("What is the highest tip?", "SELECT MAX(tip) FROM tips"),
            (
                "sum of the 5 highest tips",
                "SELECT SUM(tip) FROM (SELECT tip FROM tips ORDER BY tip DESC LIMIT 5) AS best",
            ),
            (
                "which day has the highest total tip",
                "SELECT day FROM tips GROUP BY day ORDER BY SUM(tip) DESC LIMIT 1",
            ),
            ("How many tips are there?", "SELECT COUNT(*) FROM tips"),
            ("number of tips per day", "SELECT day, COUNT(*) FROM tips GROUP BY day"),
        ],
    );
    assert_reads(
        &salaries(),
        &[
            ("average salary", "SELECT AVG(salary) FROM salaries"),
            ("what is the lowest salary", "SELECT MIN(salary) FROM salaries"),
            (
                "average salary by rank and sex",
                "SELECT rank, sex, AVG(salary) FROM salaries GROUP BY rank, sex",
            ),
            (
                "which rank has the lowest average salary",
                "SELECT rank FROM salaries GROUP BY rank ORDER BY AVG(salary) NULLS LAST LIMIT 1",
            ),
        ],
    );
    assert_reads(
        &amounts(),
        &[
            (
                "sum of the 5 highest amounts",
                "SELECT SUM(amount) FROM (SELECT amount FROM amounts ORDER BY amount DESC \
                 LIMIT 5) AS best",
            ),
            ("What is the total amount?", "SELECT SUM(amount) FROM amounts"),
            ("names with an amount above 1", "SELECT name FROM amounts WHERE amount > 1"),
        ],
    );
    assert_reads(
        &salaries(),
        &[("salary of Prof", "SELECT salary FROM salaries WHERE rank = 'Prof'")],
    );
    assert_unsure(&salaries(), &["salary of Prof", "salary by rank"]);
    assert_unsure(&tips(), &["tip by day", "which tip by day"]);
}

#[test]
fn two_nouns_together_are_not_two_columns() {
    assert_unsure(&cars(), &["how many different engine kinds are there", "different model years"]);
}

#[test]
fn a_verb_that_is_a_column_makes_no_groups() {
    assert_unsure(
        &cars(),
        &["how many manufacturers make Vans?", "How many manufacturers make models?"],
    );
}

#[test]
fn out_of_a_place_is_from_it() {
    assert_reads(
        &trips(),
        &[
            (
                "average delay of trips out of EWR",
                "SELECT AVG(delay) FROM trips WHERE origin = 'EWR'",
            ),
            ("how many trips were out of LGA", "SELECT COUNT(*) FROM trips WHERE origin = 'LGA'"),
        ],
    );
}

#[test]
fn values_without_something_are_those_that_never_have_it() {
    let without = "SELECT DISTINCT island FROM birds WHERE island NOT IN (SELECT island FROM birds \
                   WHERE species = 'Gentoo')";
    assert_reads(
        &birds(),
        &[("islands without Gentoo birds", without), ("Which islands have no Gentoo?", without)],
    );
    assert_reads(
        &trips(),
        &[(
            "which carriers do not depart from EWR",
            "SELECT DISTINCT carrier FROM trips WHERE carrier NOT IN (SELECT carrier FROM trips \
             WHERE origin = 'EWR')",
        )],
    );
}

#[test]
fn one_row_has_one_of_two_values() {
    assert_reads(
        &trips(),
        &[
            (
                "How many trips from EWR and LGA are there?",
                "SELECT COUNT(*) FROM trips WHERE (origin = 'EWR' OR origin = 'LGA')",
            ),
            (
                "delay of EWR in 2012 and 2013",
                "SELECT delay FROM trips WHERE origin = 'EWR' AND (year = 2012 OR year = 2013)",
            ),
            (
                "delay of EWR and LGA",
                "SELECT delay FROM trips WHERE (origin = 'EWR' OR origin = 'LGA')",
            ),
        ],
    );
    assert_reads(
        &trips(),
        &[(
            "which carriers fly from EWR and LGA",
            "SELECT carrier FROM trips WHERE origin = 'EWR' INTERSECT SELECT carrier FROM trips \
             WHERE origin = 'LGA'",
        )],
    );
    assert_unsure(&trips(), &["average delay of EWR and LGA"]);
}

#[test]
fn numbers_of_many_rows_are_seldom_meant_one_by_one() {
    assert_unsure(
        &weather(),
        &[
            "maximum temperature in August 2015",
            "rain without sun",
            "rain in July 2014",
            "temp max when it was sun",
        ],
    );
}

#[test]
fn the_rows_of_a_yes_are_counted() {
    assert_reads(
        &tips(),
        &[
            ("how many smokers", "SELECT COUNT(*) FROM tips WHERE smoker = 'Yes'"),
            ("How many smokers were there?", "SELECT COUNT(*) FROM tips WHERE smoker = 'Yes'"),
            ("number of different days", "SELECT COUNT(DISTINCT day) FROM tips"),
        ],
    );
}

#[test]
fn a_year_without_rows_is_unsure() {
    assert_unsure(&cars(), &["average hwy in 2015", "how many cars in 1950"]);
    assert_unsure(&weather(), &["average rain in 2031"]);
}

#[test]
fn a_day_of_a_month_is_one_day() {
    assert_reads(
        &trips(),
        &[(
            "how many trips on February 14",
            "SELECT COUNT(*) FROM trips WHERE day = 14 AND month = 2",
        )],
    );
    assert_silent(
        &weather(),
        &["average rain on February 14", "how many days with rain above 3 on March 5"],
    );
}

#[test]
fn a_part_in_a_time_is_divided_by_the_whole_of_that_time() {
    let share = "SELECT 100.0 * COUNT(CASE WHEN origin = 'EWR' THEN 1 END) / COUNT(*) FROM trips \
                 WHERE year = 2014";
    assert_reads(&trips(), &[("percentage of trips from EWR in 2014", share)]);
}

#[test]
fn most_of_what_is_no_number_is_no_greatest() {
    assert_unsure(
        &birds(),
        &["which island had the most deaths", "which island has the most species"],
    );
}

#[test]
fn groups_are_counted_and_not_their_rows() {
    assert_reads(
        &trips(),
        &[(
            "how many carriers have more than 3 trips",
            "SELECT COUNT(DISTINCT carrier) FROM trips WHERE carrier IN (SELECT carrier FROM trips \
             GROUP BY carrier HAVING COUNT(*) > 3)",
        )],
    );
}

#[test]
fn a_number_before_a_column_is_of_that_column() {
    assert_unsure(&cars(), &["how many cars seat 7 passengers"]);
}

#[test]
fn a_letter_after_a_column_is_its_value() {
    assert_reads(
        &salaries(),
        &[
            (
                "number of Prof in discipline A",
                "SELECT COUNT(*) FROM salaries WHERE rank = 'Prof' AND discipline = 'A'",
            ),
            (
                "average salary in discipline A",
                "SELECT AVG(salary) FROM salaries WHERE discipline = 'A'",
            ),
        ],
    );
    assert_unsure(&salaries(), &["number of Prof in discipline"]);
}

#[test]
fn a_part_of_the_people_is_not_the_people() {
    let parts = catalog(
        "arrests",
        &[("state", "TEXT"), ("murder", "REAL"), ("urban_population", "INTEGER")],
    );
    assert_unsure(&parts, &["what is the most populous state", "most populous state"]);
}

#[test]
fn a_second_word_may_be_cut_off_in_a_name() {
    let nations = catalog(
        "nations",
        &[
            ("country", "TEXT"),
            ("continent", "TEXT"),
            ("year", "INTEGER"),
            ("lifeExp", "REAL"),
            ("pop", "INTEGER"),
        ],
    );
    assert_reads(
        &nations,
        &[
            (
                "Which country had the highest life expectancy in 2007?",
                "SELECT country FROM nations WHERE year = 2007 ORDER BY lifeExp DESC LIMIT 1",
            ),
            (
                "average life expectancy in Oceania in 2002",
                "SELECT AVG(lifeExp) FROM nations WHERE continent = 'Oceania' AND year = 2002",
            ),
        ],
    );
    let sure =
        super::fixture::best("Which country had the highest life expectancy in 2007?", &nations).1;
    assert!(sure >= 0.8, "{sure}");
}

#[test]
fn those_of_whom_a_column_says_yes_are_a_condition() {
    assert_reads(
        &tips(),
        &[
            ("average tip of smokers", "SELECT AVG(tip) FROM tips WHERE smoker = 'Yes'"),
            ("smallest tip of a smoker", "SELECT MIN(tip) FROM tips WHERE smoker = 'Yes'"),
            ("average tip by smoker", "SELECT smoker, AVG(tip) FROM tips GROUP BY smoker"),
        ],
    );
    assert_silent(&tips(), &["average tip of non-smokers", "how many non-smokers"]);
}

#[test]
fn a_number_of_a_row_is_no_amount() {
    let flights =
        catalog("flights", &[("flight", "INTEGER"), ("distance", "INTEGER"), ("origin", "TEXT")]);
    assert_unsure(
        &flights,
        &["shortest flight", "highest flight", "average flight", "sum of the 3 highest flights"],
    );
}

#[test]
fn rows_are_not_added_up_by_a_part_of_a_name() {
    assert_unsure(&tips(), &["How many bills are there?", "number of bills"]);
}

#[test]
fn the_best_of_equals_is_unsure() {
    // Both days are equally frequent.
    assert_unsure(&tips(), &["most common day", "Which day has the most tips?"]);
}

#[test]
fn a_negation_ends_before_a_further_condition() {
    assert_reads(
        &trips(),
        &[
            (
                "carriers not from EWR with a delay above 40",
                "SELECT DISTINCT carrier FROM trips WHERE carrier NOT IN (SELECT carrier \
                 FROM trips WHERE origin = 'EWR' AND delay > 40) AND delay > 40",
            ),
            (
                "how many trips were not from EWR with a delay above 40",
                "SELECT COUNT(*) FROM trips WHERE origin <> 'EWR' AND delay > 40",
            ),
        ],
    );
}

#[test]
fn days_of_a_month_are_not_counted_by_their_numbers() {
    assert_silent(
        &trips(),
        &["how many days had a delay above 90", "how many days in August", "number of months"],
    );
    assert_reads(
        &trips(),
        &[("how many years are there", "SELECT COUNT(DISTINCT year) FROM trips")],
    );
}

#[test]
fn a_column_that_says_no_is_not_missing() {
    assert_reads(
        &tips(),
        &[
            ("how many tips have no smoker", "SELECT COUNT(*) FROM tips WHERE smoker = 'No'"),
            ("How many tips are not smoker?", "SELECT COUNT(*) FROM tips WHERE smoker = 'No'"),
            ("How many tips have a smoker?", "SELECT COUNT(*) FROM tips WHERE smoker = 'Yes'"),
        ],
    );
}

#[test]
fn the_worst_of_what_harms_is_the_greatest() {
    assert_reads(
        &trips(),
        &[
            ("worst delay", "SELECT MAX(delay) FROM trips"),
            ("What is the best delay?", "SELECT MIN(delay) FROM trips"),
            (
                "which carrier has the worst average delay",
                "SELECT carrier FROM trips GROUP BY carrier ORDER BY AVG(delay) DESC LIMIT 1",
            ),
        ],
    );
    assert_reads(
        &cars(),
        &[(
            "which model has the worst hwy",
            "SELECT model FROM cars ORDER BY hwy NULLS LAST LIMIT 1",
        )],
    );
}

#[test]
fn a_text_for_no_value_is_no_value() {
    assert_reads(
        &birds(),
        &[
            ("how many birds lack an island", "SELECT COUNT(*) FROM birds WHERE island = 'NA'"),
            ("How many birds have no species?", "SELECT COUNT(*) FROM birds WHERE species IS NULL"),
        ],
    );
}

#[test]
fn what_occurs_is_there() {
    assert_reads(
        &trips(),
        &[(
            "How many trips occurred in 2014 or 2015?",
            "SELECT COUNT(*) FROM trips WHERE (year = 2014 OR year = 2015)",
        )],
    );
}

#[test]
fn filler_that_is_a_cell_or_a_column_is_not_dropped() {
    let jobs = catalog(
        "jobs",
        &[
            ("item", "TEXT"),
            ("status", "TEXT"),
            ("grade", "TEXT"),
            ("owner", "TEXT"),
            ("qty", "INTEGER"),
        ],
    );
    assert_silent(
        &jobs,
        &[
            "How many jobs are done?",
            "total qty of done jobs",
            "average qty of A jobs",
            "What is the qty of Will?",
        ],
    );
    assert_reads(
        &jobs,
        &[
            ("How many jobs are there?", "SELECT COUNT(*) FROM jobs"),
            ("total qty", "SELECT SUM(qty) FROM jobs"),
        ],
    );
    let tasks = catalog(
        "tasks",
        &[("id", "INTEGER"), ("done", "INTEGER"), ("hours", "INTEGER"), ("person", "TEXT")],
    );
    assert_silent(
        &tasks,
        &["How many tasks are done?", "total hours of done tasks", "average hours of tasks done"],
    );
}

#[test]
fn a_number_of_each_row_is_not_how_many_there_are() {
    let films = catalog(
        "films",
        &[("title", "TEXT"), ("year", "INTEGER"), ("Action", "INTEGER"), ("Comedy", "INTEGER")],
    );
    for question in [
        "How many action films were made after 2000?",
        "How many comedy films are there?",
        "number of action films",
    ] {
        let sure = super::fixture::best(question, &films).1;
        assert!(sure <= 0.5, "{question}: {sure}");
    }
}

#[test]
fn the_oldest_was_founded_first_and_the_best_time_is_the_least() {
    let firms = catalog("firms", &[("firm", "TEXT"), ("founded", "INTEGER"), ("staff", "INTEGER")]);
    let first = "SELECT firm FROM firms ORDER BY founded NULLS LAST LIMIT 1";
    assert_reads(&firms, &[("oldest firm by founded", first), ("What is the oldest firm?", first)]);
    let houses =
        catalog("houses", &[("house", "TEXT"), ("built", "INTEGER"), ("price", "INTEGER")]);
    assert_reads(
        &houses,
        &[("oldest house", "SELECT house FROM houses ORDER BY built NULLS LAST LIMIT 1")],
    );
    let runs = catalog("runs", &[("runner", "TEXT"), ("time", "REAL"), ("place", "INTEGER")]);
    fn best(column: &str) -> String {
        format!("SELECT runner FROM runs ORDER BY {column} LIMIT 1")
    }
    assert_reads(
        &runs,
        &[
            ("Which runner has the best time?", &best("time NULLS LAST")),
            ("runner with the best place", &best("place NULLS LAST")),
            ("runner with the worst place", &best("place DESC")),
        ],
    );
}

#[test]
fn what_there_is_at_each_time_does_not_add_up() {
    let nations = catalog(
        "nations",
        &[("country", "TEXT"), ("continent", "TEXT"), ("year", "INTEGER"), ("pop", "INTEGER")],
    );
    assert_unsure(
        &nations,
        &["total population", "total pop of Oceania", "total pop by continent"],
    );
    let year = "SELECT SUM(pop) FROM nations WHERE year = 2002";
    assert_reads(&nations, &[("total pop in 2002", year)]);
    assert!(super::fixture::best("total pop in 2002", &nations).1 >= 0.8);
    let stores = catalog("stores", &[("store", "TEXT"), ("month", "DATE"), ("stock", "INTEGER")]);
    assert_unsure(&stores, &["total stock"]);
}

#[test]
fn a_repeated_number_or_name_counts_no_rows() {
    let calls = catalog("calls", &[("client", "INTEGER"), ("minutes", "INTEGER")]);
    assert_unsure(
        &calls,
        &["How many clients are there?", "number of clients", "how many clients called?"],
    );
    let midwest = catalog("midwest", &[("county", "TEXT"), ("state", "TEXT"), ("area", "REAL")]);
    assert_unsure(
        &midwest,
        &["How many counties are there?", "How many counties are not in IL?", "number of counties"],
    );
}

#[test]
fn none_is_zero_or_missing() {
    let homes = catalog("homes", &[("home", "TEXT"), ("garages", "INTEGER"), ("price", "INTEGER")]);
    assert_unsure(
        &homes,
        &[
            "How many homes have no garages?",
            "homes without garages",
            "Which homes have no garages?",
        ],
    );
}

#[test]
fn a_state_with_a_date_is_denied_by_either() {
    let orders = catalog(
        "orders",
        &[
            ("id", "INTEGER"),
            ("status", "TEXT"),
            ("shipped_date", "DATE"),
            ("delivered_on", "DATE"),
            ("total", "REAL"),
        ],
    );
    assert_unsure(
        &orders,
        &[
            "How many orders have not been shipped?",
            "orders that are not shipped",
            "How many orders are not delivered?",
        ],
    );
}

#[test]
fn numbers_of_things_are_not_added_up() {
    let log = catalog(
        "log",
        &[
            ("date", "DATE"),
            ("client", "INTEGER"),
            ("user", "INTEGER"),
            ("zip_code", "INTEGER"),
            ("goals", "INTEGER"),
        ],
    );
    for question in
        ["How many clients are there?", "number of users", "How many zip codes are there?"]
    {
        let sure = super::fixture::best(question, &log).1;
        assert!(sure < 0.5, "{question}: {sure}");
    }
    assert_reads(&log, &[("How many goals are there?", "SELECT SUM(goals) FROM log")]);
    assert!(super::fixture::best("How many goals are there?", &log).1 >= 0.8);
}

#[test]
fn what_is_counted_by_another_table_is_no_list_without_it() {
    // Each book has one author, and a member several loans.
    assert_silent(&fixture::library(), &["books by author", "top 3 members by days"]);
    assert_reads(
        &fixture::library(),
        &[
            ("number of books by genre", "SELECT genre, COUNT(*) FROM book GROUP BY genre"),
            (
                "Show the books by Ana Vidal",
                "SELECT book.title FROM book JOIN author ON book.author_id = author.author_id \
                 WHERE author.name = 'Ana Vidal'",
            ),
        ],
    );
}

#[test]
fn what_has_none_has_the_fewest() {
    let library = fixture::library();
    assert_unsure(&library, &["Which member has the fewest loans?"]);
    let (sql, sure) = fixture::best("Which member has the fewest loans?", &library);
    assert!(sql.ends_with("ORDER BY COUNT(*) LIMIT 1") && sure < 0.6, "{sql} {sure}");
    let (_, sure) = fixture::best("Which member has the most loans?", &library);
    assert!(sure > 0.7, "{sure}");
}
