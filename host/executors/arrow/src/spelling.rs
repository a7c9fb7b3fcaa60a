//! Texts of values that results have no type for: dates, times and intervals as PostgreSQL spells
//! them, nested values as JSON.

use std::fmt::{self, Write};

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Float16Type, Float32Type, Float64Type, IntervalDayTimeType, IntervalMonthDayNanoType,
    IntervalYearMonthType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, StringArray, downcast_integer_array};
use arrow_schema::{DataType, IntervalUnit, TimeUnit};

/// Seconds of a day.
const DAY: i64 = 86_400;
/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// The texts of the first cells of an array.
pub(crate) struct Spelled {
    pub(crate) texts: StringArray,
    /// The cell after them is larger than a cell may be.
    pub(crate) is_large: bool,
}

/// Spells cells until one has more than `cell` bytes or all have more than `budget`; `None` for a
/// type that has no spelling.
pub(crate) fn spell(array: &ArrayRef, cell: usize, budget: usize) -> Option<Spelled> {
    let mut texts = StringBuilder::new();
    let mut bytes = 0;
    let mut is_large = false;
    let mut out = Bounded { text: String::new(), left: 0, is_full: false };
    for row in 0..array.len() {
        if array.is_null(row) {
            texts.append_null();
            continue;
        }
        out.text.clear();
        out.left = cell;
        if value(array, row, false, &mut out).is_err() {
            if !out.is_full {
                return None;
            }
            is_large = true;
            break;
        }
        bytes += out.text.len();
        if bytes > budget {
            break;
        }
        texts.append_value(&out.text);
    }
    Some(Spelled { texts: texts.finish(), is_large })
}

/// A text that takes so many bytes.
struct Bounded {
    text: String,
    left: usize,
    is_full: bool,
}

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let left = self.left.checked_sub(text.len());
        self.is_full |= left.is_none();
        self.left = left.ok_or(fmt::Error)?;
        self.text.push_str(text);
        Ok(())
    }
}

/// Writes one cell; within JSON texts and times stand in quotes.
fn value(array: &dyn Array, row: usize, is_json: bool, out: &mut Bounded) -> fmt::Result {
    if array.is_null(row) {
        return out.write_str("null");
    }
    match array.data_type() {
        DataType::Boolean => write!(out, "{}", array.as_boolean().value(row)),
        DataType::Utf8 => text(array.as_string::<i32>().value(row), is_json, out),
        DataType::LargeUtf8 => text(array.as_string::<i64>().value(row), is_json, out),
        DataType::Utf8View => text(array.as_string_view().value(row), is_json, out),
        DataType::Binary => write_hex(array.as_binary::<i32>().value(row), out),
        DataType::LargeBinary => write_hex(array.as_binary::<i64>().value(row), out),
        DataType::BinaryView => write_hex(array.as_binary_view().value(row), out),
        DataType::FixedSizeBinary(_) => write_hex(array.as_fixed_size_binary().value(row), out),
        DataType::Float16 => write_real(array.as_primitive::<Float16Type>().value(row), out),
        DataType::Float32 => write_real(array.as_primitive::<Float32Type>().value(row), out),
        DataType::Float64 => write_real(array.as_primitive::<Float64Type>().value(row), out),
        DataType::Decimal32(..) => {
            out.write_str(&array.as_primitive::<Decimal32Type>().value_as_string(row))
        }
        DataType::Decimal64(..) => {
            out.write_str(&array.as_primitive::<Decimal64Type>().value_as_string(row))
        }
        DataType::Decimal128(..) => {
            out.write_str(&array.as_primitive::<Decimal128Type>().value_as_string(row))
        }
        DataType::Decimal256(..) => {
            out.write_str(&array.as_primitive::<Decimal256Type>().value_as_string(row))
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary_opt().ok_or(fmt::Error)?;
            let key = key(dictionary.keys(), row).filter(|key| *key < dictionary.values().len());
            value(dictionary.values(), key.ok_or(fmt::Error)?, is_json, out)
        }
        DataType::List(_) => list(&array.as_list::<i32>().value(row), out),
        DataType::LargeList(_) => list(&array.as_list::<i64>().value(row), out),
        DataType::FixedSizeList(..) => list(&array.as_fixed_size_list().value(row), out),
        DataType::Struct(fields) => {
            out.write_char('{')?;
            for (at, (field, column)) in fields.iter().zip(array.as_struct().columns()).enumerate()
            {
                out.write_str(if at > 0 { ", " } else { "" })?;
                text(field.name(), true, out)?;
                out.write_str(": ")?;
                value(column, row, true, out)?;
            }
            out.write_char('}')
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            out.write_char('{')?;
            for at in 0..entries.len() {
                out.write_str(if at > 0 { ", " } else { "" })?;
                // A name in JSON is a text, whatever the key is.
                let mut name = Bounded { text: String::new(), left: out.left, is_full: false };
                let written = value(entries.column(0), at, false, &mut name);
                out.is_full |= name.is_full;
                written?;
                text(&name.text, true, out)?;
                out.write_str(": ")?;
                value(entries.column(1), at, true, out)?;
            }
            out.write_char('}')
        }
        whole if whole.is_integer() => match integer(array, row) {
            Some(number) => write!(out, "{number}"),
            None => Err(fmt::Error),
        },
        _ if is_json => {
            out.write_char('"')?;
            time(array, row, out)?;
            out.write_char('"')
        }
        _ => time(array, row, out),
    }
}

fn list(items: &ArrayRef, out: &mut Bounded) -> fmt::Result {
    out.write_char('[')?;
    for at in 0..items.len() {
        out.write_str(if at > 0 { ", " } else { "" })?;
        value(items, at, true, out)?;
    }
    out.write_char(']')
}

fn text(text: &str, is_json: bool, out: &mut Bounded) -> fmt::Result {
    if !is_json {
        return out.write_str(text);
    }
    // Quoted, it has at least as many bytes.
    out.is_full |= text.len() > out.left;
    if out.is_full {
        return Err(fmt::Error);
    }
    write!(out, "{}", serde_json::Value::from(text))
}

fn write_hex(bytes: &[u8], out: &mut Bounded) -> fmt::Result {
    out.write_str("\"")?;
    bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))?;
    out.write_str("\"")
}

/// JSON has no numbers that are not finite.
fn write_real(number: impl fmt::Display + Into<f64> + Copy, out: &mut Bounded) -> fmt::Result {
    if number.into().is_finite() { write!(out, "{number}") } else { write!(out, "\"{number}\"") }
}

fn integer(array: &dyn Array, row: usize) -> Option<i128> {
    downcast_integer_array! {
        array => Some(i128::from(array.value(row))),
        _ => None
    }
}

/// The place of a dictionary's value.
fn key(keys: &dyn Array, row: usize) -> Option<usize> {
    usize::try_from(integer(keys, row)?).ok()
}

/// Dates, times, times with a date, intervals.
fn time(array: &dyn Array, row: usize, out: &mut Bounded) -> fmt::Result {
    match array.data_type() {
        DataType::Date32 => match array.as_primitive::<Date32Type>().value(row) {
            // These stand for endless times in DuckDB, as the least and greatest numbers do below.
            i32::MAX => out.write_str("infinity"),
            days if days <= -i32::MAX => out.write_str("-infinity"),
            days => date(days.into(), out),
        },
        DataType::Date64 => {
            date(array.as_primitive::<Date64Type>().value(row).div_euclid(DAY * 1_000), out)
        }
        DataType::Timestamp(unit, zone) => {
            let value = match unit {
                TimeUnit::Second => array.as_primitive::<TimestampSecondType>().value(row),
                TimeUnit::Millisecond => {
                    array.as_primitive::<TimestampMillisecondType>().value(row)
                }
                TimeUnit::Microsecond => {
                    array.as_primitive::<TimestampMicrosecondType>().value(row)
                }
                TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().value(row),
            };
            match value {
                i64::MAX => return out.write_str("infinity"),
                value if value <= -i64::MAX => return out.write_str("-infinity"),
                _ => {}
            }
            let day = DAY * (SECOND / nanoseconds(*unit));
            let nanoseconds = nanoseconds(*unit);
            // A time of a zone is stored as that of UTC.
            let zone = if zone.is_some() { "+00" } else { "" };
            timestamp(value.div_euclid(day), value.rem_euclid(day) * nanoseconds, zone, out)
        }
        DataType::Time32(TimeUnit::Second) => {
            clock(i64::from(array.as_primitive::<Time32SecondType>().value(row)) * SECOND, out)
        }
        DataType::Time32(_) => clock(
            i64::from(array.as_primitive::<Time32MillisecondType>().value(row)) * 1_000_000,
            out,
        ),
        DataType::Time64(TimeUnit::Microsecond) => clock(
            array.as_primitive::<Time64MicrosecondType>().value(row).saturating_mul(1_000),
            out,
        ),
        DataType::Time64(_) => clock(array.as_primitive::<Time64NanosecondType>().value(row), out),
        DataType::Duration(unit) => {
            let value = match unit {
                TimeUnit::Second => array.as_primitive::<DurationSecondType>().value(row),
                TimeUnit::Millisecond => array.as_primitive::<DurationMillisecondType>().value(row),
                TimeUnit::Microsecond => array.as_primitive::<DurationMicrosecondType>().value(row),
                TimeUnit::Nanosecond => array.as_primitive::<DurationNanosecondType>().value(row),
            };
            // Whole days stand apart, as in an interval.
            let day = DAY * (SECOND / nanoseconds(*unit));
            let nanoseconds = nanoseconds(*unit);
            interval(0, value / day, value % day * nanoseconds, out)
        }
        DataType::Interval(IntervalUnit::YearMonth) => {
            interval(array.as_primitive::<IntervalYearMonthType>().value(row), 0, 0, out)
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let value = array.as_primitive::<IntervalDayTimeType>().value(row);
            interval(0, value.days.into(), i64::from(value.milliseconds) * 1_000_000, out)
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let value = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
            interval(value.months, value.days.into(), value.nanoseconds, out)
        }
        _ => Err(fmt::Error),
    }
}

/// Returns the number of nanoseconds of a unit.
fn nanoseconds(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => SECOND,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

/// Writes the date of a day, counted from 1 January 1970, in the Gregorian calendar: `2024-02-29`,
/// `0044-03-15 BC`.
///
/// # Errors
/// Those of the writer.
pub fn date(days: i64, out: &mut impl Write) -> fmt::Result {
    let is_before_christ = calendar(days, out)?;
    out.write_str(if is_before_christ { " BC" } else { "" })
}

/// Writes a date, counted from 1 January 1970, and the nanoseconds of its day, with what says its
/// zone: `2024-02-29 08:05:00.5+00`.
///
/// # Errors
/// Those of the writer.
pub fn timestamp(days: i64, nanoseconds: i64, zone: &str, out: &mut impl Write) -> fmt::Result {
    let is_before_christ = calendar(days, out)?;
    out.write_char(' ')?;
    clock(nanoseconds, out)?;
    out.write_str(zone)?;
    out.write_str(if is_before_christ { " BC" } else { "" })
}

/// Writes year, month and day, and tells whether the year is one before Christ. The algorithm is
/// `civil_from_days` of <https://howardhinnant.github.io/date_algorithms.html>; it has no range
/// that a calendar library has.
fn calendar(days: i64, out: &mut impl Write) -> Result<bool, fmt::Error> {
    let days = days.saturating_add(719_468);
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (shown, is_before_christ) = if year > 0 { (year, false) } else { (1 - year, true) };
    if shown < 10_000 {
        let [[a, b], [c, d], [e, f], [g, h]] = [shown / 100, shown % 100, month, day].map(digits);
        ascii(&[a, b, c, d, b'-', e, f, b'-', g, h], out)?;
    } else {
        write!(out, "{shown}-{month:02}-{day:02}")?;
    }
    Ok(is_before_christ)
}

/// The two digits of a number from 0 to 99, without the machinery of `{:02}`: a column of dates has
/// millions.
fn digits(number: i64) -> [u8; 2] {
    [number / 10, number % 10].map(|digit| b'0' + u8::try_from(digit).unwrap_or_default())
}

fn ascii(text: &[u8], out: &mut impl Write) -> fmt::Result {
    out.write_str(str::from_utf8(text).map_err(|_| fmt::Error)?)
}

/// A time of the day, or of an interval, in nanoseconds.
fn clock(nanoseconds: i64, out: &mut impl Write) -> fmt::Result {
    let seconds = nanoseconds / SECOND;
    let fraction = nanoseconds % SECOND;
    let hours = seconds / 3_600;
    let minutes = seconds / 60 % 60;
    if (0..100).contains(&hours) && nanoseconds >= 0 {
        let [[a, b], [c, d], [e, f]] = [hours, minutes, seconds % 60].map(digits);
        ascii(&[a, b, b':', c, d, b':', e, f], out)?;
    } else {
        write!(out, "{hours:02}:{minutes:02}:{:02}", seconds % 60)?;
    }
    if fraction == 0 {
        return Ok(());
    }
    let digits = format!("{fraction:09}");
    write!(out, ".{}", digits.trim_end_matches('0'))
}

/// An interval in PostgreSQL's own style: `1 year 2 mons -3 days +04:05:06`.
fn interval(months: i32, days: i64, nanoseconds: i64, out: &mut impl Write) -> fmt::Result {
    let parts = [(i64::from(months / 12), "year"), (i64::from(months % 12), "mon"), (days, "day")];
    let mut is_first = true;
    let mut is_negative = false;
    for (count, unit) in parts.into_iter().filter(|(count, _)| *count != 0) {
        let separator = if is_first { "" } else { " " };
        let sign = if is_negative && count > 0 { "+" } else { "" };
        let plural = if count == 1 { "" } else { "s" };
        write!(out, "{separator}{sign}{count} {unit}{plural}")?;
        (is_first, is_negative) = (false, count < 0);
    }
    if nanoseconds != 0 || is_first {
        let separator = if is_first { "" } else { " " };
        let sign = if nanoseconds < 0 {
            "-"
        } else if is_negative {
            "+"
        } else {
            ""
        };
        write!(out, "{separator}{sign}")?;
        clock(nanoseconds.saturating_abs(), out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{Int64Builder, ListBuilder, MapBuilder};
    use arrow_array::types::{Int8Type, IntervalMonthDayNano};
    use arrow_array::{
        Date32Array, DictionaryArray, DurationMicrosecondArray, Float64Array,
        IntervalMonthDayNanoArray, StructArray, Time64MicrosecondArray, TimestampMicrosecondArray,
    };
    use arrow_schema::Field;

    use super::*;

    fn spell_array(array: impl Array + 'static) -> Vec<Option<String>> {
        let array: ArrayRef = Arc::new(array);
        let Spelled { texts, is_large } = spell(&array, 1_000, 10_000).unwrap();
        assert!(!is_large);
        texts.iter().map(|text| text.map(str::to_owned)).collect()
    }

    fn all(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| Some((*text).to_owned())).collect()
    }

    /// The expected texts are what PostgreSQL 15 prints for these values.
    #[test]
    fn times_are_spelled_as_postgres_spells_them() {
        let days = [0, -1, 19_782, -719_162, -719_163, 2_932_896, i32::MAX, -i32::MAX];
        let expected = [
            "1970-01-01",
            "1969-12-31",
            "2024-02-29",
            "0001-01-01",
            "0001-12-31 BC",
            "9999-12-31",
            "infinity",
            "-infinity",
        ];
        assert_eq!(spell_array(Date32Array::from(days.to_vec())), all(&expected));
        let times =
            vec![1_709_193_900_500_000, -1, i64::MAX, -63_517_780_800_000_000, i64::MAX - 1];
        let expected = [
            "2024-02-29 08:05:00.5",
            "1969-12-31 23:59:59.999999",
            "infinity",
            "0044-03-15 12:00:00 BC",
            "294247-01-10 04:00:54.775806",
        ];
        assert_eq!(spell_array(TimestampMicrosecondArray::from(times.clone())), all(&expected));
        let zoned =
            TimestampMicrosecondArray::from(times[..1].to_vec()).with_timezone("Europe/Vienna");
        assert_eq!(spell_array(zoned), all(&["2024-02-29 08:05:00.5+00"]));
        assert_eq!(
            spell_array(Time64MicrosecondArray::from(vec![29_100_000_000])),
            all(&["08:05:00"])
        );
    }

    #[test]
    fn intervals_are_spelled_as_postgres_spells_them() {
        let interval = IntervalMonthDayNano::new;
        let intervals = IntervalMonthDayNanoArray::from(vec![
            interval(14, 3, 14_706_000_000_000),
            interval(0, -3, 14_706_000_000_000),
            interval(-12, 1, -500_000_000),
            interval(0, 0, 0),
            interval(1, 0, 0),
        ]);
        let expected = [
            "1 year 2 mons 3 days 04:05:06",
            "-3 days +04:05:06",
            "-1 years +1 day -00:00:00.5",
            "00:00:00",
            "1 mon",
        ];
        assert_eq!(spell_array(intervals), all(&expected));
        assert_eq!(
            spell_array(DurationMicrosecondArray::from(vec![90_061_000_000])),
            all(&["1 day 01:01:01"])
        );
    }

    #[test]
    fn nested_values_are_json() {
        let mut lists = ListBuilder::new(Int64Builder::new());
        lists.append_value([Some(1), None]);
        lists.append_null();
        assert_eq!(spell_array(lists.finish()), vec![Some("[1, null]".to_owned()), None]);
        let mut maps = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
        maps.keys().append_value("a \"b\"");
        maps.values().append_value(1);
        maps.append(true).unwrap();
        assert_eq!(spell_array(maps.finish()), all(&["{\"a \\\"b\\\"\": 1}"]));
        let columns: Vec<(Arc<Field>, ArrayRef)> = vec![
            (
                Arc::new(Field::new("x", DataType::Float64, true)),
                Arc::new(Float64Array::from(vec![f64::NAN])),
            ),
            (
                Arc::new(Field::new("d", DataType::Date32, true)),
                Arc::new(Date32Array::from(vec![0])),
            ),
        ];
        assert_eq!(
            spell_array(StructArray::from(columns)),
            all(&["{\"x\": \"NaN\", \"d\": \"1970-01-01\"}"])
        );
        let dictionary: DictionaryArray<Int8Type> =
            vec!["red", "green", "red"].into_iter().collect();
        assert_eq!(spell_array(dictionary), all(&["red", "green", "red"]));
    }

    #[test]
    fn a_large_cell_and_a_used_budget_end_it() {
        let mut lists = ListBuilder::new(Int64Builder::new());
        (0..9).for_each(|count| lists.append_value((0..count).map(Some)));
        let lists: ArrayRef = Arc::new(lists.finish());
        let large = spell(&lists, 12, 1_000).unwrap();
        assert_eq!((large.texts.len(), large.is_large), (5, true));
        let long = spell(&lists, 100, 12).unwrap();
        assert_eq!((long.texts.len(), long.is_large), (3, false));
    }
}
