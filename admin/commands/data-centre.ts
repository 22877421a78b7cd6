import type { Command } from 'commander'
import type { DataCentre } from '../../lib/sites/site-directory.ts'
import { parseBaseUrl } from '../../local/flags.ts'
import type { AdminStores } from '../stores/admin-stores.ts'
import { type GlobalOptions, onStores } from '../stores/stores.ts'
import { commandOf, groupOf, parsePlainId, parseRegion } from '../terminal/arguments.ts'

const viewOfDataCentre = ({ id, url, isDefault }: DataCentre) => ({ id, url, default: isDefault })

interface AddOptions {
  readonly url: string
  readonly region?: string
}

const warnOfChange = (id: string, memory: number, { target }: GlobalOptions): void => {
  if (memory > 0) console.error(`Running services use the old base URL for up to ${memory / 1000} seconds.`)
  if (target !== 'local') return
  console.error(
    `A service that serves ${id} from this data directory sets its base URL at each start. Start it with ` +
      'the new --base-url.',
  )
}

const add = async (stores: AdminStores, id: string, { url, region }: AddOptions, self: Command) => {
  const { dataCentres } = await stores.sites.list()
  const known = dataCentres.find((dataCentre) => dataCentre.id === id)
  const isDefault = !dataCentres.some((other) => other.id !== id && other.isDefault)
  // Keeps the region and the other values that a deployment has written.
  const dataCentre = { ...known, ...(region !== undefined && { region }), id, url, isDefault }
  await stores.sites.putDataCentre(dataCentre)
  if (known && known.url !== url) warnOfChange(id, await stores.memory(), self.optsWithGlobals())
  return viewOfDataCentre(dataCentre)
}

const list = async ({ sites }: AdminStores) => (await sites.list()).dataCentres.map(viewOfDataCentre)

const addExample = 'data-centre add us --url https://us.example.com'

export const dataCentreCommand = (): Command =>
  groupOf('data-centre', 'data centres and the base URLs of their services', 'data-centre list', [
    commandOf('add', 'register a data centre, or change its base URL', addExample)
      .argument('<id>', 'the id of the data centre, such as us', parsePlainId)
      .requiredOption('--url <url>', 'the base URL of its service', parseBaseUrl)
      .option('--region <region>', 'the region of its tables, if it is on AWS', parseRegion)
      .action(onStores(add)),
    commandOf('list', 'list all data centres', 'data-centre list').action(onStores(list)),
  ])
