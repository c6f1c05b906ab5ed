//! Certificates: only clients with a certificate of the right authority can connect.

use crate::{AXPY, TestServer, compile, vector};
use hlo_ir::{ElementType, Literal};
use hlo_remote::{Address, CompileOptions, ConnectOptions, Error, RemoteClient, Tls};
use hlo_serve::ServerTls;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use std::time::Duration;

/// An authority that signs certificates.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().unwrap();
        let pem = parameters.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(parameters, key) }
    }

    /// Returns a certificate and its key.
    fn sign(&self, name: &str, usage: ExtendedKeyUsagePurpose) -> (String, String) {
        let mut parameters = CertificateParams::new(vec![name.to_string()]).unwrap();
        parameters.extended_key_usages = vec![usage];
        let key = KeyPair::generate().unwrap();
        (parameters.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}

fn options(tls: Option<Tls>) -> ConnectOptions {
    ConnectOptions { tls, timeout: Duration::from_secs(5), ..ConnectOptions::default() }
}

#[test]
fn only_clients_with_a_certificate_are_served() {
    let (servers, clients, strangers) =
        (Authority::new("servers"), Authority::new("clients"), Authority::new("strangers"));
    let (certificate, key) = servers.sign("hlo.test", ExtendedKeyUsagePurpose::ServerAuth);
    let server = TestServer::at(Address::Tcp { host: "127.0.0.1".into(), port: 0 }, |config| {
        config.tls = Some(ServerTls { certificate, key, client_ca: clients.pem.clone() });
        config.limits.idle = Duration::from_secs(2);
    });
    let tls = |authority: &Authority, server_ca: &Authority, name: &str| {
        let (certificate, key) = authority.sign("client", ExtendedKeyUsagePurpose::ClientAuth);
        let server_name = Some(name.to_string());
        Tls { server_ca: server_ca.pem.clone(), certificate, key, server_name }
    };
    let connect = |tls| RemoteClient::connect_with(server.address.clone(), options(tls));

    let client = connect(Some(tls(&clients, &servers, "hlo.test"))).unwrap();
    let axpy = compile(&client, AXPY, &CompileOptions::default());
    let values = [Literal::scalar(ElementType::F32, 1f32), vector(&[1., 2., 3.]), vector(&[0.; 3])];
    assert_eq!(axpy.run(&values).unwrap().elements::<f32>(), [1., 2., 3.]);
    let statistics =
        hlo_remote::statistics(&server.address, options(Some(tls(&clients, &servers, "hlo.test")))).unwrap();
    assert_eq!(statistics.clients, 1);

    let refused = |tls| match connect(tls) {
        Err(Error::Disconnected { message, .. }) => message,
        other => panic!("expected no connection, found {other:?}"),
    };
    // A certificate of another authority.
    let message = refused(Some(tls(&strangers, &servers, "hlo.test")));
    // With TLS 1.3, the connection may be closed before the client learns the reason.
    assert!(message.contains("UnknownCA") || message.contains("may not accept the certificate"), "{message}");
    // A server of another authority, or with another name.
    let message = refused(Some(tls(&clients, &strangers, "hlo.test")));
    assert!(message.contains("UnknownIssuer"), "{message}");
    let message = refused(Some(tls(&clients, &servers, "other.test")));
    assert!(message.contains("other.test"), "{message}");
    // No certificate.
    refused(None);
    // A client cannot use a server's certificate.
    let (certificate, key) = clients.sign("client", ExtendedKeyUsagePurpose::ServerAuth);
    let wrong = Tls { certificate, key, ..tls(&clients, &servers, "hlo.test") };
    refused(Some(wrong));

    // The earlier session is not affected.
    assert_eq!(axpy.run(&values).unwrap().elements::<f32>(), [1., 2., 3.]);
    assert_eq!(client.statistics().unwrap().defects, 0);
}

#[test]
fn certificates_that_make_no_sense_are_told() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let refused = |tls| {
        let mut config = hlo_serve::Config::new(Address::Tcp { host: "127.0.0.1".into(), port: 0 });
        config.tls = Some(tls);
        runtime.block_on(hlo_serve::Server::bind(config)).expect_err("an error before the server listens")
    };
    let authority = Authority::new("all");
    let (certificate, key) = authority.sign("a", ExtendedKeyUsagePurpose::ServerAuth);
    let (_, other_key) = authority.sign("b", ExtendedKeyUsagePurpose::ServerAuth);
    let good = ServerTls { certificate, key, client_ca: authority.pem.clone() };
    for tls in [
        ServerTls { key: other_key, ..good.clone() },
        ServerTls { key: "nonsense".into(), ..good.clone() },
        ServerTls { certificate: "nonsense".into(), ..good.clone() },
        ServerTls { client_ca: "nonsense".into(), ..good.clone() },
    ] {
        let error = format!("{:?}", refused(tls));
        assert!(error.contains("certificates"), "{error}");
    }
}
