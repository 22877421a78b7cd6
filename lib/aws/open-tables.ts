import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Stores } from '../service/stores.ts'
import { createCategoryStores } from './dynamodb/category-stores.ts'
import { createGrants, createSiteDirectory, withoutHistory } from './dynamodb/directory-stores.ts'
import { createDocumentClient } from './dynamodb/dynamodb.ts'
import { createJournal, type RecordChange } from './dynamodb/journal.ts'
import { createPathLocks, type PathLocks } from './dynamodb/path-locks.ts'
import { createUploadProgress } from './dynamodb/upload-progress.ts'
import { createUploadRecords } from './dynamodb/upload-records.ts'
import { createWebForms } from './dynamodb/web-forms.ts'

// One opener for each bundle: a function carries the stores that it needs and no others.

/** The caller's own client, wall clock or history, in place of the usual ones. */
export interface Given {
  readonly dynamodb?: DynamoDBDocumentClient
  readonly now?: (() => number) | undefined
  readonly record?: RecordChange
}

interface SitesSettings {
  readonly sitesTable: string
  // Set when the directory is not replicated to the own region.
  readonly directoryRegion?: string
}

interface DirectorySettings extends SitesSettings {
  readonly tokensTable: string
}

interface JournalSettings {
  readonly journalTable: string
}

interface WebFormsSettings {
  readonly webFormsTable: string
}

interface CategoryTables {
  readonly contentTable: string
  readonly categoryLinksTable: string
}

interface LockSettings extends JournalSettings {
  readonly pathLocksTable: string
  readonly keptDays?: number
}

interface UploadSettings {
  readonly uploadsTable: string
}

const directoryClient = ({ directoryRegion: region }: SitesSettings, { dynamodb }: Given) =>
  region === undefined ? (dynamodb ?? createDocumentClient()) : createDocumentClient({ region })

/** Sites and data centres. */
export const openSites = (settings: SitesSettings, given: Given = {}) => {
  const { record = withoutHistory } = given
  return createSiteDirectory({ dynamodb: directoryClient(settings, given), table: settings.sitesTable, record })
}

/** The directory that all data centres share. */
export const openDirectory = (settings: DirectorySettings, given: Given = {}): Pick<Stores, 'sites' | 'grants'> => {
  const { record = withoutHistory } = given
  const dynamodb = directoryClient(settings, given)
  return {
    sites: createSiteDirectory({ dynamodb, table: settings.sitesTable, record }),
    grants: createGrants({ dynamodb, table: settings.tokensTable, record }),
  }
}

/** Adds the history to what is given. */
export const openJournal = ({ journalTable: table }: JournalSettings, given: Given = {}) => {
  const { dynamodb = createDocumentClient(), now } = given
  const { record, history } = createJournal({ dynamodb, table, ...(now && { now }) })
  return { dynamodb, now, record: given.record ?? record, history }
}

export const openFieldsStores = (settings: DirectorySettings & JournalSettings & WebFormsSettings, given?: Given) => {
  const { dynamodb, record } = openJournal(settings, given)
  return {
    ...openDirectory(settings, { dynamodb }),
    webForms: createWebForms({ dynamodb, table: settings.webFormsTable, record }),
  }
}

export const openCategoriesStores = (settings: DirectorySettings & JournalSettings & CategoryTables, given?: Given) => {
  const { dynamodb, record } = openJournal(settings, given)
  return { ...openDirectory(settings, { dynamodb }), ...createCategoryStores({ dynamodb, ...settings, record }) }
}

/** Workflows, removals and the history. */
export const openLocks = (settings: LockSettings, given?: Given): PathLocks & ReturnType<typeof openJournal> => {
  const journal = openJournal(settings, given)
  const { dynamodb, record, now } = journal
  const { pathLocksTable: table, keptDays } = settings
  const kept = keptDays !== undefined && { keptDays }
  return { ...journal, ...createPathLocks({ dynamodb, table, record, ...kept, ...(now && { now }) }) }
}

export const openUploads = (
  { uploadsTable: table }: UploadSettings,
  { dynamodb = createDocumentClient(), now }: Given = {},
): Pick<Stores, 'progress' | 'uploadRecords'> => ({
  progress: createUploadProgress({ dynamodb, table, now }),
  uploadRecords: createUploadRecords({ dynamodb, table, now }),
})

/** The tables of one data centre for an operator. */
export const openAreas = (settings: LockSettings & WebFormsSettings & CategoryTables, given?: Given) => {
  const { dynamodb, record, history, workflows, removals } = openLocks(settings, given)
  return {
    webForms: createWebForms({ dynamodb, table: settings.webFormsTable, record }),
    ...createCategoryStores({ dynamodb, ...settings, record }),
    workflows,
    removals,
    history,
    record,
  }
}
