import type { DatabaseSync } from 'node:sqlite'

/** Makes of the tables of a machine what version 1 of them was: without backups, old objects, a history, resumable uploads, fingerprints and secrets. */
export const makeEarlier = (connection: DatabaseSync): void =>
  connection.exec(
    'DROP TABLE backups; DROP TABLE old_objects; DROP TABLE removed_folders; ALTER TABLE folder_removals DROP COLUMN began; DROP TABLE changes; ALTER TABLE folder_removals DROP COLUMN removed; DROP TABLE uploads; DROP INDEX objects_by_blob; ALTER TABLE objects DROP COLUMN fingerprint; DROP TABLE secrets; PRAGMA user_version = 1',
  )
