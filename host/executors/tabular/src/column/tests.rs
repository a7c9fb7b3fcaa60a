//! Columns, what is decided about them, and what their values become.

use proptest::prelude::*;

use super::*;

/// The type of a column of these values, what they become, and the notes.
fn read_with(values: &[&str], options: &ReadOptions) -> (ColumnType, Vec<String>, Vec<String>) {
    let cells =
        values.iter().map(|text| if text.is_empty() { Cell::Null } else { Cell::Untyped(text) });
    let cells: Vec<Cell<'_>> = cells.collect();
    let mut column = Column::new(options);
    cells.iter().for_each(|cell| column.add(cell, options));
    let decision = decide(&[column], options).remove(0);
    let read = cells.into_iter().map(|cell| cell_text(&decision.read(cell, options))).collect();
    (decision.kind, read, decision.notes)
}

fn read(values: &[&str]) -> (ColumnType, Vec<String>, Vec<String>) {
    read_with(values, &ReadOptions::default())
}

fn cell_text(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Null => "NULL".to_owned(),
        Cell::Untyped(text) => (*text).to_owned(),
        Cell::Text(text) => text.to_string(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn check(values: &[&str], kind: ColumnType, expected: &[&str], notes: &[&str]) {
    let (found, read, said) = read(values);
    assert_eq!(
        (found, read.iter().map(String::as_str).collect::<Vec<_>>()),
        (kind, expected.to_vec()),
        "{values:?}"
    );
    assert_eq!(said, notes, "{values:?}");
}

#[test]
fn a_column_has_the_narrowest_type_that_loses_nothing() {
    for (cells, expected) in [
        (&["1", "-20", ""][..], ColumnType::Integer),
        (&["9223372036854775807"], ColumnType::Integer),
        (&["9223372036854775808"], ColumnType::Text),
        (&["9007199254740993", "0.5"], ColumnType::Text),
        (&["9,007,199,254,740,993", "0.5"], ColumnType::Text),
        (&["007", "8"], ColumnType::Text),
        (&["007,000.5"], ColumnType::Text),
        (&["+7"], ColumnType::Text),
        (&["+49 30 123 456"], ColumnType::Text),
        (&["030 123 456"], ColumnType::Text),
        (&["-0"], ColumnType::Integer),
        (&["1", "2.50", "1e-3"], ColumnType::Real),
        (&["1.234", "2.500"], ColumnType::Real),
        (&["1e400"], ColumnType::Text),
        (&["true", "FALSE"], ColumnType::Boolean),
        (&["true", "1"], ColumnType::Text),
        (&["2024-02-29", "1999-12-31"], ColumnType::Date),
        (&["2023-02-29"], ColumnType::Text),
        (&["2024-02-29", "2024-02-29 08:05"], ColumnType::Timestamp),
        (&["2024-02-29 24:00"], ColumnType::Text),
        (&["1.2.10", "1.3.9"], ColumnType::Text),
        (&["192.168.1.20"], ColumnType::Text),
        (&["1,23,456"], ColumnType::Integer),
        (&["1,2345"], ColumnType::Real),
        (&["12-34", "56-78"], ColumnType::Text),
        (&["", ""], ColumnType::Text),
        (&["NA", "-"], ColumnType::Text),
        (&[], ColumnType::Text),
    ] {
        assert_eq!(read(cells).0, expected, "{cells:?}");
    }
}

#[test]
fn markers_are_null_where_the_other_values_have_a_type() {
    check(
        &["1", "NA", "3.5", "NA"],
        ColumnType::Real,
        &["1", "NULL", "3.5", "NULL"],
        &["2 values `NA` are NULL"],
    );
    let all = "NA N/A n/a NULL null None NaN nan \\N #N/A - \u{2013} . ?";
    for marker in all.split(' ').chain([" "]) {
        let (kind, read, notes) = read(&["7", marker, "-8"]);
        assert_eq!(
            (kind, read[1].as_str(), read[2].as_str()),
            (ColumnType::Integer, "NULL", "-8"),
            "{marker}"
        );
        assert_eq!(notes.len(), usize::from(marker != " "), "{marker}");
    }
    check(
        &["2024-01-01", "n/a"],
        ColumnType::Date,
        &["2024-01-01", "NULL"],
        &["1 value `n/a` is NULL"],
    );
    check(
        &["true", "?", "."],
        ColumnType::Boolean,
        &["true", "NULL", "NULL"],
        &["2 values (1 `.`, 1 `?`) are NULL"],
    );
    // Other letter cases are no markers.
    assert_eq!(read(&["7", "na"]).0, ColumnType::Text);
    let said = "1 value `NA`: text, not NULL; `--null NA` makes it NULL";
    check(&["male", "NA", "-"], ColumnType::Text, &["male", "NA", "-"], &[said]);
    let options =
        ReadOptions { nulls: vec!["unknown".to_owned(), "-".to_owned()], ..ReadOptions::default() };
    let (kind, read, notes) = read_with(&["male", "unknown", "-", "?"], &options);
    assert_eq!((kind, read.join(" ")), (ColumnType::Text, "male NULL NULL ?".to_owned()));
    assert_eq!(notes, ["2 values NULL by `--null`"]);
    assert_eq!(read_with(&["1", "unknown"], &options).0, ColumnType::Integer);
}

#[test]
fn numbers_are_read_as_people_write_them() {
    use ColumnType::{Integer, Real};
    let comma = "written with a decimal comma";
    let thousands = "written with `,` between thousands";
    check(
        &["1,200,000", "350,500", "4,000", "975"],
        Integer,
        &["1200000", "350500", "4000", "975"],
        &[thousands],
    );
    check(&["1,234.50", "2"], Real, &["1234.5", "2"], &[thousands]);
    check(&["12,5", "3,25"], Real, &["12.5", "3.25"], &[comma]);
    check(&["0,125"], Real, &["0.125"], &[comma]);
    let points = "written with `.` between thousands and a decimal comma";
    check(&["1.240.294,00", "7,5"], Real, &["1240294", "7.5"], &[points]);
    let blanks = "written with a blank between thousands and a decimal comma";
    for blank in [" ", "\u{a0}", "\u{202f}", "\u{2009}"] {
        let value = format!("10{blank}237,65");
        check(&[&value, "1,5"], Real, &["10237.65", "1.5"], &[blanks]);
    }
    check(
        &["1'234'567", "9\u{2019}000"],
        Integer,
        &["1234567", "9000"],
        &["written with an apostrophe between thousands"],
    );
    check(&["1 000", "20"], Integer, &["1000", "20"], &["written with a blank between thousands"]);
    check(&[" 100", "90 "], Integer, &["100", "90"], &["blanks around values are left out"]);
    check(&["(987.65)", "1.5"], Real, &["-987.65", "1.5"], &["numbers in brackets are negative"]);
    check(&["1.234,50-", "2,00"], Real, &["-1234.5", "2"], &[points]);
    check(
        &["12%", "7.5 %", "0"],
        Real,
        &["12", "7.5", "0"],
        &["in per cent (`%`): 12% is the number 12"],
    );
    check(&["\u{2212}5", "3"], Integer, &["-5", "3"], &[]);
    check(&[".5", "-.25"], Real, &["0.5", "-0.25"], &[]);
}

#[test]
fn signs_of_currencies_are_noted() {
    use ColumnType::{Integer, Real, Text};
    check(&["€ 5", "7 €", "-€3"], Integer, &["5", "7", "-3"], &["in `€`"]);
    check(
        &["$1,200.50", "($7.25)"],
        Real,
        &["1200.5", "-7.25"],
        &["in `$`", "written with `,` between thousands", "numbers in brackets are negative"],
    );
    check(
        &["CHF 1'200.50", "CHF -5"],
        Real,
        &["1200.5", "-5"],
        &["in `CHF`", "written with an apostrophe between thousands"],
    );
    check(
        &["12,50 EUR", "3,00 EUR"],
        Real,
        &["12.5", "3"],
        &["in `EUR`", "written with a decimal comma"],
    );
    check(&["£5", "7", "0"], Integer, &["5", "7", "0"], &["1 value with `£`, the others without"]);
    check(&["€5", "$7"], Text, &["€5", "$7"], &["stays text: some numbers have `€`, others `$`"]);
    check(
        &["12%", "0.12"],
        Text,
        &["12%", "0.12"],
        &["stays text: some numbers have `%`, others have none"],
    );
    for texts in [
        &["€", "5"][..],
        &["5 apples"],
        &["$"],
        &["%"],
        &["()"],
        &["--5"],
        &["5€€"],
        &["1,,000"],
        &["1.2.3"],
    ] {
        assert_eq!(read(texts).0, Text, "{texts:?}");
    }
}

#[test]
fn a_number_that_two_readings_fit_stays_text() {
    for values in [&["1,234"][..], &["12,500", "7"], &["1,234", "NA"], &["$1,234"]] {
        let (kind, read, notes) = read(values);
        assert_eq!((kind, &read[0][..]), (ColumnType::Text, values[0]), "{values:?}");
        assert!(notes[0].contains("`--decimal ,` or `--decimal .`"), "{notes:?}");
    }
    let with = |decimal: Decimal, values: &[&str]| {
        read_with(values, &ReadOptions { decimal: Some(decimal), ..ReadOptions::default() })
    };
    assert_eq!(with(Decimal::Point, &["1,234"]).1, ["1234"]);
    assert_eq!(with(Decimal::Comma, &["1,234"]).1, ["1.234"]);
    assert_eq!(with(Decimal::Comma, &["1.234", "5"]).1, ["1234", "5"]);
    assert_eq!(with(Decimal::Comma, &["1.75"]).0, ColumnType::Text);
    assert_eq!(with(Decimal::Point, &["12,5"]).0, ColumnType::Text);
}

#[test]
fn a_decimal_comma_elsewhere_makes_a_point_doubtful() {
    let options = ReadOptions::default();
    let column = |values: &[&str]| {
        let mut column = Column::new(&options);
        values.iter().for_each(|value| column.add(&Cell::Untyped(value), &options));
        column
    };
    let decisions = decide(
        &[column(&["12,5"]), column(&["1.234"]), column(&["1.5"]), column(&["7"])],
        &options,
    );
    let kinds: Vec<ColumnType> = decisions.iter().map(|decision| decision.kind).collect();
    assert_eq!(kinds, [ColumnType::Real, ColumnType::Text, ColumnType::Real, ColumnType::Integer]);
}

#[test]
fn the_order_of_a_date_is_known_from_one_that_has_no_other() {
    use ColumnType::{Date, Text, Timestamp};
    let dmy = "written in the order dmy, stored as YYYY-MM-DD";
    let mdy = "written in the order mdy, stored as YYYY-MM-DD";
    check(&["05/02/2024", "28/02/2024"], Date, &["2024-02-05", "2024-02-28"], &[dmy]);
    check(&["2/5/2024", "12/31/2023"], Date, &["2024-02-05", "2023-12-31"], &[mdy]);
    check(&["5. 2. 2024", "13.2.2024"], Date, &["2024-02-05", "2024-02-13"], &[dmy]);
    check(
        &["05-02-2024 8:05 PM", "28-02-2024 12:00 am"],
        Timestamp,
        &["2024-02-05 20:05:00", "2024-02-28 00:00:00"],
        &["written in the order dmy, stored as YYYY-MM-DD HH:MM:SS"],
    );
    check(
        &["2024/02/05", "2024/11/30"],
        Date,
        &["2024-02-05", "2024-11-30"],
        &["stored as YYYY-MM-DD"],
    );
    check(&["2024-2-5"], Date, &["2024-02-05"], &["stored as YYYY-MM-DD"]);
    check(&["05/05/2024"], Date, &["2024-05-05"], &[dmy]);
    let years = "years of two digits are 1969 to 2068";
    check(&["28/02/68", "1/2/69"], Date, &["2068-02-28", "1969-02-01"], &[dmy, years]);
    let open = "stays text: its dates fit the orders dmy or mdy; `--date-order dmy|mdy` decides";
    check(&["05/02/2024", "01/03/2024"], Text, &["05/02/2024", "01/03/2024"], &[open]);
    let open = "stays text: its dates fit the orders dmy or ymd; `--date-order dmy|ymd` decides";
    check(&["24-02-05"], Text, &["24-02-05"], &[open]);
    for (order, expected) in [("dmy", "2024-02-05"), ("mdy", "2024-05-02")] {
        let options = ReadOptions { date_order: order.parse().ok(), ..ReadOptions::default() };
        assert_eq!(read_with(&["05/02/2024"], &options).1, [expected]);
    }
    let options =
        ReadOptions { date_order: Some(DateOrder::YearMonthDay), ..ReadOptions::default() };
    assert_eq!(read_with(&["24-02-05"], &options).1, ["2024-02-05"]);
    for texts in [
        &["28/02/2024", "12/31/2023"][..],
        &["31/02/2024"],
        &["28/02/2024", "28.02.2024"],
        &["1/2"],
        &["08:05"],
    ] {
        assert_eq!(read(texts).0, Text, "{texts:?}");
    }
}

#[test]
fn months_have_names() {
    let iso = "stored as YYYY-MM-DD";
    for (text, expected) in [
        ("5 Feb 2024", "2024-02-05"),
        ("Feb 5, 2024", "2024-02-05"),
        ("February 5th, 2024", "2024-02-05"),
        ("05-Feb-24", "2024-02-05"),
        ("05/DEC/1999", "1999-12-05"),
        ("Mon, 5 Feb 2024", "2024-02-05"),
        ("2024 Sept 5", "2024-09-05"),
        ("5. März 2024", "2024-03-05"),
    ] {
        check(&[text], ColumnType::Date, &[expected], &[iso]);
    }
    for text in ["Feb 2024", "31 Feb 2024", "5 Fab 2024", "May 5", "1 Feb 20245", "may 5 may"] {
        assert_eq!(read(&[text]).0, ColumnType::Text, "{text}");
    }
}

#[test]
fn times_with_a_zone_are_in_utc() {
    use ColumnType::{Text, Timestamp};
    let stored = "stored as YYYY-MM-DD HH:MM:SS";
    let several = "in UTC; the file has several zones";
    check(
        &["2024-01-06T10:00:00+02:00", "2024-01-06T09:00:00Z", "2024-01-06T08:30:00.250Z"],
        Timestamp,
        &["2024-01-06 08:00:00", "2024-01-06 09:00:00", "2024-01-06 08:30:00.25"],
        &[several, stored],
    );
    check(&["2024-01-01 00:30 +0100"], Timestamp, &["2023-12-31 23:30:00"], &["in UTC", stored]);
    check(&["2024-01-01 08:05:09"], Timestamp, &["2024-01-01 08:05:09"], &[]);
    check(&["2024-01-01T08:05"], Timestamp, &["2024-01-01 08:05:00"], &[stored]);
    let mixed = "stays text: some times have a zone, others have none";
    check(
        &["2024-01-01T08:05Z", "2024-01-01T08:05"],
        Text,
        &["2024-01-01T08:05Z", "2024-01-01T08:05"],
        &[mixed],
    );
    assert_eq!(read(&["0000-01-01T00:00+02:00"]).0, Text);
}

#[test]
fn a_text_of_a_typed_file_is_no_number() {
    let options = ReadOptions::default();
    let of = |cells: &[Cell<'_>]| {
        let mut column = Column::new(&options);
        cells.iter().for_each(|cell| column.add(cell, &options));
        let decision = decide(&[column], &options).remove(0);
        let read: Vec<String> =
            cells.iter().map(|cell| cell_text(&decision.read(cell.clone(), &options))).collect();
        (decision.kind, read)
    };
    let text = |text: &'static str| Cell::Text(text.into());
    assert_eq!(of(&[text("7")]).0, ColumnType::Text);
    assert_eq!(of(&[Cell::Integer(1), Cell::Boolean(true)]).0, ColumnType::Text);
    // A program without a value for an absent number writes its name.
    let (kind, read) = of(&[Cell::Integer(1), text("NA"), Cell::Real(0.5)]);
    assert_eq!(
        (kind, read.as_slice()),
        (ColumnType::Real, &["1", "NULL", "0.5"].map(str::to_owned)[..])
    );
    let (kind, read) = of(&[text("28/02/2024"), text(" 1/2/2024 ")]);
    assert_eq!(
        (kind, read.as_slice()),
        (ColumnType::Date, &["2024-02-28", "2024-02-01"].map(str::to_owned)[..])
    );
}

#[test]
fn blanks_before_every_text_are_those_of_the_separator() {
    check(
        &[" Bari", " Rome"],
        ColumnType::Text,
        &["Bari", "Rome"],
        &["blanks around values are left out"],
    );
    check(&[" Bari", "Rome"], ColumnType::Text, &[" Bari", "Rome"], &[]);
}

proptest! {
    #[test]
    fn any_texts_are_a_column(texts in proptest::collection::vec(any::<String>(), 0..4)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        read(&texts);
    }

    #[test]
    fn what_nearly_is_a_number_or_date_is_decided(
        texts in proptest::collection::vec(
            "[-(]?[$€]?[0-9]{0,4}[ ,.'/:-]?[0-9]{0,4}[ ,.'/:-]?[0-9]{0,4}[%)eEZ€+]?[0-9:]{0,5}",
            1..4
        ),
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (kind, values, _) = read(&texts);
        for (value, text) in values.iter().zip(texts).filter(|_| kind == ColumnType::Text) {
            let is_absent = value == "NULL" && text.trim().is_empty();
            prop_assert!(is_absent || value == text || value == text.trim(), "{} {}", value, text);
        }
    }

    #[test]
    fn a_number_comes_back_from_every_form(
        number in -9_999_999_999_i64..9_999_999_999, cents in 1_u32..100
    ) {
        let digits = number.unsigned_abs().to_string();
        let grouped = |mark: &str| {
            let groups: Vec<&str> = digits
                .as_bytes()
                .rchunks(3)
                .rev()
                .filter_map(|part| std::str::from_utf8(part).ok())
                .collect();
            groups.join(mark)
        };
        let sign = if number < 0 { "-" } else { "" };
        let expected: f64 = format!("{sign}{digits}.{cents:02}").parse().unwrap();
        for (mark, decimal) in [(",", "."), (".", ","), (" ", ","), ("'", "."), ("\u{202f}", ",")] {
            let value = format!("{sign}{}{decimal}{cents:02}", grouped(mark));
            let (kind, values, _) = read(&[&value]);
            prop_assert_eq!(
                (kind, values[0].parse::<f64>().unwrap()), (ColumnType::Real, expected), "{}", value
            );
        }
    }
}

#[test]
fn numbers_of_the_length_of_a_telephone_stay_text() {
    fn note(digits: usize) -> String {
        format!(
            "stays text: all have {digits} digits in groups with blanks, as telephone numbers; \
             `--decimal .` makes them numbers"
        )
    }
    let phones = ["612 345 678", "655 021 334"];
    check(&phones, ColumnType::Text, &phones, &[&note(9)]);
    let phones = ["1 612 345 678", "", "1 655 021 334"];
    check(&phones, ColumnType::Text, &["1 612 345 678", "NULL", "1 655 021 334"], &[&note(10)]);
    // Other lengths, decimals, signs, and blanks that only typography sets are those of amounts.
    for (values, kind) in [
        (["612 345 678", "1 204 000"], ColumnType::Integer),
        (["612 345 678", "17"], ColumnType::Integer),
        (["612 345 678,50", "655 021 334,00"], ColumnType::Real),
        (["12 345 678", "65 021 334"], ColumnType::Integer),
        (["€ 612 345 678", "€ 655 021 334"], ColumnType::Integer),
        (["612\u{202f}345\u{202f}678", "655\u{202f}021\u{202f}334"], ColumnType::Integer),
    ] {
        assert_eq!(read(&values).0, kind, "{values:?}");
    }
}

#[test]
fn numbers_in_lakhs_and_crores_are_numbers() {
    let note = "written with `,` between thousands, lakhs and crores";
    check(&["12,34,567", "1,00,000"], ColumnType::Integer, &["1234567", "100000"], &[note]);
    check(
        &["₹ 1,23,45,678.50", "₹ 12,345.00"],
        ColumnType::Real,
        &["12345678.5", "12345"],
        &["in `₹`", note],
    );
    // What is neither, or both in one column, is text.
    for values in [
        ["12,34,567", "123,456,789"],
        ["12,34,567", "123,456"],
        ["1,2,345", "1,23,456"],
        ["123,45,678", "1,00,000"],
        ["12 34 567", "1"],
    ] {
        assert_eq!(read(&values).0, ColumnType::Text, "{values:?}");
    }
}
