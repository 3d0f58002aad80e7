-- Conversations of agents. A run that has a session holds it until it is over: what another run says does not come between.
CREATE TABLE sessions (
    name       TEXT COLLATE "C" PRIMARY KEY,
    holder     TEXT COLLATE "C",
    since_us   BIGINT,
    changed_us BIGINT NOT NULL
);

CREATE TABLE session_items (
    session  TEXT COLLATE "C" NOT NULL REFERENCES sessions (name) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    -- The run that said it, so that it says it once.
    run      TEXT COLLATE "C",
    text     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session, position)
);

CREATE INDEX session_runs ON session_items (session, run) WHERE run IS NOT NULL;
