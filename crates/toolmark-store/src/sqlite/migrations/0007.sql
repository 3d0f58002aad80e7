-- Conversations of agents. A run that has a session holds it until it is over: what another run says does not come between.
CREATE TABLE sessions (
    name       TEXT PRIMARY KEY NOT NULL,
    holder     TEXT,
    since_us   INTEGER,
    changed_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session_items (
    session  TEXT NOT NULL REFERENCES sessions (name) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    -- The run that said it, so that it says it once.
    run      TEXT,
    text     TEXT NOT NULL,
    PRIMARY KEY (session, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX session_runs ON session_items (session, run) WHERE run IS NOT NULL;
