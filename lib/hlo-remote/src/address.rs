//! Addresses of servers.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// The address of a server.
///
/// # Example
/// ```
/// use hlo_remote::Address;
///
/// let address: Address = "127.0.0.1:7070".parse()?;
/// assert!(address.is_local());
/// let address: Address = "unix:/run/hlo.sock".parse()?;
/// assert_eq!(address.to_string(), "unix:/run/hlo.sock");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// A Unix socket in the file system.
    Unix(PathBuf),
    /// A TCP port of a host.
    Tcp {
        /// A host name or an IP address. An IPv6 address has no brackets.
        host: String,
        /// The port.
        port: u16,
    },
}

impl Address {
    /// Returns whether connections to this address stay on this computer: whether it is a Unix socket or a
    /// loopback address.
    pub fn is_local(&self) -> bool {
        match self {
            Address::Unix(_) => true,
            Address::Tcp { host, .. } => match host.parse::<IpAddr>() {
                Ok(address) => address.is_loopback(),
                Err(_) => host.eq_ignore_ascii_case("localhost"),
            },
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected `unix:/path/of/socket` or `host:port`, found `{text}`");
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.is_empty() { Err(expected()) } else { Ok(Address::Unix(path.into())) };
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(expected)?;
        let port = port.parse().map_err(|_| format!("expected a port from 0 to 65535, found `{port}`"))?;
        let host = match host.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').ok_or_else(expected)?,
            None if host.contains(':') => return Err(expected()),
            None => host,
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
        if !host.is_empty() && host.chars().all(is_name) {
            Ok(Address::Tcp { host: host.to_string(), port })
        } else {
            Err(expected())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_printed() {
        for text in ["unix:/a/b", "127.0.0.1:80", "[::1]:7070", "host.example:1", "localhost:0"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        assert_eq!("unix:///a".parse::<Address>().unwrap(), Address::Unix("/a".into()));
        for text in ["", "unix:", "host", ":1", "::1:80", "[::1:80", "a b:1", "http://a:1", "a:65536", "a:"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_loopback_is_local() {
        for text in ["unix:/a", "127.0.0.1:1", "127.3.4.5:1", "[::1]:1", "localhost:1"] {
            assert!(text.parse::<Address>().unwrap().is_local(), "{text}");
        }
        for text in ["0.0.0.0:1", "[::]:1", "10.0.0.1:1", "example.org:1", "localhost.example.org:1"] {
            assert!(!text.parse::<Address>().unwrap().is_local(), "{text}");
        }
    }
}
