import type { Command } from 'commander'
import { roles } from '../../lib/access/people.ts'
import { type ChangeType, readChangeType, viewOfChange } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { changesBefore, type History } from '../../lib/history/history.ts'
import { parserOf } from '../../local/flags.ts'
import type { AdminStores } from '../stores/admin-stores.ts'
import { onStores, siteOf } from '../stores/stores.ts'
import { type OfSite, parseSpan, siteCommandOf } from '../terminal/arguments.ts'

interface Options extends OfSite {
  // In seconds.
  readonly since?: number
  readonly actor?: string
  readonly type?: ChangeType
}

const mostShown = 10_000

const parseType = parserOf(readChangeType, 'It must be a type of change, such as file.stored.')

// The history of a removed site stays in its data centre. The directory no longer names this data centre, so the
// command reads all data centres.
const historiesOf = async (stores: AdminStores, id: SiteId): Promise<readonly History[]> => {
  const site = await stores.sites.getSite(id)
  const homes = site ? [site.dataCentre] : (await stores.sites.list()).dataCentres.map((dataCentre) => dataCentre.id)
  const areas = await Promise.all(homes.map((dataCentre) => stores.areas({ dataCentre })))
  const histories = [...new Set(areas.map(({ history }) => history))]
  if (site) return histories
  const last = await Promise.all(histories.map((history) => history.before(id, undefined, 1)))
  return histories.filter((_, index) => (last[index]?.length ?? 0) > 0)
}

const audit = async (stores: AdminStores, { site: id, since, actor, type }: Options) => {
  const histories = await historiesOf(stores, id)
  if (histories.length === 0) await siteOf(stores, id)
  const filter = {
    since: since && Date.now() - since * 1000,
    types: type && [type],
    actor,
    rights: roles.owner.rights,
  }
  const query = { limit: mostShown + 1, filter, most: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY }
  const found = await Promise.all(histories.map((history) => changesBefore(history, id, query)))
  const inOrder = found.flatMap((one) => one.changes.toReversed())
  // A clock may have been wrong, so only the times of different histories are compared.
  const changes = found.length > 1 ? inOrder.toSorted((a, b) => a.at - b.at) : inOrder
  if (changes.length > mostShown)
    console.error(`There are more changes. These are the newest ${mostShown}. Choose a shorter time with --since.`)
  return changes.slice(-mostShown).map(viewOfChange)
}

const description = 'show the changes to a site in the last 90 days, newest last'

export const auditCommand = (): Command =>
  siteCommandOf('audit', description, '--site 1001 --since 2d --type file.removed')
    .option('--since <span>', 'how far to look back: 30m, 4h, 2d or 1w', parseSpan)
    .option(
      '--actor <name>',
      'only changes by one person: the user of a token, or "admin:" with a user of the operating system',
    )
    .option('--type <type>', 'only changes of one type, such as file.removed', parseType)
    .action(onStores(audit))
