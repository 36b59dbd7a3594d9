-- index.db: everything here can be made again from the files of the vault.
PRAGMA application_id = 0x696E6478;

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('content', '4');  -- what is read from a file and put here: kContentVersion

CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  name_key TEXT NOT NULL,            -- last component, folded, without `.md`: what links look up
  kind INTEGER NOT NULL,             -- 0 known by name only, 1 note, 2 other file with text
  etag TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  title TEXT NOT NULL,
  heading_count INTEGER NOT NULL,
  chunk_count INTEGER NOT NULL,
  task_count INTEGER NOT NULL,
  unlinked INTEGER                   -- of a note: 0 no links with other notes, 1 none to it, 2 none from it; else null
);
CREATE INDEX files_by_name ON files(name_key);
CREATE INDEX files_with_tasks ON files(path) WHERE task_count>0;
CREATE INDEX files_by_time ON files(mtime_ns, path) WHERE kind=1;
CREATE INDEX files_unlinked ON files(unlinked, path) WHERE unlinked IS NOT NULL;

-- One row for each file with kind 1 or 2. `body` is last: reading the other columns does not touch its pages.
CREATE TABLE notes (
  id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,               -- searched: title and file name
  aliases TEXT NOT NULL,             -- searched: one a line
  headings TEXT NOT NULL,            -- searched: one a line
  properties TEXT NOT NULL,          -- JSON object
  outline TEXT NOT NULL,             -- JSON [[level, text, line, begin, nested], ...]
  blocks TEXT NOT NULL,              -- JSON [[id, line, begin, end], ...]
  tasks TEXT NOT NULL,               -- JSON [[status, text, line], ...]
  warnings TEXT NOT NULL,            -- JSON [code, ...]
  body_begin INTEGER NOT NULL,       -- first byte after the property block
  body TEXT NOT NULL                 -- the whole file, searched
);
CREATE VIRTUAL TABLE notes_fts USING fts5(title, aliases, headings, body, content='notes', content_rowid='id',
                                          tokenize='indx');
CREATE VIRTUAL TABLE notes_vocab USING fts5vocab(notes_fts, 'row');

CREATE TABLE tags (
  file_id INTEGER NOT NULL,
  tag_key TEXT NOT NULL,             -- folded
  tag TEXT NOT NULL,                 -- as first written in the note
  position INTEGER NOT NULL,         -- order of first use in the note
  begin INTEGER NOT NULL,            -- offset of the first use; 0: property
  PRIMARY KEY (file_id, tag_key)
) WITHOUT ROWID;
CREATE INDEX tags_by_key ON tags(tag_key);

CREATE TABLE tasks (
  file_id INTEGER NOT NULL,
  position INTEGER NOT NULL,
  line INTEGER NOT NULL,
  mark TEXT NOT NULL,                -- the character between the brackets
  text TEXT NOT NULL,
  heading TEXT NOT NULL,             -- of the section it stands in; empty: none
  PRIMARY KEY (file_id, position)
) WITHOUT ROWID;

-- One column of values for each property name, in one tree.
CREATE TABLE properties (
  name_key TEXT NOT NULL,            -- folded
  file_id INTEGER NOT NULL,
  name TEXT NOT NULL,                -- as written in the note
  type TEXT NOT NULL,                -- property_type()
  value TEXT NOT NULL,               -- JSON
  PRIMARY KEY (name_key, file_id)
) WITHOUT ROWID;

CREATE TABLE aliases (
  file_id INTEGER NOT NULL,
  alias_key TEXT NOT NULL,
  alias TEXT NOT NULL,
  PRIMARY KEY (file_id, alias_key)
) WITHOUT ROWID;
CREATE INDEX aliases_by_key ON aliases(alias_key);

CREATE TABLE links (
  source_id INTEGER NOT NULL,
  position INTEGER NOT NULL,
  kind INTEGER NOT NULL,             -- LinkKind
  syntax INTEGER NOT NULL,           -- LinkSyntax
  external INTEGER NOT NULL,
  target TEXT NOT NULL,
  subpath TEXT NOT NULL,
  display TEXT,
  property TEXT NOT NULL,
  line INTEGER NOT NULL,
  col INTEGER NOT NULL,
  begin INTEGER NOT NULL,
  end INTEGER NOT NULL,
  name_key TEXT,                     -- files.name_key it may reach; null: external or the note itself
  target_id INTEGER,                 -- file reached; null: unresolved
  target_key TEXT,                   -- of an unresolved link: what it is grouped under; else null
  PRIMARY KEY (source_id, position)
) WITHOUT ROWID;
CREATE INDEX links_by_name ON links(name_key) WHERE name_key IS NOT NULL;
CREATE INDEX links_by_target ON links(target_id) WHERE target_id IS NOT NULL;
CREATE INDEX links_unresolved ON links(target_key) WHERE target_key IS NOT NULL;

CREATE TABLE chunk_rows (
  file_id INTEGER NOT NULL,
  position INTEGER NOT NULL,
  chunk_id BLOB NOT NULL,
  content_sha256 BLOB NOT NULL,
  heading_path_json TEXT NOT NULL,
  char_start INTEGER NOT NULL,       -- byte offsets in the file
  char_end INTEGER NOT NULL,
  embed_key BLOB NOT NULL,           -- embedding_key(): which vector is its own
  PRIMARY KEY (file_id, position)
) WITHOUT ROWID;

-- The model that all vectors are of: one row, or none. The id of a former one is never given again.
-- With the first row comes an index of chunk_rows by embed_key, which a vault without vectors does not pay for.
CREATE TABLE embedding_models (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  model TEXT NOT NULL,
  dim INTEGER NOT NULL               -- numbers in a vector, by the first one
);

-- One row for each embed_key that was embedded, also of chunks that are gone: they may come back under another path.
-- Not part of `clear`: a vector depends on its key alone.
CREATE TABLE embeddings (
  id INTEGER PRIMARY KEY AUTOINCREMENT,  -- its label in the graph, never given again
  model_id INTEGER NOT NULL,
  embed_key BLOB NOT NULL UNIQUE,
  scale REAL NOT NULL,               -- number i is byte i * scale; 0: a vector of zeros
  vector BLOB NOT NULL               -- int8, `dim` of them; empty: left out, to be tried again later
);
CREATE INDEX embeddings_left_out ON embeddings(id) WHERE vector=x'';

CREATE VIEW chunks AS
  SELECT lower(hex(c.chunk_id)) AS chunk_id, f.path AS path,
         coalesce(json_extract(c.heading_path_json, '$[#-1]'), '') AS heading, c.heading_path_json AS heading_path_json,
         CAST(substr(CAST(n.body AS BLOB), c.char_start + 1, c.char_end - c.char_start) AS TEXT) AS content,
         lower(hex(c.content_sha256)) AS content_sha256, c.char_start AS char_start, c.char_end AS char_end,
         (SELECT e.vector FROM embeddings e WHERE e.embed_key = c.embed_key) AS embedding, c.position AS position
  FROM chunk_rows c JOIN files f ON f.id = c.file_id JOIN notes n ON n.id = c.file_id;

CREATE VIEW headings AS
  SELECT f.path AS path, h.key AS position, json_extract(h.value, '$[0]') AS level, json_extract(h.value, '$[1]') AS text,
         json_extract(h.value, '$[2]') AS line
  FROM notes n JOIN files f ON f.id = n.id, json_each(n.outline) h;

CREATE VIEW edges AS
  SELECT s.path AS source, t.path AS target, l.target AS written, l.kind AS kind, l.property AS rel, l.line AS line,
         l.begin AS begin
  FROM links l JOIN files s ON s.id = l.source_id LEFT JOIN files t ON t.id = l.target_id
  WHERE l.external = 0;
