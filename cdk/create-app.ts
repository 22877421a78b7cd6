import { App, type AppProps, Tags } from 'aws-cdk-lib'
import type { Bundles } from './bundles.ts'
import { DataCentreStack } from './data-centre-stack.ts'
import { DirectoryStack } from './directory-stack.ts'
import { homeRegion, readSettings } from './settings.ts'

/** The app: the directory, and the data centres of the context. */
export const createApp = (bundles: Bundles, props: AppProps = {}): App => {
  const app = new App(props)
  const settings = readSettings(app.node)
  const account = process.env['CDK_DEFAULT_ACCOUNT']
  const inRegion = (region: string) => ({ env: { region, ...(account && { account }) } })
  const { prefix } = settings

  const directory = new DirectoryStack(app, `${prefix}-directory`, { ...inRegion(homeRegion(settings)), settings })
  for (const [id, dataCentre] of Object.entries(settings.dataCentres)) {
    const options = { ...inRegion(dataCentre.region), settings, id, dataCentre, bundles }
    new DataCentreStack(app, `${prefix}-${id}`, options).addStackDependency(directory)
  }
  Tags.of(app).add('service', 'site-admin')
  return app
}
