use super::*;

#[test]
fn each_digest_is_the_one_that_others_make_of_the_same_bytes() {
    // The digests of nothing and of long results, as the tools of both say.
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(ResultDigest::of(b"").sha256().as_deref(), Some(empty));
    let pattern: Vec<u8> = (0..102_400_u32).map(|at| u8::try_from(at % 251).expect("small")).collect();
    let known = "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085";
    assert_eq!(ResultDigest::of(&pattern).blake3().as_deref(), Some(known));
}

#[test]
fn what_it_was_made_with_goes_by_the_length_and_comes_back_from_where_it_is_kept() {
    for (length, algorithm) in
        [(0, "sha256"), (1, "sha256"), (LONG, "sha256"), (LONG + 1, "blake3"), (1 << 20, "blake3")]
    {
        let digest = ResultDigest::of(&vec![b'x'; length]);
        assert_eq!(digest.algorithm(), algorithm, "{length}");
        assert_eq!(digest.sha256().is_some(), algorithm == "sha256");
        assert_eq!(digest.blake3().is_some(), algorithm == "blake3");
        assert_eq!(ResultDigest::from_kept(&digest.to_kept()), Some(digest));
    }
    // One that happens to begin like the other.
    let mut bytes = [7; 32];
    bytes[..2].copy_from_slice(&BLAKE3);
    assert_eq!(ResultDigest::from_kept(&bytes), Some(ResultDigest::Sha256(bytes)));
    for wrong in [0, 1, 31, 33, 34, 35] {
        assert_eq!(ResultDigest::from_kept(&vec![7; wrong]), None, "{wrong}");
    }
}
