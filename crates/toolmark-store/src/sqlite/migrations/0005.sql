-- The audit in less room. What many calls have in common stands once, in `audit_kinds`; a row that has a kind leaves it out. The
-- position of a row is its node and its place in the chain of that node, so that no index is needed to follow a chain. Callers and ids
-- have no index: ids begin with the time, and who called is looked for along it.
CREATE TABLE audit_kinds (
    id         INTEGER PRIMARY KEY,
    -- SHA-256 over the rest, so that two processes find the same one.
    key        BLOB NOT NULL UNIQUE,
    era        TEXT,
    transport  TEXT,
    called     TEXT NOT NULL,
    mark       BLOB,
    definition BLOB,
    task       TEXT,
    policy     TEXT,
    judged     TEXT
) STRICT;

CREATE TABLE audit_rows (
    position       INTEGER PRIMARY KEY,
    node           INTEGER NOT NULL GENERATED ALWAYS AS (position >> 40) VIRTUAL,
    seq            INTEGER NOT NULL GENERATED ALWAYS AS (position & 1099511627775) VIRTUAL,
    kind           INTEGER,
    id             BLOB NOT NULL,
    time_us        INTEGER NOT NULL,
    caller         TEXT,
    session        TEXT,
    canonical      TEXT,
    verdict        TEXT,
    outcome        TEXT NOT NULL,
    arguments      BLOB,
    arguments_size INTEGER,
    result         BLOB,
    result_size    INTEGER,
    stages_ns      TEXT NOT NULL,
    total_ns       INTEGER NOT NULL,
    prev           BLOB NOT NULL,
    hash           BLOB NOT NULL,
    -- What few rows have.
    code           TEXT,
    reasons        TEXT,
    rules          TEXT,
    grant_id       TEXT,
    trace          BLOB,
    arguments_body BLOB,
    result_body    BLOB,
    -- What only rows without a kind have.
    era            TEXT,
    transport      TEXT,
    called         TEXT,
    mark           BLOB,
    definition     BLOB,
    task           TEXT,
    policy         TEXT,
    judged         TEXT
) STRICT;

INSERT INTO audit_rows (position, id, time_us, caller, session, canonical, verdict, outcome, arguments, arguments_size, result,
    result_size, stages_ns, total_ns, prev, hash, code, reasons, rules, grant_id, trace, arguments_body, result_body, era, transport,
    called, mark, definition, task, policy, judged)
SELECT (node << 40) | seq, id, time_us, caller, session, canonical, verdict, outcome, arguments, arguments_size, result,
    result_size, stages_ns, total_ns, prev, hash, code, reasons, rules, grant_id, trace, arguments_body, result_body, era, transport,
    called, mark, definition, task, policy, judged
FROM audit ORDER BY node, seq;

CREATE TABLE audit_texts (
    position  INTEGER PRIMARY KEY REFERENCES audit_rows (position) ON DELETE CASCADE ON UPDATE CASCADE,
    arguments TEXT,
    result    TEXT
) STRICT;

INSERT INTO audit_texts (position, arguments, result)
SELECT (a.node << 40) | a.seq, b.arguments, b.result FROM audit_bodies b JOIN audit a ON a.position = b.position
ORDER BY a.node, a.seq;

DROP TABLE audit_bodies;
DROP TABLE audit;
-- Renaming takes the reference along.
ALTER TABLE audit_rows RENAME TO audit;
ALTER TABLE audit_texts RENAME TO audit_bodies;

CREATE INDEX audit_time ON audit (time_us);
CREATE INDEX audit_tool ON audit (canonical, time_us) WHERE canonical IS NOT NULL;
CREATE INDEX audit_verdict ON audit (verdict, time_us) WHERE verdict = 'ask' OR verdict = 'deny';
CREATE INDEX audit_outcome ON audit (outcome, time_us)
    WHERE outcome = 'observed' OR outcome = 'approved' OR outcome = 'tool-error' OR outcome = 'denied' OR outcome = 'asked'
    OR outcome = 'invalid' OR outcome = 'unknown-tool' OR outcome = 'ambiguous' OR outcome = 'unavailable'
    OR outcome = 'busy' OR outcome = 'upstream-failed' OR outcome = 'too-large' OR outcome = 'timeout'
    OR outcome = 'cancelled' OR outcome = 'interrupted';
