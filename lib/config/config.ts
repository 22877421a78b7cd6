import { plainId } from '../core/names.ts'
import {
  list,
  oneOf,
  optional,
  otherwise,
  readClientSecrets,
  readSettings,
  required,
  type SettingsOf,
  secretsFile,
  text,
  textLike,
  wholeNumber,
} from './settings.ts'

export const logLevels = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const

// Only this file names environment variables. A missing or bad variable stops the cold start. The deployment writes the
// environment of each function from these tables.

const url = textLike(/^https?:\/\/\S+$/, 'a URL')

const gateway = {
  dataCentre: required('DATA_CENTRE', textLike(plainId, 'a letter, then letters, digits or hyphens, in lower case')),
  sitesTable: required('SITES_TABLE', text()),
  directoryRegion: optional('DIRECTORY_REGION', text()),
  pathEncoding: otherwise('PATH_ENCODING', oneOf(['encoded', 'decoded']), 'encoded'),
  binaryAccept: otherwise('BINARY_ACCEPT', oneOf(['any', 'named']), 'any'),
  logLevel: otherwise('LOG_LEVEL', oneOf(logLevels), 'INFO'),
}

const keptDays = otherwise('KEPT_DAYS', wholeNumber(1, 3_650), '30')

const documentation = {
  ...gateway,
  keptDays,
  /** The ids of all data centres, because a console that is served here may send requests to any of them. */
  dataCentres: required('DATA_CENTRES', list),
  downloadsUrl: optional('DOWNLOADS_URL', url),
}

export const highestLimit = 1_000_000

// O-22: requests per second that one process accepts; 0 means no limit.
const limits = {
  requestsPerToken: otherwise('REQUESTS_PER_TOKEN', wholeNumber(0, highestLimit), '0'),
  requestsPerSite: otherwise('REQUESTS_PER_SITE', wholeNumber(0, highestLimit), '0'),
}

const edge = {
  ...gateway,
  ...limits,
  tokensTable: required('TOKENS_TABLE', text()),
  usersTable: required('USERS_TABLE', text()),
}

const journal = { journalTable: required('JOURNAL_TABLE', text()) }

const secrets = (given: string): readonly string[] => {
  const found = list(given)
  if (found.length === 0 || found.length > 2 || found.some((secret) => secret.length < 32)) {
    throw new Error('must be one or two secrets, separated by a comma, each with 32 characters or more')
  }
  return found
}

const originSecrets = optional('ORIGIN_SECRETS', secrets)

const access = {
  ...edge,
  ...journal,
  originSecrets,
  signInsTable: required('SIGN_INS_TABLE', text()),
  clientSecretsParameter: optional('CLIENT_SECRETS_PARAMETER', text()),
}

const fields = { ...edge, ...journal, webFormsTable: required('WEB_FORMS_TABLE', text()) }

// C-11: the largest number of entries of a list that is filtered or sorted.
const longestList = otherwise('LONGEST_LIST', wholeNumber(1, Number.MAX_SAFE_INTEGER), '20000')

const categories = {
  ...edge,
  ...journal,
  contentTable: required('CONTENT_TABLE', text()),
  categoryLinksTable: required('CATEGORY_LINKS_TABLE', text()),
  longestList,
}

const files = {
  largestFile: otherwise('LARGEST_FILE', wholeNumber(1, 5 * 1024 ** 3), String(100 * 1024 ** 2)),
  largestResumableFile: otherwise('LARGEST_RESUMABLE_FILE', wholeNumber(1, 5 * 1024 ** 3), String(5 * 1024 ** 3)),
  reservedFolders: otherwise('RESERVED_FOLDERS', list, '_System,Layouts,ModuleTemplates,Templates,StyleSheets'),
}

const fileStores = {
  ...journal,
  keptDays,
  pathLocksTable: required('PATH_LOCKS_TABLE', text()),
  filesBucket: required('FILES_BUCKET', text(3)),
  filesKey: optional('FILES_KEY', text()),
  removalsQueueUrl: required('REMOVALS_QUEUE_URL', url),
}

const uploadsTable = required('UPLOADS_TABLE', text())

const storage = { ...edge, ...files, ...fileStores, uploadsTable }

const { dataCentre, sitesTable, directoryRegion } = gateway
const removals = { ...fileStores, dataCentre, sitesTable, directoryRegion, uploadsTable }

const webhooks = {
  ...edge,
  ...journal,
  webhooksTable: required('WEBHOOKS_TABLE', text()),
  webhooksQueueUrl: required('WEBHOOKS_QUEUE_URL', url),
  webhooksKey: required('WEBHOOKS_KEY', text()),
}

const stream = { ...storage, originSecrets: required('ORIGIN_SECRETS', secrets) }

// Lambda gives a web function the port to listen on.
const listening = {
  httpEndpoint: required(
    'AWS_LAMBDA_HTTP_ENDPOINT',
    textLike(/^\S+:\d{1,5}$/, 'an address and a port, with a colon between'),
  ),
}

const registration = {
  sitesTable,
  directoryRegion: required('DIRECTORY_REGION', text()),
}

const canary = {
  baseUrl: required('BASE_URL', url),
  canaryToken: required('CANARY_TOKEN', text()),
}

const machine = {
  ...limits,
  ...files,
  longestList,
  keptDays,
  clientSecrets: optional('CLIENT_SECRETS', readClientSecrets),
  clientSecretsFile: optional('CLIENT_SECRETS_FILE', secretsFile),
  /** With `on`, an answered change survives a power cut. With any value, the change survives the end of the process. */
  fsync: otherwise('FSYNC', oneOf(['on', 'off']), 'on'),
}

export const settingsOf = {
  documentation,
  access,
  fields,
  categories,
  storage,
  stream,
  listening,
  removals,
  webhooks,
  registration,
  canary,
  machine,
}

export type AllSettings = typeof documentation &
  typeof access &
  typeof fields &
  typeof categories &
  typeof storage &
  typeof webhooks

export type DocumentationSettings = SettingsOf<typeof documentation>
export type AccessSettings = SettingsOf<typeof access>
export type EdgeSettings = SettingsOf<typeof edge>
export type CategoriesSettings = SettingsOf<typeof categories>
export type FileSettings = SettingsOf<typeof files>
export type StorageSettings = SettingsOf<typeof storage>
export type FileStoreSettings = SettingsOf<typeof fileStores>
export type MachineSettings = SettingsOf<typeof machine>

export const readSettingsOf = <Name extends keyof typeof settingsOf>(name: Name, environment = process.env) =>
  readSettings(settingsOf[name], environment)
