-- Tries in a row that ended because a provider asked to be left alone, without a step stored.
ALTER TABLE jobs ADD COLUMN snoozes INTEGER NOT NULL DEFAULT 0 CHECK (snoozes >= 0);

-- The same table, where a try may also have ended so.
CREATE TABLE job_errors_2 (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  lease INTEGER NOT NULL,         -- generation of the try
  what TEXT NOT NULL CHECK (what IN ('failed', 'crashed', 'timed_out', 'snoozed')),
  error TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
INSERT INTO job_errors_2 SELECT id, job, lease, what, error, at FROM job_errors;
DROP TABLE job_errors;
ALTER TABLE job_errors_2 RENAME TO job_errors;
CREATE INDEX job_errors_job ON job_errors (job, id);
