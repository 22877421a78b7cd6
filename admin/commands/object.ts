import { Argument, Command, InvalidArgumentError } from 'commander'
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
import { largestContentId, type SiteId } from '../../lib/core/ids.ts'
import { objectKinds } from '../../lib/core/object-kinds.ts'
import { readJson } from '../../lib/http/json.ts'
import { describeFault } from '../records/record-kinds.ts'
import type { AdminStores, AreaStores } from '../stores/admin-stores.ts'
import { createUnderId, entryOf } from '../stores/changes.ts'
import { siteOf, withStores } from '../stores/stores.ts'
import { dryRun, exampleOf, parseContentId, parsePositiveId, type RemoveOptions } from '../terminal/arguments.ts'
import { Refusal } from '../terminal/output.ts'

interface OfSite {
  readonly site: SiteId
}

interface CreateOptions extends OfSite {
  readonly id?: number
  readonly members: object
}

const areaOf = async (stores: AdminStores, { site: id }: OfSite): Promise<AreaStores> =>
  stores.areas(await siteOf(stores, id))

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

// Only the members that identify an object.
const list = async (stores: AdminStores, kind: ObjectKind, { site }: OfSite): Promise<object[]> => {
  const { contents } = await areaOf(stores, { site })
  const { shown, flag, date } = objectKinds[kind].examples
  const names = ['id', ...shown.split(','), flag, date]
  const rows: object[] = []
  for (let after = 0; ; ) {
    const listed = await contents.list(site, kind, after, step)
    for (const { content } of listed) {
      if (content) rows.push(Object.fromEntries(names.map((name) => [name, content[name]])))
    }
    const last = listed.at(-1)
    if (last === undefined || listed.length < step) return rows
    after = last.id
  }
}

const noObject = ({ site, kind, id }: SiteObject) =>
  new Refusal(`Site ${site} has no ${objectKinds[kind].one} ${id}. "object list ${kind}" shows those that it has.`)

const show = async (stores: AdminStores, kind: ObjectKind, id: number, { site }: OfSite) => {
  const { contents, links } = await areaOf(stores, { site })
  const object: SiteObject = { site, kind, id }
  const content = await contents.get(site, kind, id)
  if (!content) throw noObject(object)
  const text = textMember(kind)
  const texts = text === undefined ? {} : { [text]: (await contents.texts(site, kind, [id])).get(id) ?? '' }
  const categories = await links.categoriesOf(object, 0, Number.POSITIVE_INFINITY)
  return { ...content, ...texts, categories }
}

const create = async (stores: AdminStores, kind: ObjectKind, { site, id: wanted, members }: CreateOptions) => {
  const { contents } = await areaOf(stores, { site })
  const schema = contentSchema(kind)
  const contentUnder = (id: number) => {
    const result = schema.safeParse({ ...members, id })
    if (!result.success) throw new Refusal(`${describeFault(result.error, Object.keys(schema.shape))}.`)
    return withDefaults(kind, result.data, Date.now())
  }
  // What is wrong with it is said before anything is asked.
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

const remove = async (stores: AdminStores, kind: ObjectKind, id: number, { site, dryRun }: OfSite & RemoveOptions) => {
  const area = await areaOf(stores, { site })
  const object: SiteObject = { site, kind, id }
  if (dryRun) return preview(area, object)
  const entry = entryOf('object.removed', site, `${kind}/${id}`)
  if (await area.contents.removeObject(object, entry)) return { removed: true }
  throw noObject(object)
}

// One member per row: an object has too many for columns.
const inRows = (object: object): object[] => Object.entries(object).map(([member, value]) => ({ member, value }))

const kindArgument = () => new Argument('<kind>', 'what it is').choices(objectKindNames)
const siteOption = ['--site <id>', 'the site that it belongs to', parsePositiveId<SiteId>] as const
const eachKind = objectKindNames.map(oneOf).join(' or ')

export const objectCommand = (): Command => {
  const command = new Command('object')
    .description(manyObjects)
    .addHelpText('after', exampleOf('object list news --site 1001'))

  command
    .command('list')
    .description(`list the ${manyObjects} of a site`)
    .addHelpText('after', exampleOf('object list news --site 1001'))
    .addArgument(kindArgument())
    .requiredOption('--site <id>', 'the site', parsePositiveId<SiteId>)
    .action((kind: ObjectKind, options: OfSite, self: Command) =>
      withStores(self, (stores) => list(stores, kind, options)),
    )

  command
    .command('show')
    .description(`show every member of ${eachKind}, and its categories`)
    .addHelpText('after', exampleOf('object show news 36 --site 1001'))
    .addArgument(kindArgument())
    .argument('<id>', 'its id', parseContentId<number>)
    .requiredOption(...siteOption)
    .action((kind: ObjectKind, id: number, options: OfSite, self: Command) =>
      withStores(self, (stores) => show(stores, kind, id, options), inRows),
    )

  command
    .command('create')
    .description(`create ${eachKind}`)
    .addHelpText('after', exampleOf(`object create news --site 1001 --members '{"subject": "We are open"}'`))
    .addArgument(kindArgument())
    .requiredOption(...siteOption)
    .option('--id <id>', 'its id (default: the next one)', parseContentId<number>)
    .option(
      '--members <json>',
      'its members, as in a record of an import; the others get sensible values',
      parseMembers,
      {},
    )
    .action((kind: ObjectKind, options: CreateOptions, self: Command) =>
      withStores(self, (stores) => create(stores, kind, options), inRows),
    )

  command
    .command('remove')
    .description(`remove ${eachKind}, and take it out of its categories`)
    .addHelpText('after', exampleOf('object remove news 36 --site 1001'))
    .addArgument(kindArgument())
    .argument('<id>', 'its id', parseContentId<number>)
    .requiredOption(...siteOption)
    .option(...dryRun)
    .action((kind: ObjectKind, id: number, options: OfSite & RemoveOptions, self: Command) =>
      withStores(self, (stores) => remove(stores, kind, id, options)),
    )

  return command
}
