-- Counts of jobs without ON CONFLICT: SQLite keeps a copy of each page that a statement with such a trigger changes, for it may have
-- to undo the statement alone, and that cost as much as the rest. All rows of a kind are there before its first job is.

INSERT OR IGNORE INTO job_counts
  SELECT kinds.kind, states.column1, 0 FROM (SELECT DISTINCT kind FROM job_counts) AS kinds,
    (VALUES ('scheduled'), ('ready'), ('running'), ('sleeping'), ('waiting'), ('paused'), ('unsupported'), ('succeeded'), ('failed'),
            ('dead'), ('cancelled')) AS states;

DROP TRIGGER jobs_count_added;
DROP TRIGGER jobs_count_moved;
CREATE TRIGGER jobs_kind_added BEFORE INSERT ON jobs
  WHEN NOT EXISTS (SELECT 1 FROM job_counts WHERE kind = new.kind AND state = new.state) BEGIN
  INSERT INTO job_counts
    SELECT new.kind, states.column1, 0 FROM
      (VALUES ('scheduled'), ('ready'), ('running'), ('sleeping'), ('waiting'), ('paused'), ('unsupported'), ('succeeded'), ('failed'),
              ('dead'), ('cancelled')) AS states
      WHERE NOT EXISTS (SELECT 1 FROM job_counts WHERE kind = new.kind AND state = states.column1);
END;
CREATE TRIGGER jobs_count_added AFTER INSERT ON jobs BEGIN
  UPDATE job_counts SET count = count + 1 WHERE kind = new.kind AND state = new.state;
END;
CREATE TRIGGER jobs_count_moved AFTER UPDATE OF state ON jobs WHEN old.state <> new.state BEGIN
  UPDATE job_counts SET count = count - 1 WHERE kind = old.kind AND state = old.state;
  UPDATE job_counts SET count = count + 1 WHERE kind = new.kind AND state = new.state;
END;
