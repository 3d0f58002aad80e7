-- What a call was judged by, as compact JSON, so that it can be judged again under another policy.
ALTER TABLE audit ADD COLUMN judged TEXT;

-- Intents of which nobody knows yet what became: few at any time. A node that begins anew finds here what was interrupted.
CREATE TABLE audit_open (
    node INTEGER NOT NULL,
    id   BLOB NOT NULL,
    seq  INTEGER NOT NULL,
    PRIMARY KEY (node, id)
) STRICT, WITHOUT ROWID;

-- The same as before with `interrupted`. Intents are left out: there are as many as calls that change something.
DROP INDEX audit_outcome;
CREATE INDEX audit_outcome ON audit (outcome, time_us)
    WHERE outcome = 'observed' OR outcome = 'approved' OR outcome = 'tool-error' OR outcome = 'denied' OR outcome = 'asked'
    OR outcome = 'invalid' OR outcome = 'unknown-tool' OR outcome = 'ambiguous' OR outcome = 'unavailable'
    OR outcome = 'busy' OR outcome = 'upstream-failed' OR outcome = 'too-large' OR outcome = 'timeout'
    OR outcome = 'cancelled' OR outcome = 'interrupted';

-- What approved runs of a task did, as text in the format of the file.
CREATE TABLE baselines (
    task       TEXT PRIMARY KEY NOT NULL,
    text       TEXT NOT NULL,
    changed_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
