import { Argument, Command } from 'commander'
import { manyObjects, type ObjectKind, objectKindNames, oneOf } from '../../lib/categories/content-kinds.ts'
import { objectKinds } from '../../lib/categories/object-kinds.ts'
import type { SiteId } from '../../lib/ids.ts'
import { parseContentId, parsePositiveId } from '../arguments.ts'
import { administrator } from '../author.ts'
import { withStores } from '../context.ts'
import { Refusal } from '../refusal.ts'
import { type AdminStores, siteOf } from '../stores.ts'

const remove = async (stores: AdminStores, siteId: SiteId, kind: ObjectKind, id: number) => {
  const site = await siteOf(stores, siteId)
  const { contents } = await stores.areas(site)
  const entry = { ...administrator, site: site.id, type: 'object.removed', subject: `${kind}/${id}` } as const
  if (await contents.removeObject({ site: site.id, kind, id }, entry)) return { removed: true }
  throw new Refusal(`Site ${site.id} has no ${objectKinds[kind].one} ${id}.`)
}

export const objectCommand = (): Command => {
  const command = new Command('object').description(manyObjects)

  command
    .command('remove')
    .description(`remove ${objectKindNames.map(oneOf).join(' or ')}, and take it out of its categories`)
    .addArgument(new Argument('<kind>', 'what it is').choices(objectKindNames))
    .argument('<id>', 'its id', parseContentId<number>)
    .requiredOption('--site <id>', 'the site that it belongs to', parsePositiveId<SiteId>)
    .action((kind: ObjectKind, id: number, { site }: { site: SiteId }, self: Command) =>
      withStores(self, (stores) => remove(stores, site, kind, id)),
    )

  return command
}
