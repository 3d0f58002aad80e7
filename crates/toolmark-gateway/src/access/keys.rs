//! Which key signed this, and which algorithms may it be used with? The key decides, never the token.

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize as _;
use serde_json::Value;

/// A public key and what it may verify.
pub(super) struct Key {
    pub(super) id: Option<String>,
    pub(super) decoding: DecodingKey,
    pub(super) algorithms: Vec<Algorithm>,
}

/// The usable keys of a set. Those of kinds not known here are left out, as RFC 7517 says.
pub(super) fn read(text: &[u8]) -> Result<Vec<Key>, String> {
    let set: Value = serde_json::from_slice(text).map_err(|error| format!("the keys are no JSON: {error}"))?;
    let keys = set.get("keys").and_then(Value::as_array).ok_or("the document has no `keys`")?;
    Ok(keys.iter().filter_map(|key| Jwk::deserialize(key).ok()).filter_map(|key| usable(&key)).collect())
}

fn usable(key: &Jwk) -> Option<Key> {
    let common = &key.common;
    let signs = common.public_key_use.as_ref().is_none_or(|usage| *usage == PublicKeyUse::Signature);
    let verifies = common.key_operations.as_ref().is_none_or(|all| all.contains(&KeyOperations::Verify));
    if !signs || !verifies {
        return None;
    }
    let possible: &[Algorithm] = match &key.algorithm {
        AlgorithmParameters::RSA(_) => &[
            Algorithm::RS256,
            Algorithm::RS384,
            Algorithm::RS512,
            Algorithm::PS256,
            Algorithm::PS384,
            Algorithm::PS512,
        ],
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => &[Algorithm::ES256],
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P384 => &[Algorithm::ES384],
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => &[Algorithm::EdDSA],
        // A shared secret that is published is none.
        _ => return None,
    };
    let named = common.key_algorithm.map(signature);
    let algorithms: Vec<Algorithm> =
        possible.iter().copied().filter(|one| named.is_none_or(|named| named == Some(*one))).collect();
    if algorithms.is_empty() {
        return None;
    }
    let decoding = DecodingKey::from_jwk(key).ok()?;
    Some(Key { id: common.key_id.clone(), decoding, algorithms })
}

fn signature(named: KeyAlgorithm) -> Option<Algorithm> {
    Some(match named {
        KeyAlgorithm::RS256 => Algorithm::RS256,
        KeyAlgorithm::RS384 => Algorithm::RS384,
        KeyAlgorithm::RS512 => Algorithm::RS512,
        KeyAlgorithm::PS256 => Algorithm::PS256,
        KeyAlgorithm::PS384 => Algorithm::PS384,
        KeyAlgorithm::PS512 => Algorithm::PS512,
        KeyAlgorithm::ES256 => Algorithm::ES256,
        KeyAlgorithm::ES384 => Algorithm::ES384,
        KeyAlgorithm::EdDSA => Algorithm::EdDSA,
        _ => return None,
    })
}
