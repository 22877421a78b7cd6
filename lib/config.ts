import {
  list,
  oneOf,
  optional,
  otherwise,
  readSettings,
  type SettingsOf,
  text,
  textLike,
  wholeNumber,
} from './settings.ts'

/**
 * The settings of the functions: the only place that reads environment variables. A missing or bad one stops the cold
 * start with its name, before any request is taken.
 */
const edge = {
  /** The id of the data centre that this function belongs to. */
  DATA_CENTRE: textLike(/^[a-z][a-z0-9-]{0,31}$/, 'a letter, then letters, digits or hyphens, in lower case'),
  SITES_TABLE: text(),
  TOKENS_TABLE: text(),
  /** Where the directory is read, when it is not replicated to the function's own region. */
  DIRECTORY_REGION: optional(text()),
  /** How the gateway hands over paths; `encoded` unless told otherwise. */
  PATH_ENCODING: optional(oneOf(['encoded', 'decoded'])),
  LOG_LEVEL: otherwise(oneOf(['DEBUG', 'INFO', 'WARN', 'ERROR']), 'INFO'),
}

const { TOKENS_TABLE: _, ...withoutTokens } = edge

/** What every function needs, but tokens: nobody is asked for one where the contract is read. */
const documentation = withoutTokens

const fields = { ...edge, WEB_FORMS_TABLE: text() }

/** What the deployment needs to register a data centre. */
const registration = { SITES_TABLE: text(), DIRECTORY_REGION: text() }

/** Over how many objects a list is filtered or sorted as a whole (decisions.md, section 2, 220003). */
export const standardLongestList = 20_000

const categories = {
  ...edge,
  CONTENT_TABLE: text(),
  CATEGORY_LINKS_TABLE: text(),
  LONGEST_LIST: otherwise(wholeNumber(1, Number.MAX_SAFE_INTEGER), String(standardLongestList)),
}

const storageSettings = {
  /** The largest file that may be uploaded, in bytes. */
  LARGEST_FILE: otherwise(wholeNumber(1, 5 * 1024 ** 3), String(100 * 1024 ** 2)),
  /** Folders that can neither be deleted nor renamed, separated by commas. */
  RESERVED_FOLDERS: otherwise(list, '_System,Layouts,ModuleTemplates,Templates,StyleSheets'),
}

const storage = { ...edge, ...storageSettings, PAGES_TABLE: text(), UPLOADS_TABLE: text() }

/** What the storage needs when it is deployed: its files are in S3, and the rest of a removal is in SQS. */
const deployedStorage = {
  ...storage,
  FILES_BUCKET: text(3),
  REMOVALS_QUEUE_URL: textLike(/^https?:\/\/\S+$/, 'a URL'),
}

/** What the storage can be told on one machine. */
const localStorage = {
  ...storageSettings,
  /** Whether an upload is answered only when it would survive a power cut. The end of a process is survived either way. */
  FSYNC: otherwise(oneOf(['on', 'off']), 'on'),
}

export type EdgeConfig = SettingsOf<typeof edge>
export type DocumentationConfig = SettingsOf<typeof documentation>
export type FieldsConfig = SettingsOf<typeof fields>
export type CategoriesConfig = SettingsOf<typeof categories>
export type StorageConfig = SettingsOf<typeof storage>
export type LocalStorageConfig = SettingsOf<typeof localStorage>

export const readDocumentationConfig = (environment = process.env) => readSettings(documentation, environment)
export const readFieldsConfig = (environment = process.env) => readSettings(fields, environment)
export const readCategoriesConfig = (environment = process.env) => readSettings(categories, environment)
export const readLocalStorageConfig = (environment = process.env) => readSettings(localStorage, environment)
export const readDeployedStorageConfig = (environment = process.env) => readSettings(deployedStorage, environment)
export const readRegistrationConfig = (environment = process.env) => readSettings(registration, environment)
