-- The audit in fewer columns: what a call costs here is mostly how many values its row has. Digests stand in one value, at fixed places;
-- more of what calls have in common went to their kind; what few rows have is in a table of its own. `audit` is a view of it all, for
-- everybody who reads. Which tools, verdicts and outcomes there were when is kept by the minute, in place of an index of every row.
CREATE TABLE audit_common (
    id         INTEGER PRIMARY KEY,
    -- SHA-256 over the rest, so that two processes find the same one.
    key        BLOB NOT NULL UNIQUE,
    era        TEXT,
    transport  TEXT,
    called     TEXT NOT NULL,
    canonical  TEXT NOT NULL,
    mark       BLOB NOT NULL,
    definition BLOB NOT NULL,
    task       TEXT,
    verdict    TEXT,
    policy     TEXT,
    judged     TEXT,
    outcome    TEXT NOT NULL,
    -- Only while this file is changed.
    was        INTEGER
) STRICT;

CREATE INDEX audit_common_canonical ON audit_common (canonical);

-- Kinds of before get a key that nobody looks for: calls from now on have kinds of their own.
INSERT INTO audit_common (key, era, transport, called, canonical, mark, definition, task, verdict, policy, judged, outcome, was)
SELECT randomblob(32), k.era, k.transport, k.called, a.canonical, k.mark, k.definition, k.task, a.verdict, k.policy, k.judged,
    a.outcome, k.id
FROM (SELECT DISTINCT kind, canonical, verdict, outcome FROM audit WHERE kind IS NOT NULL AND canonical IS NOT NULL) a
JOIN audit_kinds k ON k.id = a.kind WHERE k.mark IS NOT NULL AND k.definition IS NOT NULL;

CREATE TABLE audit_rows (
    -- The node, and the place in the chain of that node.
    position       INTEGER PRIMARY KEY,
    kind           INTEGER,
    time_us        INTEGER NOT NULL,
    caller         TEXT,
    session        TEXT,
    -- Which of the digests that may be absent are there: 1 the arguments', 2 the result's, 4 the trace.
    has            INTEGER NOT NULL,
    arguments_size INTEGER,
    result_size    INTEGER,
    total_ns       INTEGER NOT NULL,
    -- hash (32), prev (32), id (16), arguments (32), result (32), trace (16). What is absent is zero, and left out at the end.
    digests        BLOB NOT NULL,
    stages_ns      TEXT NOT NULL
) STRICT;

INSERT INTO audit_rows (position, kind, time_us, caller, session, has, arguments_size, result_size, total_ns, digests, stages_ns)
SELECT a.position, c.id, a.time_us, a.caller, a.session,
    (a.arguments IS NOT NULL) + 2 * (a.result IS NOT NULL) + 4 * (a.trace IS NOT NULL),
    a.arguments_size, a.result_size, a.total_ns,
    unhex(hex(a.hash) || hex(a.prev) || hex(a.id) || hex(coalesce(a.arguments, zeroblob(32)))
        || hex(coalesce(a.result, zeroblob(32))) || hex(coalesce(a.trace, zeroblob(16)))),
    a.stages_ns
FROM audit a
LEFT JOIN audit_common c ON c.was = a.kind AND c.canonical = a.canonical AND c.verdict IS a.verdict AND c.outcome = a.outcome
ORDER BY a.position;

CREATE TABLE audit_details (
    position       INTEGER PRIMARY KEY REFERENCES audit_rows (position) ON DELETE CASCADE ON UPDATE CASCADE,
    code           TEXT,
    reasons        TEXT,
    rules          TEXT,
    grant_id       TEXT,
    arguments_body BLOB,
    result_body    BLOB,
    -- What only rows without a kind have.
    era            TEXT,
    transport      TEXT,
    called         TEXT,
    canonical      TEXT,
    mark           BLOB,
    definition     BLOB,
    task           TEXT,
    verdict        TEXT,
    policy         TEXT,
    judged         TEXT,
    outcome        TEXT
) STRICT;

INSERT INTO audit_details (position, code, reasons, rules, grant_id, arguments_body, result_body)
SELECT a.position, a.code, a.reasons, a.rules, a.grant_id, a.arguments_body, a.result_body
FROM audit a JOIN audit_rows r ON r.position = a.position
WHERE r.kind IS NOT NULL AND coalesce(a.code, a.reasons, a.rules, a.grant_id, a.arguments_body, a.result_body) IS NOT NULL
ORDER BY a.position;

INSERT INTO audit_details (position, code, reasons, rules, grant_id, arguments_body, result_body, era, transport, called, canonical,
    mark, definition, task, verdict, policy, judged, outcome)
SELECT a.position, a.code, a.reasons, a.rules, a.grant_id, a.arguments_body, a.result_body, coalesce(a.era, k.era),
    coalesce(a.transport, k.transport), coalesce(a.called, k.called), a.canonical, coalesce(a.mark, k.mark),
    coalesce(a.definition, k.definition), coalesce(a.task, k.task), a.verdict, coalesce(a.policy, k.policy),
    coalesce(a.judged, k.judged), a.outcome
FROM audit a JOIN audit_rows r ON r.position = a.position LEFT JOIN audit_kinds k ON k.id = a.kind
WHERE r.kind IS NULL ORDER BY a.position;

CREATE TABLE audit_texts (
    position  INTEGER PRIMARY KEY REFERENCES audit_rows (position) ON DELETE CASCADE ON UPDATE CASCADE,
    arguments TEXT,
    result    TEXT
) STRICT;

INSERT INTO audit_texts (position, arguments, result) SELECT position, arguments, result FROM audit_bodies ORDER BY position;

DROP TABLE audit_bodies;
DROP TABLE audit;
DROP TABLE audit_kinds;
ALTER TABLE audit_common DROP COLUMN was;
ALTER TABLE audit_common RENAME TO audit_kinds;
ALTER TABLE audit_texts RENAME TO audit_bodies;

CREATE INDEX audit_time ON audit_rows (time_us);

-- In which stretches of time (2^26 microseconds, about a minute) there are rows of a kind; 0 are rows without one.
CREATE TABLE audit_seen (
    kind    INTEGER NOT NULL,
    stretch INTEGER NOT NULL,
    PRIMARY KEY (kind, stretch)
) STRICT, WITHOUT ROWID;

INSERT INTO audit_seen (kind, stretch) SELECT DISTINCT coalesce(kind, 0), time_us >> 26 FROM audit_rows;

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
    CASE WHEN a.has & 2 THEN substr(a.digests, 113, 32) END AS result,
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
