//! Numbers as people write them: with marks between thousands, a decimal comma, the sign of a
//! currency or of per cent, and in brackets where they are negative.

use syrch_core::imports::Decimal;

use super::marker::values;
use crate::cell::{Cell, ColumnType, integer, real};

/// Bytes of a number at most.
const LONGEST: usize = 64;

/// Signs and codes of currencies that stand before or after an amount; the longer of two that begin
/// alike comes first.
const UNITS: [&str; 52] = [
    PER_CENT, "US$", "AU$", "CA$", "NZ$", "HK$", "A$", "C$", "R$", "S$", "$", "€", "£", "¥", "￥",
    "₹", "₽", "₺", "₩", "₪", "₫", "₴", "₦", "฿", "zł", "kr.", "kr", "Kč", "Ft", "Fr.", "USD",
    "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "AUD", "CAD", "NZD", "SEK", "NOK", "DKK", "PLN",
    "CZK", "HUF", "BRL", "MXN", "ZAR", "TRY", "SGD", "HKD",
];

/// The least digits of a telephone number with its area.
const TELEPHONE: usize = 9;

/// The sign of per cent.
const PER_CENT: &str = "%";

/// The mark between groups of three digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    /// The one of comma and point that does not stand before decimals.
    Mark,
    Blank,
    Apostrophe,
}

impl Group {
    fn for_letter(letter: char, decimal: Decimal) -> Option<Self> {
        match letter {
            _ if letter == decimal.other().mark() => Some(Self::Mark),
            ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' => Some(Self::Blank),
            '\'' | '\u{2019}' => Some(Self::Apostrophe),
            _ => None,
        }
    }

    fn describe(self, decimal: Decimal) -> String {
        match self {
            Self::Mark => format!("`{}`", decimal.other().mark()),
            Self::Blank => "a blank".to_owned(),
            Self::Apostrophe => "an apostrophe".to_owned(),
        }
    }
}

/// The number of digits between two marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grouping {
    /// Three and two are the same here: `12,345`.
    Either,
    /// Three throughout: `123,456,789`.
    Thousands,
    /// Three, and two before them, as in India: `12,34,567`.
    Lakhs,
}

/// The runs of digits between marks, from the first one on.
#[derive(Debug, Clone, Copy, Default)]
struct Runs {
    count: u32,
    first: u32,
    /// True if all between the first and the last have three digits, or two.
    are_threes: bool,
    are_twos: bool,
}

impl Runs {
    /// Takes a run that a mark ends.
    fn add(&mut self, digits: u32) {
        if self.count == 0 {
            *self = Self { count: 1, first: digits, are_threes: true, are_twos: true };
            return;
        }
        self.count += 1;
        self.are_threes &= digits == 3;
        self.are_twos &= digits == 2;
    }

    /// The grouping of a number whose last run has so many digits; `None` if there is no such
    /// grouping. Only commas and points stand two digits apart.
    fn grouping(self, last: u32, group: Group) -> Option<Grouping> {
        if last != 3 || !(1..=3).contains(&self.first) {
            return None;
        }
        match (self.count, self.first) {
            (1, 3) => Some(Grouping::Thousands),
            (1, _) => Some(Grouping::Either),
            _ if self.are_threes => Some(Grouping::Thousands),
            _ if self.are_twos && self.first < 3 && group == Group::Mark => Some(Grouping::Lakhs),
            _ => None,
        }
    }
}

/// A number as it is written: its digits and marks, and what stands around them.
#[derive(Debug, Clone, Copy)]
struct Written<'a> {
    digits: &'a str,
    is_negative: bool,
    /// True if brackets say that it is negative.
    is_bracketed: bool,
    unit: Option<&'static str>,
}

impl<'a> Written<'a> {
    /// Takes apart a text without blanks around it; `None` if it cannot be a number.
    fn read(text: &'a str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let mut read = Self { digits: text, is_negative: false, is_bracketed: false, unit: None };
        let mut length = usize::MAX;
        while read.digits.len() < length {
            length = read.digits.len();
            read.strip_sign();
            read.strip_unit();
        }
        // Some accounting programs write the sign behind an amount with decimals.
        if let Some(rest) = read.digits.strip_suffix(['-', '\u{2212}'])
            && !read.is_negative
            && rest.contains([',', '.'])
        {
            read.is_negative = true;
            read.digits = rest.trim_end();
        }
        read.digits
            .starts_with(|letter: char| letter.is_ascii_digit() || letter == ',' || letter == '.')
            .then_some(read)
    }

    fn strip_sign(&mut self) {
        if self.is_negative {
            return;
        }
        let bracketed = self.digits.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        if let Some(rest) = bracketed.or_else(|| self.digits.strip_prefix(['-', '\u{2212}'])) {
            self.is_negative = true;
            self.is_bracketed = bracketed.is_some();
            self.digits = rest.trim();
        }
    }

    fn strip_unit(&mut self) {
        fn ends_number(letter: Option<u8>) -> bool {
            letter.is_some_and(|byte| byte.is_ascii_digit() || byte == b')')
        }
        let bytes = self.digits.as_bytes();
        if self.unit.is_some()
            || (ends_number(bytes.first().copied()) && ends_number(bytes.last().copied()))
        {
            return;
        }
        let found = UNITS.iter().find_map(|unit| {
            let rest = self.digits.strip_prefix(unit).or_else(|| self.digits.strip_suffix(unit))?;
            Some((*unit, rest))
        });
        if let Some((unit, rest)) = found {
            self.unit = Some(unit);
            self.digits = rest.trim();
        }
    }

    /// The number with a decimal point and nothing between its digits, and the mark that stood
    /// there; `None` if it is none with that mark before its decimals.
    fn plain(&self, decimal: Decimal) -> Option<(String, Option<(Group, Grouping)>)> {
        let mut plain = String::with_capacity(self.digits.len() + 2);
        plain.extend(self.is_negative.then_some('-'));
        let end = self.digits.find([decimal.mark(), 'e', 'E']).unwrap_or(self.digits.len());
        let (whole, rest) = self.digits.split_at(end);
        let mut group = None;
        let mut run = 0;
        let mut runs = Runs::default();
        for letter in whole.chars() {
            if letter.is_ascii_digit() {
                plain.push(letter);
                run += 1;
                continue;
            }
            let found = Group::for_letter(letter, decimal)?;
            if group.is_some_and(|known| known != found) {
                return None;
            }
            group = Some(found);
            runs.add(run);
            run = 0;
        }
        let grouped = match group {
            None => None,
            Some(_) if rest.contains(['e', 'E']) => return None,
            Some(group) => Some((group, runs.grouping(run, group)?)),
        };
        if whole.is_empty() {
            plain.push('0');
        }
        match rest.strip_prefix(decimal.mark()) {
            Some(fraction) => {
                plain.push('.');
                plain.push_str(fraction);
            }
            None => plain.push_str(rest),
        }
        Some((plain, grouped))
    }

    /// The number of digits, if there are no marks but plain blanks between them, and at least one.
    fn blank_grouped(&self) -> Option<usize> {
        let is_bare = !self.is_negative && self.unit.is_none() && self.digits.contains(' ');
        let digits = self.digits.bytes().filter(u8::is_ascii_digit).count();
        (is_bare && self.digits.bytes().all(|byte| byte == b' ' || byte.is_ascii_digit()))
            .then_some(digits)
    }
}

/// Reads a number with that mark before its decimals. The text has no blanks around it.
pub(super) fn read(text: &str, decimal: Decimal) -> Option<Cell<'static>> {
    let (plain, _) = Written::read(text)?.plain(decimal)?;
    whole(&plain).map(Cell::Integer).or_else(|| real(&plain).map(Cell::Real))
}

/// A whole number; a nothing in brackets is one too.
fn whole(plain: &str) -> Option<i64> {
    if plain == "-0" { Some(0) } else { integer(plain) }
}

/// The values of a column read with one mark before decimals.
#[derive(Debug, Clone, Copy)]
struct Form {
    decimal: Decimal,
    /// The mark between thousands, which is one in all values.
    group: Option<Group>,
    grouping: Grouping,
    is_whole: bool,
    is_real: bool,
}

impl Form {
    fn new(decimal: Decimal, is_open: bool) -> Self {
        Self {
            decimal,
            group: None,
            grouping: Grouping::Either,
            is_whole: is_open,
            is_real: is_open,
        }
    }

    fn is_open(self) -> bool {
        self.is_whole || self.is_real
    }

    fn close(&mut self) {
        self.is_whole = false;
        self.is_real = false;
    }

    fn add(&mut self, written: Written<'_>) {
        let fits = written.plain(self.decimal).filter(|(_, grouped)| {
            grouped.is_none_or(|(group, grouping)| {
                let is_same = |own: Grouping| {
                    own == grouping || own == Grouping::Either || grouping == Grouping::Either
                };
                self.group.is_none_or(|own| own == group) && is_same(self.grouping)
            })
        });
        let Some((plain, grouped)) = fits else {
            self.close();
            return;
        };
        if let Some((group, grouping)) = grouped {
            self.group = Some(group);
            if self.grouping == Grouping::Either {
                self.grouping = grouping;
            }
        }
        self.is_whole = self.is_whole && whole(&plain).is_some();
        self.is_real = self.is_real && (plain == "-0" || real(&plain).is_some());
    }

    fn column_type(self) -> ColumnType {
        if self.is_whole { ColumnType::Integer } else { ColumnType::Real }
    }
}

/// The readings as numbers that all values of a column so far fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    point: Form,
    comma: Form,
    /// True if a value has a mark that the two forms read differently.
    differs: bool,
    unit: Option<&'static str>,
    other_unit: Option<&'static str>,
    with_unit: u64,
    /// Values other than 0 without a unit.
    without_unit: u64,
    is_bracketed: bool,
    /// True if all numbers have as many digits in groups with blanks, which telephone numbers have.
    is_telephone: bool,
    digits: Option<usize>,
}

/// A column of numbers.
pub(super) struct Decided {
    pub(super) decimal: Decimal,
    pub(super) kind: ColumnType,
    pub(super) notes: Vec<String>,
}

impl Numbers {
    pub(super) fn new(decimal: Option<Decimal>) -> Self {
        Self {
            point: Form::new(Decimal::Point, decimal.is_none_or(|given| given == Decimal::Point)),
            comma: Form::new(Decimal::Comma, decimal.is_none_or(|given| given == Decimal::Comma)),
            differs: false,
            unit: None,
            other_unit: None,
            with_unit: 0,
            without_unit: 0,
            is_bracketed: false,
            // Whoever gives the mark before decimals has numbers.
            is_telephone: decimal.is_none(),
            digits: None,
        }
    }

    pub(super) fn close(&mut self) {
        self.point.close();
        self.comma.close();
    }

    pub(super) fn is_open(&self) -> bool {
        self.point.is_open() || self.comma.is_open()
    }

    /// Returns true if the values are other numbers with a decimal comma than with a point.
    pub(super) fn is_open_both_ways(&self) -> bool {
        self.point.is_open() && self.comma.is_open() && self.differs
    }

    /// Takes a value without blanks around it into account.
    pub(super) fn add(&mut self, text: &str) {
        if text.len() < 16 && integer(text).is_some() {
            // The plainest number is the same in every form.
            self.without_unit += u64::from(text != "0");
            self.is_telephone = false;
            return;
        }
        let Some(written) = Written::read(text) else { return self.close() };
        for form in [&mut self.point, &mut self.comma] {
            if form.is_open() {
                form.add(written);
            }
        }
        let digits = written.blank_grouped().filter(|digits| *digits >= TELEPHONE);
        self.is_telephone &=
            digits.is_some() && self.digits.is_none_or(|known| Some(known) == digits);
        self.digits = digits;
        self.differs |= written.digits.contains([',', '.']);
        self.is_bracketed |= written.is_bracketed;
        match written.unit {
            Some(unit) if self.unit.is_none_or(|known| known == unit) => {
                self.unit = Some(unit);
                self.with_unit += 1;
            }
            Some(unit) => self.other_unit = Some(unit),
            None => {
                let is_nothing =
                    written.digits.chars().all(|letter| matches!(letter, '0' | '.' | ','));
                self.without_unit += u64::from(!is_nothing);
            }
        }
    }

    /// The column, or why its numbers stay text; `None` if not all values are numbers.
    pub(super) fn decide(&self) -> Option<Result<Decided, String>> {
        if !self.is_open() {
            return None;
        }
        if let (Some(unit), Some(other)) = (self.unit, self.other_unit) {
            return Some(Err(format!("stays text: some numbers have `{unit}`, others `{other}`")));
        }
        if self.unit == Some(PER_CENT) && self.without_unit > 0 {
            return Some(Err("stays text: some numbers have `%`, others have none".to_owned()));
        }
        if self.is_open_both_ways() {
            return Some(Err(both_ways()));
        }
        if self.is_telephone && self.digits.is_some() {
            let digits = self.digits.unwrap_or_default();
            return Some(Err(format!(
                "stays text: all have {digits} digits in groups with blanks, as telephone numbers; \
                 `--decimal .` makes them numbers"
            )));
        }
        let form = if self.point.is_open() { self.point } else { self.comma };
        let decimal = form.decimal;
        Some(Ok(Decided { decimal, kind: form.column_type(), notes: self.notes(form) }))
    }

    fn notes(&self, form: Form) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(unit) = self.unit {
            let count = self.with_unit;
            notes.push(match (unit, self.without_unit) {
                (PER_CENT, _) => "in per cent (`%`): 12% is the number 12".to_owned(),
                (unit, 0) => format!("in `{unit}`"),
                (unit, _) => format!("{} with `{unit}`, the others without", values(count)),
            });
        }
        let between = if form.grouping == Grouping::Lakhs {
            "thousands, lakhs and crores"
        } else {
            "thousands"
        };
        let group =
            form.group.map(|group| format!("{} between {between}", group.describe(form.decimal)));
        let comma = (form.decimal == Decimal::Comma).then(|| "a decimal comma".to_owned());
        let marks: Vec<String> = group.into_iter().chain(comma).collect();
        if !marks.is_empty() {
            notes.push(format!("written with {}", marks.join(" and ")));
        }
        if self.is_bracketed {
            notes.push("numbers in brackets are negative".to_owned());
        }
        notes
    }
}

/// The note of a column whose numbers can be read in two ways.
pub(super) fn both_ways() -> String {
    "stays text: numbers like `1,234` or `1.234` may have decimals or thousands behind the mark; \
     `--decimal ,` or `--decimal .` decides"
        .to_owned()
}
