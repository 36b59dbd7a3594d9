-- One row a model call, made anew for a CHECK cannot be changed: calls without an answer are `interrupted`, and `reserved_usd` is
-- what a call may have cost as long as nobody knows. Totals of days outlive the rows.

CREATE TABLE usage_log (
  id TEXT PRIMARY KEY,
  operation TEXT NOT NULL,
  feature TEXT NOT NULL,                  -- what it was for: rag, summarize, embed, tag, …
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  job_id TEXT NOT NULL,
  item TEXT NOT NULL,
  request_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('started', 'succeeded', 'failed', 'interrupted')),
  input_tokens INTEGER NOT NULL CHECK (input_tokens >= 0),
  output_tokens INTEGER NOT NULL CHECK (output_tokens >= 0),
  cost_usd REAL,                          -- null: unknown
  reserved_usd REAL NOT NULL DEFAULT 0 CHECK (reserved_usd >= 0),
  source TEXT NOT NULL,                   -- reported | estimated
  attempt INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  CHECK (status NOT IN ('succeeded', 'failed') OR finished_at IS NOT NULL)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_log SELECT id, operation, replace(operation, 'ai_', ''), provider,
  model, job_id, item, request_id, CASE status WHEN 'lost' THEN 'interrupted' ELSE status END, input_tokens, output_tokens, cost_usd,
  0, source, attempt, started_at, finished_at FROM usage;
DROP TABLE usage;
CREATE INDEX usage_log_started ON usage_log (started_at);
CREATE INDEX usage_log_job ON usage_log (job_id, started_at);
CREATE INDEX usage_log_open ON usage_log (status) WHERE status = 'started';
CREATE INDEX usage_log_reserved ON usage_log (started_at, reserved_usd) WHERE reserved_usd > 0;

CREATE TABLE usage_days (
  day INTEGER PRIMARY KEY,                -- days since 1970-01-01, UTC
  calls INTEGER NOT NULL DEFAULT 0,       -- of models, started that day
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0,
  invocations INTEGER NOT NULL DEFAULT 0  -- AI operations that ended that day
) STRICT;
INSERT INTO usage_days SELECT started_at / 86400000, COUNT(*), SUM(input_tokens), SUM(output_tokens), IFNULL(SUM(cost_usd), 0.0), 0
  FROM usage_log GROUP BY started_at / 86400000;
