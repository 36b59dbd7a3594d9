CREATE TABLE answers (
  id INTEGER PRIMARY KEY,                 -- order of arrival
  key TEXT NOT NULL UNIQUE,
  reply TEXT NOT NULL,
  bytes INTEGER NOT NULL CHECK (bytes > 0),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX answers_expire ON answers (expires_at);

-- How many bytes all answers have, so that nobody adds them up.
CREATE TABLE total (bytes INTEGER NOT NULL CHECK (bytes >= 0)) STRICT;
INSERT INTO total VALUES (0);
CREATE TRIGGER answers_added AFTER INSERT ON answers BEGIN
  UPDATE total SET bytes = bytes + new.bytes;
END;
CREATE TRIGGER answers_removed AFTER DELETE ON answers BEGIN
  UPDATE total SET bytes = bytes - old.bytes;
END;

CREATE TABLE lookups (
  hour INTEGER PRIMARY KEY,               -- hours since 1970
  hits INTEGER NOT NULL,
  misses INTEGER NOT NULL
) STRICT;
