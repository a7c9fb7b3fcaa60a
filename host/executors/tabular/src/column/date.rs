//! Dates and times as people write them: with numbers in any order, with the names of months, with
//! zones.

use std::borrow::Cow;
use std::fmt::Write;

use chrono::{Datelike, NaiveDate, TimeDelta, Timelike};
use syrch_core::imports::DateOrder;

use crate::cell::is_date;
use crate::column::names::{is_weekday, month};

/// Bytes of a date with its time at most.
const LONGEST: usize = 48;
/// Years of two digits from this one on are of the last century, as POSIX has it: 69 is 1969, and
/// 68 is 2068.
const LAST_CENTURY: u32 = 69;

/// A day as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Day {
    /// The year comes first, or the month has a name.
    Fixed(NaiveDate),
    /// Three numbers, of which the last may be a year of two digits.
    Open { numbers: [u32; 3], is_short: bool },
}

/// The form of a day, which is one in all values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    YearFirst(u8),
    Numbers(u8),
    Names,
}

/// A day with its time, as they are written.
#[derive(Debug, Clone, Copy)]
struct Moment<'a> {
    form: Form,
    day: Day,
    time: Option<Time<'a>>,
}

#[derive(Debug, Clone, Copy)]
struct Time<'a> {
    hour: u32,
    minute: u32,
    second: u32,
    fraction: &'a str,
    /// Seconds east of Greenwich; `None` if no zone is written.
    offset: Option<i32>,
}

impl<'a> Moment<'a> {
    /// Takes apart a text without blanks around it; `None` if it is no date.
    fn read(text: &'a str) -> Option<Self> {
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if !begins || text.len() > LONGEST {
            return None;
        }
        let (day, time) = match text.find(':') {
            None => (text, None),
            Some(colon) => {
                let at = text[..colon].rfind([' ', 'T'])?;
                let day = text[..at].trim_end().trim_end_matches(',').trim_end();
                (day, Some(Time::read(&text[at + 1..])?))
            }
        };
        let (form, day) = numbers(day).or_else(|| parse_named_month(day))?;
        Some(Self { form, day, time })
    }

    /// The day, with numbers in that order.
    fn day(&self, order: DateOrder) -> Option<NaiveDate> {
        match self.day {
            Day::Fixed(day) => Some(day),
            Day::Open { numbers: [first, second, third], is_short } => {
                let [year, month, day] = match order {
                    DateOrder::DayMonthYear => [third, second, first],
                    DateOrder::MonthDayYear => [third, first, second],
                    DateOrder::YearMonthDay if is_short => [first, second, third],
                    DateOrder::YearMonthDay => return None,
                };
                NaiveDate::from_ymd_opt(
                    if is_short { long_year(year) } else { i32::try_from(year).ok()? },
                    month,
                    day,
                )
            }
        }
    }

    /// The moment as ISO 8601 writes it, in UTC where it has a zone: `2024-02-29`, or `2024-02-29
    /// 08:05:00`.
    fn iso(&self, order: DateOrder) -> Option<String> {
        let day = self.day(order)?;
        let mut iso = String::with_capacity(32);
        let Some(time) = self.time else {
            write!(iso, "{:04}-{:02}-{:02}", day.year(), day.month(), day.day()).ok()?;
            return Some(iso);
        };
        let local = day.and_hms_opt(time.hour, time.minute, time.second)?;
        let moment =
            local.checked_sub_signed(TimeDelta::try_seconds(time.offset.unwrap_or(0).into())?)?;
        if !(0..=9_999).contains(&moment.year()) {
            return None;
        }
        write!(iso, "{:04}-{:02}-{:02}", moment.year(), moment.month(), moment.day()).ok()?;
        write!(iso, " {:02}:{:02}:{:02}", moment.hour(), moment.minute(), moment.second()).ok()?;
        let fraction = time.fraction.trim_end_matches('0');
        if !fraction.is_empty() {
            write!(iso, ".{fraction}").ok()?;
        }
        Some(iso)
    }
}

fn long_year(short: u32) -> i32 {
    let century = if short >= LAST_CENTURY { 1_900 } else { 2_000 };
    i32::try_from(short).map_or(0, |short| short + century)
}

/// A day of three numbers.
fn numbers(text: &str) -> Option<(Form, Day)> {
    let separator =
        text.bytes().find(|byte| !byte.is_ascii_digit()).filter(|byte| b"-/.".contains(byte))?;
    let mut parts = text.split(char::from(separator)).map(str::trim);
    let parts = [parts.next()?, parts.next()?, parts.next().filter(|_| parts.next().is_none())?];
    if !parts
        .iter()
        .all(|part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return None;
    }
    let [first, second, third] = parts.map(|part| part.parse::<u32>().unwrap_or(u32::MAX));
    match parts.map(str::len) {
        [4, 1..=2, 1..=2] => {
            let day = NaiveDate::from_ymd_opt(i32::try_from(first).ok()?, second, third)?;
            Some((Form::YearFirst(separator), Day::Fixed(day)))
        }
        [1..=2, 1..=2, 4] => Some((
            Form::Numbers(separator),
            Day::Open { numbers: [first, second, third], is_short: false },
        )),
        // `1.2.10` may be a version.
        [2, 2, 2] => Some((
            Form::Numbers(separator),
            Day::Open { numbers: [first, second, third], is_short: true },
        )),
        [1..=2, 1..=2, 2] if separator == b'/' => Some((
            Form::Numbers(separator),
            Day::Open { numbers: [first, second, third], is_short: true },
        )),
        _ => None,
    }
}

/// A day whose month has a name: `5 Feb 2024`, `Feb 5, 2024`, `05-Feb-24`, `Mon, 5 Feb 2024`.
fn parse_named_month(text: &str) -> Option<(Form, Day)> {
    let mut words =
        text.split([' ', '-', '/', '.', ',']).filter(|word| !word.is_empty()).peekable();
    words.next_if(|word| is_weekday(word));
    let words = [words.next()?, words.next()?, words.next().filter(|_| words.next().is_none())?];
    let number = |word: &str, longest: usize| {
        let is_number = word.len() <= longest && word.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| word.parse::<u32>().ok())?
    };
    let day_of = |word: &str| {
        fn is_ordinal_suffix(end: &str) -> bool {
            ["st", "nd", "rd", "th"].iter().any(|suffix| suffix.eq_ignore_ascii_case(end))
        }
        let end = word.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(word.len());
        let (digits, end) = word.split_at(end);
        (end.is_empty() || is_ordinal_suffix(end)).then(|| number(digits, 2))?
    };
    let year_of = |word: &str| match word.len() {
        4 => i32::try_from(number(word, 4)?).ok(),
        2 => number(word, 2).map(long_year),
        _ => None,
    };
    let [first, second, third] = words;
    let (year, month, day) = match (month(first), month(second)) {
        (Some(month), _) => (year_of(third)?, month, day_of(second)?),
        (None, Some(month)) if first.len() == 4 && third.len() <= 2 => {
            (year_of(first)?, month, day_of(third)?)
        }
        (None, Some(month)) => (year_of(third)?, month, day_of(first)?),
        (None, None) => return None,
    };
    Some((Form::Names, Day::Fixed(NaiveDate::from_ymd_opt(year, month, day)?)))
}

impl<'a> Time<'a> {
    /// Reads `8:05`, `08:05:00.25`, `8:05 PM`, each perhaps with a zone: `Z`, `UTC`, `+02:00`.
    fn read(text: &'a str) -> Option<Self> {
        let end =
            text.find(|letter: char| !letter.is_ascii_digit() && letter != ':' && letter != '.');
        let (clock, rest) = text.split_at(end.unwrap_or(text.len()));
        let (clock, fraction) =
            clock.split_once('.').map_or((clock, None), |(clock, end)| (clock, Some(end)));
        let mut parts = clock.split(':');
        let below = |part: &str, limit: u32| {
            let is_number = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| part.parse::<u32>().ok().filter(|number| *number < limit))?
        };
        let hour = parts.next()?;
        let hour = if hour.len() == 1 { hour.parse().ok() } else { below(hour, 24) }?;
        let minute = below(parts.next()?, 60)?;
        let second = parts.next().map(|part| below(part, 60));
        let has_seconds = second.is_some();
        let second = second.unwrap_or(Some(0))?;
        fn is_fraction(digits: &str) -> bool {
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        }
        if parts.next().is_some()
            || fraction.is_some_and(|digits| !has_seconds || !is_fraction(digits))
        {
            return None;
        }
        let (hour, rest) = half_of_day(hour, rest.trim_start())?;
        let fraction = fraction.unwrap_or_default();
        let offset = match rest.trim_start() {
            "" => None,
            zone => Some(offset(zone)?),
        };
        Some(Self { hour, minute, second, fraction, offset })
    }
}

/// The hour of the day, with what follows a sign for its half.
fn half_of_day(hour: u32, rest: &str) -> Option<(u32, &str)> {
    fn begins_with_sign(rest: &str, sign: &str) -> bool {
        rest.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(sign))
    }
    let noon = match (begins_with_sign(rest, "am"), begins_with_sign(rest, "pm")) {
        (false, false) => return Some((hour, rest)),
        (_, is_afternoon) => {
            if is_afternoon {
                12
            } else {
                0
            }
        }
    };
    (1..=12).contains(&hour).then(|| (hour % 12 + noon, &rest[2..]))
}

/// The seconds east of Greenwich that a zone means; `None` if it is none.
fn offset(zone: &str) -> Option<i32> {
    if ["Z", "z", "UTC", "GMT"].contains(&zone) {
        return Some(0);
    }
    let (sign, digits) = match zone.as_bytes() {
        [b'+', ..] => (1, &zone[1..]),
        [b'-', ..] => (-1, &zone[1..]),
        _ => return None,
    };
    let (hours, minutes) = match digits.len() {
        2 => (digits, "00"),
        4 => digits.split_at_checked(2)?,
        5 => digits.split_once(':')?,
        _ => return None,
    };
    let number = |part: &str, limit: i32| {
        let is_number = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| part.parse::<i32>().ok().filter(|number| *number < limit))?
    };
    Some(sign * (number(hours, 24)? * 3_600 + number(minutes, 60)? * 60))
}

/// Writes a date or time as ISO 8601 does. The text has no blanks around it.
pub(super) fn read(text: &str, order: DateOrder) -> Option<Cow<'_, str>> {
    if is_date(text) || is_stored_timestamp(text) {
        return Some(Cow::Borrowed(text));
    }
    Moment::read(text)?.iso(order).map(Cow::Owned)
}

/// Returns true if a text is a time in the form in which times are stored.
fn is_stored_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 19 && bytes[10] == b' ' && text.get(..10).is_some_and(is_date) && {
        let time = text.get(11..).and_then(Time::read);
        time.is_some_and(|time| time.offset.is_none() && bytes[13] == b':' && bytes[16] == b':')
    }
}

/// The readings as dates that all values of a column so far fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dates {
    is_open: bool,
    form: Option<Form>,
    /// The orders of numbers that all values fit, as places of [`DateOrder::ALL`].
    orders: [bool; 3],
    /// True if day and month of a value differ.
    differs: bool,
    is_short: bool,
    days: u64,
    times: u64,
    zoned: u64,
    /// True if a value is stored otherwise than it is written.
    is_changed: bool,
    /// The zone of the first value that has one, and whether another one has another.
    offset: Option<i32>,
    has_offsets: bool,
}

/// A column of dates.
pub(super) struct Decided {
    pub(super) order: DateOrder,
    pub(super) has_times: bool,
    pub(super) notes: Vec<String>,
}

impl Dates {
    pub(super) fn new(order: Option<DateOrder>) -> Self {
        Self {
            is_open: true,
            form: None,
            orders: DateOrder::ALL.map(|own| order.is_none_or(|given| given == own)),
            differs: false,
            is_short: false,
            days: 0,
            times: 0,
            zoned: 0,
            is_changed: false,
            offset: None,
            has_offsets: false,
        }
    }

    pub(super) fn close(&mut self) {
        self.is_open = false;
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Takes a value without blanks around it into account.
    pub(super) fn add(&mut self, text: &str) {
        // Most files have dates as they are stored.
        let is_iso = self.form.is_none_or(|form| form == Form::YearFirst(b'-'));
        let is_day = is_iso && is_date(text);
        if is_day || (is_iso && is_stored_timestamp(text)) {
            self.form = Some(Form::YearFirst(b'-'));
            self.days += u64::from(is_day);
            self.times += u64::from(!is_day);
            return;
        }
        self.is_open = self.fits(text).is_some();
    }

    fn fits(&mut self, text: &str) -> Option<()> {
        let moment = Moment::read(text)?;
        if self.form.replace(moment.form).is_some_and(|form| form != moment.form) {
            return None;
        }
        if let Day::Open { numbers: [first, second, _], is_short } = moment.day {
            self.differs |= first != second;
            self.is_short |= is_short;
            let can_begin_with_year = is_short && moment.form == Form::Numbers(b'-');
            for (order, is_open) in DateOrder::ALL.into_iter().zip(&mut self.orders) {
                let is_possible = order != DateOrder::YearMonthDay || can_begin_with_year;
                *is_open = *is_open && is_possible && moment.day(order).is_some();
            }
        }
        let day = moment.day(self.open_orders().next()?)?;
        // In UTC it may lie in a year that ISO 8601 cannot write.
        if moment.time.is_some_and(|time| time.offset.is_some())
            && !(1..9_999).contains(&day.year())
        {
            return None;
        }
        self.is_changed = true;
        match moment.time {
            None => self.days += 1,
            Some(Time { offset, .. }) => {
                self.times += 1;
                self.zoned += u64::from(offset.is_some());
                self.has_offsets |=
                    self.offset.is_some() && offset.is_some() && self.offset != offset;
                self.offset = self.offset.or(offset);
            }
        }
        Some(())
    }

    fn open_orders(&self) -> impl Iterator<Item = DateOrder> + '_ {
        DateOrder::ALL
            .into_iter()
            .zip(self.orders)
            .filter(|(_, is_open)| *is_open)
            .map(|(order, _)| order)
    }

    /// The column, or why its dates stay text; `None` if not all values are dates.
    pub(super) fn decide(&self) -> Option<Result<Decided, String>> {
        let form = self.form.filter(|_| self.is_open)?;
        if self.zoned > 0 && self.zoned < self.days + self.times {
            return Some(Err("stays text: some times have a zone, others have none".to_owned()));
        }
        let orders: Vec<DateOrder> = self.open_orders().collect();
        let is_open = matches!(form, Form::Numbers(_));
        let is_same = !self.differs && !orders.contains(&DateOrder::YearMonthDay);
        let order = *orders.first()?;
        if is_open && orders.len() > 1 && !is_same {
            let names: Vec<&str> = orders.iter().map(|order| order.name()).collect();
            let names = names.join(" or ");
            return Some(Err(format!(
                "stays text: its dates fit the orders {names}; `--date-order {}` decides",
                names.replace(" or ", "|")
            )));
        }
        Some(Ok(Decided { order, has_times: self.times > 0, notes: self.notes(form, order) }))
    }

    fn notes(&self, form: Form, order: DateOrder) -> Vec<String> {
        let mut notes = Vec::new();
        if self.zoned > 0 {
            let zones = if self.has_offsets { "; the file has several zones" } else { "" };
            notes.push(format!("in UTC{zones}"));
        }
        let stored =
            if self.times > 0 { "stored as YYYY-MM-DD HH:MM:SS" } else { "stored as YYYY-MM-DD" };
        if matches!(form, Form::Numbers(_)) {
            notes.push(format!("written in the order {}, {stored}", order.name()));
        } else if self.is_changed {
            notes.push(stored.to_owned());
        }
        if self.is_short {
            notes.push("years of two digits are 1969 to 2068".to_owned());
        }
        notes
    }
}
