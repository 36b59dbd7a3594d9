-- The whole job engine: unique keys, limits, aging, pauses, children, sleep, time limits, schedules, the history of errors and
-- what a job wrote. The tables of jobs are made anew, for a CHECK cannot be changed.

CREATE TABLE jobs_2 (
  seq INTEGER PRIMARY KEY,                -- order of arrival
  id TEXT NOT NULL UNIQUE CHECK (id <> ''),
  kind TEXT NOT NULL CHECK (kind <> ''),
  operation_version INTEGER NOT NULL,
  -- OR, for SQLite builds a table of an IN list at every statement
  state TEXT NOT NULL CHECK (state = 'ready' OR state = 'running' OR state = 'succeeded' OR state = 'scheduled' OR
                             state = 'sleeping' OR state = 'waiting' OR state = 'paused' OR state = 'unsupported' OR
                             state = 'failed' OR state = 'dead' OR state = 'cancelled'),
  input TEXT NOT NULL,
  secrets BLOB,                           -- secret arguments, encrypted with a key that is no part of this file
  owner TEXT NOT NULL,
  subject TEXT NOT NULL,
  keep INTEGER NOT NULL CHECK (keep = 0 OR keep = 1),
  priority INTEGER NOT NULL,
  unique_key TEXT CHECK (unique_key <> ''),
  again_input TEXT,                       -- run once more with it after the end
  limit_key TEXT CHECK (limit_key <> ''),
  limit_running INTEGER NOT NULL DEFAULT 0 CHECK (limit_running >= 0),  -- jobs of the limit key at once; 0: any number
  time_limit INTEGER NOT NULL DEFAULT 0 CHECK (time_limit >= 0),        -- ms of one try; 0: none
  parent TEXT CHECK (parent <> ''),       -- id of the job that waits for this one
  schedule TEXT CHECK (schedule <> ''),   -- name of the schedule that made it
  reverts TEXT CHECK (reverts <> ''),     -- id of the job whose writes it undoes
  attempts INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  interruptions INTEGER NOT NULL DEFAULT 0 CHECK (interruptions >= 0),
  max_attempts INTEGER NOT NULL CHECK (max_attempts >= 1),
  max_crashes INTEGER NOT NULL CHECK (max_crashes >= 1),
  lease INTEGER NOT NULL DEFAULT 0 CHECK (lease >= 0),
  leased_by TEXT CHECK (leased_by <> ''),
  leased_at INTEGER,
  heartbeat_at INTEGER,
  cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested = 0 OR cancel_requested = 1),
  pause_requested INTEGER NOT NULL DEFAULT 0 CHECK (pause_requested = 0 OR pause_requested = 1),
  progress TEXT NOT NULL,
  result TEXT,
  result_sha256 TEXT,                     -- name of the file that holds a large result
  error TEXT,
  run_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  -- tries in a row that ended because a provider asked to be left alone, without a step stored
  snoozes INTEGER NOT NULL DEFAULT 0 CHECK (snoozes >= 0),
  step_count INTEGER NOT NULL DEFAULT 0 CHECK (step_count BETWEEN 0 AND 200000),
  step_bytes INTEGER NOT NULL DEFAULT 0 CHECK (step_bytes BETWEEN 0 AND 67108864),
  CHECK (attempts BETWEEN 0 AND max_attempts),
  CHECK (crashes BETWEEN 0 AND max_crashes),
  -- running <=> leased
  CHECK ((state = 'running') = (leased_by IS NOT NULL)),
  CHECK ((leased_by IS NULL) = (leased_at IS NULL) AND (leased_by IS NULL) = (heartbeat_at IS NULL)),
  CHECK (state <> 'running' OR (lease >= 1 AND started_at IS NOT NULL)),
  -- final <=> finished
  CHECK ((state = 'succeeded' OR state = 'failed' OR state = 'dead' OR state = 'cancelled') = (finished_at IS NOT NULL)),
  CHECK (result IS NULL OR result_sha256 IS NULL),
  CHECK ((result IS NULL AND result_sha256 IS NULL) OR finished_at IS NOT NULL),
  CHECK (state <> 'succeeded' OR ((result IS NOT NULL OR result_sha256 IS NOT NULL) AND error IS NULL)),
  CHECK (error IS NOT NULL OR (state <> 'failed' AND state <> 'dead' AND state <> 'cancelled')),
  -- a live job has tries left, and only a running one can be waiting for its cancel or pause
  CHECK (finished_at IS NOT NULL OR (attempts < max_attempts AND crashes < max_crashes)),
  CHECK (cancel_requested = 0 OR state = 'running' OR finished_at IS NOT NULL),
  CHECK (pause_requested = 0 OR state = 'running'),
  CHECK (again_input IS NULL OR (unique_key IS NOT NULL AND finished_at IS NULL))
) STRICT;
INSERT INTO jobs_2 (seq, id, kind, operation_version, state, input, owner, subject, keep, priority, attempts, crashes,
                    interruptions, max_attempts, max_crashes, lease, leased_by, leased_at, heartbeat_at, cancel_requested, progress,
                    result, error, run_at, created_at, updated_at, started_at, finished_at, step_count, step_bytes)
  SELECT seq, id, kind, operation_version, state, input, owner, subject, keep, priority, attempts,
         crashes, interruptions, max_attempts, max_crashes, lease, leased_by, leased_at, heartbeat_at, cancel_requested, progress,
         result, error, run_at, created_at, updated_at, started_at, finished_at, step_count, step_bytes FROM jobs;

-- Committed step results. They hold note text: never listed, logged or exported.
CREATE TABLE job_steps_2 (
  job TEXT NOT NULL REFERENCES jobs_2 (id),
  key TEXT NOT NULL CHECK (key <> ''),
  inputs_hash TEXT NOT NULL,
  output TEXT,
  spill_sha256 TEXT,              -- name of the file that holds a large output
  size INTEGER NOT NULL,
  lease INTEGER NOT NULL,         -- generation of the try that stored it
  PRIMARY KEY (job, key),
  CHECK ((output IS NULL) <> (spill_sha256 IS NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO job_steps_2 SELECT job, key, inputs_hash, output, spill_sha256, size, lease FROM job_steps;

DROP TABLE job_steps;
DROP TABLE jobs;
ALTER TABLE jobs_2 RENAME TO jobs;
ALTER TABLE job_steps_2 RENAME TO job_steps;
CREATE INDEX job_steps_spill ON job_steps (spill_sha256) WHERE spill_sha256 IS NOT NULL;

-- The smallest goes first: when it became due, less a minute for each step of priority.
CREATE INDEX jobs_claim ON jobs (kind, run_at - priority * 60000, seq) WHERE state = 'ready';
CREATE INDEX jobs_due ON jobs (run_at) WHERE state IN ('scheduled', 'sleeping');
CREATE INDEX jobs_running ON jobs (kind) WHERE state = 'running';
CREATE INDEX jobs_running_limit ON jobs (limit_key) WHERE state = 'running' AND limit_key IS NOT NULL;
CREATE INDEX jobs_unsupported ON jobs (kind) WHERE state = 'unsupported';
CREATE UNIQUE INDEX jobs_unique ON jobs (kind, unique_key) WHERE finished_at IS NULL AND unique_key IS NOT NULL;
CREATE INDEX jobs_finished ON jobs (state, finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX jobs_with_steps ON jobs (finished_at) WHERE finished_at IS NOT NULL AND step_count > 0;
CREATE INDEX jobs_result ON jobs (result_sha256) WHERE result_sha256 IS NOT NULL;
CREATE INDEX jobs_parent ON jobs (parent) WHERE parent IS NOT NULL;
CREATE INDEX jobs_reverts ON jobs (reverts) WHERE reverts IS NOT NULL;
CREATE INDEX jobs_schedule ON jobs (schedule) WHERE schedule IS NOT NULL AND finished_at IS NULL;

-- How many jobs of a kind are in a state, so that a count never looks at finished rows.
CREATE TABLE job_counts (
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  count INTEGER NOT NULL CHECK (count >= 0),
  PRIMARY KEY (kind, state)
) STRICT, WITHOUT ROWID;
INSERT INTO job_counts SELECT kind, state, COUNT(*) FROM jobs GROUP BY kind, state;
CREATE TRIGGER jobs_count_added AFTER INSERT ON jobs BEGIN
  INSERT INTO job_counts VALUES (new.kind, new.state, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER jobs_count_moved AFTER UPDATE OF state ON jobs WHEN old.state <> new.state BEGIN
  UPDATE job_counts SET count = count - 1 WHERE kind = old.kind AND state = old.state;
  INSERT INTO job_counts VALUES (new.kind, new.state, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER jobs_count_removed AFTER DELETE ON jobs BEGIN
  UPDATE job_counts SET count = count - 1 WHERE kind = old.kind AND state = old.state;
END;

-- Errors of tries that ended, the last ones of each job; they stay when the job is tried again.
CREATE TABLE job_errors (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  lease INTEGER NOT NULL,         -- generation of the try
  what TEXT NOT NULL CHECK (what IN ('failed', 'crashed', 'timed_out', 'snoozed')),
  error TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX job_errors_job ON job_errors (job, id);

-- Who holds jobs back: `*` for all, or a kind.
CREATE TABLE job_pauses (
  what TEXT PRIMARY KEY CHECK (what <> ''),
  subject TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a job wrote, in order, so that it can be undone.
CREATE TABLE job_writes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  path TEXT NOT NULL CHECK (path <> ''),
  moved_from TEXT,                -- the write was a move
  before_sha256 TEXT,             -- NULL: it made the file
  before_etag TEXT,
  after_etag TEXT,                -- NULL: it deleted the file
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX job_writes_job ON job_writes (job, id);

CREATE TABLE schedules (
  name TEXT PRIMARY KEY CHECK (name <> ''),
  kind TEXT NOT NULL CHECK (kind <> ''),
  input TEXT NOT NULL,
  owner TEXT NOT NULL,
  subject TEXT NOT NULL,
  cron TEXT NOT NULL,
  time_zone TEXT NOT NULL,
  overlap TEXT NOT NULL CHECK (overlap IN ('skip', 'queue', 'cancel')),
  catch_up TEXT NOT NULL CHECK (catch_up IN ('skip', 'once', 'all')),
  is_paused INTEGER NOT NULL CHECK (is_paused IN (0, 1)),
  is_builtin INTEGER NOT NULL CHECK (is_builtin IN (0, 1)),
  next_at INTEGER,                -- NULL: never again
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX schedules_due ON schedules (next_at) WHERE is_paused = 0 AND next_at IS NOT NULL;
-- One row a slot of a schedule, so that none is run twice: the job it made, or why there is none.
CREATE TABLE schedule_slots (
  schedule TEXT NOT NULL REFERENCES schedules (name) ON DELETE CASCADE,
  slot INTEGER NOT NULL,
  job TEXT,
  outcome TEXT NOT NULL CHECK (outcome IN ('started', 'missed', 'skipped')),
  at INTEGER NOT NULL,
  PRIMARY KEY (schedule, slot),
  CHECK ((outcome = 'started') = (job IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- The events made anew: a number is never given twice, for the last row is never pruned, and the table of sequences, one page more
-- at every commit, is not needed.
CREATE TABLE events_2 (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind <> ''),
  at INTEGER NOT NULL,
  actor TEXT NOT NULL CHECK (actor = 'system' OR actor = 'cli' OR actor = 'api' OR actor = 'mcp' OR actor = 'ui' OR actor = 'fs'),
  subject TEXT NOT NULL,
  job_id TEXT,
  data TEXT NOT NULL
) STRICT;
INSERT INTO events_2 SELECT id, kind, at, actor, subject, job_id, data FROM events;
-- Numbers of events that were pruned before stay taken.
INSERT INTO events_2 SELECT seq, 'log.renewed', 0, 'system', '', NULL, '{}' FROM sqlite_sequence
  WHERE name = 'events' AND seq > (SELECT COALESCE(MAX(id), 0) FROM events);
DROP TABLE events;
ALTER TABLE events_2 RENAME TO events;
CREATE INDEX events_job ON events (job_id, id) WHERE job_id IS NOT NULL;
