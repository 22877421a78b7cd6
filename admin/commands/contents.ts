import { Argument, Command } from 'commander'
import { manyObjects, type ObjectKind, objectKindNames, oneOf } from '../../lib/categories/content-kinds.ts'
import type { SiteObject } from '../../lib/categories/contents.ts'
import { objectKinds } from '../../lib/categories/object-kinds.ts'
import { type CategoryId, largestContentId, largestNamedId, type SiteId, type WebFormId } from '../../lib/ids.ts'
import { parseContentId, parseName, parsePositiveId } from '../arguments.ts'
import { createUnderId, entryOf } from '../changes.ts'
import { Refusal } from '../output.ts'
import { type AdminStores, type AreaStores, siteOf, withStores } from '../stores.ts'

interface CreateOptions<Id> {
  readonly site: SiteId
  readonly name: string
  readonly id?: Id
}

const createForm = async (stores: AdminStores, { site: siteId, name, id: wanted }: CreateOptions<WebFormId>) => {
  const site = await siteOf(stores, siteId)
  const { webForms } = await stores.areas(site)
  const id = await createUnderId<WebFormId>({
    wanted,
    next: async () => (await webForms.highestId(site.id)) + 1,
    largest: largestNamedId,
    create: (id) =>
      webForms.create({ site: site.id, id, name, fields: [] }, entryOf('form.created', site.id, `form/${id}`)),
    taken: `Site ${site.id} has a web form`,
  })
  return { id, name }
}

export const formCommand = (): Command => {
  const command = new Command('form').description('web forms')

  command
    .command('create')
    .description('create a web form')
    .requiredOption('--site <id>', 'the site that it belongs to', parsePositiveId<SiteId>)
    .requiredOption('--name <name>', 'its name', parseName)
    .option('--id <id>', 'its id (default: the next one)', parsePositiveId<WebFormId>)
    .action((options: CreateOptions<WebFormId>, self: Command) =>
      withStores(self, (stores) => createForm(stores, options)),
    )

  command
    .command('list')
    .description('list the web forms of a site')
    .requiredOption('--site <id>', 'the site', parsePositiveId<SiteId>)
    .action(({ site: id }: { site: SiteId }, self: Command) =>
      withStores(self, async (stores) => {
        const site = await siteOf(stores, id)
        return (await stores.areas(site)).webForms.list(site.id)
      }),
    )

  return command
}

const createCategory = async (stores: AdminStores, { site: siteId, name, id: wanted }: CreateOptions<CategoryId>) => {
  const site = await siteOf(stores, siteId)
  const { contents } = await stores.areas(site)
  const id = await createUnderId({
    wanted,
    next: async () => (await contents.highestId(site.id, 'category')) + 1,
    largest: largestContentId,
    create: (id) =>
      contents.create(site.id, 'category', { id, name }, entryOf('category.created', site.id, `category/${id}`)),
    taken: `Site ${site.id} has a category`,
  })
  return { id, name }
}

const listCategories = async ({ contents }: AreaStores, site: SiteId): Promise<object[]> => {
  const listed = await contents.list(site, 'category', 0, Number.POSITIVE_INFINITY)
  return listed.flatMap(({ content }) => (content ? [{ id: content.id, name: content['name'] }] : []))
}

interface RemoveOptions {
  readonly site: SiteId
  readonly dryRun?: true
}

/** For the commands that remove something. */
const dryRun = ['--dry-run', 'only tell what would go'] as const

const noCategory = (site: SiteId, id: CategoryId) =>
  new Refusal(`Site ${site} has no category ${id}. "category list" shows those that it has.`)

/** How many links go with a category. */
const previewCategory = async ({ contents, links }: AreaStores, site: SiteId, category: CategoryId) => {
  if ((await contents.existing(site, 'category', [category])).size === 0) throw noCategory(site, category)
  const counts = await Promise.all(
    objectKindNames.map((kind) => links.count({ site, kind, category }, 0, Number.MAX_SAFE_INTEGER)),
  )
  return { removed: false, links: counts.reduce((sum, { count }) => sum + count, 0) }
}

const removeCategory = async (stores: AdminStores, id: CategoryId, { site: siteId, dryRun }: RemoveOptions) => {
  const site = await siteOf(stores, siteId)
  const area = await stores.areas(site)
  if (dryRun) return previewCategory(area, site.id, id)
  const { contents } = area
  if (await contents.removeCategory(site.id, id, entryOf('category.removed', site.id, `category/${id}`)))
    return { removed: true }
  throw noCategory(site.id, id)
}

export const categoryCommand = (): Command => {
  const command = new Command('category').description(`categories of ${manyObjects}`)

  command
    .command('create')
    .description('create a category')
    .requiredOption('--site <id>', 'the site that it belongs to', parsePositiveId<SiteId>)
    .requiredOption('--name <name>', 'its name', parseName)
    .option('--id <id>', 'its id (default: the next one)', parseContentId<CategoryId>)
    .action((options: CreateOptions<CategoryId>, self: Command) =>
      withStores(self, (stores) => createCategory(stores, options)),
    )

  command
    .command('list')
    .description('list the categories of a site')
    .requiredOption('--site <id>', 'the site', parsePositiveId<SiteId>)
    .action(({ site: id }: { site: SiteId }, self: Command) =>
      withStores(self, async (stores) => {
        const site = await siteOf(stores, id)
        return listCategories(await stores.areas(site), site.id)
      }),
    )

  command
    .command('remove')
    .description(`remove a category with its links; the ${manyObjects} stay`)
    .argument('<id>', 'its id', parseContentId<CategoryId>)
    .requiredOption('--site <id>', 'the site that it belongs to', parsePositiveId<SiteId>)
    .option(...dryRun)
    .action((id: CategoryId, options: RemoveOptions, self: Command) =>
      withStores(self, (stores) => removeCategory(stores, id, options)),
    )

  return command
}

const noObject = ({ site, kind, id }: SiteObject) => new Refusal(`Site ${site} has no ${objectKinds[kind].one} ${id}.`)

/** How many links go with a news item or a blog. */
const previewObject = async ({ contents, links }: AreaStores, object: SiteObject) => {
  const { site, kind, id } = object
  if ((await contents.existing(site, kind, [id])).size === 0) throw noObject(object)
  const { count } = await links.countCategoriesOf(object, 0, Number.MAX_SAFE_INTEGER)
  return { removed: false, links: count }
}

const removeObject = async (
  stores: AdminStores,
  kind: ObjectKind,
  id: number,
  { site: siteId, dryRun }: RemoveOptions,
) => {
  const site = await siteOf(stores, siteId)
  const area = await stores.areas(site)
  const object: SiteObject = { site: site.id, kind, id }
  if (dryRun) return previewObject(area, object)
  const { contents } = area
  const entry = entryOf('object.removed', site.id, `${kind}/${id}`)
  if (await contents.removeObject(object, entry)) return { removed: true }
  throw noObject(object)
}

export const objectCommand = (): Command => {
  const command = new Command('object').description(manyObjects)

  command
    .command('remove')
    .description(`remove ${objectKindNames.map(oneOf).join(' or ')}, and take it out of its categories`)
    .addArgument(new Argument('<kind>', 'what it is').choices(objectKindNames))
    .argument('<id>', 'its id', parseContentId<number>)
    .requiredOption('--site <id>', 'the site that it belongs to', parsePositiveId<SiteId>)
    .option(...dryRun)
    .action((kind: ObjectKind, id: number, options: RemoveOptions, self: Command) =>
      withStores(self, (stores) => removeObject(stores, kind, id, options)),
    )

  return command
}
