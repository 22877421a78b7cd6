import {
  list,
  oneOf,
  optional,
  otherwise,
  readSettings,
  required,
  type SettingsOf,
  text,
  textLike,
  wholeNumber,
} from './settings.ts'

export const logLevels = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const

/**
 * The settings of the service: the only place that knows environment variables by name. A missing or bad one stops the cold
 * start with its name, before any request is taken. The deployment writes the environment of each function from the same tables.
 */
const logLevel = otherwise('LOG_LEVEL', oneOf(logLevels), 'INFO')

/** What every function needs that is reached through the gateway, but tokens: nobody is asked for one where the contract is read. */
const gateway = {
  /** The id of the data centre that this function belongs to. */
  dataCentre: required(
    'DATA_CENTRE',
    textLike(/^[a-z][a-z0-9-]{0,31}$/, 'a letter, then letters, digits or hyphens, in lower case'),
  ),
  sitesTable: required('SITES_TABLE', text()),
  /** Where the directory is read, when it is not replicated to the function's own region. */
  directoryRegion: optional('DIRECTORY_REGION', text()),
  /** How the gateway hands over paths. */
  pathEncoding: otherwise('PATH_ENCODING', oneOf(['encoded', 'decoded']), 'encoded'),
  /** For which `Accept` the gateway turns base64 into bytes. */
  binaryAccept: otherwise('BINARY_ACCEPT', oneOf(['any', 'named']), 'any'),
  logLevel,
}

/** What the function needs that shows the contract and the console. */
const documentation = {
  ...gateway,
  /** The ids of all data centres: the console may be asked for here, and work on a site that lives in another one. */
  dataCentres: required('DATA_CENTRES', list),
  /** Where large files are downloaded from. */
  downloadsUrl: optional('DOWNLOADS_URL', textLike(/^https?:\/\/\S+$/, 'a URL')),
}

const edge = { ...gateway, tokensTable: required('TOKENS_TABLE', text()) }

/** Where a function writes down what it has changed. */
const journal = { journalTable: required('JOURNAL_TABLE', text()) }

const fields = { ...edge, ...journal, webFormsTable: required('WEB_FORMS_TABLE', text()) }

/** Over how many objects a list is filtered or sorted as a whole (decisions.md, section 2, 220003). */
const longestList = otherwise('LONGEST_LIST', wholeNumber(1, Number.MAX_SAFE_INTEGER), '20000')

const categories = {
  ...edge,
  ...journal,
  contentTable: required('CONTENT_TABLE', text()),
  categoryLinksTable: required('CATEGORY_LINKS_TABLE', text()),
  longestList,
}

/** What the file storage is told wherever it runs. */
const files = {
  /** The largest file that may be uploaded, in bytes. */
  largestFile: otherwise('LARGEST_FILE', wholeNumber(1, 5 * 1024 ** 3), String(100 * 1024 ** 2)),
  /** The largest file that may come piece by piece, in bytes; S3 copies no more in one call. */
  largestResumableFile: otherwise('LARGEST_RESUMABLE_FILE', wholeNumber(1, 5 * 1024 ** 3), String(5 * 1024 ** 3)),
  /** Folders that can be neither deleted nor renamed nor moved, separated by commas. */
  reservedFolders: otherwise('RESERVED_FOLDERS', list, '_System,Layouts,ModuleTemplates,Templates,StyleSheets'),
}

/** How long what was replaced or removed is kept, in days. */
const keptDays = otherwise('KEPT_DAYS', wholeNumber(1, 3_650), '30')

/** Where a function finds files, what keeps their paths from being changed, and the rest of removals. */
const fileStores = {
  ...journal,
  keptDays,
  pathLocksTable: required('PATH_LOCKS_TABLE', text()),
  filesBucket: required('FILES_BUCKET', text(3)),
  removalsQueueUrl: required('REMOVALS_QUEUE_URL', textLike(/^https?:\/\/\S+$/, 'a URL')),
}

const storage = { ...edge, ...files, ...fileStores, uploadsTable: required('UPLOADS_TABLE', text()) }

/** One or two, so that a new one can be known before it is sent. */
const secrets = (given: string): readonly string[] => {
  const found = list(given)
  if (found.length === 0 || found.length > 2 || found.some((secret) => secret.length < 32)) {
    throw new Error('must be one or two secrets of 32 characters or more, separated by a comma')
  }
  return found
}

/** What the function that streams needs: all that the one of files does, and what shows that a request comes from the distribution. */
const stream = { ...storage, originSecrets: required('ORIGIN_SECRETS', secrets) }

/** What Lambda tells a process that it hands requests to. */
const listening = {
  /** Where it is to listen. */
  httpEndpoint: required(
    'AWS_LAMBDA_HTTP_ENDPOINT',
    textLike(/^\S+:\d{1,5}$/, 'an address and a port, with a colon between'),
  ),
}

/** What the deployment needs to register a data centre. */
const registration = {
  sitesTable: required('SITES_TABLE', text()),
  directoryRegion: required('DIRECTORY_REGION', text()),
}

/** The settings of each function. */
export const settingsOf = { documentation, fields, categories, storage, stream, removals: fileStores, registration }

/** The settings on one machine. */
const machine = {
  ...files,
  longestList,
  keptDays,
  /** Whether a change is answered only when it would survive a power cut. The end of a process is survived either way. */
  fsync: otherwise('FSYNC', oneOf(['on', 'off']), 'on'),
}

export type DocumentationSettings = SettingsOf<typeof documentation>
export type EdgeSettings = SettingsOf<typeof edge>
export type CategoriesSettings = SettingsOf<typeof categories>
export type FileSettings = SettingsOf<typeof files>
export type StorageSettings = SettingsOf<typeof storage>
export type StreamSettings = SettingsOf<typeof stream>
export type FileStoreSettings = SettingsOf<typeof fileStores>
export type MachineSettings = SettingsOf<typeof machine>

export const readDocumentationSettings = (environment = process.env) => readSettings(documentation, environment)
export const readFieldsSettings = (environment = process.env) => readSettings(fields, environment)
export const readCategoriesSettings = (environment = process.env) => readSettings(categories, environment)
export const readStorageSettings = (environment = process.env) => readSettings(storage, environment)
export const readStreamSettings = (environment = process.env) => readSettings(stream, environment)
export const readListeningSettings = (environment = process.env) => readSettings(listening, environment)
export const readRemovalsSettings = (environment = process.env) => readSettings(fileStores, environment)
export const readRegistrationSettings = (environment = process.env) => readSettings(registration, environment)
export const readMachineSettings = (environment = process.env) => readSettings(machine, environment)
