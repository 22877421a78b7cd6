import { join } from 'node:path'
import { ArnFormat, CfnOutput, Names, RemovalPolicy, Stack, Tags } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { CfnDelivery, CfnDeliveryDestination, CfnDeliverySource } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { globalTableName, globalTables, regionalTables, type TableName, tableOutput } from '../../lib/config/tables.ts'
import { byName, recordOf } from '../../lib/core/names.ts'
import { byFunction, functionSettings, workloads } from '../config/functions.ts'
import { allowKeys } from '../config/grants.ts'
import { type DataCentreSettings, edgeRegion, isProtected, onEdge, type Settings } from '../config/settings.ts'
import { createAdministrationPolicy, createDeploymentRole } from '../constructs/administration.ts'
import { createAlarms, topicIn } from '../constructs/alarms.ts'
import {
  consumeQueue,
  createCanary,
  createWorkQueue,
  recountEvery,
  registerDataCentre,
  runRegularly,
} from '../constructs/background-functions.ts'
import { createBackup } from '../constructs/backup.ts'
import { consumeWebhooks, createChangeEvents, createWebhookParts } from '../constructs/change-events.ts'
import { createDashboard } from '../constructs/dashboard.ts'
import { createFirewall } from '../constructs/firewall.ts'
import { baseUrlOf, certificateOf, createEntrance, createGateway, zoneOf } from '../constructs/gateway.ts'
import { replicationsIn, replicationWatch, watchDataCentre } from '../constructs/monitoring.ts'
import { createGrantedFunction, createLogs } from '../constructs/service-functions.ts'
import {
  createFilesBucket,
  createTable,
  createTables,
  globalTableArn,
  replicasOf,
  type Tables,
  watchedTables,
} from '../constructs/stores.ts'
import { createStreaming, distributionWatches, type Edge, secretTexts } from '../constructs/streaming.ts'

const addOutputs = (stack: Stack, outputs: Readonly<Record<string, string>>): void => {
  const scope = new Construct(stack, 'Outputs')
  for (const [key, value] of Object.entries(outputs)) new CfnOutput(scope, key, { key, value })
}

const namesOf = (names: readonly TableName[], tables: Tables): Readonly<Record<string, string>> =>
  recordOf(names.map((name) => [tableOutput(name), tables[name].tableName]))

/** Sites, data centres and tokens are in global tables with a replica in the region of each data centre. */
export const addDirectory = (stack: Stack, settings: Settings): void => {
  const { deletionProtection } = settings
  const replicas = replicasOf(settings)
  const arnIn = (name: TableName, region: string) => globalTableArn(stack, settings, name, region)
  // Commands use a copy while the home region is lost. Each statement has the tables or keys of all regions, because a
  // policy has at most 6,144 characters.
  const otherRegions = replicas.map(({ region }) => region)
  const regions = [stack.region, ...otherRegions]
  const administration = createAdministrationPolicy(stack, settings, globalTables, (name) =>
    regions.map((region) => arnIn(name, region)),
  )
  administration.addStatements(...allowKeys(settings, otherRegions, ['dynamodb']))
  const access = [administration, ...createDeploymentRole(stack, settings)]
  const tables = byName(globalTables, (name) => {
    const tableName = globalTableName(settings.prefix, name)
    const table = createTable(stack, name, { tableName, deletionProtection, replicas, keys: settings.encryptionKeys })
    // Tables are created late. If a role fails in a first deployment, no table exists that must be deleted.
    table.node.addDependency(...access)
    return table
  }) as Tables
  addOutputs(stack, namesOf(globalTables, tables))
  const arns = globalTables.map((name) => arnIn(name, stack.region))
  // A data centre in this region has the same alarms.
  const isWatched = Object.values(settings.dataCentres).some(({ region }) => region === stack.region)
  const replications = isWatched ? [] : replicationsIn(tables, otherRegions)
  const watches = [...createBackup(stack, settings, arns), ...replications.map(replicationWatch)]
  if (watches.length > 0)
    createAlarms(new Construct(stack, 'Alarms'), watches, settings, topicIn(settings, stack.region))
}

// The query and the page that a browser comes from are left out, because both may contain a token.
const recordFields = (
  'date time c-ip cs-method cs-uri-stem sc-status x-edge-request-id x-edge-detailed-result-type ' +
  'cs-bytes sc-bytes time-taken time-to-first-byte cs(User-Agent) ssl-protocol'
).split(' ')

/** Logs each request to a distribution, with the address of its caller. The log must be in the region of CloudFront. */
const logDistribution = (scope: Construct, id: string, distribution: Distribution): void => {
  const parts = new Construct(scope, id)
  // CloudWatch Logs accepts deliveries to groups with this prefix without another policy for each group.
  const logGroupName = `/aws/vendedlogs/cloudfront/${Stack.of(distribution).stackName}`
  const logs = createLogs(parts, 'AccessLogs', logGroupName)
  const name = Names.uniqueResourceName(parts, { maxLength: 60, separator: '-' })
  const source = new CfnDeliverySource(parts, 'Source', {
    name,
    logType: 'ACCESS_LOGS',
    resourceArn: distribution.distributionArn,
  })
  const destination = new CfnDeliveryDestination(parts, 'Destination', {
    name,
    outputFormat: 'json',
    destinationResourceArn: Stack.of(parts).formatArn({
      service: 'logs',
      resource: 'log-group',
      resourceName: logs.logGroupName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    }),
  })
  const delivery = new CfnDelivery(parts, 'Delivery', {
    deliverySourceName: name,
    deliveryDestinationArn: destination.attrArn,
    recordFields,
  })
  delivery.addResourceDependency(source)
}

/** The logs and alarms of distributions are in this stack, because CloudFront offers both in one region only. */
export const watchDistributions = (
  stack: Stack,
  settings: Settings,
  distributions: ReadonlyMap<string, Distribution>,
): void => {
  for (const [id, distribution] of distributions) logDistribution(stack, id, distribution)
  const watches = [...distributions].flatMap(([id, distribution]) => distributionWatches(id, distribution))
  createAlarms(new Construct(stack, 'Alarms'), watches, settings, topicIn(settings, edgeRegion))
}

/**
 * The certificates and firewalls of distributions are in this stack, because CloudFront reads them from one region
 * only.
 */
export const createEdges = (stack: Stack, settings: Settings): Readonly<Record<string, Edge>> => {
  const edges = onEdge(settings).map(([id, { customDomain }]): [string, Edge] => {
    const parts = new Construct(stack, id)
    const certificate =
      customDomain && !customDomain.certificateArn && certificateOf(parts, customDomain, zoneOf(parts, customDomain))
    // The stack of the distribution is deployed after this stack. Until then, the distribution uses the old
    // certificate.
    if (certificate) certificate.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
    const firewall =
      settings.webApplicationFirewall && createFirewall(parts, 'CLOUDFRONT', `${settings.prefix}-${id}`, settings)
    return [id, { ...(certificate && { certificate }), ...(firewall && { webAclArn: firewall.attrArn }) }]
  })
  return Object.fromEntries(edges)
}

interface DataCentreProps {
  readonly id: string
  readonly dataCentre: DataCentreSettings
  readonly settings: Settings
  readonly bundles: string
  readonly edge: Edge | undefined
}

/** One data centre in one region: tables, functions, gateway and, with streaming, the distribution, which it returns. */
export const addDataCentre = (
  stack: Stack,
  { id, dataCentre, settings, bundles, edge = {} }: DataCentreProps,
): Distribution | undefined => {
  const tables = createTables(stack, settings, dataCentre)
  const files = createFilesBucket(stack, isProtected(settings, dataCentre), settings)
  const tableArns = regionalTables.map((name) => tables[name].tableArn)
  const backups = createBackup(stack, settings, tableArns, files.bucketArn)
  const removals = createWorkQueue(new Construct(stack, 'Removals'), functionSettings.removals.timeout)
  const webhooks = settings.webhooks ? createWebhookParts(stack, isProtected(settings, dataCentre)) : undefined
  const stores = { tables, files, removals: removals.queue, webhooks }
  const functions = byFunction(settings.webhooks, (name) =>
    createGrantedFunction(stack, name, { bundle: join(bundles, name), dataCentre: id, settings, stores }),
  )
  // Each removal deletes as fast as the bucket allows, and requests also need functions of the account.
  consumeQueue(removals.queue, functions.removals, { batchSize: 1, maxConcurrency: workloads.removals.workers })
  runRegularly(stack, 'Recount', functions.removals, recountEvery)
  if (webhooks && functions.webhooks) consumeWebhooks(webhooks, tables.journal, functions.webhooks)
  const api = createGateway(stack, functions, dataCentre, settings)
  const stream = { bundle: join(bundles, 'stream'), dataCentre: id, settings, stores }
  const streaming = dataCentre.streaming ? createStreaming(stack, api, dataCentre, edge, stream) : undefined
  if (streaming) {
    functions.access.addEnvironment('ORIGIN_SECRETS', secretTexts(streaming.secrets))
    streaming.distribution.node.addDependency(functions.access)
  }
  const lostEvents = settings.changeEvents ? createChangeEvents(stack, tables.journal, id, settings) : undefined
  const toGateway = createEntrance(api, streaming ? undefined : dataCentre.customDomain)
  const host = dataCentre.customDomain?.domainName ?? streaming?.distribution.distributionDomainName
  const url = baseUrlOf(settings, api, host)
  const canary = settings.canary ? createCanary(stack, join(bundles, 'canary'), url, settings) : undefined
  const watched = {
    api,
    functions,
    tables: watchedTables(tables, settings, stack.region),
    removals,
    webhooks,
    lostEvents,
    streaming,
    canary,
    backups,
  }
  watchDataCentre(stack, watched, settings, dataCentre.alarmTopic)
  createDashboard(stack, watched, settings)
  const registration = registerDataCentre(stack, settings, join(bundles, 'registration'), tables.sites, { id, url })
  registration.node.addDependency(...(streaming?.entrance ?? toGateway))
  createAdministrationPolicy(stack, settings, regionalTables, (name) => [tables[name].tableArn], {
    bucketArn: files.bucketArn,
    keyArn: webhooks?.key.keyArn,
  })
  Tags.of(stack).add('data-centre', id)
  addOutputs(stack, {
    BaseUrl: url,
    ...(streaming && { StreamEndpoint: streaming.lambda.endpoint.domainName }),
    FilesBucket: files.bucketName,
    RemovalsQueue: removals.queue.queueUrl,
    FailedRemovalsQueue: removals.failed.queueUrl,
    ...(webhooks && { WebhooksKey: webhooks.key.keyArn, WebhooksQueue: webhooks.queue.queueUrl }),
    ...namesOf(regionalTables, tables),
  })
  return streaming?.distribution
}
