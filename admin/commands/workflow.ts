import { Command } from 'commander'
import type { SiteId } from '../../lib/core/ids.ts'
import { isPage } from '../../lib/storage/file-kind.ts'
import { type StoragePath, toStoragePath } from '../../lib/storage/path.ts'
import type { AdminStores } from '../stores/admin-stores.ts'
import { entryOf } from '../stores/changes.ts'
import { siteOf, withStores } from '../stores/stores.ts'
import { exampleOf, parsePositiveId } from '../terminal/arguments.ts'
import { Refusal } from '../terminal/output.ts'

interface Options {
  readonly site: SiteId
}

// Users often begin a path with a slash.
const pageOf = (text: string): StoragePath => {
  const path = toStoragePath(text)
  if (!isPage(path)) throw new Refusal(`${text} is no page: that is a .html or .htm file outside Templates.`)
  return path
}

const start = async (stores: AdminStores, text: string, { site: id }: Options) => {
  const site = await siteOf(stores, id)
  const path = pageOf(text)
  await (await stores.areas(site)).workflows.start(site.id, path, entryOf('workflow.created', site.id, path))
  return { path, workflow: 'running' }
}

const end = async (stores: AdminStores, text: string, { site: id }: Options) => {
  const site = await siteOf(stores, id)
  const path = pageOf(text)
  const { workflows } = await stores.areas(site)
  if (await workflows.end(site.id, path, entryOf('workflow.removed', site.id, path))) return { path, workflow: 'ended' }
  throw new Refusal(`No workflow is running for ${path}.`)
}

const step = 1_000

const list = async (stores: AdminStores, { site: id }: Options) => {
  const site = await siteOf(stores, id)
  const { workflows } = await stores.areas(site)
  const rows: object[] = []
  for (let after: StoragePath | undefined; ; ) {
    const pages = await workflows.list(site.id, after, step)
    for (const path of pages) rows.push({ path, workflow: 'running' })
    if (pages.length < step) return rows
    after = pages.at(-1)
  }
}

export const workflowCommand = (): Command => {
  const command = new Command('workflow')
    .description('running workflows of pages')
    .addHelpText('after', exampleOf('workflow list --site 1001'))

  command
    .command('list')
    .description('list the pages of a site that have a running workflow')
    .addHelpText('after', exampleOf('workflow list --site 1001'))
    .requiredOption('--site <id>', 'the site', parsePositiveId<SiteId>)
    .action((options: Options, self: Command) => withStores(self, (stores) => list(stores, options)))

  for (const [name, description, run] of [
    ['start', 'start the workflow of a page: it can be neither changed nor deleted until it ends', start],
    ['end', 'end the workflow of a page', end],
  ] as const) {
    command
      .command(name)
      .description(description)
      .addHelpText('after', exampleOf(`workflow ${name} folder/index.html --site 1001`))
      .argument('<path>', 'the page, such as folder/index.html')
      .requiredOption('--site <id>', 'the site', parsePositiveId<SiteId>)
      .action((path: string, options: Options, self: Command) =>
        withStores(self, (stores) => run(stores, path, options)),
      )
  }
  return command
}
