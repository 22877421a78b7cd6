import { readFileSync } from 'node:fs'
import { hashToken, isCurrent, newToken, permissions } from '../lib/access/grants.ts'
import type { Clock } from '../lib/clock.ts'
import type { SystemField } from '../lib/fields/web-forms.ts'
import type { ChangeType, HistoryEntry } from '../lib/history-entry.ts'
import type { CategoryId, SiteId, WebFormId } from '../lib/ids.ts'
import { unlimited } from '../lib/remaining-time.ts'
import type { SiteDirectory } from '../lib/sites/site-directory.ts'
import { toStoragePath } from '../lib/storage/path.ts'
import { putFile } from '../lib/storage/put-file.ts'
import type { Stores } from '../lib/stores.ts'
import { cannotBeWritten, type DataDirectory, isMissing, reasonOf } from './data-directory.ts'
import { demoCategories, storeDemoCategories } from './demo-categories.ts'
import { isForbidden, missingRights } from './failure-advice.ts'
import { ownerToServe, writePrivately } from './private-files.ts'
import { UsageError } from './usage-error.ts'

/** What a first start leaves behind for people and programs to try the service with. */
export interface Demo {
  readonly siteId: SiteId
  readonly webFormId: WebFormId
  readonly categoryIds: readonly CategoryId[]
  readonly token: string
}

/**
 * What the file says has become of the demo site: it is being made, it was made, or it is no more, and what has its id is another one. A file of an
 * earlier version says nothing.
 */
const states = ['begun', 'made', 'removed'] as const
type State = (typeof states)[number]

interface KnownDemo extends Demo {
  readonly state?: State
}

const isId = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value > 0

/** Why what a file holds is no demo; undefined when it is one. */
const faultOf = (value: unknown): string | undefined => {
  const { siteId, webFormId, categoryIds, token, state }: Partial<Record<keyof KnownDemo, unknown>> =
    typeof value === 'object' && value !== null ? value : {}
  if (!(isId(siteId) && isId(webFormId))) return 'it names no site and no web form'
  if (!(Array.isArray(categoryIds) && categoryIds.every(isId))) return 'it names no categories'
  if (!(typeof token === 'string' && /^[0-9a-f]{64}$/.test(token))) return 'it holds no token'
  if (!(state === undefined || states.some((one) => one === state))) return 'it does not say what became of the site'
  return undefined
}

const isDemo = (value: unknown): value is KnownDemo => faultOf(value) === undefined

/** Why the file of the demo cannot be read, and whether that is for want of rights alone. */
interface DemoFault {
  readonly fault: string
  readonly isForbidden: boolean
}

/** What is in the file of the demo: undefined when there is none, or the reason why it cannot be read. */
export const lookAtDemo = ({ demo }: DataDirectory): KnownDemo | DemoFault | undefined => {
  try {
    const value: unknown = JSON.parse(readFileSync(demo, 'utf8'))
    return isDemo(value) ? value : { fault: faultOf(value) ?? 'it is no demo', isForbidden: false }
  } catch (error) {
    return isMissing(error) ? undefined : { fault: reasonOf(error), isForbidden: isForbidden(error) }
  }
}

/** What can be done about a file of the demo that cannot be read. */
export const adviceOnDemo = ({ isForbidden }: DemoFault): string =>
  isForbidden
    ? missingRights
    : 'Put it back from a backup, or remove it: the demo token is then no longer told, and "site-admin token issue" issues others.'

/** The demo of a data directory; undefined before its first start. Throws UsageError when its file cannot be read. */
export const readDemo = (directory: DataDirectory): KnownDemo | undefined => {
  const demo = lookAtDemo(directory)
  if (demo === undefined || !('fault' in demo)) return demo
  const advice = adviceOnDemo(demo)
  throw new UsageError(`The file ${directory.demo} cannot be read: ${demo.fault}. ${advice} Nothing was changed.`)
}

const writeDemo = ({ path, demo: file }: DataDirectory, demo: Demo, state: State): void =>
  // Root may remove a site of another user's service, which has to read this.
  writePrivately(file, `${JSON.stringify({ ...demo, state })}\n`, ownerToServe(path))

/** The directory of sites, with the file of the demo told when its site goes. First, so that no other site ever takes it for its own. */
export const noteRemovalOfDemo = (sites: SiteDirectory, directory: DataDirectory): SiteDirectory => ({
  ...sites,
  async removeSite(id, entry) {
    const demo = lookAtDemo(directory)
    try {
      if (demo && !('fault' in demo) && demo.siteId === id) writeDemo(directory, demo, 'removed')
    } catch (error) {
      throw cannotBeWritten(directory, error)
    }
    return sites.removeSite(id, entry)
  },
})

const demoSite = 1001 as SiteId

const forms: readonly { id: WebFormId; name: string; fields: readonly SystemField[] }[] = [
  {
    id: 1 as WebFormId,
    name: 'Contact us',
    fields: [
      { typeId: -2, mandatory: true, order: 1 },
      { typeId: -3, mandatory: true, order: 2 },
      { typeId: -20, mandatory: false, order: 3 },
      { typeId: -400, mandatory: true, order: 4 },
    ],
  },
  {
    id: 2 as WebFormId,
    name: 'Newsletter',
    fields: [
      { typeId: -3, mandatory: true, order: 1 },
      { typeId: -7, mandatory: false, order: 2 },
    ],
  },
]

/** The demo token belongs to one machine's data directory and is meant to go on working there. */
const tenYears = 10 * 365 * 24 * 3600

const entryOf =
  (site: SiteId) =>
  (type: ChangeType, subject: string): HistoryEntry => ({ site, type, subject, actor: 'npm start' })

/** What the reference page reads and deletes as it stands. */
const demoFiles: Readonly<Record<string, string>> = { 'hello.txt': 'Hello\n', 'old/notice.txt': 'This may go.\n' }

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

const storeDemoFiles = async (stores: Stores, site: SiteId): Promise<void> => {
  const requester = { author: { actor: 'npm start' }, remainingTime: unlimited }
  for (const [path, text] of Object.entries(demoFiles)) {
    const file = { contentType: undefined, content: bytesOf(text) }
    await putFile({ ...stores, largestFile: text.length }, site, toStoragePath(path), false, file, requester)
  }
}

/** Its contents. A start that is cut short does all of it again. */
const storeDemoContents = async (stores: Stores, site: SiteId) => {
  const { webForms, contents, links } = stores
  const entry = entryOf(site)
  for (const form of forms) await webForms.create({ site, ...form }, entry('form.created', `form/${form.id}`))
  await storeDemoCategories({ contents, links }, site, entry)
  await storeDemoFiles(stores, site)
}

const grant = async ({ grants }: Stores, { siteId: site, token }: Demo, now: number): Promise<void> => {
  const hash = hashToken(token)
  const granted = { hash, user: 'demo', sites: [site], permissions, expires: Math.floor(now / 1000) + tenYears }
  await grants.put(granted, [entryOf(site)('token.created', `token/${hash.slice(0, 12)}`)])
}

const works = async ({ grants }: Stores, { siteId, token }: Demo, now: number): Promise<boolean> => {
  const found = await grants.get(hashToken(token))
  return found !== undefined && isCurrent(found, now) && found.sites.includes(siteId)
}

interface DemoDeps {
  readonly directory: DataDirectory
  readonly stores: Stores
  /** Where the demo site lives when it is made. */
  readonly dataCentre: string
  readonly clock: Clock
  /** Tells the person who has started the service. */
  readonly say: (sentence: string) => void
}

const newDemo = (): Demo => ({
  siteId: demoSite,
  webFormId: 1 as WebFormId,
  categoryIds: demoCategories,
  token: newToken(),
})

/** The site comes last: when it is there, the token has been granted, and a site of that id without it is somebody else's. */
const makeDemo = async ({ directory, stores, dataCentre, clock }: DemoDeps, demo: Demo): Promise<Demo> => {
  const { siteId: id } = demo
  writeDemo(directory, demo, 'begun')
  await storeDemoContents(stores, id)
  await grant(stores, demo, clock.wall())
  const site = { id, name: 'Demo site', dataCentre, renderingEngine: true }
  await stores.sites.createSite(site, entryOf(id)('site.created', `site/${id}`))
  writeDemo(directory, demo, 'made')
  return demo
}

/** A demo whose token works no more, with another token. */
const reissue = async ({ directory, stores, clock, say }: DemoDeps, known: Demo): Promise<Demo> => {
  const demo = { ...known, token: newToken() }
  await grant(stores, demo, clock.wall())
  say('The demo token has been revoked, or has expired. Another one is issued in its place.')
  writeDemo(directory, demo, 'made')
  return demo
}

/** What is left of a demo that an earlier start has made, or begun to make. */
const continueDemo = async (deps: DemoDeps, { state, ...demo }: KnownDemo): Promise<Demo | undefined> => {
  const { directory, stores, clock } = deps
  if (state === 'removed') return undefined
  const isThere = (await stores.sites.getSite(demo.siteId)) !== undefined
  if (!isThere && state === 'begun') return makeDemo(deps, demo)
  if (isThere && (await works(stores, demo, clock.wall()))) {
    if (state !== 'made') writeDemo(directory, demo, 'made')
    return demo
  }
  if (isThere && state === 'made') return reissue(deps, demo)
  writeDemo(directory, demo, 'removed')
  return undefined
}

/**
 * The demo of a data directory: made by its first start, and such that its token works for as long as the site is there. A token that was revoked
 * stays so: another one is issued. Undefined when the demo site was removed, or nothing says that there has ever been one: no other site gets a token.
 * Throws UsageError when its file is there, but cannot be read.
 */
export const ensureDemo = async (deps: DemoDeps): Promise<Demo | undefined> => {
  const { directory, stores } = deps
  const known = readDemo(directory)
  if (known) return continueDemo(deps, known)
  const { sites } = await stores.sites.list()
  return sites.length === 0 ? makeDemo(deps, newDemo()) : undefined
}
