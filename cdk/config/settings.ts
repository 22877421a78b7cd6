import type { Stack } from 'aws-cdk-lib'
import type { Node } from 'constructs'
import * as z from 'zod'
import { logLevels } from '../../lib/config/config.ts'

/** What an installation decides for itself: the `siteAdmin` context in cdk.json, or `-c siteAdmin='{…}'` on the command line. */
const customDomain = z
  .strictObject({
    domainName: z.string().min(1),
    /** The zone of the domain at Route 53, which then gets the alias record and, without a certificate, the proof for one. */
    hostedZoneId: z
      .string()
      .regex(/^Z[A-Z0-9]{1,31}$/)
      .optional(),
    /** A certificate in the data centre's region; without one, the deployment makes it. */
    certificateArn: z.string().startsWith('arn:').optional(),
  })
  .refine(({ hostedZoneId, certificateArn }) => hostedZoneId !== undefined || certificateArn !== undefined, {
    message: 'needs a hostedZoneId, a certificateArn or both',
  })

const region = z.string().regex(/^[a-z]{2,4}(-[a-z]+)+-\d$/)

/** Where CloudFront takes certificates and firewalls from. */
export const edgeRegion = 'us-east-1'

const dataCentre = z
  .strictObject({
    region,
    customDomain: customDomain.optional(),
    /** Overrides that of the installation, for the tables and files of this data centre and for its replica of the directory. */
    deletionProtection: z.boolean().optional(),
    /** Whether files come and go as streams, through a distribution, which is the address of the data centre then. */
    streaming: z.boolean().optional(),
    /** The number of the secret between the distribution and the function that streams: with the next one, both get a new one. */
    originSecret: z.int().min(1).optional(),
  })
  .refine(
    ({ streaming, customDomain }) => !streaming || (customDomain?.certificateArn ?? edgeRegion).includes(edgeRegion),
    { path: ['customDomain', 'certificateArn'], message: `must be of ${edgeRegion} where streaming is on` },
  )

/** Who may deploy from GitHub without a key: jobs of one repository that run in one of its environments. */
const deploymentRole = z.strictObject({
  /** As GitHub's tokens name it: `owner/name`, with the ids of both where it was made since July 2026, `owner@1/name@2`. */
  repository: z.string().regex(/^[\w.-]+(@\d+)?\/[\w.-]+(@\d+)?$/),
  environment: z
    .string()
    .regex(/^[\w.-]+$/)
    .default('production'),
})

const settings = z
  .strictObject({
    /** What the names of the stacks and of the global tables begin with. */
    prefix: z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,31}$/),
    dataCentres: z.record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/), dataCentre),
    /** Where sites are made unless told otherwise. */
    defaultDataCentre: z.string(),
    /** The home of the directory's tables, which never moves. Without it, the region of the default data centre. */
    directoryRegion: region.optional(),
    /** Keeps tables, buckets and their contents when a stack is removed, and refuses to remove tables. */
    deletionProtection: z.boolean().default(true),
    /** Whether the directory is replicated to every region. Emulators do not replicate: there, all read it in its home region. */
    replicateDirectory: z.boolean().default(true),
    /** The address of an emulator, through which base URLs then lead. */
    emulatorEndpoint: z.url().optional(),
    /** How the gateway hands over paths: AWS's as they came, some emulators' percent-decoded (lib/aws/lambda/gateway.ts). */
    pathEncoding: z.enum(['encoded', 'decoded']).default('encoded'),
    /** For which `Accept` the gateway hands out bytes: AWS's for any, LocalStack's for one that names a type first (lib/aws/lambda/gateway.ts). */
    binaryAccept: z.enum(['any', 'named']).default('any'),
    deploymentRole: deploymentRole.optional(),
    /** What functions write to their logs: this, and what is graver. */
    logLevel: z.enum(logLevels).default('INFO'),
    webApplicationFirewall: z.boolean().default(false),
    /** Whether what happens to sites goes to an event bus of each data centre as well. */
    changeEvents: z.boolean().default(false),
    /** For how many days replaced and removed files are kept, and can be brought back. */
    keptDays: z.int().min(1).max(3_650).default(30),
    /** Who is told of alarms. */
    alarmEmail: z.email().optional(),
    /** Requests per second and data centre that the gateway lets through, and how many at once. */
    throttling: z
      .strictObject({ rate: z.int().positive(), burst: z.int().positive() })
      .default({ rate: 500, burst: 1000 }),
  })
  .refine(
    ({ dataCentres, emulatorEndpoint }) =>
      emulatorEndpoint === undefined || !Object.values(dataCentres).some(({ streaming }) => streaming),
    { path: ['dataCentres'], message: 'cannot stream on an emulator, which knows no Web Functions' },
  )
  .refine(({ dataCentres, defaultDataCentre }) => defaultDataCentre in dataCentres, {
    path: ['defaultDataCentre'],
    message: 'must be one of the data centres',
  })

export type Settings = z.infer<typeof settings>
export type DataCentreSettings = z.infer<typeof dataCentre>

/** Where the settings stand in the context. */
export const contextKey = 'siteAdmin'

/** Reads and checks the settings. Values from the command line are JSON texts. Throws an error that names what is wrong. */
export const parseSettings = (value: unknown): Settings => {
  const result = settings.safeParse(typeof value === 'string' ? JSON.parse(value) : value)
  if (result.success) return result.data
  throw new Error(`The context "${contextKey}" is wrong:\n${z.prettifyError(result.error)}`)
}

export const readSettings = (node: Node): Settings => parseSettings(node.tryGetContext(contextKey))

/** The region where the directory's tables have their home. */
export const homeRegion = ({ directoryRegion, dataCentres, defaultDataCentre }: Settings): string =>
  directoryRegion ?? dataCentres[defaultDataCentre]?.region ?? ''

/** The regions to which the directory's tables are replicated from a region. */
export const replicaRegions = (settings: Settings, from: string): readonly string[] => {
  if (!settings.replicateDirectory) return []
  const regions = new Set([homeRegion(settings), ...Object.values(settings.dataCentres).map(({ region }) => region)])
  regions.delete(from)
  return [...regions]
}

/** Where a data centre reaches the directory: next to it, or where it has its home. */
export const nearestDirectory = (settings: Settings, { region }: DataCentreSettings): string =>
  settings.replicateDirectory ? region : homeRegion(settings)

/** Whether what a data centre keeps outlives its stack. */
export const isProtected = (settings: Settings, { deletionProtection }: DataCentreSettings): boolean =>
  deletionProtection ?? settings.deletionProtection

export const stageName = 'live'

/** What a data centre answers at when it has no domain of its own. */
interface Addresses {
  readonly apiId: string
  /** The host of its distribution, where it streams. */
  readonly distribution: string | undefined
}

/** The base URL of a data centre's service: its own domain, else its distribution, else its stage. */
export const baseUrlOf = (
  { emulatorEndpoint }: Settings,
  { customDomain }: DataCentreSettings,
  { apiId, distribution }: Addresses,
  { region, urlSuffix }: Pick<Stack, 'region' | 'urlSuffix'>,
): string => {
  if (emulatorEndpoint) return `${emulatorEndpoint}/restapis/${apiId}/${stageName}/_user_request_`
  const host = customDomain?.domainName ?? distribution
  return host === undefined ? `https://${apiId}.execute-api.${region}.${urlSuffix}/${stageName}` : `https://${host}`
}
