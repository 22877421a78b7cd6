import type { Command } from 'commander'
import { manyObjects, objectKindNames } from '../../lib/core/content-kinds.ts'
import { type CategoryId, largestContentId, type SiteId } from '../../lib/core/ids.ts'
import type { AdminStores, AreaStores } from '../stores/admin-stores.ts'
import { createUnderId, entryOf } from '../stores/changes.ts'
import { areaOf, onStores } from '../stores/stores.ts'
import {
  confirmed,
  groupOf,
  type NewOptions,
  type OfSite,
  parseContentId,
  parseName,
  type RemoveOptions,
  siteCommandOf,
} from '../terminal/arguments.ts'
import { notSure, Refusal } from '../terminal/output.ts'

const create = async (stores: AdminStores, { site, name, id: wanted }: NewOptions<CategoryId>) => {
  const { contents } = await areaOf(stores, site)
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
  const { contents } = await areaOf(stores, site)
  const listed = await contents.list(site, 'category', 0, Number.POSITIVE_INFINITY)
  return listed.flatMap(({ content }) => (content ? [{ id: content.id, name: content['name'] }] : []))
}

const noCategory = (site: SiteId, id: CategoryId) =>
  new Refusal(`Site ${site} has no category ${id}. "category list" lists its categories.`)

const rename = async (stores: AdminStores, id: CategoryId, { site, name }: NewOptions<CategoryId>) => {
  const { contents } = await areaOf(stores, site)
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

const remove = async (stores: AdminStores, id: CategoryId, { site, yes, dryRun }: OfSite & RemoveOptions) => {
  const area = await areaOf(stores, site)
  if (dryRun || !yes) {
    const contents = await preview(area, site, id)
    if (dryRun) return contents
    throw new Refusal(`Removing category ${id} also removes its links: ${contents.links}. ${notSure}`)
  }
  const entry = entryOf('category.removed', site, `category/${id}`)
  if (await area.contents.removeCategory(site, id, entry)) return { removed: true }
  throw noCategory(site, id)
}

const removal = `remove a category with its links; the ${manyObjects} stay`
const removeExamples = ['category remove 1 --site 1001 --dry-run', 'category remove 1 --site 1001 --yes']

const ofId = (...described: Parameters<typeof siteCommandOf>): Command =>
  siteCommandOf(...described).argument('<id>', 'the id of the category', parseContentId<CategoryId>)

export const categoryCommand = (): Command =>
  groupOf('category', `categories of ${manyObjects}`, 'category list --site 1001', [
    siteCommandOf('create', 'create a category', 'category create --site 1001 --name "Press"')
      .requiredOption('--name <name>', 'the name of the category', parseName)
      .option('--id <id>', 'the id of the category (default: one more than the highest id)', parseContentId<CategoryId>)
      .action(onStores(create)),
    siteCommandOf('list', 'list the categories of a site', 'category list --site 1001').action(onStores(list)),
    ofId('rename', 'rename a category', 'category rename 1 --site 1001 --name "Press releases"')
      .requiredOption('--name <name>', 'the new name', parseName)
      .action(onStores(rename)),
    confirmed(ofId('remove', removal, ...removeExamples)).action(onStores(remove)),
  ])
