-- Questions to people. What is looked for has a column; the whole question is in the body.
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

-- The call ledger: every run that was asked for. It runs when it goes from waiting, parked or held to running, which it does once.
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

-- Answers that hold for later calls.
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

INSERT INTO counters (name, value) VALUES ('asks', 0), ('grants', 0);

-- Keys that every node of a workspace shares, such as the one that seals states. Never exported, never shown.
CREATE TABLE secrets (
    name  TEXT PRIMARY KEY NOT NULL,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Who may decide about approvals over HTTP.
ALTER TABLE tokens ADD COLUMN approver INTEGER NOT NULL DEFAULT 0 CHECK (approver IN (0, 1));
