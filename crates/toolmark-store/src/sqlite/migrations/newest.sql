-- Everything as all steps leave it, for a file that is new: the steps themselves rename and drop, which takes a while. A test compares.
CREATE TABLE name_scopes (
    id      INTEGER PRIMARY KEY,
    profile TEXT NOT NULL,
    server  TEXT NOT NULL,
    version INTEGER NOT NULL,
    UNIQUE (profile, server)
) STRICT;

CREATE TABLE names (
    scope     INTEGER NOT NULL REFERENCES name_scopes (id) ON DELETE CASCADE,
    exposed   TEXT NOT NULL,
    canonical TEXT NOT NULL,
    former    INTEGER NOT NULL CHECK (former IN (0, 1)),
    since_us  INTEGER NOT NULL,
    PRIMARY KEY (scope, exposed)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX names_current ON names (scope, canonical) WHERE former = 0;

CREATE TABLE packs (
    pack    TEXT PRIMARY KEY NOT NULL,
    source  TEXT NOT NULL,
    about   TEXT,
    seen_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE definitions (
    pack     TEXT NOT NULL REFERENCES packs (pack) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    name     TEXT NOT NULL,
    text     TEXT NOT NULL,
    digest   BLOB NOT NULL,
    PRIMARY KEY (pack, position)
) STRICT;

CREATE TABLE definition_history (
    id            INTEGER PRIMARY KEY,
    pack          TEXT NOT NULL REFERENCES packs (pack) ON DELETE CASCADE,
    kind          TEXT NOT NULL,
    name          TEXT NOT NULL,
    digest        BLOB NOT NULL,
    first_seen_us INTEGER NOT NULL,
    replaced_us   INTEGER
) STRICT;

CREATE INDEX definition_history_by_name ON definition_history (pack, kind, name);

CREATE TABLE tokens (
    id           TEXT PRIMARY KEY NOT NULL,
    hash         BLOB NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    tasks        TEXT,
    profiles     TEXT,
    created_us   INTEGER NOT NULL,
    last_used_us INTEGER,
    expires_us   INTEGER,
    revoked_us   INTEGER,
    approver INTEGER NOT NULL DEFAULT 0 CHECK (approver IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX tokens_name ON tokens (name) WHERE revoked_us IS NULL;

CREATE TABLE counters (
    name  TEXT PRIMARY KEY NOT NULL,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_nodes (
    id              INTEGER PRIMARY KEY,
    node            TEXT NOT NULL UNIQUE,
    head_seq        INTEGER NOT NULL,
    head_hash       BLOB NOT NULL,
    checkpoint_seq  INTEGER NOT NULL,
    checkpoint_hash BLOB NOT NULL,
    checkpoint_us   INTEGER
) STRICT;

CREATE TABLE asks (
    id         TEXT PRIMARY KEY NOT NULL,
    key        TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'expired')),
    principal  TEXT NOT NULL,
    canonical  TEXT NOT NULL,
    mark       TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    expires_us INTEGER NOT NULL,
    body       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX asks_key ON asks (key) WHERE state <> 'expired';

CREATE INDEX asks_pending ON asks (expires_us) WHERE state = 'pending';

CREATE INDEX asks_answered ON asks (expires_us) WHERE state = 'approved' OR state = 'rejected';

CREATE INDEX asks_tool ON asks (mark, principal, id);

CREATE TABLE runs (
    id         TEXT PRIMARY KEY NOT NULL,
    ask        TEXT NOT NULL REFERENCES asks (id) ON DELETE CASCADE,
    node       TEXT NOT NULL,
    state      TEXT NOT NULL
        CHECK (state IN ('waiting', 'parked', 'held', 'running', 'done', 'withdrawn', 'lost')),
    round      INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    changed_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_ask ON runs (ask, state);

CREATE INDEX runs_node ON runs (node, state) WHERE state = 'waiting' OR state = 'running';

CREATE TABLE grants (
    id         TEXT PRIMARY KEY NOT NULL,
    mark       TEXT NOT NULL,
    principal  TEXT NOT NULL,
    used       INTEGER NOT NULL,
    uses       INTEGER,
    expires_us INTEGER,
    revoked_us INTEGER,
    body       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX grants_alive ON grants (mark) WHERE revoked_us IS NULL;

CREATE TABLE secrets (
    name  TEXT PRIMARY KEY NOT NULL,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_open (
    node INTEGER NOT NULL,
    id   BLOB NOT NULL,
    seq  INTEGER NOT NULL,
    PRIMARY KEY (node, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE baselines (
    task       TEXT PRIMARY KEY NOT NULL,
    text       TEXT NOT NULL,
    changed_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pins (
    tool        TEXT PRIMARY KEY NOT NULL,
    mark        TEXT NOT NULL,
    body        TEXT NOT NULL,
    how         TEXT NOT NULL CHECK (how IN ('first-use', 'approval', 'accepted')),
    accepted_by TEXT NOT NULL,
    accepted_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_kinds (
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
    outcome    TEXT NOT NULL) STRICT;

CREATE INDEX audit_common_canonical ON audit_kinds (canonical);

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

CREATE TABLE audit_bodies (
    position  INTEGER PRIMARY KEY REFERENCES audit_rows (position) ON DELETE CASCADE ON UPDATE CASCADE,
    arguments TEXT,
    result    TEXT
) STRICT;

CREATE INDEX audit_time ON audit_rows (time_us);

CREATE TABLE audit_seen (
    kind    INTEGER NOT NULL,
    stretch INTEGER NOT NULL,
    PRIMARY KEY (kind, stretch)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE sessions (
    name       TEXT PRIMARY KEY NOT NULL,
    holder     TEXT,
    since_us   INTEGER,
    changed_us INTEGER NOT NULL,
    until_us   INTEGER,
    waits      TEXT,
    owner      TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX thread_owners ON sessions (owner, changed_us) WHERE owner IS NOT NULL;
CREATE INDEX thread_ages ON sessions (changed_us) WHERE owner IS NOT NULL;

CREATE TABLE session_items (
    session  TEXT NOT NULL REFERENCES sessions (name) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    -- The run that said it, so that it says it once.
    run      TEXT,
    text     TEXT NOT NULL,
    PRIMARY KEY (session, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX session_runs ON session_items (session, run) WHERE run IS NOT NULL;

INSERT INTO counters (name, value) VALUES ('tokens', 0), ('asks', 0), ('grants', 0), ('pins', 0);
