import { Command } from 'commander'
import type { Content } from '../../lib/categories/content-table.ts'
import { largestId } from '../../lib/categories/key-range.ts'
import { removeCategory } from '../../lib/categories/remove-content.ts'
import type { CategoryId, SiteId } from '../../lib/ids.ts'
import { parseContentId, parseName, parsePositiveId } from '../arguments.ts'
import { withStores } from '../context.ts'
import { Refusal } from '../refusal.ts'
import { type AreaStores, type Stores, siteOf } from '../stores.ts'

interface CreateOptions {
  readonly site: SiteId
  readonly name: string
  readonly id?: CategoryId
}

const create = async (stores: Stores, { site: siteId, name, id: wanted }: CreateOptions) => {
  const site = await siteOf(stores, siteId)
  const { content } = await stores.areas(site)
  if (wanted !== undefined) {
    if (await content.create(site.id, 'category', { id: wanted, name })) return { id: wanted, name }
    throw new Refusal(`Site ${site.id} has a category ${wanted} already. Choose another --id, or leave it out.`)
  }
  for (let id = (await content.highestId(site.id, 'category')) + 1; id <= largestId; id++) {
    if (await content.create(site.id, 'category', { id, name })) return { id, name }
  }
  throw new Refusal('The ids behind the highest one are used up. Choose a free one with --id.')
}

const step = 1_000

const list = async ({ content }: AreaStores, site: SiteId): Promise<object[]> => {
  const categories: Content[] = []
  for (let after = 0; ; ) {
    const listed = await content.list(site, 'category', after, step)
    categories.push(...listed.flatMap((entry) => entry.content ?? []))
    const last = listed.at(-1)
    if (last === undefined || listed.length < step) return categories.map(({ id, name }) => ({ id, name }))
    after = last.id
  }
}

const remove = async (stores: Stores, siteId: SiteId, id: CategoryId) => {
  const site = await siteOf(stores, siteId)
  if (await removeCategory(await stores.areas(site), site.id, id)) return { removed: true }
  throw new Refusal(`Site ${site.id} has no category ${id}. "category list" shows those that it has.`)
}

export const categoryCommand = (): Command => {
  const command = new Command('category').description('categories of news items and blogs')

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
    .description('remove a category with its links; the news items and blogs stay')
    .argument('<id>', 'its id', parseContentId<CategoryId>)
    .requiredOption('--site <id>', 'the site that it belongs to', parsePositiveId<SiteId>)
    .action((id: CategoryId, { site }: { site: SiteId }, self: Command) =>
      withStores(self, (stores) => remove(stores, site, id)),
    )

  return command
}
