import { Annotations, App, type AppProps, Stack, Tags } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam'
import { DEFAULT_CROSS_STACK_REFERENCES } from 'aws-cdk-lib/cx-api'
import { encryptWith } from '../config/grants.ts'
import { edgeRegion, homeRegion, onEdge, readSettings } from '../config/settings.ts'
import { keepLogs } from '../constructs/service-functions.ts'
import { addDataCentre, addDirectory, createEdges, watchDistributions } from './stacks.ts'

export const createApp = (bundles: string, props: AppProps = {}): App => {
  const app = new App(props)
  // If the references were strong, no certificate could be replaced.
  app.node.setContext(DEFAULT_CROSS_STACK_REFERENCES, 'weak')
  const settings = readSettings(app.node)
  const account = process.env['CDK_DEFAULT_ACCOUNT'] || undefined
  const { prefix } = settings
  const stackIn = (region: string, name: string) =>
    new Stack(app, `${prefix}-${name}`, { env: { region, ...(account && { account }) } })

  const directory = stackIn(homeRegion(settings), 'directory')
  addDirectory(directory, settings)
  if (settings.directoryRegion === undefined && settings.emulatorEndpoint === undefined) {
    const advice =
      `Add "directoryRegion": "${homeRegion(settings)}" to the settings, so that the directory stays in ` +
      'this region when another data centre becomes the default.'
    Annotations.of(directory).addWarningV2('site-admin:directoryRegion', advice)
  }
  const edges = onEdge(settings).length > 0 ? createEdges(stackIn(edgeRegion, 'edge'), settings) : {}
  const distributions = new Map<string, Distribution>()
  for (const [id, dataCentre] of Object.entries(settings.dataCentres)) {
    const stack = stackIn(dataCentre.region, id)
    const distribution = addDataCentre(stack, { id, dataCentre, settings, bundles, edge: edges[id] })
    stack.addStackDependency(directory)
    if (distribution) distributions.set(id, distribution)
  }
  if (distributions.size > 0) watchDistributions(stackIn(edgeRegion, 'watch'), settings, distributions)
  for (const stack of app.node.children.filter(Stack.isStack)) {
    keepLogs(stack, settings.logDays)
    encryptWith(stack, settings)
  }
  if (settings.permissionsBoundary !== undefined) {
    PermissionsBoundary.of(app).apply(
      ManagedPolicy.fromManagedPolicyName(directory, 'PermissionsBoundary', settings.permissionsBoundary),
    )
  }
  Tags.of(app).add('service', 'site-admin')
  return app
}
