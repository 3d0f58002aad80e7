-- Digests of long results are BLAKE3 (8 in `has`); those that are there are SHA-256.
DROP VIEW audit;
CREATE VIEW audit AS SELECT
    a.position AS position,
    a.position >> 40 AS node,
    a.position & 1099511627775 AS seq,
    a.kind AS kind,
    substr(a.digests, 65, 16) AS id,
    a.time_us AS time_us,
    a.caller AS caller,
    a.session AS session,
    coalesce(d.era, k.era) AS era,
    coalesce(d.transport, k.transport) AS transport,
    coalesce(d.called, k.called) AS called,
    coalesce(d.canonical, k.canonical) AS canonical,
    coalesce(d.mark, k.mark) AS mark,
    coalesce(d.definition, k.definition) AS definition,
    coalesce(d.task, k.task) AS task,
    coalesce(d.verdict, k.verdict) AS verdict,
    d.reasons AS reasons,
    d.rules AS rules,
    coalesce(d.policy, k.policy) AS policy,
    d.grant_id AS grant_id,
    coalesce(d.judged, k.judged) AS judged,
    CASE WHEN a.has & 1 THEN substr(a.digests, 81, 32) END AS arguments,
    a.arguments_size AS arguments_size,
    -- The bytes of a BLAKE3 digest begin with what says so: 0x1e, and their number.
    CASE WHEN a.has & 2 THEN CASE WHEN a.has & 8 THEN CAST(x'1e20' || substr(a.digests, 113, 32) AS BLOB) ELSE substr(a.digests, 113, 32) END END AS result,
    a.result_size AS result_size,
    coalesce(d.outcome, k.outcome) AS outcome,
    d.code AS code,
    a.stages_ns AS stages_ns,
    a.total_ns AS total_ns,
    CASE WHEN a.has & 4 THEN substr(a.digests, 145, 16) END AS trace,
    d.arguments_body AS arguments_body,
    d.result_body AS result_body,
    substr(a.digests, 33, 32) AS prev,
    substr(a.digests, 1, 32) AS hash
FROM audit_rows a
LEFT JOIN audit_kinds k ON k.id = a.kind
LEFT JOIN audit_details d ON d.position = a.position;
