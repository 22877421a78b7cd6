import { Command } from 'commander'
import { manyObjects } from '../../lib/categories/content-kinds.ts'
import type { ChangeType, HistoryEntry } from '../../lib/history-entry.ts'
import { type CategoryId, largestContentId, type SiteId } from '../../lib/ids.ts'
import { parseContentId, parseName, parsePositiveId } from '../arguments.ts'
import { administrator } from '../author.ts'
import { withStores } from '../context.ts'
import { createUnderId } from '../free-id.ts'
import { Refusal } from '../refusal.ts'
import { type AdminStores, type AreaStores, siteOf } from '../stores.ts'

interface CreateOptions {
  readonly site: SiteId
  readonly name: string
  readonly id?: CategoryId
}

const entryOf = (type: ChangeType, site: SiteId, id: number): HistoryEntry => ({
  ...administrator,
  site,
  type,
  subject: `category/${id}`,
})

const create = async (stores: AdminStores, { site: siteId, name, id: wanted }: CreateOptions) => {
  const site = await siteOf(stores, siteId)
  const { contents } = await stores.areas(site)
  const id = await createUnderId({
    wanted,
    next: async () => (await contents.highestId(site.id, 'category')) + 1,
    largest: largestContentId,
    create: (id) => contents.create(site.id, 'category', { id, name }, entryOf('category.created', site.id, id)),
    taken: `Site ${site.id} has a category`,
  })
  return { id, name }
}

const list = async ({ contents }: AreaStores, site: SiteId): Promise<object[]> => {
  const listed = await contents.list(site, 'category', 0, Number.POSITIVE_INFINITY)
  return listed.flatMap(({ content }) => (content ? [{ id: content.id, name: content['name'] }] : []))
}

const remove = async (stores: AdminStores, siteId: SiteId, id: CategoryId) => {
  const site = await siteOf(stores, siteId)
  const { contents } = await stores.areas(site)
  if (await contents.removeCategory(site.id, id, entryOf('category.removed', site.id, id))) return { removed: true }
  throw new Refusal(`Site ${site.id} has no category ${id}. "category list" shows those that it has.`)
}

export const categoryCommand = (): Command => {
  const command = new Command('category').description(`categories of ${manyObjects}`)

  command
    .command('create')
    .description('create a category')
    .requiredOption('--site <id>', 'the site that it belongs to', parsePositiveId<SiteId>)
    .requiredOption('--name <name>', 'its name', parseName)
    .option('--id <id>', 'its id (default: the next one)', parseContentId<CategoryId>)
    .action((options: CreateOptions, self: Command) => withStores(self, (stores) => create(stores, options)))

  command
    .command('list')
    .description('list the categories of a site')
    .requiredOption('--site <id>', 'the site', parsePositiveId<SiteId>)
    .action(({ site: id }: { site: SiteId }, self: Command) =>
      withStores(self, async (stores) => {
        const site = await siteOf(stores, id)
        return list(await stores.areas(site), site.id)
      }),
    )

  command
    .command('remove')
    .description(`remove a category with its links; the ${manyObjects} stay`)
    .argument('<id>', 'its id', parseContentId<CategoryId>)
    .requiredOption('--site <id>', 'the site that it belongs to', parsePositiveId<SiteId>)
    .action((id: CategoryId, { site }: { site: SiteId }, self: Command) =>
      withStores(self, (stores) => remove(stores, site, id)),
    )

  return command
}
