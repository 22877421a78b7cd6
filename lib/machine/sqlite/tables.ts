import {
  type ContentKind,
  contentKinds,
  type ObjectKind,
  objectKindNames,
  textMember,
} from '../../core/content-kinds.ts'
import { byName } from '../../core/names.ts'
import { objectKinds } from '../../core/object-kinds.ts'
import { counters, names } from './derived-rows.ts'

export const contentTables = byName(contentKinds, (kind) => ({
  table: kind === 'category' ? 'categories' : objectKinds[kind].segment,
  texts: textMember(kind) === undefined ? undefined : `${kind}_texts`,
}))

export const linkTables: Readonly<Record<ObjectKind, string>> = byName(objectKindNames, (kind) => `${kind}_links`)

/**
 * The condition that content is not being removed. Its first parameter is the site. Content that is being removed is
 * rare: SQLite looks for such content once, and compares ids only if it finds some. (`NOT IN` would build a filter for
 * a million ids.)
 */
export const isNotBeingRemoved = (column: string, kind: ContentKind): string => {
  const { table } = contentTables[kind]
  return `NOT (EXISTS (SELECT 1 FROM ${table} WHERE site = ?1 AND going = 1)
    AND EXISTS (SELECT 1 FROM ${table} AS those WHERE those.site = ?1 AND those.id = ${column} AND those.going = 1))`
}

// Members are JSON, without the long text. Content with `going` is being removed, and reads do not find it.
const contents = (table: string) => `
  CREATE TABLE ${table} (
    site INTEGER NOT NULL, id INTEGER NOT NULL, members TEXT NOT NULL,
    going INTEGER NOT NULL DEFAULT 0 CHECK (going IN (0, 1)),
    PRIMARY KEY (site, id)
  ) STRICT;
  CREATE INDEX going_${table} ON ${table} (site, id) WHERE going = 1;`

const longTexts = (table: string, objects: string) => `
  CREATE TABLE ${table} (
    site INTEGER NOT NULL, id INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (site, id),
    FOREIGN KEY (site, id) REFERENCES ${objects} (site, id) ON DELETE CASCADE
  ) STRICT;`

// The links of one kind in both directions, and statistics for SQLite. Without the statistics, SQLite would search all
// links of the site for the foreign key of a removed object.
const links = (table: string, objects: string) => `
  CREATE TABLE ${table} (
    site INTEGER NOT NULL, category INTEGER NOT NULL, object INTEGER NOT NULL,
    displayable INTEGER NOT NULL CHECK (displayable IN (0, 1)),
    PRIMARY KEY (site, category, object),
    FOREIGN KEY (site, category) REFERENCES categories (site, id),
    FOREIGN KEY (site, object) REFERENCES ${objects} (site, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX ${table}_by_object ON ${table} (site, object, category);
  INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('${table}', '${table}', '1000000 100000 1000 1'),
    ('${table}', '${table}_by_object', '1000000 100000 10 1');`

export const tablesOf = (kind: ObjectKind): string => {
  const { table, texts } = contentTables[kind]
  return `${contents(table)} ${texts === undefined ? '' : longTexts(texts, table)} ${links(linkTables[kind], table)}`
}

/** The tables of every database, except those of the kinds of objects. */
export const newTables = `
  ANALYZE;
  CREATE TABLE sites (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, data_centre TEXT NOT NULL,
    rendering_engine INTEGER NOT NULL CHECK (rendering_engine IN (0, 1)), quota INTEGER,
    used INTEGER -- In bytes. NULL for a site without a quota.
  ) STRICT;
  CREATE TABLE data_centres (
    id TEXT PRIMARY KEY, url TEXT NOT NULL, is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)), region TEXT
  ) STRICT, WITHOUT ROWID;
  -- The columns sites and permissions are JSON lists. The column expires is in epoch seconds.
  CREATE TABLE grants (
    hash TEXT PRIMARY KEY, user TEXT NOT NULL, sites TEXT NOT NULL, permissions TEXT NOT NULL,
    expires INTEGER NOT NULL,
    kind TEXT, -- NULL for a token without a person.
    since INTEGER, name TEXT, parent TEXT, last_used TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX keys_of_site ON grants (sites) WHERE kind = 'key';
  -- The key is the name in lower case. The record is JSON.
  CREATE TABLE people (
    key TEXT PRIMARY KEY, version INTEGER NOT NULL, record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Issuers with their rules, used tokens, codes of sign-ins, and the people of identities.
  -- The value is a text. The column expires is in epoch seconds, or NULL if the value never expires.
  CREATE TABLE access_values (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, expires INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX access_values_by_expiry ON access_values (expires) WHERE expires IS NOT NULL;
  -- Failed sign-ins. The column until is in epoch milliseconds, and expires is in epoch seconds.
  CREATE TABLE sign_ins (
    key TEXT PRIMARY KEY, failures INTEGER NOT NULL, waits INTEGER NOT NULL, until INTEGER NOT NULL,
    expires INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sign_ins_by_expiry ON sign_ins (expires);
  CREATE TABLE web_forms (
    site INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL,
    fields TEXT NOT NULL, -- JSON
    PRIMARY KEY (site, id)
  ) STRICT;
  ${contents(contentTables.category.table)}
  -- The column blob is the name of a blob or of a row in small_contents. A folder has no bytes.
  -- The column modified is in epoch milliseconds.
  CREATE TABLE objects (
    key TEXT PRIMARY KEY, blob TEXT, size INTEGER NOT NULL, modified INTEGER NOT NULL, type TEXT NOT NULL,
    version TEXT NOT NULL,
    fingerprint TEXT -- NULL while it is unknown.
  ) STRICT, WITHOUT ROWID;
  -- Copies share their bytes, so a removal checks whether another row refers to these bytes.
  CREATE INDEX objects_by_blob ON objects (blob) WHERE blob IS NOT NULL;
  CREATE TABLE small_contents (
    name TEXT PRIMARY KEY, bytes BLOB NOT NULL
  ) STRICT;
  CREATE TABLE workflows (
    site INTEGER NOT NULL, page TEXT NOT NULL,
    PRIMARY KEY (site, page)
  ) STRICT, WITHOUT ROWID;
  -- Only open removals. The column entry is the future history entry of the removal, as JSON.
  -- The column removed is the number of objects that were removed so far.
  CREATE TABLE folder_removals (
    site INTEGER NOT NULL, folder TEXT NOT NULL, id TEXT NOT NULL, entry TEXT NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0,
    began INTEGER NOT NULL DEFAULT 0, -- In epoch milliseconds.
    PRIMARY KEY (site, folder)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE removal_queue (
    number INTEGER PRIMARY KEY, site INTEGER NOT NULL, path TEXT NOT NULL, id TEXT NOT NULL
  ) STRICT;
  -- The newest upload of each token. The column expires is in epoch milliseconds.
  CREATE TABLE upload_progress (
    token TEXT PRIMARY KEY, upload TEXT NOT NULL, percent INTEGER NOT NULL, expires INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE secrets (
    name TEXT PRIMARY KEY, bytes BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- A record outlives its upload by a day; then its blob is NULL. Moments are in epoch milliseconds, sizes in bytes.
  CREATE TABLE uploads (
    id TEXT PRIMARY KEY, site INTEGER NOT NULL, user TEXT NOT NULL,
    target TEXT NOT NULL, -- JSON
    metadata TEXT NOT NULL, most INTEGER NOT NULL,
    length INTEGER, -- NULL while the sender has not declared it.
    kept INTEGER NOT NULL, complete INTEGER NOT NULL CHECK (complete IN (0, 1)), created INTEGER NOT NULL,
    expires INTEGER NOT NULL, blob TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX open_uploads ON uploads (site, user) WHERE complete = 0;
  CREATE INDEX uploads_by_expiry ON uploads (expires);
  -- Ids grow within a site, and stay near the microseconds of their moment since the epoch, so that no id repeats after
  -- a backup is restored. Details are JSON; the moment is in epoch milliseconds. The table is one tree. With an index it
  -- would be two, which would double the cost of an entry.
  CREATE TABLE changes (
    site INTEGER NOT NULL, id INTEGER NOT NULL, at INTEGER NOT NULL, type TEXT NOT NULL, subject TEXT NOT NULL,
    actor TEXT NOT NULL, request TEXT, details TEXT,
    PRIMARY KEY (site, id)
  ) STRICT, WITHOUT ROWID;
  -- Rows of replaced and removed objects. The column gone is in microseconds since the epoch. Removals of folders are in
  -- milliseconds.
  CREATE TABLE old_objects (
    key TEXT NOT NULL, version TEXT NOT NULL, blob TEXT, size INTEGER NOT NULL, modified INTEGER NOT NULL,
    type TEXT NOT NULL, fingerprint TEXT, gone INTEGER NOT NULL, removed INTEGER NOT NULL CHECK (removed IN (0, 1)),
    PRIMARY KEY (key, gone)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX old_objects_by_blob ON old_objects (blob) WHERE blob IS NOT NULL;
  CREATE INDEX old_objects_by_time ON old_objects (gone);
  CREATE TABLE removed_folders (
    site INTEGER NOT NULL, folder TEXT NOT NULL, began INTEGER NOT NULL, ended INTEGER NOT NULL,
    PRIMARY KEY (site, folder)
  ) STRICT, WITHOUT ROWID;
  ${names}
  -- Running backups, each with its latest end in epoch milliseconds. Until then, blobs that are no longer needed stay.
  CREATE TABLE backups (
    id TEXT PRIMARY KEY, until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- The column record has the settings, the secrets and the retries of a webhook as JSON. Moments are in epoch
  -- milliseconds. The positions are ids of changes.
  CREATE TABLE webhooks (
    site INTEGER NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)), position INTEGER NOT NULL, last_success INTEGER,
    failing_since INTEGER,
    PRIMARY KEY (site, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE webhook_deliveries (
    site INTEGER NOT NULL, webhook TEXT NOT NULL, id TEXT NOT NULL, position INTEGER NOT NULL, type TEXT NOT NULL,
    at INTEGER NOT NULL, attempt INTEGER NOT NULL,
    status INTEGER, -- NULL if no answer arrived.
    fault TEXT, milliseconds INTEGER NOT NULL,
    PRIMARY KEY (site, webhook, id),
    FOREIGN KEY (site, webhook) REFERENCES webhooks (site, id) ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;
  ${counters}`

export const everyObject = `SELECT key, blob, size, fingerprint, 0 AS isEarlier FROM objects
  UNION ALL SELECT key, blob, size, fingerprint, 1 FROM old_objects`

/** The condition that the bytes of an object are in a blob. It reads three indexes once, in their order. */
export const isInBlob = `blob IN (
  SELECT blob FROM objects WHERE blob IS NOT NULL UNION SELECT blob FROM old_objects WHERE blob IS NOT NULL
  EXCEPT SELECT name FROM small_contents)`
