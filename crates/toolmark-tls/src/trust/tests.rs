use std::fs;

use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use toolmark_core::explain::Explain as _;

use super::*;

fn authority() -> String {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()
}

fn read(text: &[u8]) -> Result<Trust, ReadTrustError> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    fs::write(&file, text).unwrap();
    Trust::read(&file)
}

#[test]
fn a_file_may_hold_several_certificates_and_words_between_them() {
    let text = format!("# the old one\n{}\nand the new one\r\n{}", authority(), authority());
    let trust = read(text.as_bytes()).unwrap();
    assert!(matches!(&trust.0, Believed::File(own) if own.len() == 2));
}

#[test]
fn two_files_with_the_same_certificates_are_the_same_trust() {
    let (one, other) = (authority(), authority());
    assert_eq!(read(one.as_bytes()), read(one.as_bytes()));
    assert_ne!(read(one.as_bytes()), read(other.as_bytes()));
    assert_ne!(read(one.as_bytes()).unwrap(), Trust::machine());
}

#[test]
fn what_is_no_certificate_is_refused_and_the_file_is_named() {
    let whole = authority();
    let key = KeyPair::generate().unwrap().serialize_pem();
    let cut = whole.split("-----END").next().unwrap();
    let garbled = whole.replacen("MII", "AAA", 1);
    for (text, says) in [
        (b"".as_slice(), "no `-----BEGIN CERTIFICATE-----`"),
        (b"\xff\xfe\x00", "no `-----BEGIN CERTIFICATE-----`"),
        (key.as_bytes(), "no `-----BEGIN CERTIFICATE-----`"),
        (cut.as_bytes(), "certificate 1 has no `-----END"),
        (b"-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n", "certificate 1 is no valid PEM"),
        (garbled.as_bytes(), "certificate 1 is none that can be believed"),
        (format!("{whole}{garbled}").as_bytes(), "certificate 2 is none that can be believed"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.to_string().contains("ca.pem") && error.to_string().contains(says), "{error}");
        assert_eq!(error.code().as_str(), "ca-unusable");
    }
}

#[test]
fn a_file_that_is_not_there_or_has_no_end_is_refused() {
    let error = Trust::read(Path::new("/nowhere/ca.pem")).unwrap_err();
    assert!(error.to_string().contains("`/nowhere/ca.pem`"), "{error}");
    let error = Trust::read(Path::new("/dev/zero")).unwrap_err();
    assert!(error.to_string().contains("more than 4194304 bytes"), "{error}");
    assert!(Trust::read(&std::env::temp_dir()).is_err());
}
