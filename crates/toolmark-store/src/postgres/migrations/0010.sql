-- Digests of long results are BLAKE3; those that are there are SHA-256.
COMMENT ON COLUMN audit.result IS 'the digest of the result: 32 bytes of SHA-256, or 34, of which the first two (0x1e, 32) say that it is BLAKE3';
