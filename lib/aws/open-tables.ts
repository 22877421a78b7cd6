import type { EdgeSettings } from '../config/config.ts'
import type { TableName } from '../config/tables.ts'
import { createAccessValues, createIssuers, createPeople, createSignInAttempts } from './dynamodb/access.ts'
import { createCategoryStores } from './dynamodb/category-stores.ts'
import { createGrants, createSiteDirectory, withoutHistory } from './dynamodb/directory-stores.ts'
import { createDocumentClient } from './dynamodb/dynamodb.ts'
import { createFolderRemovals } from './dynamodb/folder-removals.ts'
import { createJournal, type RecordChange, type RecordingOptions } from './dynamodb/journal.ts'
import { createWorkflows } from './dynamodb/path-locks.ts'
import { createUploadProgress, createUploadRecords } from './dynamodb/uploads.ts'
import { createUsageCounts } from './dynamodb/usage-counts.ts'
import { createWebForms } from './dynamodb/web-forms.ts'
import { createWebhookLeases, createWebhooks } from './dynamodb/webhooks.ts'

// Each bundle imports only the openers that it uses, and so contains only their stores. Openers of files are in another
// module: if a module loads code on demand, esbuild adds that code to each bundle that imports the module, whether the
// bundle uses the code or not.

export interface Given extends Partial<Omit<RecordingOptions, 'table'>> {
  readonly once?: RecordingOptions['dynamodb']
}

type Tables<Name extends TableName> = Readonly<Record<`${Name}Table`, string>>

type SitesSettings = Tables<'sites'> & Pick<EdgeSettings, 'directoryRegion'>
type DirectorySettings = SitesSettings & Tables<'tokens' | 'users'>
type LocksSettings = Tables<'journal' | 'pathLocks'> & { readonly keptDays?: number }

const directoryOptions = ({ directoryRegion: region }: SitesSettings, given?: Given) => ({
  record: withoutHistory,
  ...given,
  ...(region !== undefined && { dynamodb: createDocumentClient({ region }) }),
})

export const openSites = (settings: SitesSettings, given?: Given) =>
  createSiteDirectory({ ...directoryOptions(settings, given), table: settings.sitesTable })

export const openDirectory = (settings: DirectorySettings, given?: Given) => {
  const options = directoryOptions(settings, given)
  return {
    sites: createSiteDirectory({ ...options, table: settings.sitesTable }),
    grants: createGrants({ ...options, table: settings.tokensTable }),
    people: createPeople({ ...options, table: settings.usersTable }),
  }
}

export const openIssuers = (settings: SitesSettings & Tables<'tokens'>, given?: Given) => {
  const options = directoryOptions(settings, given)
  return {
    issuers: createIssuers({ ...options, table: settings.sitesTable }),
    accessValues: createAccessValues({ ...options, table: settings.tokensTable }),
  }
}

export const openJournal = ({ journalTable: table }: Tables<'journal'>, given?: Given) => {
  const { record, history } = createJournal({ ...given, table })
  return { record: given?.record ?? record, history }
}

/**
 * The history of a site is only in its own data centre. So a change in another data centre writes no history entry for
 * the site.
 */
export const openAccessStores = (
  settings: DirectorySettings & Tables<'journal' | 'signIns'> & Pick<EdgeSettings, 'dataCentre'>,
  given?: Given,
) => {
  const { record } = openJournal(settings, given)
  const sites = openSites(settings, given)
  const recordHere: RecordChange = async (entry) => {
    // If the site cannot be read, a needless entry does less harm than a missing one.
    const site = await sites.getSite(entry.site).catch(() => settings)
    if (site?.dataCentre === settings.dataCentre) await record(entry)
  }
  const here = { ...given, record: recordHere }
  const attempts = createSignInAttempts({ ...given, table: settings.signInsTable })
  return { ...openDirectory(settings, here), ...openIssuers(settings, here), attempts }
}

export const openFieldsStores = (settings: DirectorySettings & Tables<'journal' | 'webForms'>, given?: Given) => ({
  ...openDirectory(settings, given),
  webForms: createWebForms({ ...given, ...openJournal(settings, given), table: settings.webFormsTable }),
})

export const openCategoriesStores = (
  settings: DirectorySettings & Tables<'journal' | 'content' | 'categoryLinks'>,
  given?: Given,
) => ({
  ...openDirectory(settings, given),
  ...createCategoryStores({ ...given, ...settings, ...openJournal(settings, given) }),
})

export const openLocks = (settings: LocksSettings, given?: Given) => {
  const journal = openJournal(settings, given)
  const { pathLocksTable: table, keptDays } = settings
  const options = { ...given, ...journal, table, keptDays }
  return {
    ...journal,
    workflows: createWorkflows(options),
    removals: createFolderRemovals(options),
    usage: createUsageCounts(options),
  }
}

export const openAreas = (
  settings: LocksSettings & Tables<'webForms' | 'content' | 'categoryLinks'>,
  given?: Given,
) => {
  const locks = openLocks(settings, given)
  const options = { ...given, record: locks.record }
  return {
    ...locks,
    webForms: createWebForms({ ...options, table: settings.webFormsTable }),
    ...createCategoryStores({ ...options, ...settings }),
  }
}

export const openUploads = (settings: Tables<'journal' | 'uploads'>, given?: Given) => {
  const options = { ...given, ...openJournal(settings, given), table: settings.uploadsTable }
  return { progress: createUploadProgress(options), uploadRecords: createUploadRecords(options) }
}

export const openWebhooks = (settings: Tables<'journal' | 'webhooks'>, given?: Given) => {
  const journal = openJournal(settings, given)
  const options = { ...given, ...journal, table: settings.webhooksTable }
  return {
    history: journal.history,
    webhooks: createWebhooks(options),
    leases: createWebhookLeases(options),
  }
}
