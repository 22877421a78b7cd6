/** The tables of the object store: an index of all objects, with keys in the order of their UTF-8 bytes, and the content of small ones. */
export const objectTables = `
  CREATE TABLE IF NOT EXISTS objects (
    key TEXT PRIMARY KEY, blob TEXT, size INTEGER NOT NULL, modified INTEGER NOT NULL, type TEXT NOT NULL, version TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS small_contents (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;`
