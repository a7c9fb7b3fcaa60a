//! The addresses of this machine, to which a key may be sent without encryption.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::{ClientBuilder, Url};

/// Returns whether a URL leads to this machine: `localhost` or a name below it, 127.0.0.0/8, or
/// `::1`.
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    is_local_name(host) || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

fn is_local_name(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

/// Returns whether a key that is sent to a URL goes to another machine without encryption.
#[must_use]
pub fn is_exposed(url: &Url) -> bool {
    url.scheme() != "https" && !is_loopback(url)
}

/// Makes the client resolve `localhost` and names below it to this machine, without asking a name
/// server. Other names are resolved as usual.
pub fn resolve_locally(builder: ClientBuilder, url: &Url) -> ClientBuilder {
    // The port is that of the URL.
    let own = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    match url.host_str().filter(|host| is_local_name(host)) {
        Some(host) => {
            builder.resolve_to_addrs(host, &own.map(|address| SocketAddr::new(address, 0)))
        }
        None => builder,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_url_exposed(url: &str) -> bool {
        is_exposed(&Url::parse(url).unwrap())
    }

    #[test]
    fn only_this_machine_needs_no_encryption() {
        for own in [
            "http://127.0.0.1:11434/v1",
            "http://127.255.255.254",
            "http://localhost/v1/",
            "http://LOCALHOST/v1/",
            "http://a.localhost:1/v1",
            "http://[::1]:9",
            "http://[::ffff:127.0.0.1]/v1",
            "http://2130706433/v1",
            "http://0x7f.1/v1",
        ] {
            assert!(!is_url_exposed(own), "{own}");
        }
        for other in [
            "http://10.0.0.1/v1",
            "http://192.168.1.7:8000/v1",
            "http://0.0.0.0/v1",
            "http://128.0.0.1/v1",
            "http://[::]/v1",
            "http://[::2]/",
            "http://localhost.example/v1",
            "http://127.0.0.1.example",
            "http://notlocalhost/v1",
            "http://localhost./v1",
        ] {
            assert!(is_url_exposed(other), "{other}");
            assert!(!is_url_exposed(&other.replace("http://", "https://")), "{other}");
        }
    }

    proptest! {
        #[test]
        fn every_address_is_reported_by_its_network(address in any::<u32>()) {
            let address = Ipv4Addr::from(address);
            prop_assert_eq!(
                is_url_exposed(&format!("http://{address}/v1")), address.octets()[0] != 127
            );
        }
    }
}
