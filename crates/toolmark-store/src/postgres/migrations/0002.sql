-- Questions to people. What is looked for has a column; the whole question is in the body.
CREATE TABLE asks (
    id         TEXT COLLATE "C" PRIMARY KEY,
    key        TEXT COLLATE "C" NOT NULL,
    state      TEXT COLLATE "C" NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'expired')),
    principal  TEXT COLLATE "C" NOT NULL,
    canonical  TEXT COLLATE "C" NOT NULL,
    mark       TEXT COLLATE "C" NOT NULL,
    created_us BIGINT NOT NULL,
    expires_us BIGINT NOT NULL,
    body       TEXT COLLATE "C" NOT NULL
);

CREATE INDEX asks_key ON asks (key, id) WHERE state <> 'expired';
CREATE INDEX asks_pending ON asks (expires_us) WHERE state = 'pending';
CREATE INDEX asks_answered ON asks (expires_us) WHERE state = 'approved' OR state = 'rejected';
CREATE INDEX asks_state ON asks (state, id);
CREATE INDEX asks_tool ON asks (mark, principal, id);

-- The call ledger: every run that was asked for. It runs when it goes from waiting, parked or held to running, which it does once.
CREATE TABLE runs (
    id         TEXT COLLATE "C" PRIMARY KEY,
    ask        TEXT COLLATE "C" NOT NULL REFERENCES asks (id) ON DELETE CASCADE,
    node       TEXT COLLATE "C" NOT NULL,
    state      TEXT COLLATE "C" NOT NULL
        CHECK (state IN ('waiting', 'parked', 'held', 'running', 'done', 'withdrawn', 'lost')),
    round      BIGINT NOT NULL,
    created_us BIGINT NOT NULL,
    changed_us BIGINT NOT NULL
);

CREATE INDEX runs_ask ON runs (ask, state);
CREATE INDEX runs_node ON runs (node, state) WHERE state = 'waiting' OR state = 'running';

-- Answers that hold for later calls.
CREATE TABLE grants (
    id         TEXT COLLATE "C" PRIMARY KEY,
    mark       TEXT COLLATE "C" NOT NULL,
    principal  TEXT COLLATE "C" NOT NULL,
    used       BIGINT NOT NULL,
    uses       BIGINT,
    expires_us BIGINT,
    revoked_us BIGINT,
    body       TEXT COLLATE "C" NOT NULL
);

CREATE INDEX grants_alive ON grants (mark) WHERE revoked_us IS NULL;

INSERT INTO counters (name, value) VALUES ('asks', 0), ('grants', 0);

-- Keys that every node of a workspace shares, such as the one that seals states. Never exported, never shown.
CREATE TABLE secrets (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value BYTEA NOT NULL
);

-- Who may decide about approvals over HTTP.
ALTER TABLE tokens ADD COLUMN approver BIGINT NOT NULL DEFAULT 0 CHECK (approver IN (0, 1));
