//! The address of a server, as the clients of servers write it: who connects to which hosts, a
//! path, and parameters. What each means is said by the engine.

use std::net::IpAddr;

use secrecy::SecretString;

/// The parts of `user:password@host:port,host:port/path?name=value&name=value`, of which each may
/// be missing.
pub struct ServerAddress {
    /// The user, without its `%` codes.
    pub user: Option<String>,
    /// The password, without its `%` codes; `None` if it is empty.
    pub password: Option<SecretString>,
    /// The hosts with their ports, as they are written.
    pub hosts: String,
    /// The part behind the first slash, as it is written.
    pub path: String,
    /// The parameters in order, without their `%` codes.
    pub parameters: Vec<(String, String)>,
}

impl ServerAddress {
    /// Reads what follows the scheme and `//`. `before` stands before the parameters, and `between`
    /// between two of them.
    ///
    /// # Errors
    /// The error in the address, without any part of it.
    pub fn parse(text: &str, before: char, between: char) -> Result<Self, String> {
        let (rest, parameters) = text.split_once(before).unwrap_or((text, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, hosts) = match authority.rsplit_once('@') {
            Some((login, hosts)) => (Some(login), hosts),
            None => (None, authority),
        };
        let (user, password) = match login.and_then(|login| login.split_once(':')) {
            Some((user, password)) => (Some(user), password),
            None => (login, ""),
        };
        let parameters = parameters.split(between).filter(|pair| !pair.is_empty());
        let parameters = parameters.map(|pair| match pair.split_once('=') {
            Some((name, value)) => Ok((decode_percent(name)?, decode_percent(value)?)),
            None => Err("a parameter of the address has no value".to_owned()),
        });
        let password = decode_percent(password)?;
        Ok(Self {
            user: user.map(decode_percent).transpose()?,
            password: (!password.is_empty()).then(|| password.into()),
            hosts: hosts.to_owned(),
            path: path.to_owned(),
            parameters: parameters.collect::<Result<_, _>>()?,
        })
    }
}

/// Splits `host:port`, where the host may be an IPv6 address in brackets.
#[must_use]
pub fn split_port(host: &str) -> (&str, Option<&str>) {
    let end = host.rfind(']').map_or(0, |end| end + 1);
    match host[end..].find(':') {
        Some(colon) => (&host[..end + colon], Some(&host[end + colon + 1..])),
        None => (host, None),
    }
}

/// Returns true if what is sent to a host stays on this machine.
#[must_use]
pub fn is_local_host(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Returns a part of an address without its `%` codes.
///
/// # Errors
/// When a code is wrong, or stands for a NUL or for what is not UTF-8.
pub fn decode_percent(text: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let code = tail.get(..2).and_then(|code| str::from_utf8(code).ok());
        let byte =
            code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|byte| *byte != 0);
        bytes.push(byte.ok_or(
            "the address has a `%` without two hexadecimal digits; write `%25` for a percent sign",
        )?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).map_err(|_| "the address is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn the_parts_of_an_address_are_read() {
        for (text, user, password, hosts, path) in [
            ("h", None, None, "h", ""),
            ("ann@h:1,[::1]:2/shop", Some("ann"), None, "h:1,[::1]:2", "shop"),
            ("a%20b:p%40%3a@h/a%2Fb", Some("a b"), Some("p@:"), "h", "a%2Fb"),
            ("ann:@h", Some("ann"), None, "h", ""),
            ("a:p@q@/", Some("a"), Some("p@q"), "", ""),
        ] {
            let read = ServerAddress::parse(text, '?', '&').unwrap();
            let given = read.password.as_ref().map(ExposeSecret::expose_secret);
            assert_eq!((read.user.as_deref(), given), (user, password), "{text}");
            assert_eq!((read.hosts.as_str(), read.path.as_str()), (hosts, path), "{text}");
        }
        let parameters = [("x".to_owned(), "1=2".to_owned()), ("y".to_owned(), String::new())];
        let url = ServerAddress::parse("h/?x=1%3d2&&y=", '?', '&').unwrap();
        assert_eq!((url.hosts.as_str(), url.parameters.as_slice()), ("h", &parameters[..]));
        let list = ServerAddress::parse("h/;x=1=2;y=", ';', ';').unwrap();
        assert_eq!((list.path.as_str(), list.parameters.as_slice()), ("", &parameters[..]));
        for wrong in ["h?secret", "h?x=%2", "h?x=%00", "h?x=%ff", "a:%zz@h", "%1é@h"] {
            let error = ServerAddress::parse(wrong, '?', '&').err().unwrap();
            assert!(!error.contains("secret"), "{wrong}: {error}");
        }
    }

    #[test]
    fn hosts_are_split_from_their_ports_and_told_from_this_machine() {
        for (text, host, port, is_local) in [
            ("h", "h", None, false),
            ("h:1", "h", Some("1"), false),
            ("[::1]:1", "[::1]", Some("1"), true),
            ("[::2]", "[::2]", None, false),
            ("127.0.0.9:", "127.0.0.9", Some(""), true),
            ("localhost", "localhost", None, true),
            ("", "", None, false),
        ] {
            assert_eq!(split_port(text), (host, port), "{text}");
            assert_eq!(is_local_host(host), is_local, "{text}");
        }
    }
}
