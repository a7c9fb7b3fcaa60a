//! The networks that addresses belong to: a server elsewhere must not lead a request into one that
//! only this machine can reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The first 96 bits of the addresses by which networks without IPv4 reach it (RFC 6052).
const NAT64: [u16; 6] = [0x64, 0xff9b, 0, 0, 0, 0];

/// The network that an address belongs to, the narrowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Network {
    /// This machine.
    Own,
    /// A network that is not the public one, or an address that is none of a machine.
    Private,
    /// The Internet.
    Public,
}

impl Network {
    /// Returns the network of an address, by the registries of special addresses (RFC 6890).
    #[must_use]
    pub fn from_address(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::from_v4(address),
            IpAddr::V6(address) => Self::from_v6(address),
        }
    }

    fn from_v4(address: Ipv4Addr) -> Self {
        let [a, b, c, _] = address.octets();
        match (a, b, c) {
            (127, _, _) => Self::Own,
            // The unspecified address leads to this machine.
            _ if address.is_unspecified() => Self::Own,
            (0 | 10 | 224.., _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 168, _)
            | (192, 0, 0 | 2)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113) => Self::Private,
            _ => Self::Public,
        }
    }

    fn from_v6(address: Ipv6Addr) -> Self {
        let parts = address.segments();
        if address.is_loopback() || address.is_unspecified() {
            return Self::Own;
        }
        if parts.starts_with(&NAT64) {
            let [.., a, b, c, d] = address.octets();
            return Self::from_v4(Ipv4Addr::new(a, b, c, d));
        }
        // Tunnels, benchmarks and documentation.
        let is_special = matches!(
            (parts[0], parts[1]),
            (0x2001, 0..=0x1ff | 0xdb8) | (0x2002, _) | (0x3fff, 0..=0xfff)
        );
        match (0x2000..=0x3fff).contains(&parts[0]) && !is_special {
            true => Self::Public,
            false => Self::Private,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_addresses_are_not_public() {
        for (network, addresses) in [
            (Network::Own, "127.0.0.1 127.9.9.9 0.0.0.0 ::1 :: ::ffff:127.0.0.1 64:ff9b::7f00:1"),
            (
                Network::Private,
                "10.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 169.254.169.254 100.64.0.1 \
                 192.0.0.8 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 \
                 255.255.255.255 0.0.0.1 fc00::1 fd12::1 fe80::1 ff02::1 2001:db8::1 2002:a00:1:: \
                 2001::1 ::ffff:10.0.0.1 ::10.0.0.1 64:ff9b::a00:1 64:ff9b:1::808:808",
            ),
            (
                Network::Public,
                "8.8.8.8 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1 192.0.1.1 192.167.0.1 \
                 198.17.0.1 203.0.112.1 223.255.255.255 2606:4700::1111 2a00::1 ::ffff:8.8.8.8 \
                 64:ff9b::808:808",
            ),
        ] {
            for address in addresses.split_whitespace() {
                let found = Network::from_address(address.parse().unwrap());
                assert_eq!(found, network, "{address}");
            }
        }
        assert!(Network::Own < Network::Private && Network::Private < Network::Public);
    }
}
