-- What makes a schema ours. Text compares byte by byte, as it does in SQLite; numbers that count are signed and keep their bits.
CREATE TABLE toolmark_store (
    version BIGINT NOT NULL
);

INSERT INTO toolmark_store (version) VALUES (0);

-- Names that clients have been shown. A former name keeps leading to its tool; nobody else may take it.
CREATE TABLE name_scopes (
    id      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    profile TEXT COLLATE "C" NOT NULL,
    server  TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    UNIQUE (profile, server)
);

CREATE TABLE names (
    scope     BIGINT NOT NULL REFERENCES name_scopes (id) ON DELETE CASCADE,
    exposed   TEXT COLLATE "C" NOT NULL,
    canonical TEXT COLLATE "C" NOT NULL,
    former    BIGINT NOT NULL CHECK (former IN (0, 1)),
    since_us  BIGINT NOT NULL,
    PRIMARY KEY (scope, exposed)
);

-- A tool has one current name.
CREATE UNIQUE INDEX names_current ON names (scope, canonical) WHERE former = 0;

-- What packs listed when they were last seen.
CREATE TABLE packs (
    pack    TEXT COLLATE "C" PRIMARY KEY,
    source  TEXT COLLATE "C" NOT NULL,
    about   TEXT COLLATE "C",
    seen_us BIGINT NOT NULL
);

CREATE TABLE definitions (
    pack     TEXT COLLATE "C" NOT NULL REFERENCES packs (pack) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    kind     TEXT COLLATE "C" NOT NULL,
    name     TEXT COLLATE "C" NOT NULL,
    text     TEXT COLLATE "C" NOT NULL,
    digest   BYTEA NOT NULL,
    PRIMARY KEY (pack, position)
);

CREATE TABLE definition_history (
    id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pack          TEXT COLLATE "C" NOT NULL REFERENCES packs (pack) ON DELETE CASCADE,
    kind          TEXT COLLATE "C" NOT NULL,
    name          TEXT COLLATE "C" NOT NULL,
    digest        BYTEA NOT NULL,
    first_seen_us BIGINT NOT NULL,
    replaced_us   BIGINT
);

CREATE INDEX definition_history_by_name ON definition_history (pack, kind, name);

-- Bearer tokens. The secret is not here.
CREATE TABLE tokens (
    id           TEXT COLLATE "C" PRIMARY KEY,
    hash         BYTEA NOT NULL UNIQUE,
    name         TEXT COLLATE "C" NOT NULL,
    tasks        TEXT COLLATE "C",
    profiles     TEXT COLLATE "C",
    created_us   BIGINT NOT NULL,
    last_used_us BIGINT,
    expires_us   BIGINT,
    revoked_us   BIGINT
);

CREATE UNIQUE INDEX tokens_name ON tokens (name) WHERE revoked_us IS NULL;

CREATE TABLE counters (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value BIGINT NOT NULL
);

INSERT INTO counters (name, value) VALUES ('tokens', 0);

-- The audit: a chain for each node. The checkpoint is the last row that retention removed.
CREATE TABLE audit_nodes (
    id              BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    node            TEXT COLLATE "C" NOT NULL UNIQUE,
    head_seq        BIGINT NOT NULL,
    head_hash       BYTEA NOT NULL,
    checkpoint_seq  BIGINT NOT NULL,
    checkpoint_hash BYTEA NOT NULL,
    checkpoint_us   BIGINT
);

CREATE TABLE audit (
    position       BIGINT GENERATED ALWAYS AS IDENTITY,
    node           BIGINT NOT NULL,
    seq            BIGINT NOT NULL,
    id             UUID NOT NULL,
    time_us        BIGINT NOT NULL,
    caller         TEXT COLLATE "C",
    session        TEXT COLLATE "C",
    era            TEXT COLLATE "C",
    transport      TEXT COLLATE "C",
    called         TEXT COLLATE "C" NOT NULL,
    canonical      TEXT COLLATE "C",
    mark           BYTEA,
    definition     BYTEA,
    task           TEXT COLLATE "C",
    verdict        TEXT COLLATE "C",
    reasons        TEXT COLLATE "C",
    rules          TEXT COLLATE "C",
    policy         TEXT COLLATE "C",
    grant_id       TEXT COLLATE "C",
    arguments      BYTEA,
    arguments_size BIGINT,
    result         BYTEA,
    result_size    BIGINT,
    outcome        TEXT COLLATE "C" NOT NULL,
    code           TEXT COLLATE "C",
    stages_ns      TEXT COLLATE "C" NOT NULL,
    total_ns       BIGINT NOT NULL,
    trace          BYTEA,
    arguments_body BYTEA,
    result_body    BYTEA,
    prev           BYTEA NOT NULL,
    hash           BYTEA NOT NULL,
    PRIMARY KEY (node, seq)
);

CREATE INDEX audit_time ON audit (time_us, position);
CREATE INDEX audit_id ON audit (id);
CREATE INDEX audit_tool ON audit (canonical, time_us, position) WHERE canonical IS NOT NULL;
CREATE INDEX audit_caller ON audit (caller, time_us, position) WHERE caller IS NOT NULL;
-- Almost every call is allowed and succeeds; what is looked for is the rest.
CREATE INDEX audit_verdict ON audit (verdict, time_us, position) WHERE verdict <> 'allow';
CREATE INDEX audit_outcome ON audit (outcome, time_us, position) WHERE outcome <> 'ok';

CREATE TABLE audit_bodies (
    node      BIGINT NOT NULL,
    seq       BIGINT NOT NULL,
    arguments TEXT COLLATE "C",
    result    TEXT COLLATE "C",
    PRIMARY KEY (node, seq)
);
