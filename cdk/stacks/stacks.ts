import { ArnFormat, CfnOutput, Names, RemovalPolicy, Stack, type StackProps, Tags } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { CfnDelivery, CfnDeliveryDestination, CfnDeliverySource, LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { globalTables, regionalTables, type TableName } from '../../lib/config/tables.ts'
import { byName } from '../../lib/core/names.ts'
import { type Bundles, byFunction, functionSettings } from '../config/functions.ts'
import { allowKeys, encryptWith } from '../config/grants.ts'
import {
  type DataCentreSettings,
  edgeRegion,
  isProtected,
  onEdge,
  replicaRegions,
  type Settings,
} from '../config/settings.ts'
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
import { createGrantedFunction, keepLogs } from '../constructs/service-functions.ts'
import {
  createFilesBucket,
  createTable,
  createTables,
  globalTableArn,
  globalTableName,
  replicasOf,
  type Tables,
  tableOutput,
  watchedTables,
} from '../constructs/stores.ts'
import { createStreaming, distributionWatches, type Edge, secretTexts } from '../constructs/streaming.ts'

interface Props extends StackProps {
  readonly settings: Settings
}

/** Sites, data centres and tokens are in global tables with a replica in the region of each data centre. */
export class DirectoryStack extends Stack {
  constructor(scope: Construct, id: string, { settings, ...props }: Props) {
    super(scope, id, props)
    const { deletionProtection } = settings
    const replicas = replicasOf(settings)
    const arnIn = (name: TableName, region: string) => globalTableArn(this, settings, name, region)
    // Commands use a copy while the home region is lost. Each statement has the tables or keys of all regions, because a
    // policy has at most 6,144 characters.
    const otherRegions = replicas.map(({ region }) => region)
    const regions = [this.region, ...otherRegions]
    const administration = createAdministrationPolicy(this, settings, globalTables, (name) =>
      regions.map((region) => arnIn(name, region)),
    )
    administration.addStatements(...allowKeys(settings, otherRegions, ['dynamodb']))
    const access = [administration, ...createDeploymentRole(this, settings)]
    const tables = byName(globalTables, (name) => {
      const tableName = globalTableName(settings.prefix, name)
      const table = createTable(this, name, { tableName, deletionProtection, replicas, keys: settings.encryptionKeys })
      // Tables are created late. If a role fails in a first deployment, no table exists that must be deleted.
      table.node.addDependency(...access)
      new CfnOutput(this, `${tableOutput(name)}Name`, { key: tableOutput(name), value: table.tableName })
      return table
    }) as Tables
    const arns = globalTables.map((name) => arnIn(name, this.region))
    // A data centre in this region has the same alarms.
    const isWatched = Object.values(settings.dataCentres).some(({ region }) => region === this.region)
    const replications = isWatched ? [] : replicationsIn({ tables, replicaRegions: otherRegions })
    const watches = [...createBackup(this, settings, arns), ...replications.map(replicationWatch)]
    if (watches.length > 0)
      createAlarms(new Construct(this, 'Alarms'), watches, settings, topicIn(settings, this.region))
    encryptWith(this, settings)
  }
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
  const logs = new LogGroup(parts, 'AccessLogs', { logGroupName, removalPolicy: RemovalPolicy.DESTROY })
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

interface WatchProps extends Props {
  readonly distributions: Readonly<Record<string, Distribution>>
}

/** The logs and alarms of distributions are in this stack, because CloudFront offers both in one region only. */
export class WatchStack extends Stack {
  constructor(scope: Construct, stackId: string, { settings, distributions, ...props }: WatchProps) {
    super(scope, stackId, props)
    const all = Object.entries(distributions)
    for (const [id, distribution] of all) logDistribution(this, id, distribution)
    const watches = all.flatMap(([id, distribution]) => distributionWatches(id, distribution))
    createAlarms(new Construct(this, 'Alarms'), watches, settings, topicIn(settings, edgeRegion))
    keepLogs(this, settings.logDays)
    encryptWith(this, settings)
  }
}

/**
 * The certificates and firewalls of distributions are in this stack, because CloudFront reads them from one region
 * only.
 */
export class EdgeStack extends Stack {
  readonly edges: Readonly<Record<string, Edge>>

  constructor(scope: Construct, stackId: string, { settings, ...props }: Props) {
    super(scope, stackId, props)
    const edges = onEdge(settings).map(([id, { customDomain }]): [string, Edge] => {
      const parts = new Construct(this, id)
      const certificate =
        customDomain && !customDomain.certificateArn && certificateOf(parts, customDomain, zoneOf(parts, customDomain))
      // The stack of the distribution is deployed after this stack. Until then, the distribution uses the old
      // certificate.
      if (certificate) certificate.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
      const firewall =
        settings.webApplicationFirewall && createFirewall(parts, 'CLOUDFRONT', `${settings.prefix}-${id}`, settings)
      return [id, { ...(certificate && { certificate }), ...(firewall && { webAclArn: firewall.attrArn }) }]
    })
    this.edges = Object.fromEntries(edges)
  }
}

interface DataCentreProps extends Props {
  readonly id: string
  readonly dataCentre: DataCentreSettings
  readonly bundles: Bundles
  readonly edge: Edge
}

/** One data centre in one region: tables, functions, gateway and, with streaming, the distribution. */
export class DataCentreStack extends Stack {
  readonly distribution: Distribution | undefined

  constructor(
    scope: Construct,
    stackId: string,
    { settings, id, dataCentre, bundles, edge, ...props }: DataCentreProps,
  ) {
    super(scope, stackId, props)
    const tables = createTables(this, settings, dataCentre)
    const files = createFilesBucket(this, isProtected(settings, dataCentre), settings)
    const backups = createBackup(this, settings, [
      ...regionalTables.map((name) => tables[name].tableArn),
      files.bucketArn,
    ])
    const removals = createWorkQueue(new Construct(this, 'Removals'), functionSettings.removals.timeout)
    const webhooks = settings.webhooks ? createWebhookParts(this, isProtected(settings, dataCentre)) : undefined
    const stores = { tables, files, removals: removals.queue, webhooks }
    const functions = byFunction(settings.webhooks, (name) =>
      createGrantedFunction(this, name, { bundle: bundles[name], dataCentre: id, settings, stores }),
    )
    consumeQueue(removals.queue, functions.removals)
    runRegularly(this, 'Recount', functions.removals, recountEvery)
    if (webhooks && functions.webhooks) consumeWebhooks(webhooks, tables.journal, functions.webhooks)
    const api = createGateway(this, functions, dataCentre, settings)
    const stream = { bundle: bundles.stream, dataCentre: id, settings, stores }
    const streaming = dataCentre.streaming ? createStreaming(this, api, dataCentre, edge, stream) : undefined
    this.distribution = streaming?.distribution
    if (streaming) {
      functions.access.addEnvironment('ORIGIN_SECRETS', secretTexts(streaming.secrets))
      streaming.distribution.node.addDependency(functions.access)
    }
    const lostEvents = settings.changeEvents ? createChangeEvents(this, tables.journal, id, settings) : undefined
    // If there is a distribution, the custom domain belongs to the distribution.
    const toGateway = createEntrance(api, streaming ? undefined : dataCentre.customDomain)
    const host = dataCentre.customDomain?.domainName ?? streaming?.distribution.distributionDomainName
    const url = baseUrlOf(settings, api, host)
    const canary = settings.canary ? createCanary(this, bundles.canary, url, settings) : undefined
    const watched = {
      api,
      functions,
      tables: watchedTables(tables, settings, this.region),
      replicaRegions: replicaRegions(settings, this.region),
      removals,
      webhooks,
      lostEvents,
      hasFirewall: settings.webApplicationFirewall,
      isEmulated: settings.emulatorEndpoint !== undefined,
      streaming,
      canary,
      backups,
    }
    watchDataCentre(this, watched, settings, dataCentre.alarmTopic)
    createDashboard(this, watched)
    registerDataCentre(this, settings, id, {
      bundle: bundles.registration,
      directory: tables.sites,
      url,
      entrance: streaming?.entrance ?? toGateway,
    })
    createAdministrationPolicy(this, settings, regionalTables, (name) => [tables[name].tableArn], {
      bucketArn: files.bucketArn,
      keyArn: webhooks?.key.keyArn,
    })
    Tags.of(this).add('data-centre', id)
    new CfnOutput(this, 'BaseUrl', { value: url })
    if (streaming) new CfnOutput(this, 'StreamEndpoint', { value: streaming.lambda.endpoint.domainName })
    new CfnOutput(this, 'FilesBucketName', { key: 'FilesBucket', value: files.bucketName })
    new CfnOutput(this, 'RemovalsQueueUrl', { key: 'RemovalsQueue', value: removals.queue.queueUrl })
    new CfnOutput(this, 'FailedRemovalsQueueUrl', { key: 'FailedRemovalsQueue', value: removals.failed.queueUrl })
    if (webhooks) {
      new CfnOutput(this, 'WebhooksKeyArn', { key: 'WebhooksKey', value: webhooks.key.keyArn })
      new CfnOutput(this, 'WebhooksQueueUrl', { key: 'WebhooksQueue', value: webhooks.queue.queueUrl })
    }
    for (const name of regionalTables) {
      new CfnOutput(this, `${tableOutput(name)}Name`, { key: tableOutput(name), value: tables[name].tableName })
    }
    keepLogs(this, settings.logDays)
    encryptWith(this, settings)
  }
}
