-- Whose thread it is, so that nobody has more than so many and old ones go. A thread from before that has an owner without a name until it is
-- taken again; sessions that are no threads have none.
ALTER TABLE sessions ADD COLUMN owner TEXT;
UPDATE sessions SET owner = '' WHERE substr(name, 1, 6) = 'agui:[';
CREATE INDEX thread_owners ON sessions (owner, changed_us) WHERE owner IS NOT NULL;
CREATE INDEX thread_ages ON sessions (changed_us) WHERE owner IS NOT NULL;
