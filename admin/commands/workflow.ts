import type { Command } from 'commander'
import { roles } from '../../lib/access/people.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { findFile } from '../../lib/storage/changes/look.ts'
import { isPage } from '../../lib/storage/file-kind.ts'
import { type StoragePath, toStoragePath } from '../../lib/storage/path.ts'
import { resolveParent, spellingsOf } from '../../lib/storage/resolve-path.ts'
import { type AdminStores, type AreaStores, entryOf } from '../stores/admin-stores.ts'
import { areaOf, onStores } from '../stores/stores.ts'
import { groupOf, type OfSite, siteCommandOf } from '../terminal/arguments.ts'
import { Refusal } from '../terminal/output.ts'

// Users often begin a path with a slash.
const pageOf = (text: string): StoragePath => {
  const path = toStoragePath(text)
  if (!isPage(path)) throw new Refusal(`${text} is not a page. Name a .html or .htm file outside Templates.`)
  return path
}

// The path that requests to the service use for the page (S-4, S-5).
const findPage = async (area: AreaStores, site: SiteId, wanted: StoragePath): Promise<StoragePath> => {
  const files = await area.files()
  const scope = { site, rights: roles.owner.rights, level: 'write' } as const
  for await (const path of spellingsOf(files, scope, wanted)) {
    const { live, draft } = await findFile({ files }, site, path)
    if (live ?? draft) return path
  }
  return resolveParent(files, scope, wanted)
}

const start = async (stores: AdminStores, text: string, { site }: OfSite) => {
  const area = await areaOf(stores, site)
  const path = await findPage(area, site, pageOf(text))
  await area.workflows.start(site, path, entryOf('workflow.created', site, path))
  return { path, workflow: 'running' }
}

const end = async (stores: AdminStores, text: string, { site }: OfSite) => {
  const area = await areaOf(stores, site)
  const wanted = pageOf(text)
  // A workflow may run for a page that does not exist, beside a page whose path differs only in case.
  for (const path of new Set([wanted, await findPage(area, site, wanted)]))
    if (await area.workflows.end(site, path, entryOf('workflow.removed', site, path)))
      return { path, workflow: 'ended' }
  throw new Refusal(`No workflow is running for ${wanted}. "workflow list --site ${site}" lists the running ones.`)
}

const list = async (stores: AdminStores, { site }: OfSite) => {
  const paths = await (await areaOf(stores, site)).workflows.list(site, undefined, Number.POSITIVE_INFINITY)
  return paths.map((path) => ({ path, workflow: 'running' }))
}

const ofPage = (name: string, description: string, run: typeof start): Command =>
  siteCommandOf(name, description, 'folder/index.html --site 1001')
    .argument('<path>', 'the path of the page, such as folder/index.html')
    .action(onStores(run))

const startDescription = 'start the workflow of a page: until it ends, the page cannot be changed or deleted'

export const workflowCommand = (): Command =>
  groupOf('workflow', 'running workflows of pages', 'list --site 1001', [
    siteCommandOf('list', 'list the pages of a site with a running workflow').action(onStores(list)),
    ofPage('start', startDescription, start),
    ofPage('end', 'end the workflow of a page', end),
  ])
