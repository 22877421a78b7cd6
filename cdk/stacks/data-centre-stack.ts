import { CfnOutput, Stack, type StackProps, Tags } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { Construct } from 'constructs'
import { regionalTables } from '../../lib/config/tables.ts'
import { type Bundles, byFunction, functionSettings } from '../config/functions.ts'
import { encryptWith } from '../config/grants.ts'
import { baseUrlOf, type DataCentreSettings, isProtected, replicaRegions, type Settings } from '../config/settings.ts'
import { createAdministrationPolicy } from '../constructs/administration.ts'
import { createCanary, registerDataCentre } from '../constructs/background-functions.ts'
import { createBackup } from '../constructs/backup.ts'
import { consumeWebhooks, createChangeEvents, createWebhookParts } from '../constructs/change-events.ts'
import { createDashboard } from '../constructs/dashboard.ts'
import { consumeQueue, createFilesBucket, createWorkQueue, recountRegularly } from '../constructs/file-storage.ts'
import { createEntrance, createGateway } from '../constructs/gateway.ts'
import { watchDataCentre } from '../constructs/monitoring.ts'
import { createGrantedFunction, keepLogs } from '../constructs/service-functions.ts'
import { createStreaming, type Edge, secretTexts } from '../constructs/streaming.ts'
import { createTables, tableOutput, watchedTables } from '../constructs/tables.ts'

interface Props extends StackProps {
  readonly settings: Settings
  readonly id: string
  readonly dataCentre: DataCentreSettings
  readonly bundles: Bundles
  readonly edge: Edge
}

/** One data centre in one region: tables, functions, gateway and, with streaming, the distribution. */
export class DataCentreStack extends Stack {
  readonly distribution: Distribution | undefined

  constructor(scope: Construct, stackId: string, { settings, id, dataCentre, bundles, edge, ...props }: Props) {
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
    recountRegularly(this, functions.removals)
    if (webhooks && functions.webhooks) consumeWebhooks(webhooks, tables.journal, functions.webhooks)
    const api = createGateway(this, functions, dataCentre, settings)
    const stream = { bundle: bundles.stream, dataCentre: id, settings, stores }
    const streaming = dataCentre.streaming ? createStreaming(this, api, dataCentre, edge, stream) : undefined
    this.distribution = streaming?.distribution
    if (streaming) functions.access.addEnvironment('ORIGIN_SECRETS', secretTexts(streaming.secrets))
    const lostEvents = settings.changeEvents ? createChangeEvents(this, tables.journal, id, settings) : undefined
    // If there is a distribution, the custom domain belongs to the distribution.
    const toGateway = createEntrance(api, streaming ? undefined : dataCentre.customDomain)
    const addresses = { apiId: api.restApiId, distribution: streaming?.host }
    const url = baseUrlOf(settings, dataCentre, addresses, this)
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
