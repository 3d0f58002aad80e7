-- Names that clients have been shown. A former name keeps leading to its tool; nobody else may take it.
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

-- A tool has one current name.
CREATE UNIQUE INDEX names_current ON names (scope, canonical) WHERE former = 0;

-- What packs listed when they were last seen.
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

-- Bearer tokens. The secret is not here.
CREATE TABLE tokens (
    id           TEXT PRIMARY KEY NOT NULL,
    hash         BLOB NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    tasks        TEXT,
    profiles     TEXT,
    created_us   INTEGER NOT NULL,
    last_used_us INTEGER,
    expires_us   INTEGER,
    revoked_us   INTEGER
) STRICT;

CREATE UNIQUE INDEX tokens_name ON tokens (name) WHERE revoked_us IS NULL;

CREATE TABLE counters (
    name  TEXT PRIMARY KEY NOT NULL,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO counters (name, value) VALUES ('tokens', 0);

-- The audit: a chain for each node. The checkpoint is the last row that retention removed.
CREATE TABLE audit_nodes (
    id              INTEGER PRIMARY KEY,
    node            TEXT NOT NULL UNIQUE,
    head_seq        INTEGER NOT NULL,
    head_hash       BLOB NOT NULL,
    checkpoint_seq  INTEGER NOT NULL,
    checkpoint_hash BLOB NOT NULL,
    checkpoint_us   INTEGER
) STRICT;

CREATE TABLE audit (
    position       INTEGER PRIMARY KEY,
    node           INTEGER NOT NULL,
    seq            INTEGER NOT NULL,
    id             BLOB NOT NULL,
    time_us        INTEGER NOT NULL,
    caller         TEXT,
    session        TEXT,
    era            TEXT,
    transport      TEXT,
    called         TEXT NOT NULL,
    canonical      TEXT,
    mark           BLOB,
    definition     BLOB,
    task           TEXT,
    verdict        TEXT,
    reasons        TEXT,
    rules          TEXT,
    policy         TEXT,
    grant_id       TEXT,
    arguments      BLOB,
    arguments_size INTEGER,
    result         BLOB,
    result_size    INTEGER,
    outcome        TEXT NOT NULL,
    code           TEXT,
    stages_ns      TEXT NOT NULL,
    total_ns       INTEGER NOT NULL,
    trace          BLOB,
    arguments_body BLOB,
    result_body    BLOB,
    prev           BLOB NOT NULL,
    hash           BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX audit_chain ON audit (node, seq);
CREATE INDEX audit_time ON audit (time_us);
CREATE INDEX audit_id ON audit (id);
CREATE INDEX audit_tool ON audit (canonical, time_us) WHERE canonical IS NOT NULL;
CREATE INDEX audit_caller ON audit (caller, time_us) WHERE caller IS NOT NULL;
-- Almost every call is allowed and succeeds; what is looked for is the rest. Written with OR, which SQLite sees through when a
-- query names one of them.
CREATE INDEX audit_verdict ON audit (verdict, time_us) WHERE verdict = 'ask' OR verdict = 'deny';
CREATE INDEX audit_outcome ON audit (outcome, time_us)
    WHERE outcome = 'observed' OR outcome = 'approved' OR outcome = 'tool-error' OR outcome = 'denied' OR outcome = 'asked'
    OR outcome = 'invalid' OR outcome = 'unknown-tool' OR outcome = 'ambiguous' OR outcome = 'unavailable'
    OR outcome = 'busy' OR outcome = 'upstream-failed' OR outcome = 'too-large' OR outcome = 'timeout'
    OR outcome = 'cancelled';

CREATE TABLE audit_bodies (
    position  INTEGER PRIMARY KEY REFERENCES audit (position) ON DELETE CASCADE,
    arguments TEXT,
    result    TEXT
) STRICT;
