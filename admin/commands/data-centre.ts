import { Command } from 'commander'
import type { DataCentre } from '../../lib/sites/site-directory.ts'
import type { AdminStores } from '../stores/admin-stores.ts'
import { type GlobalOptions, withStores } from '../stores/stores.ts'
import { exampleOf, parseBaseUrl, parseDataCentreId } from '../terminal/arguments.ts'

const viewOfDataCentre = ({ id, url, isDefault }: DataCentre) => ({ id, url, default: isDefault })

interface AddOptions {
  readonly url: string
  readonly region?: string
}

const afterChange = (id: string, memory: number, { target }: GlobalOptions): readonly string[] => [
  ...(memory > 0 ? [`Running services go on with the base URL of before for up to ${memory / 1000} seconds.`] : []),
  ...(target === 'local'
    ? [`A service that serves ${id} from this data directory sets its base URL whenever it starts: give it --base-url.`]
    : []),
]

const add = async (stores: AdminStores, id: string, { url, region }: AddOptions, options: GlobalOptions) => {
  const { dataCentres } = await stores.sites.list()
  const known = dataCentres.find((dataCentre) => dataCentre.id === id)
  const isDefault = !dataCentres.some((other) => other.id !== id && other.isDefault)
  // What a deployment has written of it, such as its region, stays.
  const dataCentre = { ...known, ...(region !== undefined && { region }), id, url, isDefault }
  await stores.sites.putDataCentre(dataCentre)
  if (known && known.url !== url) {
    for (const sentence of afterChange(id, await stores.memory(), options)) console.error(sentence)
  }
  return viewOfDataCentre(dataCentre)
}

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
    .action((id: string, options: AddOptions, self: Command) =>
      withStores(self, (stores) => add(stores, id, options, self.optsWithGlobals<GlobalOptions>())),
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
