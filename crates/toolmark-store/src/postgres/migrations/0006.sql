-- What SQLite keeps otherwise from this version on stays as it is here. Versions are the same in both, so that an export of one can be
-- read by the other.
SELECT 1;
