import { Argument, type Command, InvalidArgumentError } from 'commander'
import type { Content } from '../../lib/categories/contents.ts'
import {
  type ContentKind,
  manyObjects,
  nounOf,
  type ObjectKind,
  objectKindNames,
  oneOf,
  textMember,
  withDefaults,
} from '../../lib/core/content-kinds.ts'
import { firstFault } from '../../lib/core/errors.ts'
import { type CategoryId, largestContentId, type SiteId } from '../../lib/core/ids.ts'
import { isPlainObject } from '../../lib/core/names.ts'
import { objectKinds } from '../../lib/core/object-kinds.ts'
import { readJson } from '../../lib/http/read-body.ts'
import { check } from '../../lib/http/validate.ts'
import { contentSchema } from '../records/record-schemas.ts'
import { type AdminStores, type AreaStores, createUnderId, entryOf, readAll } from '../stores/admin-stores.ts'
import { areaOf, onStores } from '../stores/stores.ts'
import {
  groupOf,
  type NewOptions,
  type OfSite,
  parseContentId,
  parseName,
  type RemoveOptions,
  removeCommandOf,
  siteCommandOf,
} from '../terminal/arguments.ts'
import { notSure, Refusal } from '../terminal/output.ts'

const unknown = (site: SiteId, kind: ContentKind, id: number) => {
  const [list, them] = kind === 'category' ? ['category list', 'its categories'] : [`object list ${kind}`, 'them']
  return new Refusal(`Site ${site} has no ${nounOf(kind)} ${id}. "${list} --site ${site}" lists ${them}.`)
}

const entryOfContent = (kind: ContentKind, site: SiteId, id: number, fate: 'created' | 'removed') =>
  entryOf(kind === 'category' ? `category.${fate}` : `object.${fate}`, site, `${kind}/${id}`)

const step = 1_000

const rowsOf = async (stores: AdminStores, kind: ContentKind, site: SiteId, names: readonly string[]) => {
  const { contents } = await areaOf(stores, site)
  const rows: object[] = []
  for await (const { content } of readAll(step, (after, limit) => contents.list(site, kind, after, limit))) {
    if (content) rows.push(Object.fromEntries(names.map((name) => [name, content[name]])))
  }
  return rows
}

interface CreateOptions extends OfSite {
  readonly id?: number | undefined
  readonly members: object
}

const create = async (stores: AdminStores, kind: ContentKind, { site, id: wanted, members }: CreateOptions) => {
  const { contents } = await areaOf(stores, site)
  const schema = contentSchema(kind)
  const contentUnder = (id: number) => {
    const result = check(schema, { ...members, id })
    if ('problems' in result) throw new Refusal(`${firstFault(result.problems)}.`)
    return withDefaults(kind, result.value, Date.now())
  }
  // If members are wrong, this throws before the contents are read.
  contentUnder(1)
  return createUnderId({
    wanted,
    next: async (least) => Math.max(least, (await contents.highestId(site, kind)) + 1),
    largest: largestContentId,
    create: (id) => contents.create(site, kind, contentUnder(id), entryOfContent(kind, site, id, 'created')),
    taken: `Site ${site} has ${oneOf(kind)}`,
  })
}

const countLinks = async ({ links }: AreaStores, site: SiteId, kind: ContentKind, id: number): Promise<number> => {
  const all = Number.MAX_SAFE_INTEGER
  if (kind !== 'category') return (await links.countCategoriesOf({ site, kind, id }, 0, all)).count
  const countOf = (of: ObjectKind) => links.count({ site, kind: of, category: id as CategoryId }, 0, all)
  const counts = await Promise.all(objectKindNames.map(countOf))
  return counts.reduce((sum, { count }) => sum + count, 0)
}

const remove = async (stores: AdminStores, kind: ContentKind, id: number, options: OfSite & RemoveOptions) => {
  const { site, yes, dryRun } = options
  const area = await areaOf(stores, site)
  const { contents } = area
  if (dryRun || !yes) {
    if ((await contents.existing(site, kind, [id])).size === 0) throw unknown(site, kind, id)
    const links = await countLinks(area, site, kind, id)
    if (dryRun) return { removed: false, links }
    throw new Refusal(`Removing ${nounOf(kind)} ${id} also removes its links: ${links}. ${notSure}`)
  }
  const entry = entryOfContent(kind, site, id, 'removed')
  if (await contents.remove(site, kind, id, entry)) return { removed: true }
  throw unknown(site, kind, id)
}

const createCategory = async (stores: AdminStores, { site, id, name }: NewOptions<CategoryId>) => ({
  id: await create(stores, 'category', { site, id, members: { name } }),
  name,
})

const rename = async (stores: AdminStores, id: CategoryId, { site, name }: NewOptions<CategoryId>) => {
  const { contents } = await areaOf(stores, site)
  const entry = entryOf('category.changed', site, `category/${id}`, { name })
  const renamed = (stored: Content | undefined) => {
    if (!stored) throw unknown(site, 'category', id)
    return { ...stored, name }
  }
  await contents.changeMany(site, 'category', [id], renamed, entry)
  return { id, name }
}

const listObjects = (stores: AdminStores, kind: ObjectKind, { site }: OfSite) => {
  const { shown, flag, date } = objectKinds[kind].examples
  return rowsOf(stores, kind, site, ['id', ...shown.split(','), flag, date])
}

const show = async (stores: AdminStores, kind: ObjectKind, id: number, { site }: OfSite) => {
  const { contents, links } = await areaOf(stores, site)
  const content = await contents.get(site, kind, id)
  if (!content) throw unknown(site, kind, id)
  const text = textMember(kind)
  const texts = text === undefined ? {} : { [text]: (await contents.texts(site, kind, [id])).get(id) ?? '' }
  const categories = await links.categoriesOf({ site, kind, id }, 0, Number.POSITIVE_INFINITY)
  return { ...content, ...texts, categories }
}

const createObject = async (stores: AdminStores, kind: ObjectKind, options: CreateOptions) =>
  show(stores, kind, await create(stores, kind, options), options)

const parseMembers = (text: string): object => {
  const fault = new InvalidArgumentError('It must be a JSON object such as {"enabled": false}.')
  let value: unknown
  try {
    value = readJson(text)
  } catch {
    throw fault
  }
  if (!isPlainObject(value)) throw fault
  if ('id' in value) throw new InvalidArgumentError('Name the id with --id.')
  return value
}

type Described = Parameters<typeof siteCommandOf>

const ofCategory = (...described: Described): Command =>
  siteCommandOf(...described).argument('<id>', 'the id of the category', parseContentId<CategoryId>)

const removal = `remove a category with its links; the ${manyObjects} stay`

export const categoryCommand = (): Command =>
  groupOf('category', `categories of ${manyObjects}`, 'list --site 1001', [
    siteCommandOf('create', 'create a category', '--site 1001 --name "Press"')
      .requiredOption('--name <name>', 'the name of the category', parseName)
      .option('--id <id>', 'the id of the category (default: one more than the highest id)', parseContentId<CategoryId>)
      .action(onStores(createCategory)),
    siteCommandOf('list', 'list the categories of a site').action(
      onStores((stores, { site }: OfSite) => rowsOf(stores, 'category', site, ['id', 'name'])),
    ),
    ofCategory('rename', 'rename a category', '1 --site 1001 --name "Press releases"')
      .requiredOption('--name <name>', 'the new name', parseName)
      .action(onStores(rename)),
    removeCommandOf(ofCategory, removal, '1 --site 1001').action(
      onStores((stores, id: CategoryId, options: OfSite) => remove(stores, 'category', id, options)),
    ),
  ])

// One member per row, because an object has too many members for columns.
const inRows = (object: object): object[] => Object.entries(object).map(([member, value]) => ({ member, value }))

const eachKind = objectKindNames.map(oneOf).join(' or ')

const creation = `news --site 1001 --members '{"subject": "We are open"}'`

const ofKind = (...described: Described): Command =>
  siteCommandOf(...described).addArgument(new Argument('<kind>', 'the kind of object').choices(objectKindNames))

const ofObject = (...described: Described): Command =>
  ofKind(...described).argument('<id>', 'the id of the object', parseContentId<number>)

export const objectCommand = (): Command =>
  groupOf('object', manyObjects, 'list news --site 1001', [
    ofKind('list', `list the ${manyObjects} of a site`, 'news --site 1001').action(onStores(listObjects)),
    ofObject('show', `show all members of ${eachKind}, and its categories`, 'news 36 --site 1001').action(
      onStores(show, inRows),
    ),
    ofKind('create', `create ${eachKind}`, creation)
      .option('--id <id>', 'the id of the object (default: one more than the highest id)', parseContentId<number>)
      .option(
        '--members <json>',
        'the members, as in a record of an import; members that are left out get their defaults',
        parseMembers,
        {},
      )
      .action(onStores(createObject, inRows)),
    removeCommandOf(ofObject, `remove ${eachKind} with its links`, 'news 36 --site 1001').action(onStores(remove)),
  ])
