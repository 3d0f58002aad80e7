-- Threads: sessions that a run holds for a while only, unless it says that it still does, and what waits in them for a person.
ALTER TABLE sessions ADD COLUMN until_us INTEGER;
ALTER TABLE sessions ADD COLUMN waits TEXT;
