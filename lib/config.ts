import * as z from 'zod/mini'

const table = z.string('must be set').check(z.minLength(1, 'must be set'))

const region = z.string('must be set').check(z.minLength(1, 'must be set'))

const pathEncodings = ['encoded', 'decoded'] as const

const logLevels = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const

/**
 * The settings of the functions: the only place that reads environment variables. A missing or bad one stops the cold
 * start with its name, before any request is taken.
 */
const edge = z.object({
  /** The id of the data centre that this function belongs to. */
  DATA_CENTRE: z
    .string('must be set')
    .check(z.regex(/^[a-z][a-z0-9-]{0,31}$/, 'must be a letter, then letters, digits or hyphens, in lower case')),
  SITES_TABLE: table,
  TOKENS_TABLE: table,
  /** Where the directory is read, when it is not replicated to the function's own region. */
  DIRECTORY_REGION: z.optional(region),
  /** How the gateway hands over paths; `encoded` unless told otherwise. */
  PATH_ENCODING: z.optional(z.enum(pathEncodings, `must be one of ${pathEncodings.join(', ')}`)),
  LOG_LEVEL: z._default(z.enum(logLevels, `must be one of ${logLevels.join(', ')}`), 'INFO'),
})

/** What every function needs, but tokens: nobody is asked for one where the contract is read. */
const documentation = z.omit(edge, { TOKENS_TABLE: true })

const fields = z.extend(edge, { WEB_FORMS_TABLE: table })

/** What the deployment needs to register a data centre. */
const registration = z.object({ SITES_TABLE: table, DIRECTORY_REGION: region })

/** Over how many objects a list is filtered or sorted as a whole (decisions.md, section 2, 220003). */
export const standardLongestList = 20_000

const categories = z.extend(edge, {
  CONTENT_TABLE: table,
  CATEGORY_LINKS_TABLE: table,
  LONGEST_LIST: z._default(
    z.coerce.number().check(z.int('must be a whole number'), z.minimum(1, 'must be 1 or more')),
    standardLongestList,
  ),
})

const storageSettings = z.object({
  /** The largest file that may be uploaded, in bytes. */
  LARGEST_FILE: z._default(
    z.coerce.number('must be a number').check(z.int('must be a whole number'), z.minimum(1), z.maximum(5 * 1024 ** 3)),
    100 * 1024 ** 2,
  ),
  /** Folders that can neither be deleted nor renamed, separated by commas. */
  RESERVED_FOLDERS: z.pipe(
    z._default(z.string(), '_System,Layouts,ModuleTemplates,Templates,StyleSheets'),
    z.transform((text) => text.split(',').filter((name) => name !== '')),
  ),
})

const storage = z.extend(edge, { ...storageSettings.shape, PAGES_TABLE: table, UPLOADS_TABLE: table })

/** What the storage needs when it is deployed: its files are in S3, and the rest of a removal is in SQS. */
const deployedStorage = z.extend(storage, {
  FILES_BUCKET: z.string('must be set').check(z.minLength(3, 'must be the name of a bucket')),
  REMOVALS_QUEUE_URL: z.url('must be a URL'),
})

/** What the storage can be told on one machine. */
const localStorage = z.extend(storageSettings, {
  /** Whether an upload is answered only when it would survive a power cut. The end of a process is survived either way. */
  FSYNC: z._default(z.enum(['on', 'off'], 'must be on or off'), 'on'),
})

export type EdgeConfig = z.infer<typeof edge>
export type DocumentationConfig = z.infer<typeof documentation>
export type FieldsConfig = z.infer<typeof fields>
export type CategoriesConfig = z.infer<typeof categories>
export type StorageConfig = z.infer<typeof storage>
export type DeployedStorageConfig = z.infer<typeof deployedStorage>

const read = <Config>(schema: z.core.$ZodType<Config>, environment: NodeJS.ProcessEnv): Config => {
  const result = z.safeParse(schema, environment)
  if (result.success) return result.data
  const faults = result.error.issues.map(({ path, message }) => `${path.join('.')} (${message})`)
  throw new Error(`Settings missing or wrong: ${faults.join(', ')}`)
}

export const readDocumentationConfig = (environment: NodeJS.ProcessEnv = process.env): DocumentationConfig =>
  read(documentation, environment)

export const readFieldsConfig = (environment: NodeJS.ProcessEnv = process.env): FieldsConfig =>
  read(fields, environment)

export const readCategoriesConfig = (environment: NodeJS.ProcessEnv = process.env): CategoriesConfig =>
  read(categories, environment)

export const readLocalStorageConfig = (environment: NodeJS.ProcessEnv = process.env) => read(localStorage, environment)

export const readDeployedStorageConfig = (environment: NodeJS.ProcessEnv = process.env): DeployedStorageConfig =>
  read(deployedStorage, environment)

export const readRegistrationConfig = (environment: NodeJS.ProcessEnv = process.env): z.infer<typeof registration> =>
  read(registration, environment)
