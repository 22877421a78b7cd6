import { setTimeout as sleep } from 'node:timers/promises'
import { type Grant, grantEntries, isCurrent, uncover } from '../../lib/access/grants.ts'
import { withoutRulesOf } from '../../lib/access/issuers/issuers.ts'
import { type ContentKind, objectKindNames } from '../../lib/core/content-kinds.ts'
import type { ChangeType } from '../../lib/core/history-entry.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { howMany, recordOf } from '../../lib/core/names.ts'
import { objectKinds } from '../../lib/core/object-kinds.ts'
import { unlimited } from '../../lib/core/time.ts'
import type { Site } from '../../lib/sites/site-directory.ts'
import { emptyFolder } from '../../lib/storage/continue-removal.ts'
import { root } from '../../lib/storage/path.ts'
import { countFolder } from '../../lib/storage/reading/preview-removal.ts'
import { type AdminStores, type AreaStores, administrator, entryOf } from './admin-stores.ts'

const grantsOf = async ({ grants }: Pick<AdminStores, 'grants'>, site: SiteId): Promise<readonly Grant[]> =>
  (await grants.list()).filter(({ sites }) => sites.includes(site))

const rulesOf = async ({ issuers }: Pick<AdminStores, 'issuers'>, site: SiteId) =>
  (await issuers.trust()).rules.filter((rule) => rule.site === site)

/** Counts each kind, and the bytes of the files. `atLeast` means that the site has more files than were counted. */
export const contentsOf = async (stores: AdminStores, site: Site) => {
  const area = await stores.areas(site)
  const { files, bytes, atLeast } = await countFolder(await area.files(), site.id, root, unlimited)
  const count = async (kind: ContentKind) =>
    (await area.contents.count(site.id, kind, 0, Number.MAX_SAFE_INTEGER)).count
  return {
    files,
    bytes,
    atLeast,
    webForms: (await area.webForms.list(site.id)).length,
    categories: await count('category'),
    objects: recordOf(await Promise.all(objectKindNames.map(async (kind) => [kind, await count(kind)] as const))),
    workflows: (await area.workflows.list(site.id, undefined, Number.POSITIVE_INFINITY)).length,
    webhooks: (await area.webhooks.listOfSite(site.id)).length,
    rules: (await rulesOf(stores, site.id)).length,
    tokens: (await grantsOf(stores, site.id)).filter((grant) => isCurrent(grant, Date.now())).length,
    people: (await stores.people.listOfSites(site.id)).length,
  }
}

export const inWords = (of: Awaited<ReturnType<typeof contentsOf>>): string => {
  const parts = [
    `${of.atLeast ? 'at least ' : ''}${howMany(of.files, 'file')} (${of.bytes} bytes)`,
    howMany(of.webForms, 'web form'),
    `${howMany(of.categories, 'category', 'categories')} with all links`,
    ...objectKindNames.map((kind) => howMany(of.objects[kind], objectKinds[kind].one, objectKinds[kind].many)),
    howMany(of.workflows, 'running workflow'),
    howMany(of.webhooks, 'webhook'),
    howMany(of.rules, 'rule'),
  ]
  const people = howMany(of.people, 'person', 'people')
  return `${parts.join(', ')}. ${howMany(of.tokens, 'token')} and ${people} lose the site, and people without another site are removed`
}

// If a removal fails half-way, repeating it completes it.
const empty = async (area: AreaStores, site: SiteId): Promise<void> => {
  await emptyFolder(await area.files(), site, root, () => false)
  for (const store of ['workflows', 'webForms', 'contents', 'webhooks', 'usage'] as const) await area[store].clear(site)
}

// Returns true if a cache may still accept one of the tokens.
const endAccess = async (stores: AdminStores, { id }: Site): Promise<boolean> => {
  await stores.people.leaveSite(id)
  let isAnyCurrent = false
  for (const grant of await grantsOf(stores, id)) {
    isAnyCurrent ||= isCurrent(grant, Date.now())
    // A session loses the site when its person loses the site.
    if (grant.kind === 'session') continue
    const fate = grant.sites.length === 1 ? 'removed' : 'changed'
    const entries = grantEntries(fate, { ...grant, sites: [id] }, administrator)
    await stores.grants.change(grant.hash, (present) => uncover(present, id), entries)
  }
  return isAnyCurrent
}

const losses: readonly ChangeType[] = ['token.changed', 'token.removed', 'key.removed', 'user.changed', 'user.removed']

const mostRecent = 1_000

// An interrupted removal, or another command, may have ended tokens that caches still accept.
const hasLostAccessSince = async ({ history }: AreaStores, site: SiteId, moment: number): Promise<boolean> =>
  (await history.before(site, undefined, mostRecent)).some(({ at, type }) => at > moment && losses.includes(type))

/**
 * Removes a site with all its contents. First its tokens lose access. The site itself is removed last, so that
 * repeating the call completes a failed removal. Caches may accept the tokens for a while: after that time, people,
 * tokens and contents are removed once more. Removed files and the history are kept for their usual time.
 */
export const removeSite = async (
  stores: AdminStores,
  site: Site,
  { wait = (ms: number): Promise<unknown> => sleep(ms), say = (sentence: string) => console.error(sentence) } = {},
): Promise<void> => {
  const area = await stores.areas(site)
  const rules = await rulesOf(stores, site.id)
  const entries = rules.map(({ id, issuer }) => entryOf('rule.removed', site.id, `rule/${id}`, { issuer }))
  if (rules.length > 0) await stores.issuers.changeTrust((trust) => withoutRulesOf(trust, site.id), entries)
  const memory = await stores.memory()
  const isLost = await hasLostAccessSince(area, site.id, Date.now() - memory)
  const isRemembered = (await endAccess(stores, site)) || isLost
  const over = Date.now() + (isRemembered ? memory : 0)
  await empty(area, site.id)
  const left = over - Date.now()
  if (left > 0) {
    say(`The site is empty. Waiting ${Math.ceil(left / 1000)} seconds until its tokens stop working everywhere.`)
    await wait(left)
    await endAccess(stores, site)
    await empty(area, site.id)
  }
  await stores.sites.removeSite(site.id, entryOf('site.removed', site.id, `site/${site.id}`, { name: site.name }))
}
