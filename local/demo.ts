import { readFileSync } from 'node:fs'
import { hashToken, isCurrent, newToken, permissions } from '../lib/access/grants.ts'
import type { Clock } from '../lib/clock.ts'
import type { SystemField } from '../lib/fields/web-forms.ts'
import type { ChangeType, HistoryEntry } from '../lib/history-entry.ts'
import type { CategoryId, SiteId, WebFormId } from '../lib/ids.ts'
import { unlimited } from '../lib/remaining-time.ts'
import { toStoragePath } from '../lib/storage/path.ts'
import { putFile } from '../lib/storage/put-file.ts'
import type { Stores } from '../lib/stores.ts'
import { type DataDirectory, isMissing, reasonOf } from './data-directory.ts'
import { demoCategories, storeDemoCategories } from './demo-categories.ts'
import { isForbidden, missingRights } from './failure-advice.ts'
import { writePrivately } from './private-files.ts'
import { UsageError } from './usage-error.ts'

/** What a first start leaves behind for people and programs to try the service with. */
export interface Demo {
  readonly siteId: SiteId
  readonly webFormId: WebFormId
  readonly categoryIds: readonly CategoryId[]
  readonly token: string
}

const isId = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value > 0

/** Why what a file holds is no demo; undefined when it is one. */
const faultOf = (value: unknown): string | undefined => {
  const { siteId, webFormId, categoryIds, token }: Partial<Record<keyof Demo, unknown>> =
    typeof value === 'object' && value !== null ? value : {}
  if (!(isId(siteId) && isId(webFormId))) return 'it names no site and no web form'
  if (!(Array.isArray(categoryIds) && categoryIds.every(isId))) return 'it names no categories'
  if (!(typeof token === 'string' && /^[0-9a-f]{64}$/.test(token))) return 'it holds no token'
  return undefined
}

const isDemo = (value: unknown): value is Demo => faultOf(value) === undefined

/** Why the file of the demo cannot be read, and whether that is for want of rights alone. */
interface DemoFault {
  readonly fault: string
  readonly isForbidden: boolean
}

/** What is in the file of the demo: undefined when there is none, or the reason why it cannot be read. */
export const lookAtDemo = ({ demo }: DataDirectory): Demo | DemoFault | undefined => {
  try {
    const value: unknown = JSON.parse(readFileSync(demo, 'utf8'))
    return isDemo(value) ? value : { fault: faultOf(value) ?? 'it is no demo', isForbidden: false }
  } catch (error) {
    return isMissing(error) ? undefined : { fault: reasonOf(error), isForbidden: isForbidden(error) }
  }
}

/** The demo of a data directory; undefined before its first start. Throws UsageError when its file cannot be read. */
export const readDemo = (directory: DataDirectory): Demo | undefined => {
  const demo = lookAtDemo(directory)
  if (demo === undefined || !('fault' in demo)) return demo
  const advice = demo.isForbidden
    ? missingRights
    : 'Put it back from a backup, or remove it: the next start then issues another demo token.'
  throw new UsageError(`The file ${directory.demo} cannot be read: ${demo.fault}. ${advice} Nothing was changed.`)
}

const writeDemo = ({ demo: file }: DataDirectory, demo: Demo): void => writePrivately(file, `${JSON.stringify(demo)}\n`)

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

/** Its contents, and the site last of all: a start that is cut short does all of it again. */
const storeDemoSite = async (stores: Stores, site: SiteId, dataCentre: string) => {
  const { sites, webForms, contents, links } = stores
  const entry = entryOf(site)
  for (const form of forms) await webForms.create({ site, ...form }, entry('form.created', `form/${form.id}`))
  await storeDemoCategories({ contents, links }, site, entry)
  await storeDemoFiles(stores, site)
  await sites.createSite(
    { id: site, name: 'Demo site', dataCentre, renderingEngine: true },
    entry('site.created', `site/${site}`),
  )
}

const issueToken = async ({ grants }: Stores, site: SiteId, now: number): Promise<string> => {
  const token = newToken()
  const hash = hashToken(token)
  const grant = { hash, user: 'demo', sites: [site], permissions, expires: Math.floor(now / 1000) + tenYears }
  await grants.put(grant, [entryOf(site)('token.created', `token/${hash.slice(0, 12)}`)])
  return token
}

const works = async ({ grants }: Stores, token: string, now: number): Promise<boolean> => {
  const grant = await grants.get(hashToken(token))
  return grant !== undefined && isCurrent(grant, now)
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

/**
 * The demo of a data directory: made on its first start, and such that its token works. A token that was revoked stays so: another one is
 * issued. Throws UsageError when its file is there, but cannot be read.
 */
export const ensureDemo = async ({ directory, stores, dataCentre, clock, say }: DemoDeps): Promise<Demo> => {
  const known = readDemo(directory)
  const siteId = known?.siteId ?? demoSite
  if (!(await stores.sites.getSite(siteId))) await storeDemoSite(stores, siteId, dataCentre)
  if (known && (await works(stores, known.token, clock.wall()))) return known

  const token = await issueToken(stores, siteId, clock.wall())
  if (known) say('The demo token has been revoked, or has expired. Another one is issued in its place.')
  const { webFormId, categoryIds } = known ?? { webFormId: 1 as WebFormId, categoryIds: demoCategories }
  const demo: Demo = { siteId, webFormId, categoryIds, token }
  writeDemo(directory, demo)
  return demo
}
