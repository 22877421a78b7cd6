import { readFileSync } from 'node:fs'
import type { Stack } from 'aws-cdk-lib'
import type { Node } from 'constructs'
import * as z from 'zod'
import { logLevels } from '../../lib/config/config.ts'

// The settings of an installation: the `siteAdmin` context in cdk.json, or `-c siteAdmin='{…}'` on the command line.
const customDomain = z
  .strictObject({
    domainName: z.string().min(1),
    // The Route 53 zone for the alias record and, without a certificate, for its validation.
    hostedZoneId: z
      .string()
      .regex(/^Z[A-Z0-9]{1,31}$/)
      .optional(),
    // A certificate in the region of the data centre; without it, the deployment creates one.
    certificateArn: z.string().startsWith('arn:').optional(),
  })
  .refine(({ hostedZoneId, certificateArn }) => hostedZoneId !== undefined || certificateArn !== undefined, {
    message: 'needs a hostedZoneId, a certificateArn or both',
  })

const region = z.string().regex(/^[a-z]{2,4}(-[a-z]+)+-\d$/)

/** CloudFront reads certificates and firewalls from this region only. */
export const edgeRegion = 'us-east-1'

const dataCentre = z
  .strictObject({
    region,
    customDomain: customDomain.optional(),
    // Overrides the setting of the installation for tables, files and the replica of the directory.
    deletionProtection: z.boolean().optional(),
    // Files are streamed through a CloudFront distribution, which becomes the address of the data centre.
    streaming: z.boolean().optional(),
    // A new number replaces the secret between the distribution and the function that streams.
    originSecret: z.int().min(1).optional(),
  })
  .refine(
    ({ streaming, customDomain }) => !streaming || (customDomain?.certificateArn ?? edgeRegion).includes(edgeRegion),
    { path: ['customDomain', 'certificateArn'], message: `must be of ${edgeRegion} where streaming is on` },
  )

// Jobs of one GitHub repository and environment may deploy without a key.
const deploymentRole = z.strictObject({
  // As in GitHub's tokens: `owner/name`, or `owner@1/name@2` with ids for repositories created since July 2026.
  repository: z.string().regex(/^[\w.-]+(@\d+)?\/[\w.-]+(@\d+)?$/),
  environment: z
    .string()
    .regex(/^[\w.-]+$/)
    .default('production'),
})

const settings = z
  .strictObject({
    // Prefix of the stacks and global tables.
    prefix: z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,31}$/),
    dataCentres: z.record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/), dataCentre),
    // The data centre of new sites.
    defaultDataCentre: z.string(),
    // The home region of the directory tables, which never moves. Default: the region of the default data centre.
    directoryRegion: region.optional(),
    // Keeps tables and buckets when a stack is removed, and protects tables from deletion.
    deletionProtection: z.boolean().default(true),
    // Replicates the directory to every region. Emulators cannot replicate: all read it in its home region.
    replicateDirectory: z.boolean().default(true),
    // The address of an emulator, used in base URLs.
    emulatorEndpoint: z.url().optional(),
    // AWS passes paths as they were sent; some emulators decode them (lib/aws/lambda/gateway.ts).
    pathEncoding: z.enum(['encoded', 'decoded']).default('encoded'),
    // AWS returns bytes for every `Accept`; LocalStack only if it begins with a type (lib/aws/lambda/gateway.ts).
    binaryAccept: z.enum(['any', 'named']).default('any'),
    deploymentRole: deploymentRole.optional(),
    logLevel: z.enum(logLevels).default('INFO'),
    webApplicationFirewall: z.boolean().default(false),
    // Sends every change to an event bus of the data centre.
    changeEvents: z.boolean().default(false),
    // Days in which replaced and removed files can be restored.
    keptDays: z.int().min(1).max(3_650).default(30),
    // Receives alarms.
    alarmEmail: z.email().optional(),
    // Requests per second and concurrent requests per data centre that the gateway admits.
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

export const contextKey = 'siteAdmin'

/** Validates the settings. The command line gives JSON texts. Throws an Error that names the wrong setting. */
export const parseSettings = (value: unknown): Settings => {
  const result = settings.safeParse(typeof value === 'string' ? JSON.parse(value) : value)
  if (result.success) return result.data
  throw new Error(`The context "${contextKey}" is wrong:\n${z.prettifyError(result.error)}`)
}

/** The settings of a command with the `-c` options of `cdk`; without one for the app, those of cdk.json. */
export const settingsOfCommand = (context: readonly string[]): Settings => {
  const named = context.findLast((text) => text.startsWith(`${contextKey}=`))
  if (named !== undefined) return parseSettings(named.slice(contextKey.length + 1))
  return parseSettings(JSON.parse(readFileSync('cdk.json', 'utf8')).context?.[contextKey])
}

export const readSettings = (node: Node): Settings => parseSettings(node.tryGetContext(contextKey))

export const homeRegion = ({ directoryRegion, dataCentres, defaultDataCentre }: Settings): string =>
  directoryRegion ?? dataCentres[defaultDataCentre]?.region ?? ''

type CustomDomain = z.infer<typeof customDomain>

export const makesCertificate = (domain: CustomDomain | undefined): domain is CustomDomain =>
  domain !== undefined && domain.certificateArn === undefined

/** The data centres whose distributions need a certificate or a firewall of this app. */
export const onEdge = ({ dataCentres, webApplicationFirewall }: Settings): readonly [string, DataCentreSettings][] =>
  Object.entries(dataCentres).filter(
    ([, { streaming, customDomain }]) => streaming && (webApplicationFirewall || makesCertificate(customDomain)),
  )

/** The regions of the directory and of the data centres. */
export const regionsOf = (settings: Settings): ReadonlySet<string> =>
  new Set([homeRegion(settings), ...Object.values(settings.dataCentres).map(({ region }) => region)])

/** The regions of the directory replicas, seen from one region. */
export const replicaRegions = (settings: Settings, from: string): readonly string[] =>
  settings.replicateDirectory ? [...regionsOf(settings)].filter((region) => region !== from) : []

/** The region in which a data centre reads the directory. */
export const nearestDirectory = (settings: Settings, { region }: DataCentreSettings): string =>
  settings.replicateDirectory ? region : homeRegion(settings)

export const isProtected = (settings: Settings, { deletionProtection }: DataCentreSettings): boolean =>
  deletionProtection ?? settings.deletionProtection

export const stageName = 'live'

/** The base URL of a data centre: its own domain, else the host of its distribution, else its stage. */
export const baseUrlOf = (
  { emulatorEndpoint }: Settings,
  { customDomain }: DataCentreSettings,
  { apiId, distribution }: { readonly apiId: string; readonly distribution: string | undefined },
  { region, urlSuffix }: Pick<Stack, 'region' | 'urlSuffix'>,
): string => {
  if (emulatorEndpoint) return `${emulatorEndpoint}/restapis/${apiId}/${stageName}/_user_request_`
  const host = customDomain?.domainName ?? distribution
  return host === undefined ? `https://${apiId}.execute-api.${region}.${urlSuffix}/${stageName}` : `https://${host}`
}
