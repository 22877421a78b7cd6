import { editions } from '../../storage/path.ts'

// Triggers on the rows of files and uploads. They keep the used bytes of sites and the names of files up to date.

const countedOf = (row: 'NEW' | 'OLD') => `iif(${row}.complete, 0, coalesce(${row}.length, ${row}.kept))`
const growth = `(${countedOf('NEW')} - ${countedOf('OLD')})`
const siteOf = (row: 'NEW' | 'OLD') => `CAST(substr(${row}.key, instr(${row}.key, '/') + 1) AS INTEGER)`

// Counts the used bytes in the transaction of each change, even when a row expires. `REPLACE` would remove rows without
// the trigger.
const counting = (name: string, event: string, site: string, bytes: string) => `
  CREATE TRIGGER count_${name} AFTER ${event} WHEN ${bytes} <> 0 BEGIN
    UPDATE sites SET used = used + ${bytes} WHERE id = ${site} AND quota IS NOT NULL;
  END;`

export const counters = [
  counting('stored', 'INSERT ON objects', siteOf('NEW'), 'NEW.size'),
  counting('removed', 'DELETE ON objects', siteOf('OLD'), '-OLD.size'),
  counting('replaced', 'UPDATE OF size ON objects', siteOf('NEW'), '(NEW.size - OLD.size)'),
  counting('opened', 'INSERT ON uploads', 'NEW.site', countedOf('NEW')),
  counting('ended', 'DELETE ON uploads', 'OLD.site', `-${countedOf('OLD')}`),
  counting('continued', 'UPDATE OF length, kept, complete ON uploads', 'NEW.site', growth),
].join('')

const sizeBelow = (edition: string, site: string) => `(SELECT coalesce(sum(size), 0) FROM objects
  WHERE key >= '${edition}/' || ${site} || '/' AND key < '${edition}/' || ${site} || '0')`

/** An SQL expression for the bytes of live files, drafts and open uploads. */
export const usedBytesOf = (site: string) => `(${editions.map((edition) => sizeBelow(edition, site)).join(' + ')}
  + (SELECT coalesce(sum(coalesce(length, kept)), 0) FROM uploads WHERE site = ${site} AND complete = 0))`

/**
 * An index of the names of live files and folders, for searches. Each change writes one row here. A search then copies
 * the new rows to `name_index`, in batches: the rows whose ids are above all ids in `name_index`. No id is ever used
 * twice.
 */
export const names = `
  CREATE TABLE names (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE removed_names (id INTEGER PRIMARY KEY) STRICT;
  CREATE VIRTUAL TABLE name_index USING fts5 (
    name, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
  );
  CREATE TRIGGER count_named AFTER INSERT ON objects WHEN NEW.key GLOB 'live/*' BEGIN
    INSERT INTO names (key) VALUES (NEW.key);
  END;
  CREATE TRIGGER count_unnamed AFTER DELETE ON objects WHEN OLD.key GLOB 'live/*' BEGIN
    INSERT INTO removed_names SELECT id FROM names WHERE key = OLD.key;
    DELETE FROM names WHERE key = OLD.key;
  END;
  CREATE TRIGGER count_renamed AFTER UPDATE OF key ON objects WHEN NEW.key GLOB 'live/*' BEGIN
    INSERT INTO removed_names SELECT id FROM names WHERE key = OLD.key;
    DELETE FROM names WHERE key = OLD.key;
    INSERT INTO names (key) VALUES (NEW.key);
  END;`
