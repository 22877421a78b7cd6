import { ArnFormat, CfnOutput, Names, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { CfnDelivery, CfnDeliveryDestination, CfnDeliverySource, LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { globalTables, type TableName } from '../../lib/config/tables.ts'
import { byName } from '../../lib/core/names.ts'
import { allowKeys, encryptWith } from '../config/grants.ts'
import { edgeRegion, homeRegion, isProtected, onEdge, replicaRegions, type Settings } from '../config/settings.ts'
import { createAdministrationPolicy, createDeploymentRole } from '../constructs/administration.ts'
import { createAlarms } from '../constructs/alarms.ts'
import { createBackup } from '../constructs/backup.ts'
import { createFirewall } from '../constructs/firewall.ts'
import { certificateOf, zoneOf } from '../constructs/gateway.ts'
import { replicationsIn, replicationWatch } from '../constructs/monitoring.ts'
import { keepLogs } from '../constructs/service-functions.ts'
import { distributionWatches, type Edge } from '../constructs/streaming.ts'
import { createTable, globalTableArn, globalTableName, type Tables, tableOutput } from '../constructs/tables.ts'

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

const replicasOf = (settings: Settings) =>
  replicaRegions(settings, homeRegion(settings)).map((region) => {
    const there = Object.values(settings.dataCentres).filter((dataCentre) => dataCentre.region === region)
    return { region, deletionProtection: there.some((dataCentre) => isProtected(settings, dataCentre)) }
  })

// A stack without its own topic uses the topic of a data centre in its region.
const topicIn = ({ dataCentres }: Settings, there: string): string | undefined =>
  Object.values(dataCentres).find(({ region, alarmTopic }) => region === there && alarmTopic !== undefined)?.alarmTopic

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
