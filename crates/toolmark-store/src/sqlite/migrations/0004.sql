-- Tools as somebody accepted them. The body is a line of a lock file: marks, digests of parts, and the definition.
CREATE TABLE pins (
    tool        TEXT PRIMARY KEY NOT NULL,
    mark        TEXT NOT NULL,
    body        TEXT NOT NULL,
    how         TEXT NOT NULL CHECK (how IN ('first-use', 'approval', 'accepted')),
    accepted_by TEXT NOT NULL,
    accepted_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO counters (name, value) VALUES ('pins', 0);
