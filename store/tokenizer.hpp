#pragma once

struct sqlite3;

namespace indx {

/// Registers the FTS5 tokenizer `indx` on a connection: unicode61 rules with our own folding (vault-rules 7.3) and one
/// token for each CJK character (7.4). Returns an SQLite result code.
int register_tokenizer(sqlite3* db);

}  // namespace indx
