import { Command } from 'commander'
import { manyObjects, objectKindNames } from '../../lib/core/content-kinds.ts'
import { type CategoryId, largestContentId, type SiteId } from '../../lib/core/ids.ts'
import type { AdminStores, AreaStores } from '../stores/admin-stores.ts'
import { createUnderId, entryOf } from '../stores/changes.ts'
import { siteOf, withStores } from '../stores/stores.ts'
import {
  dryRun,
  exampleOf,
  parseContentId,
  parseName,
  parsePositiveId,
  type RemoveOptions,
} from '../terminal/arguments.ts'
import { Refusal } from '../terminal/output.ts'

interface OfSite {
  readonly site: SiteId
}

interface NameOptions extends OfSite {
  readonly name: string
}

interface CreateOptions extends NameOptions {
  readonly id?: CategoryId
}

const areaOf = async (stores: AdminStores, { site: id }: OfSite): Promise<AreaStores> =>
  stores.areas(await siteOf(stores, id))

const create = async (stores: AdminStores, { site, name, id: wanted }: CreateOptions) => {
  const { contents } = await areaOf(stores, { site })
  const id = await createUnderId({
    wanted,
    next: async () => (await contents.highestId(site, 'category')) + 1,
    largest: largestContentId,
    create: (id) =>
      contents.create(site, 'category', { id, name }, entryOf('category.created', site, `category/${id}`)),
    taken: `Site ${site} has a category`,
  })
  return { id, name }
}

const list = async (stores: AdminStores, { site }: OfSite): Promise<object[]> => {
  const { contents } = await areaOf(stores, { site })
  const listed = await contents.list(site, 'category', 0, Number.POSITIVE_INFINITY)
  return listed.flatMap(({ content }) => (content ? [{ id: content.id, name: content['name'] }] : []))
}

const noCategory = (site: SiteId, id: CategoryId) =>
  new Refusal(`Site ${site} has no category ${id}. "category list" shows those that it has.`)

const rename = async (stores: AdminStores, id: CategoryId, { site, name }: NameOptions) => {
  const { contents } = await areaOf(stores, { site })
  let isThere = false
  await contents.changeMany(
    site,
    'category',
    [id],
    (stored) => {
      isThere = stored !== undefined
      return stored && { ...stored, name }
    },
    entryOf('category.changed', site, `category/${id}`, { name }),
  )
  if (!isThere) throw noCategory(site, id)
  return { id, name }
}

const preview = async ({ contents, links }: AreaStores, site: SiteId, category: CategoryId) => {
  if ((await contents.existing(site, 'category', [category])).size === 0) throw noCategory(site, category)
  const counts = await Promise.all(
    objectKindNames.map((kind) => links.count({ site, kind, category }, 0, Number.MAX_SAFE_INTEGER)),
  )
  return { removed: false, links: counts.reduce((sum, { count }) => sum + count, 0) }
}

const remove = async (stores: AdminStores, id: CategoryId, { site, dryRun }: OfSite & RemoveOptions) => {
  const area = await areaOf(stores, { site })
  if (dryRun) return preview(area, site, id)
  const entry = entryOf('category.removed', site, `category/${id}`)
  if (await area.contents.removeCategory(site, id, entry)) return { removed: true }
  throw noCategory(site, id)
}

const siteOption = ['--site <id>', 'the site that it belongs to', parsePositiveId<SiteId>] as const

export const categoryCommand = (): Command => {
  const command = new Command('category')
    .description(`categories of ${manyObjects}`)
    .addHelpText('after', exampleOf('category list --site 1001'))

  command
    .command('create')
    .description('create a category')
    .addHelpText('after', exampleOf('category create --site 1001 --name "Press"'))
    .requiredOption(...siteOption)
    .requiredOption('--name <name>', 'its name', parseName)
    .option('--id <id>', 'its id (default: the next one)', parseContentId<CategoryId>)
    .action((options: CreateOptions, self: Command) => withStores(self, (stores) => create(stores, options)))

  command
    .command('list')
    .description('list the categories of a site')
    .addHelpText('after', exampleOf('category list --site 1001'))
    .requiredOption('--site <id>', 'the site', parsePositiveId<SiteId>)
    .action((options: OfSite, self: Command) => withStores(self, (stores) => list(stores, options)))

  command
    .command('rename')
    .description('give a category another name')
    .addHelpText('after', exampleOf('category rename 1 --site 1001 --name "Press releases"'))
    .argument('<id>', 'its id', parseContentId<CategoryId>)
    .requiredOption(...siteOption)
    .requiredOption('--name <name>', 'its new name', parseName)
    .action((id: CategoryId, options: NameOptions, self: Command) =>
      withStores(self, (stores) => rename(stores, id, options)),
    )

  command
    .command('remove')
    .description(`remove a category with its links; the ${manyObjects} stay`)
    .addHelpText('after', exampleOf('category remove 1 --site 1001 --dry-run'))
    .argument('<id>', 'its id', parseContentId<CategoryId>)
    .requiredOption(...siteOption)
    .option(...dryRun)
    .action((id: CategoryId, options: OfSite & RemoveOptions, self: Command) =>
      withStores(self, (stores) => remove(stores, id, options)),
    )

  return command
}
