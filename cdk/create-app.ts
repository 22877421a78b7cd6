import { Annotations, App, type AppProps, Tags, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import type { Bundles } from './bundles.ts'
import { DataCentreStack } from './data-centre-stack.ts'
import { DirectoryStack } from './directory-stack.ts'
import { homeRegion, readSettings } from './settings.ts'

export type Findings = Readonly<Record<string, string>>

/** Findings of the rule pack that are as they should be, and why. There are no others: a new one stops the synthesis. */
export const accepted: Findings = {
  'AwsSolutions-APIG2':
    'The functions check every request against schemas, and answer with the errors of the contract.',
  'AwsSolutions-APIG3': 'A firewall costs by the request; an installation chooses it with webApplicationFirewall.',
  'AwsSolutions-APIG6':
    'Logs of executions hold query strings, in which a token may stand; the access log names why a request failed.',
  'AwsSolutions-APIG4':
    'The functions check the token of every request, after checks that the contract puts before it.',
  'AwsSolutions-COG4': 'Callers are programs with tokens of the service; there is no user pool.',
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
    "It is the policy that API Gateway asks for in its account's role for logs.",
  'AwsSolutions-SQS3':
    'The queue holds what the pipe of change events could not deliver: it is a dead-letter queue itself, which the rule does not see of pipes.',
  'AwsSolutions-S1':
    'The gateway logs requests for files; logs of the bucket would hold the signatures of download URLs.',
  'AwsSolutions-IAM5[Resource::<FilesBucket16450113.Arn>/*]':
    'The objects of the bucket are the files of sites, whose names nobody knows beforehand.',
}

/** Has every stack of the app checked against the AwsSolutions rules whenever it is synthesised. */
export const checkFindings = (app: App, findings: Findings = accepted): void => {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  for (const [id, reason] of Object.entries(findings)) Validations.of(app).acknowledge({ id, reason })
}

/** The app: the directory, and the data centres of the context. */
export const createApp = (bundles: Bundles, props: AppProps = {}): App => {
  const app = new App(props)
  const settings = readSettings(app.node)
  const account = process.env['CDK_DEFAULT_ACCOUNT']
  const inRegion = (region: string) => ({ env: { region, ...(account && { account }) } })
  const { prefix } = settings

  const directory = new DirectoryStack(app, `${prefix}-directory`, { ...inRegion(homeRegion(settings)), settings })
  if (settings.directoryRegion === undefined && settings.emulatorEndpoint === undefined) {
    const advice = `Add "directoryRegion": "${homeRegion(settings)}" to the settings: the directory must stay in this region when another data centre becomes the default.`
    Annotations.of(directory).addWarningV2('site-admin:directoryRegion', advice)
  }
  for (const [id, dataCentre] of Object.entries(settings.dataCentres)) {
    const options = { ...inRegion(dataCentre.region), settings, id, dataCentre, bundles }
    new DataCentreStack(app, `${prefix}-${id}`, options).addStackDependency(directory)
  }
  Tags.of(app).add('service', 'site-admin')
  return app
}
