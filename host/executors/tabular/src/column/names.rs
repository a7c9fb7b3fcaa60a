//! Names of months and days of the week.

/// English names of months, and those of other languages that are none of another month.
const MONTHS: [&[&str]; 12] = [
    &[
        "january", "jan", "januar", "janvier", "janv", "enero", "ene", "gennaio", "gen", "janeiro",
        "januari",
    ],
    &[
        "february",
        "feb",
        "februar",
        "février",
        "févr",
        "fév",
        "febrero",
        "febbraio",
        "fevereiro",
        "fev",
        "februari",
    ],
    &["march", "mar", "märz", "mär", "mrz", "mars", "marzo", "março", "maart", "mrt"],
    &["april", "apr", "avril", "avr", "abril", "abr", "aprile"],
    &["may", "mai", "mayo", "maggio", "mag", "maio", "mei"],
    &["june", "jun", "juni", "juin", "junio", "giugno", "giu", "junho"],
    &["july", "jul", "juli", "juillet", "juil", "julio", "luglio", "lug", "julho"],
    &["august", "aug", "août", "agosto", "ago", "augustus"],
    &["september", "sep", "sept", "septembre", "septiembre", "settembre", "set", "setembro"],
    &["october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre", "ott", "outubro", "out"],
    &["november", "nov", "novembre", "noviembre", "novembro"],
    &[
        "december",
        "dec",
        "dezember",
        "dez",
        "décembre",
        "déc",
        "diciembre",
        "dic",
        "dicembre",
        "dezembro",
    ],
];

/// English days of the week by their first letters.
const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The month of that name, from 1.
pub(super) fn month(word: &str) -> Option<u32> {
    if word.len() < 3 || word.as_bytes()[0].is_ascii_digit() {
        return None;
    }
    let word = word.to_lowercase();
    (1..).zip(MONTHS).find(|(_, names)| names.contains(&word.as_str())).map(|(number, _)| number)
}

/// Returns true if a word is a day of the week, whole or by its first three letters or more.
pub(super) fn is_weekday(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.len() >= 3 && WEEKDAYS.iter().any(|day| day.starts_with(&word))
}
