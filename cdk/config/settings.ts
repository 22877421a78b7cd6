import { readFileSync } from 'node:fs'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { RegionInfo } from 'aws-cdk-lib/region-info'
import type { Node } from 'constructs'
import { safeParse } from 'secure-json-parse'
import * as z from 'zod'
import { highestLimit, logLevels } from '../../lib/config/config.ts'
import { regionalTables } from '../../lib/config/tables.ts'
import { byName, plainId } from '../../lib/core/names.ts'
import { functionNames, workloads } from './functions.ts'

const hostName = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/
const policyName = /^[\w+=,.@-]{1,128}$/
const zoneId = /^Z[A-Z0-9]{1,31}$/

const textLike = (pattern: RegExp, rule: string) => z.string().regex(pattern, rule)

const tableName = textLike(/^[\w.-]{3,255}$/, 'must be the name of a table')

const arnOf = (service: string, resource: RegExp, thing: string) =>
  textLike(
    new RegExp(`^arn:aws[\\w-]*:${service}:[a-z\\d-]+:\\d{12}:${resource.source}$`),
    `must be the ARN of ${thing}`,
  )

// The settings of an installation: the `siteAdmin` context in cdk.json, or `-c siteAdmin='{…}'` on the command line.
const customDomain = z
  .strictObject({
    domainName: textLike(hostName, 'must be a host name in lower case, such as "us.example.com"'),
    hostedZoneId: textLike(zoneId, 'must be the id of a hosted zone in Route 53, such as "Z0123456789ABC"').optional(),
    certificateArn: arnOf('acm', /certificate\/[\w-]+/, 'a certificate').optional(),
  })
  .refine(({ hostedZoneId, certificateArn }) => hostedZoneId !== undefined || certificateArn !== undefined, {
    message: 'needs a hostedZoneId, a certificateArn or both',
  })

const region = z.string().refine((text) => RegionInfo.regions.some(({ name }) => name === text), {
  error: 'must be a region such as "eu-west-1". If the region is new, update aws-cdk-lib',
  abort: true,
})
const partitionOf = (name: string) => RegionInfo.get(name).partition

/** CloudFront reads certificates and firewalls only from this region. */
export const edgeRegion = 'us-east-1'

const dataCentre = z.strictObject({
  region,
  customDomain: customDomain.optional(),
  deletionProtection: z.boolean().optional(),
  streaming: z.boolean().optional(),
  originSecret: z.int().min(1).optional(),
  // The names of restored tables. Each key is the name of the table in lib/config/tables.ts.
  restoredTables: z.strictObject(byName(regionalTables, () => tableName.optional())).optional(),
  alarmTopic: arnOf('sns', /[\w-]+/, 'a topic').optional(),
})

// The GitHub repository and environment whose jobs may deploy without a key.
const deploymentRole = z.strictObject({
  // GitHub's tokens name the repository in this form: `owner/name`, or `owner@1/name@2` with ids for a repository
  // created since July 2026.
  repository: textLike(/^[\w.-]+(@\d+)?\/[\w.-]+(@\d+)?$/, 'must be OWNER/NAME or OWNER@1/NAME@2'),
  environment: textLike(/^[\w.-]+$/, 'must contain only letters, digits, dots, hyphens and underscores').default(
    'production',
  ),
})

const settings = z.strictObject({
  prefix: textLike(/^[A-Za-z][A-Za-z0-9-]{0,31}$/, 'must be 1 to 32 letters, digits and hyphens, a letter first'),
  dataCentres: z.record(z.string(), dataCentre),
  defaultDataCentre: z.string(),
  directoryRegion: region.optional(),
  deletionProtection: z.boolean().default(true),
  replicateDirectory: z.boolean().default(true),
  emulatorEndpoint: z.url({ protocol: /^https?$/, error: 'must begin with http:// or https://' }).optional(),
  // For emulators (lib/aws/lambda/gateway.ts): some decode paths, which AWS passes on as they were sent. LocalStack
  // returns bytes only if `Accept` begins with a type.
  pathEncoding: z.enum(['encoded', 'decoded']).default('encoded'),
  binaryAccept: z.enum(['any', 'named']).default('any'),
  deploymentRole: deploymentRole.optional(),
  logLevel: z.enum(logLevels).default('INFO'),
  webApplicationFirewall: z.boolean().default(false),
  changeEvents: z.boolean().default(false),
  webhooks: z.boolean().default(false),
  uploadOrigins: z
    .array(textLike(/^https?:\/\/[a-z0-9.-]+(:\d+)?$/, 'must be an origin, such as "https://example.com"'))
    .default([]),
  keptDays: z.int().min(1).max(3_650).default(30),
  canary: z.boolean().default(false),
  backup: z
    .strictObject({
      days: z.int().min(1).default(35),
      copyTo: arnOf('backup', /backup-vault:[\w-]+/, 'a vault').optional(),
    })
    .optional(),
  alarmEmail: z.email('must be an e-mail address').optional(),
  logDays: z
    .int()
    .refine(
      (days) => days in RetentionDays && days !== RetentionDays.INFINITE,
      'must be a number of days that CloudWatch offers, such as 7, 30 or 365',
    )
    .default(30),
  tracing: z.boolean().default(false),
  coldAfterDays: z.int().min(30).optional(),
  encryptionKeys: z.record(z.string(), arnOf('kms', /key\/[\w-]+/, 'a key')).optional(),
  permissionsBoundary: textLike(policyName, 'must be the name of a managed policy in this account').optional(),
  reservedConcurrency: z.strictObject(byName(functionNames, () => z.int().min(1).optional())).default({}),
  requestLimits: z
    .strictObject({ perToken: z.int().min(0).max(highestLimit), perSite: z.int().min(0).max(highestLimit) })
    .default({ perToken: 100, perSite: 200 }),
  throttling: z.strictObject({ rate: z.int().min(1), burst: z.int().min(1) }).default({ rate: 500, burst: 1000 }),
})

type Fault = readonly [isThere: boolean | undefined, path: string, message: string]

const isElsewhere = (arn: string | undefined, region: string) => (arn?.split(':')[3] ?? region) !== region

const faultsAt = (all: Settings, id: string, dataCentre: DataCentreSettings): readonly Fault[] => {
  const { region, streaming, customDomain, alarmTopic } = dataCentre
  const restored = Object.keys(dataCentre.restoredTables ?? {})
  const certificates = streaming ? edgeRegion : region
  const isTaken = ['directory', 'edge', 'watch'].includes(id)
  const lacksCloudFront = partitionOf(region) !== 'aws'
  const path = `dataCentres.${id}`
  return [
    [!plainId.test(id), path, 'must have an id of up to 32 of a-z, 0-9 and -, a letter first'],
    [isTaken, path, 'must have another id, because another stack already has this name'],
    [
      isElsewhere(customDomain?.certificateArn, certificates),
      `${path}.customDomain.certificateArn`,
      `must be the ARN of a certificate in ${certificates}`,
    ],
    [isElsewhere(alarmTopic, region), `${path}.alarmTopic`, `must be in ${region}`],
    [
      restored.length > 0 && !isProtected(all, dataCentre),
      `${path}.restoredTables`,
      'needs deletionProtection. Without it, the deployment would delete the tables that the restored tables replace',
    ],
    [
      restored.includes('journal') && needsStream(all),
      `${path}.restoredTables.journal`,
      'must be left out with changeEvents or webhooks, because a restored table has no stream',
    ],
    [streaming && lacksCloudFront, `${path}.streaming`, `must be false, because CloudFront needs ${edgeRegion}`],
  ]
}

const keyFaults = (all: Settings): readonly Fault[] => {
  const keys = all.encryptionKeys
  if (!keys) return []
  return [
    ...Object.entries(keys).map(([region, arn]): Fault => {
      return [isElsewhere(arn, region), `encryptionKeys.${region}`, 'must be the ARN of a key in this region']
    }),
    ...[...stackRegions(all)].map((region): Fault => {
      return [keys[region] === undefined, `encryptionKeys.${region}`, 'is missing. Each region needs a key']
    }),
  ]
}

const faultsIn = (all: Settings): readonly Fault[] => {
  const dataCentres = Object.values(all.dataCentres)
  const domains = dataCentres.flatMap(({ customDomain }) => customDomain?.domainName ?? [])
  const isShared = new Set(domains).size < domains.length
  const isForEmulators = all.pathEncoding !== 'encoded' || all.binaryAccept !== 'any'
  const partitions = new Set([...regionsOf(all)].filter(Boolean).map(partitionOf))
  const isEmulated = all.emulatorEndpoint !== undefined
  const lacksWebFunctions = isEmulated && hasDistributions(all)
  return [
    [!Object.hasOwn(all.dataCentres, all.defaultDataCentre), 'defaultDataCentre', 'must be the id of a data centre'],
    [lacksWebFunctions, 'dataCentres', 'must not have streaming, because emulators lack Web Functions'],
    [partitions.size > 1, 'dataCentres', 'must be in the AWS partition of the directoryRegion'],
    ...keyFaults(all),
    [
      all.coldAfterDays !== undefined && all.coldAfterDays + 30 > all.keptDays,
      'coldAfterDays',
      'must be at least 30 less than keptDays, because S3 bills at least 30 days of the cheaper storage',
    ],
    // Lambda would throttle the workers, and the queue would move messages of throttled workers to its dead letters.
    ...(['removals', 'webhooks'] as const).map((name): Fault => {
      const { workers, least, others } = workloads[name]
      const message = `must be at least ${least}: ${workers} for the workers of its queue, ${others}`
      return [(all.reservedConcurrency[name] ?? least) < least, `reservedConcurrency.${name}`, message]
    }),
    [isShared, 'dataCentres', 'must not share a domainName, because a domain can point to only one of them'],
    [!isEmulated && isForEmulators, 'emulatorEndpoint', 'is missing. On AWS, leave out pathEncoding and binaryAccept'],
    ...Object.entries(all.dataCentres).flatMap(([id, dataCentre]) => faultsAt(all, id, dataCentre)),
  ]
}

export type Settings = z.infer<typeof settings>
export type DataCentreSettings = z.infer<typeof dataCentre>

export const needsStream = ({ changeEvents, webhooks }: Pick<Settings, 'changeEvents' | 'webhooks'>): boolean =>
  changeEvents || webhooks

export const contextKey = 'siteAdmin'

const kinds: Readonly<Record<string, string>> = {
  array: 'must be a list: […]',
  boolean: 'must be true or false, without quotes',
  int: 'must be a whole number',
  number: 'must be a number, without quotes',
  string: 'must be a text in quotes',
}

const explain: z.core.$ZodErrorMap = (issue) => {
  if (issue.input === undefined) return 'is missing'
  if (issue.code === 'invalid_type') return kinds[issue.expected] ?? 'must be a JSON object: {…}'
  if (issue.code === 'invalid_value') return `must be ${issue.values.map((value) => `"${String(value)}"`).join(' or ')}`
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}`
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`
  if (issue.code !== 'unrecognized_keys' || !issue.inst || !('shape' in issue.inst)) return undefined
  return `There is no setting ${issue.keys.join(', ')}. The settings are ${Object.keys(issue.inst.shape ?? {}).join(', ')}`
}

/**
 * Validates the settings. On the command line, each setting is a JSON text. Throws an Error that names the wrong
 * setting.
 */
export const parseSettings = (value: unknown): Settings => {
  const checked = settings.superRefine((all, { addIssue }) => {
    for (const [isThere, path, message] of faultsIn(all))
      if (isThere) addIssue({ code: 'custom', path: path.split('.'), message })
  })
  const result = checked.safeParse(typeof value === 'string' ? (safeParse(value) ?? value) : value, { error: explain })
  if (result.success) return result.data
  const faults = result.error.issues.map(({ path, message }) => `\n- ${[contextKey, ...path].join('.')}: ${message}`)
  throw new Error(`The settings of the app are wrong. Correct them in cdk.json or after -c:${faults.join('')}`)
}

const contextOfProject = () => {
  try {
    return JSON.parse(readFileSync('cdk.json', 'utf8')).context
  } catch (error) {
    throw new Error(`cdk.json cannot be read. Correct or restore this file. (${error})`)
  }
}

export const settingsOfCommand = (context: readonly string[]): Settings => {
  const named = context.findLast((text) => text.startsWith(`${contextKey}=`))
  if (named !== undefined) return parseSettings(named.slice(contextKey.length + 1))
  return parseSettings(contextOfProject()?.[contextKey])
}

export const readSettings = (node: Node): Settings => parseSettings(node.tryGetContext(contextKey))

export const homeRegion = ({ directoryRegion, dataCentres, defaultDataCentre }: Settings): string =>
  directoryRegion ?? dataCentres[defaultDataCentre]?.region ?? ''

/** The data centres for whose distributions this app creates a certificate or a firewall. */
export const onEdge = ({ dataCentres, webApplicationFirewall }: Settings): readonly [string, DataCentreSettings][] =>
  Object.entries(dataCentres).filter(
    ([, { streaming, customDomain }]) =>
      streaming && (webApplicationFirewall || (customDomain && !customDomain.certificateArn)),
  )

export const hasDistributions = ({ dataCentres }: Settings): boolean =>
  Object.values(dataCentres).some(({ streaming }) => streaming)

const regionsOf = (settings: Settings): ReadonlySet<string> =>
  new Set([homeRegion(settings), ...Object.values(settings.dataCentres).map(({ region }) => region)])

export const stackRegions = (settings: Settings): ReadonlySet<string> =>
  new Set([...regionsOf(settings), ...(hasDistributions(settings) ? [edgeRegion] : [])])

export const replicaRegions = (settings: Settings, from: string): readonly string[] =>
  settings.replicateDirectory ? [...regionsOf(settings)].filter((region) => region !== from) : []

export const nearestDirectory = (settings: Settings, region: string): string =>
  settings.replicateDirectory ? region : homeRegion(settings)

export const isProtected = (settings: Settings, { deletionProtection }: DataCentreSettings): boolean =>
  deletionProtection ?? settings.deletionProtection
