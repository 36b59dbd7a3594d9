-- state.db: what cannot be rebuilt from the notes. Times are milliseconds since 1970 UTC. The CHECKs hold the invariants of
-- the job states (jobs/job_state.cpp has the transitions). It names paths and hashes, never a row of index.db.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('event_epoch', lower(hex(randomblob(6))));

CREATE TABLE jobs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of arrival
  id TEXT NOT NULL UNIQUE CHECK (id <> ''),
  kind TEXT NOT NULL CHECK (kind <> ''),
  operation_version INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('scheduled', 'ready', 'running', 'sleeping', 'waiting', 'paused', 'unsupported',
                                       'succeeded', 'failed', 'dead', 'cancelled')),
  input TEXT NOT NULL,
  owner TEXT NOT NULL,
  subject TEXT NOT NULL,
  keep INTEGER NOT NULL CHECK (keep IN (0, 1)),
  priority INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  interruptions INTEGER NOT NULL DEFAULT 0 CHECK (interruptions >= 0),
  max_attempts INTEGER NOT NULL CHECK (max_attempts >= 1),
  max_crashes INTEGER NOT NULL CHECK (max_crashes >= 1),
  lease INTEGER NOT NULL DEFAULT 0 CHECK (lease >= 0),
  leased_by TEXT CHECK (leased_by <> ''),
  leased_at INTEGER,
  heartbeat_at INTEGER,
  cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
  progress TEXT NOT NULL,
  result TEXT,
  error TEXT,
  run_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  step_count INTEGER NOT NULL DEFAULT 0 CHECK (step_count BETWEEN 0 AND 200000),
  step_bytes INTEGER NOT NULL DEFAULT 0 CHECK (step_bytes BETWEEN 0 AND 67108864),
  CHECK (attempts BETWEEN 0 AND max_attempts),
  CHECK (crashes BETWEEN 0 AND max_crashes),
  -- running <=> leased
  CHECK ((state = 'running') = (leased_by IS NOT NULL)),
  CHECK ((leased_by IS NULL) = (leased_at IS NULL) AND (leased_by IS NULL) = (heartbeat_at IS NULL)),
  CHECK (state <> 'running' OR (lease >= 1 AND started_at IS NOT NULL)),
  -- final <=> finished
  CHECK ((state IN ('succeeded', 'failed', 'dead', 'cancelled')) = (finished_at IS NOT NULL)),
  CHECK (result IS NULL OR finished_at IS NOT NULL),
  CHECK (state <> 'succeeded' OR (result IS NOT NULL AND error IS NULL)),
  CHECK (state NOT IN ('failed', 'dead', 'cancelled') OR error IS NOT NULL),
  -- a live job has tries left, and only a running one can be waiting for its cancel
  CHECK (finished_at IS NOT NULL OR (attempts < max_attempts AND crashes < max_crashes)),
  CHECK (cancel_requested = 0 OR state = 'running' OR finished_at IS NOT NULL)
) STRICT;
CREATE INDEX jobs_claim ON jobs (priority DESC, run_at, seq) WHERE state = 'ready';
CREATE INDEX jobs_due ON jobs (run_at) WHERE state IN ('scheduled', 'sleeping');
CREATE INDEX jobs_running ON jobs (leased_by) WHERE state = 'running';
CREATE INDEX jobs_unsupported ON jobs (kind) WHERE state = 'unsupported';
CREATE INDEX jobs_live ON jobs (state) WHERE finished_at IS NULL;
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX jobs_with_steps ON jobs (finished_at) WHERE finished_at IS NOT NULL AND step_count > 0;
CREATE INDEX jobs_subject ON jobs (subject, seq);

-- Committed step results. They hold note text: never listed, logged or exported.
CREATE TABLE job_steps (
  job TEXT NOT NULL REFERENCES jobs (id),
  key TEXT NOT NULL CHECK (key <> ''),
  inputs_hash TEXT NOT NULL,
  output TEXT,
  spill_sha256 TEXT,              -- name of the file that holds a large output
  size INTEGER NOT NULL,
  lease INTEGER NOT NULL,         -- generation of the try that stored it
  PRIMARY KEY (job, key),
  CHECK ((output IS NULL) <> (spill_sha256 IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX job_steps_spill ON job_steps (spill_sha256) WHERE spill_sha256 IS NOT NULL;

CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,   -- never given twice, also after pruning
  kind TEXT NOT NULL CHECK (kind <> ''),
  at INTEGER NOT NULL,
  actor TEXT NOT NULL CHECK (actor IN ('ui', 'api', 'cli', 'mcp', 'fs', 'system')),
  subject TEXT NOT NULL,
  job_id TEXT,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX events_job ON events (job_id, id) WHERE job_id IS NOT NULL;

CREATE TABLE idempotency (
  subject TEXT NOT NULL,
  operation TEXT NOT NULL,
  key TEXT NOT NULL CHECK (key <> ''),
  body_hash TEXT NOT NULL,
  is_done INTEGER NOT NULL CHECK (is_done IN (0, 1)),
  http_status INTEGER NOT NULL,
  reply TEXT,
  job_id TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (subject, operation, key),
  CHECK ((is_done = 1) = (reply IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);

-- Vault writes that were promised and not yet confirmed.
CREATE TABLE intents (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE CHECK (id <> ''),
  path TEXT NOT NULL CHECK (path <> ''),
  before_sha256 TEXT NOT NULL,
  after_sha256 TEXT NOT NULL,
  temp_name TEXT NOT NULL,
  permanent INTEGER NOT NULL CHECK (permanent IN (0, 1)),
  actor TEXT NOT NULL,
  subject TEXT NOT NULL,
  request_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  step_key TEXT NOT NULL,
  step_inputs_hash TEXT NOT NULL,
  lease INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL,  -- '<operation>\n<key>' of its row in idempotency
  outcome TEXT NOT NULL,
  at INTEGER NOT NULL,
  CHECK (before_sha256 <> '' OR after_sha256 <> '')
) STRICT;

-- Before-images of notes, shared by content. `data` NULL: in the file versions/<sha256>.
CREATE TABLE version_blobs (
  sha256 TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  stored_bytes INTEGER NOT NULL,
  data BLOB
) STRICT;
CREATE INDEX version_blobs_bytes ON version_blobs (stored_bytes);
CREATE TABLE versions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL CHECK (path <> ''),
  sha256 TEXT NOT NULL REFERENCES version_blobs (sha256),
  etag TEXT NOT NULL,
  job_id TEXT NOT NULL,
  size INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX versions_path ON versions (path, id);
CREATE INDEX versions_blob ON versions (sha256);
CREATE INDEX versions_at ON versions (at);
CREATE INDEX versions_job ON versions (job_id) WHERE job_id <> '';

-- The secret itself is never stored.
CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  secret_sha256 TEXT NOT NULL UNIQUE CHECK (length(secret_sha256) = 64),
  scopes TEXT NOT NULL,
  path_globs TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX tokens_lookup ON tokens (substr(secret_sha256, 1, 8)) WHERE revoked_at IS NULL;

CREATE TABLE usage (
  id TEXT PRIMARY KEY,
  operation TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  job_id TEXT NOT NULL,
  item TEXT NOT NULL,
  request_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('started', 'succeeded', 'failed', 'lost')),
  input_tokens INTEGER NOT NULL CHECK (input_tokens >= 0),
  output_tokens INTEGER NOT NULL CHECK (output_tokens >= 0),
  cost_usd REAL,
  source TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  CHECK (status NOT IN ('succeeded', 'failed') OR finished_at IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_started ON usage (started_at);
CREATE INDEX usage_job ON usage (job_id, started_at);
CREATE INDEX usage_open ON usage (status) WHERE status = 'started';
