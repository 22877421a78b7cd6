import { Argument, type Command, InvalidArgumentError } from 'commander'
import { contentSchema } from '../../lib/categories/content-schema.ts'
import type { SiteObject } from '../../lib/categories/contents.ts'
import {
  manyObjects,
  type ObjectKind,
  objectKindNames,
  oneOf,
  textMember,
  withDefaults,
} from '../../lib/core/content-kinds.ts'
import { firstFault } from '../../lib/core/errors.ts'
import { largestContentId } from '../../lib/core/ids.ts'
import { objectKinds } from '../../lib/core/object-kinds.ts'
import { readJson } from '../../lib/http/json.ts'
import { check } from '../../lib/http/validate.ts'
import { type AdminStores, type AreaStores, idOf, readPages } from '../stores/admin-stores.ts'
import { createUnderId, entryOf } from '../stores/changes.ts'
import { areaOf, onStores } from '../stores/stores.ts'
import {
  confirmed,
  groupOf,
  type OfSite,
  parseContentId,
  type RemoveOptions,
  siteCommandOf,
} from '../terminal/arguments.ts'
import { notSure, Refusal } from '../terminal/output.ts'

interface CreateOptions extends OfSite {
  readonly id?: number
  readonly members: object
}

const parseMembers = (text: string): object => {
  const fault = new InvalidArgumentError('It must be a JSON object such as {"enabled": false}.')
  let value: unknown
  try {
    value = readJson(text)
  } catch {
    throw fault
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fault
  return value
}

const step = 1_000

// Returns only the members that identify an object.
const list = async (stores: AdminStores, kind: ObjectKind, { site }: OfSite): Promise<object[]> => {
  const { contents } = await areaOf(stores, site)
  const { shown, flag, date } = objectKinds[kind].examples
  const names = ['id', ...shown.split(','), flag, date]
  const rows: object[] = []
  for await (const page of readPages(step, 0, idOf, (after, limit) => contents.list(site, kind, after, limit))) {
    for (const { content } of page) {
      if (content) rows.push(Object.fromEntries(names.map((name) => [name, content[name]])))
    }
  }
  return rows
}

const noObject = ({ site, kind, id }: SiteObject) =>
  new Refusal(`Site ${site} has no ${objectKinds[kind].one} ${id}. "object list ${kind}" lists the existing ones.`)

const show = async (stores: AdminStores, kind: ObjectKind, id: number, { site }: OfSite) => {
  const { contents, links } = await areaOf(stores, site)
  const object: SiteObject = { site, kind, id }
  const content = await contents.get(site, kind, id)
  if (!content) throw noObject(object)
  const text = textMember(kind)
  const texts = text === undefined ? {} : { [text]: (await contents.texts(site, kind, [id])).get(id) ?? '' }
  const categories = await links.categoriesOf(object, 0, Number.POSITIVE_INFINITY)
  return { ...content, ...texts, categories }
}

const create = async (stores: AdminStores, kind: ObjectKind, { site, id: wanted, members }: CreateOptions) => {
  const { contents } = await areaOf(stores, site)
  const schema = contentSchema(kind)
  const contentUnder = (id: number) => {
    const result = check(schema, { ...members, id })
    if ('problems' in result) throw new Refusal(`${firstFault(result.problems)}.`)
    return withDefaults(kind, result.value, Date.now())
  }
  // If members are wrong, this throws before the first call to the store.
  contentUnder(1)
  const id = await createUnderId({
    wanted,
    next: async () => (await contents.highestId(site, kind)) + 1,
    largest: largestContentId,
    create: (id) => contents.create(site, kind, contentUnder(id), entryOf('object.created', site, `${kind}/${id}`)),
    taken: `Site ${site} has ${oneOf(kind)}`,
  })
  return show(stores, kind, id, { site })
}

const preview = async ({ contents, links }: AreaStores, object: SiteObject) => {
  const { site, kind, id } = object
  if ((await contents.existing(site, kind, [id])).size === 0) throw noObject(object)
  const { count } = await links.countCategoriesOf(object, 0, Number.MAX_SAFE_INTEGER)
  return { removed: false, links: count }
}

const remove = async (
  stores: AdminStores,
  kind: ObjectKind,
  id: number,
  { site, yes, dryRun }: OfSite & RemoveOptions,
) => {
  const area = await areaOf(stores, site)
  const object: SiteObject = { site, kind, id }
  if (dryRun || !yes) {
    const contents = await preview(area, object)
    if (dryRun) return contents
    throw new Refusal(`Removing ${objectKinds[kind].one} ${id} also removes its links: ${contents.links}. ${notSure}`)
  }
  const entry = entryOf('object.removed', site, `${kind}/${id}`)
  if (await area.contents.removeObject(object, entry)) return { removed: true }
  throw noObject(object)
}

// One member per row, because an object has too many members for columns.
const inRows = (object: object): object[] => Object.entries(object).map(([member, value]) => ({ member, value }))

const eachKind = objectKindNames.map(oneOf).join(' or ')

const removal = `remove ${eachKind} with its links`
const creation = `object create news --site 1001 --members '{"subject": "We are open"}'`
const removeExamples = ['object remove news 36 --site 1001 --dry-run', 'object remove news 36 --site 1001 --yes']

const ofKind = (...described: Parameters<typeof siteCommandOf>): Command =>
  siteCommandOf(...described).addArgument(new Argument('<kind>', 'the kind of object').choices(objectKindNames))

const ofId = (...described: Parameters<typeof siteCommandOf>): Command =>
  ofKind(...described).argument('<id>', 'the id of the object', parseContentId<number>)

export const objectCommand = (): Command =>
  groupOf('object', manyObjects, 'object list news --site 1001', [
    ofKind('list', `list the ${manyObjects} of a site`, 'object list news --site 1001').action(onStores(list)),
    ofId('show', `show all members of ${eachKind}, and its categories`, 'object show news 36 --site 1001').action(
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
      .action(onStores(create, inRows)),
    confirmed(ofId('remove', removal, ...removeExamples)).action(onStores(remove)),
  ])
