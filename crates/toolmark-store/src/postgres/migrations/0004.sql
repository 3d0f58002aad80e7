-- Tools as somebody accepted them. The body is a line of a lock file: marks, digests of parts, and the definition.
CREATE TABLE pins (
    tool        TEXT COLLATE "C" PRIMARY KEY,
    mark        TEXT COLLATE "C" NOT NULL,
    body        TEXT COLLATE "C" NOT NULL,
    how         TEXT COLLATE "C" NOT NULL CHECK (how IN ('first-use', 'approval', 'accepted')),
    accepted_by TEXT COLLATE "C" NOT NULL,
    accepted_us BIGINT NOT NULL
);

INSERT INTO counters (name, value) VALUES ('pins', 0);
