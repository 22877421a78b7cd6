import { CfnOutput, Stack, type StackProps, Tags } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import type { Bundles } from '../config/bundles.ts'
import { byFunction, functionSettings } from '../config/functions.ts'
import {
  baseUrlOf,
  type DataCentreSettings,
  isProtected,
  nearestDirectory,
  replicaRegions,
  type Settings,
} from '../config/settings.ts'
import { createAdministrationPolicy } from '../constructs/administration.ts'
import { createChangeEvents } from '../constructs/change-events.ts'
import { createEntrance } from '../constructs/domain.ts'
import { createFilesBucket, createRemovalsQueue, workOff } from '../constructs/file-storage.ts'
import { createGateway } from '../constructs/gateway.ts'
import { createAlarms, createDashboard } from '../constructs/monitoring.ts'
import { registerDataCentre } from '../constructs/registration.ts'
import { createGrantedFunction } from '../constructs/service-functions.ts'
import { createStreaming, type Edge } from '../constructs/streaming.ts'
import { createTables, regionalTables, tableOutput, tablesIn } from '../constructs/tables.ts'

interface Props extends StackProps {
  readonly settings: Settings
  readonly id: string
  readonly dataCentre: DataCentreSettings
  readonly bundles: Bundles
  readonly edge: Edge
}

/** One data centre in one region: tables, functions, gateway and, with streaming, the distribution. */
export class DataCentreStack extends Stack {
  constructor(scope: Construct, stackId: string, { settings, id, dataCentre, bundles, edge, ...props }: Props) {
    super(scope, stackId, props)
    const tables = createTables(this, settings, dataCentre)
    const files = createFilesBucket(this, isProtected(settings, dataCentre), settings)
    const removals = createRemovalsQueue(this, functionSettings.removals.timeout)
    const stores = { tables, files, removals: removals.queue }
    const functions = byFunction((name) =>
      createGrantedFunction(this, name, { bundle: bundles[name], dataCentre: id, settings, stores }),
    )
    workOff(removals.queue, functions.removals)
    const api = createGateway(this, functions, dataCentre, settings)
    const stream = { bundle: bundles.stream, dataCentre: id, settings, stores }
    const streaming = dataCentre.streaming ? createStreaming(this, api, dataCentre, edge, stream) : undefined
    const changeEvents = settings.changeEvents ? createChangeEvents(this, tables.journal, id) : undefined
    const watched = {
      api,
      functions,
      tables: tablesIn(tables, this.region),
      replicaRegions: replicaRegions(settings, this.region),
      removals,
      changeEvents,
      hasFirewall: settings.webApplicationFirewall,
      streaming,
    }
    createAlarms(this, watched, settings)
    createDashboard(this, watched)

    // With a distribution, the custom domain belongs to it.
    const toGateway = createEntrance(api, streaming ? undefined : dataCentre.customDomain)
    const addresses = { apiId: api.restApiId, distribution: streaming?.host }
    const url = baseUrlOf(settings, dataCentre, addresses, this)
    registerDataCentre(this, {
      bundle: bundles.registration,
      directory: tables.sites,
      directoryRegion: nearestDirectory(settings, dataCentre),
      dataCentre: { id, url, region: this.region, isDefault: id === settings.defaultDataCentre },
      entrance: streaming?.entrance ?? toGateway,
    })
    createAdministrationPolicy(this, regionalTables, (name) => tables[name].tableArn, files.bucketArn)
    Tags.of(this).add('data-centre', id)
    new CfnOutput(this, 'BaseUrl', { value: url })
    if (streaming) new CfnOutput(this, 'StreamEndpoint', { value: streaming.lambda.endpoint.domainName })
    new CfnOutput(this, 'FilesBucketName', { key: 'FilesBucket', value: files.bucketName })
    new CfnOutput(this, 'RemovalsQueueUrl', { key: 'RemovalsQueue', value: removals.queue.queueUrl })
    new CfnOutput(this, 'FailedRemovalsQueueUrl', { key: 'FailedRemovalsQueue', value: removals.failed.queueUrl })
    for (const name of regionalTables) {
      new CfnOutput(this, `${tableOutput(name)}Name`, { key: tableOutput(name), value: tables[name].tableName })
    }
  }
}
