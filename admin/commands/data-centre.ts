import { Command } from 'commander'
import type { DataCentre } from '../../lib/sites/site-directory.ts'
import { exampleOf, parseBaseUrl, parseDataCentreId } from '../arguments.ts'
import { withStores } from '../stores.ts'

const viewOfDataCentre = ({ id, url, isDefault }: DataCentre) => ({ id, url, default: isDefault })

export const dataCentreCommand = (): Command => {
  const command = new Command('data-centre')
    .description('data centres and the base URLs of their services')
    .addHelpText('after', exampleOf('data-centre list'))

  command
    .command('add')
    .description('register a data centre, or change its base URL')
    .addHelpText('after', exampleOf('data-centre add us --url https://us.example.com'))
    .argument('<id>', 'such as us', parseDataCentreId)
    .requiredOption('--url <url>', 'its base URL', parseBaseUrl)
    .option('--region <region>', 'where its tables are, when it is deployed')
    .action((id: string, { url, region }: { url: string; region?: string }, self: Command) =>
      withStores(self, async ({ sites }) => {
        const { dataCentres } = await sites.list()
        const others = dataCentres.filter((dataCentre) => dataCentre.id !== id)
        const isDefault = !others.some((other) => other.isDefault)
        // What a deployment has written of it, such as its region, stays.
        const dataCentre = {
          ...dataCentres.find((known) => known.id === id),
          ...(region !== undefined && { region }),
          id,
          url,
          isDefault,
        }
        await sites.putDataCentre(dataCentre)
        return viewOfDataCentre(dataCentre)
      }),
    )

  command
    .command('list')
    .description('list all data centres')
    .addHelpText('after', exampleOf('data-centre list'))
    .action((_options: object, self: Command) =>
      withStores(self, async ({ sites }) => (await sites.list()).dataCentres.map(viewOfDataCentre)),
    )

  return command
}
