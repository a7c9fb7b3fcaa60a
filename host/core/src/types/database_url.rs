//! The address of a database, as configuration, suites and journals write it.

use std::fmt;
use std::path::{Path, PathBuf};

/// The address of a database: a path, or a scheme and what follows it.
///
/// `shop.sqlite` is a path, and so is `C:\data\shop.sqlite`, since a single letter is a drive.
/// `sqlite:shop.sqlite` and `postgres://ann@localhost/shop` have a scheme: at least two letters,
/// digits, `+` or `-` before the first colon. Which schemes exist is not known here.
///
/// `Display` and `Debug` show `***` in place of passwords; [`expose`](Self::expose) is the whole
/// address.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DatabaseUrl {
    text: String,
    /// Bytes of the scheme, 0 for a path.
    scheme: usize,
}

/// Parts of the names of parameters whose values are secrets (`password=…`, `access_token=…`).
const SECRETS: [&str; 12] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "token",
    "secret",
    "apikey",
    "api_key",
    "privatekey",
    "private_key",
    "credential",
    "authorization",
];
/// The text in place of a secret.
const MASK: &str = "***";

impl DatabaseUrl {
    /// Reads an address. White space around it does not count. Every text is an address, perhaps
    /// one of a file that does not exist.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim().to_owned();
        let scheme = text
            .split_once(':')
            .filter(|(scheme, rest)| is_scheme(scheme, rest))
            .map_or(0, |(scheme, _)| scheme.len());
        Self { text, scheme }
    }

    /// The address of a file, whatever its name looks like: `a1:b.sqlite` becomes `./a1:b.sqlite`.
    #[must_use]
    pub fn from_path(path: &Path) -> Self {
        let text = path.display().to_string();
        let parsed = Self::parse(&text);
        match parsed.scheme > 0 || parsed.text.len() < text.trim_end().len() {
            true => Self { text: format!("./{text}"), scheme: 0 },
            false => Self { text, scheme: 0 },
        }
    }

    /// The scheme in lower case; `None` for a path.
    #[must_use]
    pub fn scheme(&self) -> Option<String> {
        (self.scheme > 0).then(|| self.text[..self.scheme].to_ascii_lowercase())
    }

    /// Returns what follows the scheme and its colon, secrets included; of a path all of it.
    #[must_use]
    pub fn rest(&self) -> &str {
        if self.scheme == 0 { &self.text } else { &self.text[self.scheme + 1..] }
    }

    /// The path that it names, if its scheme is that of an engine that reads files: the rest
    /// without `//`.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let rest = self.rest();
        PathBuf::from(if self.scheme == 0 { rest } else { rest.strip_prefix("//").unwrap_or(rest) })
    }

    /// Returns whether the address names nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    /// The whole address, secrets included. It is for whoever connects, and never for people, files
    /// or logs.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// The secrets of the address, as they are written in it and as they are sent, where that
    /// differs: the password before `@` and the values of parameters such as `password`.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        let written: Vec<&str> =
            self.secret_places().into_iter().map(|(begin, end)| &self.text[begin..end]).collect();
        let sent = written
            .iter()
            .flat_map(|text| [decode_percent(text), unquote(text), strip_braces(text)])
            .flatten();
        let sent: Vec<String> = sent.collect();
        written.into_iter().map(str::to_owned).chain(sent).collect()
    }

    /// Returns the places of the secrets, as ranges of bytes in order.
    fn secret_places(&self) -> Vec<(usize, usize)> {
        let mut places = self
            .option_places()
            .unwrap_or_else(|| self.pair_places().into_iter().chain(self.url_places()).collect());
        places.retain(|(begin, end)| begin < end);
        places.sort_unstable();
        places.dedup_by(|later, earlier| {
            let overlap = later.0 <= earlier.1;
            if overlap {
                earlier.1 = earlier.1.max(later.1);
            }
            overlap
        });
        places
    }

    /// The secrets of options with semicolons before them, as in
    /// `adbc:DRIVER;uri=postgresql://ann:pw@h;token=t`; `None` if there are none. An option ends at
    /// the next semicolon outside of quotes, and may be an address by itself, with or without a
    /// scheme, or the connection string of ODBC.
    fn option_places(&self) -> Option<Vec<(usize, usize)>> {
        let is_url = self.rest().starts_with("//");
        let first = self
            .rest()
            .find(';')
            .filter(|at| self.scheme > 0 && !is_url && !self.rest()[..*at].contains('='))?;
        let mut places = Vec::new();
        let mut begin = self.text.len() - self.rest().len() + first + 1;
        for option in split_options(&self.text[begin..]) {
            if let Some((name, value)) = option.split_once('=') {
                let from = begin + name.len() + 1;
                let (from, value) = match unquote_option(value) {
                    Some(_) => (from + 1, &value[1..value.len() - 1]),
                    None => (from, value),
                };
                if is_secret(name) {
                    places.push((from, from + value.len()));
                } else {
                    let within = string_places(value).chain(parameter_places(value));
                    places.extend(within.map(|(begin, end)| (from + begin, from + end)));
                    let server = value.find("://").map_or(0, |at| at + 3);
                    let (password, _) = user_part(&value[server..]);
                    places.extend(
                        password.map(|(begin, end)| (from + server + begin, from + server + end)),
                    );
                }
            }
            begin += option.len() + 1;
        }
        Some(places)
    }

    /// The secrets of pairs such as `host=h password='p w'`, also where nobody wrote a scheme
    /// before them.
    fn pair_places(&self) -> Vec<(usize, usize)> {
        let start = if self.scheme == 0 { 0 } else { self.scheme + 1 };
        let is_pairs = self.scheme > 0
            || self.text.split_whitespace().any(|pair: &str| {
                ["host=", "hostaddr=", "user=", "dbname="].iter().any(|name| pair.starts_with(name))
            });
        if !is_pairs || self.text[start..].starts_with("//") {
            return Vec::new();
        }
        let mut places = Vec::new();
        let mut at = start;
        while let Some(equals) = self.text[at..].find('=').map(|equals| at + equals) {
            let name = self.text[at..equals]
                .trim_end()
                .rsplit(char::is_whitespace)
                .next()
                .unwrap_or_default();
            let begin = equals + 1 + self.text[equals + 1..].len()
                - self.text[equals + 1..].trim_start().len();
            let end = begin + value_length(&self.text[begin..]);
            if is_secret(name) {
                places.push((begin, end));
            }
            at = end;
        }
        places
    }

    fn url_places(&self) -> Vec<(usize, usize)> {
        if self.scheme == 0 {
            return Vec::new();
        }
        let mut places = Vec::new();
        let mut at = self.scheme + 1;
        if self.text[at..].starts_with("//") {
            at += 2;
            let (password, end) = user_part(&self.text[at..]);
            places.extend(password.map(|(begin, end)| (at + begin, at + end)));
            at += end;
        }
        places
            .extend(parameter_places(&self.text[at..]).map(|(begin, end)| (at + begin, at + end)));
        places
    }
}

/// The secrets among the parameters of an address, as ranges of bytes.
fn parameter_places(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut begin = 0;
    text.split(|c: char| matches!(c, '?' | '&' | ';' | '#') || c.is_whitespace()).filter_map(
        move |part| {
            let from = begin;
            begin += part.len();
            begin += text[begin..].chars().next().map_or(0, char::len_utf8);
            let (name, value) = part.split_once('=').filter(|(name, _)| is_secret(name))?;
            let from = from + name.len() + 1;
            Some((from, from + value.len()))
        },
    )
}

/// Returns where the password before the server is in what follows `//`, and where the user and the
/// password end.
fn user_part(text: &str) -> (Option<(usize, usize)>, usize) {
    // A password may contain `/` and `@` where somebody did not escape it: the last `@` before the
    // parameters counts, or the last of all where the password may have begun the parameters.
    let before = text.find(['?', '#', ';']).unwrap_or(text.len());
    let after_colon = text[..before].split_once(':').map_or("", |(_, after)| after);
    let is_port = after_colon
        .split(['/', ','])
        .next()
        .unwrap_or_default()
        .bytes()
        .all(|b| b.is_ascii_digit());
    let before = match text[..before].contains('@') || is_port || text.starts_with('[') {
        true => before,
        false => text.len(),
    };
    let Some(end) = text[..before].rfind('@') else {
        return (None, 0);
    };
    (text[..end].find(':').map(|colon| (colon + 1, end)), end)
}

/// Returns whether the value of a parameter of that name is a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRETS.iter().any(|secret| name.contains(secret))
}

/// Bytes of a value in pairs, which may stand in single quotes and have backslashes before letters.
fn value_length(text: &str) -> usize {
    let is_quoted = text.starts_with('\'');
    let mut letters = text.char_indices().skip(usize::from(is_quoted));
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '\'' if is_quoted => return at + 1,
            _ if !is_quoted && letter.is_whitespace() => return at,
            _ => {}
        }
    }
    text.len()
}

/// The text without its `%` codes; `None` if it has none.
fn decode_percent(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code =
            tail.get(..2).filter(|_| first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(bytes).ok().filter(|sent| sent != text)
}

/// The text without quotes and backslashes of pairs; `None` if it has none.
fn unquote(text: &str) -> Option<String> {
    let inner = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or(text);
    let mut sent = String::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        sent.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    (sent != text).then_some(sent)
}

/// Splits the options of an address at the semicolons between them. A value that begins with a
/// quotation mark, `"` or `'`, ends with the same one, which is written twice within it:
/// `uri="Driver=x;Server=h";token=t`.
pub fn split_options(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = text
            .find(';')
            .map(|end| end.max(find_quote_end(text)))
            .and_then(|from| Some(from + text[from..].find(';')?));
        rest = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

/// Returns the text of a value in quotation marks; `None` if it begins with none, or they do not
/// end where it does.
#[must_use]
pub fn unquote_option(value: &str) -> Option<String> {
    let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let inner = value[1..].strip_suffix(quote)?;
    (quote_length(value) == value.len())
        .then(|| inner.replace(&format!("{quote}{quote}"), &quote.to_string()))
}

/// Returns the end of the quotation marks around the first option's value; 0 where there are none,
/// or they have no end.
fn find_quote_end(text: &str) -> usize {
    let Some(equals) = text.find('=') else { return 0 };
    if text[..equals].contains(';') || !text[equals + 1..].starts_with(['"', '\'']) {
        return 0;
    }
    match quote_length(&text[equals + 1..]) {
        0 => 0,
        length => equals + 1 + length,
    }
}

/// Bytes of the quoted text at the beginning, with its marks; 0 if it has no end.
fn quote_length(text: &str) -> usize {
    let quote = text.chars().next().unwrap_or_default();
    let mut letters = text
        .char_indices()
        .skip(1)
        .filter(|(_, letter)| *letter == quote)
        .map(|(at, _)| at)
        .peekable();
    while let Some(at) = letters.next() {
        if letters.next_if_eq(&(at + 1)).is_none() {
            return at + 1;
        }
    }
    0
}

/// The secrets of a connection string of ODBC such as `Driver=x;Uid=ann;Pwd={p;w}`, as ranges of
/// bytes. A value in braces may hold semicolons.
fn string_places(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut begin = 0;
    std::iter::from_fn(move || {
        while begin < text.len() {
            let rest = &text[begin..];
            let equals = rest.find(['=', ';']).unwrap_or(rest.len());
            let value = rest.get(equals + 1..).unwrap_or_default();
            let is_pair = rest[equals..].starts_with('=');
            let braced = if is_pair && value.starts_with('{') { brace_length(value) } else { 0 };
            let length = if is_pair {
                braced + value[braced..].find(';').unwrap_or(value.len() - braced)
            } else {
                0
            };
            let from = begin + equals + 1;
            begin = from + if is_pair { length + 1 } else { 0 };
            if is_pair && is_secret(rest[..equals].trim()) {
                return Some((from, from + length));
            }
        }
        None
    })
}

/// Bytes of the text in braces at the beginning, in which `}}` is a brace.
fn brace_length(text: &str) -> usize {
    let mut braces = text.match_indices('}').map(|(at, _)| at).peekable();
    while let Some(at) = braces.next() {
        if braces.next_if_eq(&(at + 1)).is_none() {
            return at + 1;
        }
    }
    0
}

/// The text without the braces of ODBC; `None` if it has none.
fn strip_braces(text: &str) -> Option<String> {
    Some(text.strip_prefix('{')?.strip_suffix('}')?.replace("}}", "}"))
}

/// The secrets within the connection string of a driver, as a server gets them.
#[must_use]
pub fn string_secrets(text: &str) -> Vec<String> {
    let written = string_places(text).map(|(begin, end)| &text[begin..end]);
    written.map(|secret| strip_braces(secret).unwrap_or_else(|| secret.to_owned())).collect()
}

/// Returns true if a text before a colon is a scheme. Other programs have drivers with `_` in their
/// names, as in `oracle+cx_oracle://`, and files may have it too.
fn is_scheme(text: &str, rest: &str) -> bool {
    text.len() > 1
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| match c {
            '+' | '-' => true,
            '_' => rest.starts_with("//"),
            c => c.is_ascii_alphanumeric(),
        })
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut from = 0;
        for (begin, end) in self.secret_places() {
            write!(f, "{}{MASK}", &self.text[from..begin])?;
            from = end;
        }
        f.write_str(&self.text[from..])
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_is_told_from_a_path() {
        for (text, scheme, path) in [
            ("shop.sqlite", None, "shop.sqlite"),
            (" shop.sqlite\n", None, "shop.sqlite"),
            ("sqlite:shop.sqlite", Some("sqlite"), "shop.sqlite"),
            ("SQLite://a/b.db", Some("sqlite"), "a/b.db"),
            ("sqlite:///a/b.db", Some("sqlite"), "/a/b.db"),
            ("duckdb:C:\\a.duckdb", Some("duckdb"), "C:\\a.duckdb"),
            ("C:\\data\\shop.sqlite", None, "C:\\data\\shop.sqlite"),
            ("c:shop.sqlite", None, "c:shop.sqlite"),
            ("./a1:b.sqlite", None, "./a1:b.sqlite"),
            ("a.b:c", None, "a.b:c"),
            ("a_b:c", None, "a_b:c"),
            ("oracle+cx_oracle://h", Some("oracle+cx_oracle"), "h"),
            ("sc://host:15002", Some("sc"), "host:15002"),
            (":memory:", None, ":memory:"),
            ("", None, ""),
        ] {
            let url = DatabaseUrl::parse(text);
            assert_eq!(
                (url.scheme().as_deref(), url.path()),
                (scheme, PathBuf::from(path)),
                "{text}"
            );
        }
    }

    #[test]
    fn the_path_of_a_file_stays_one() {
        for path in ["shop.sqlite", "a1:b.sqlite", "/a:b/c.db", " x.db", "C:/x.db"] {
            let url = DatabaseUrl::parse(DatabaseUrl::from_path(Path::new(path)).expose());
            assert_eq!(url.scheme(), None, "{path}");
            assert!(url.path().ends_with(path), "{path} became {url}");
        }
    }

    #[test]
    fn options_end_at_semicolons_outside_of_quotes() {
        for (text, options) in [
            ("a=1;b=2", vec!["a=1", "b=2"]),
            ("uri=\"a;b\";c=3;", vec!["uri=\"a;b\"", "c=3", ""]),
            ("a='x;''y;';b=\";\"", vec!["a='x;''y;'", "b=\";\""]),
            ("a=it's;b=2", vec!["a=it's", "b=2"]),
            ("a=\"no end;b=2", vec!["a=\"no end", "b=2"]),
            ("", vec![""]),
        ] {
            assert_eq!(split_options(text).collect::<Vec<_>>(), options, "{text}");
        }
        for (value, text) in [
            ("\"a;b\"", Some("a;b")),
            ("'it''s'", Some("it's")),
            ("\"a\"b\"", None),
            ("a", None),
            ("\"", None),
        ] {
            assert_eq!(unquote_option(value).as_deref(), text, "{value}");
        }
    }

    #[test]
    fn passwords_are_never_shown() {
        for (text, shown, secrets) in [
            ("postgres://ann@h/shop", "postgres://ann@h/shop", vec![]),
            ("postgres://ann:pw@h:5432/shop?x=1", "postgres://ann:***@h:5432/shop?x=1", vec!["pw"]),
            ("postgres://ann:p/w@d:e@h/shop", "postgres://ann:***@h/shop", vec!["p/w@d:e"]),
            ("postgres://:pw@h", "postgres://:***@h", vec!["pw"]),
            ("oracle+cx_oracle://ann:pw@h", "oracle+cx_oracle://ann:***@h", vec!["pw"]),
            (
                "postgres://h/shop?user=ann&password=pw#x",
                "postgres://h/shop?user=ann&password=***#x",
                vec!["pw"],
            ),
            (
                "postgres:host=h Password=pw dbname=d",
                "postgres:host=h Password=*** dbname=d",
                vec!["pw"],
            ),
            (
                "databricks://token:dapi@h/w?access_token=t1",
                "databricks://token:***@h/w?access_token=***",
                vec!["dapi", "t1"],
            ),
            (
                "adbc:x.so;uri=u;adbc.password=é;y=ü",
                "adbc:x.so;uri=u;adbc.password=***;y=ü",
                vec!["é"],
            ),
            ("password=pw.sqlite", "password=pw.sqlite", vec![]),
            (
                "adbc:pg;uri=postgresql://ann:pw@h/db",
                "adbc:pg;uri=postgresql://ann:***@h/db",
                vec!["pw"],
            ),
            (
                "adbc:pg;uri=postgresql://ann:p@w@h/db?sslpassword=k;x=1",
                "adbc:pg;uri=postgresql://ann:***@h/db?sslpassword=***;x=1",
                vec!["p@w", "k"],
            ),
            (
                "adbc:snow;uri=ann:pw@account/shop?x=y",
                "adbc:snow;uri=ann:***@account/shop?x=y",
                vec!["pw"],
            ),
            ("adbc:x;db.password=p w&q;uri=u", "adbc:x;db.password=***;uri=u", vec!["p w&q"]),
            (
                "adbc:f;uri=grpc://h:80;a.authorization_header=Bearer t",
                "adbc:f;uri=grpc://h:80;a.authorization_header=***",
                vec!["Bearer t"],
            ),
            (
                "adbc:s;jwt_private_key_pkcs8_value=k;path=/a:b",
                "adbc:s;jwt_private_key_pkcs8_value=***;path=/a:b",
                vec!["k"],
            ),
            (
                "adbc:o;uri=\"Driver=/x.so;Server=h;Uid=a;PWD=p w;Port=1\";x=1",
                "adbc:o;uri=\"Driver=/x.so;Server=h;Uid=a;PWD=***;Port=1\";x=1",
                vec!["p w"],
            ),
            (
                "adbc:o;uri='DSN=h;Password={p;w}};x}';token='t;1'",
                "adbc:o;uri='DSN=h;Password=***';token='***'",
                vec!["{p;w}};x}", "t;1", "p;w};x"],
            ),
            ("adbc:o;uri=\"DSN=h;PWD=p", "adbc:o;uri=\"DSN=h;PWD=***", vec!["p"]),
            ("postgres://ann:p%40w@h/", "postgres://ann:***@h/", vec!["p%40w", "p@w"]),
            ("postgres://ann:p?w@h/", "postgres://ann:***@h/", vec!["p?w"]),
            ("postgres://h:5432/d?user=a@b", "postgres://h:5432/d?user=a@b", vec![]),
            (
                "postgres:password = 'p \\'w' host=h",
                "postgres:password = *** host=h",
                vec!["'p \\'w'", "p 'w"],
            ),
            (
                "host=h password=p\\ w dbname=d",
                "host=h password=*** dbname=d",
                vec!["p\\ w", "p w"],
            ),
        ] {
            let url = DatabaseUrl::parse(text);
            let secrets: Vec<String> = secrets.into_iter().map(str::to_owned).collect();
            assert_eq!((url.to_string().as_str(), url.secrets()), (shown, secrets));
            assert_eq!(format!("{url:?}"), format!("DatabaseUrl({shown})"));
            assert_eq!(url.expose(), text);
        }
    }
}
