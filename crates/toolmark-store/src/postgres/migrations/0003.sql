-- What a call was judged by, as compact JSON, so that it can be judged again under another policy.
ALTER TABLE audit ADD COLUMN judged TEXT COLLATE "C";

-- Intents of which nobody knows yet what became: few at any time. A node that begins anew finds here what was interrupted.
CREATE TABLE audit_open (
    node BIGINT NOT NULL,
    id   UUID NOT NULL,
    seq  BIGINT NOT NULL,
    PRIMARY KEY (node, id)
);

-- The same as before without intents: there are as many as calls that change something.
DROP INDEX audit_outcome;
CREATE INDEX audit_outcome ON audit (outcome, time_us, position) WHERE outcome <> 'ok' AND outcome <> 'intent';

-- What approved runs of a task did, as text in the format of the file.
CREATE TABLE baselines (
    task       TEXT COLLATE "C" PRIMARY KEY,
    text       TEXT COLLATE "C" NOT NULL,
    changed_us BIGINT NOT NULL
);
