import { readFileSync } from 'node:fs'
import type { CategoryId, SiteId, WebFormId } from '../../core/ids.ts'
import { isMissing, reasonOf } from '../../core/system-failures.ts'
import type { SiteDirectory } from '../../sites/site-directory.ts'
import { type DataDirectory, ownerToServe, writePrivately } from './data-directory.ts'
import { cannotBeWritten, type Fault, isForbidden, refusalOf } from './faults.ts'

export interface Demo {
  readonly siteId: SiteId
  readonly webFormId: WebFormId
  readonly categoryIds: readonly CategoryId[]
  readonly token: string
}

// The state of the demo site. After `removed`, another site may have its id. Files of older versions have no state.
const states = ['begun', 'made', 'removed'] as const
type State = (typeof states)[number]

export interface KnownDemo extends Demo {
  readonly state?: State
}

const isId = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value > 0

const faultOf = (value: unknown): string | undefined => {
  const { siteId, webFormId, categoryIds, token, state }: Partial<Record<keyof KnownDemo, unknown>> =
    typeof value === 'object' && value !== null ? value : {}
  if (!(isId(siteId) && isId(webFormId))) return 'it lacks "siteId" or "webFormId"'
  if (!(Array.isArray(categoryIds) && categoryIds.every(isId))) return 'it lacks "categoryIds"'
  if (!(typeof token === 'string' && /^[0-9a-f]{64}$/.test(token))) return 'it lacks "token"'
  if (!(state === undefined || states.some((one) => one === state))) return 'its "state" is unknown'
  return undefined
}

const isDemo = (value: unknown): value is KnownDemo => faultOf(value) === undefined

export const inspectDemo = ({ demo }: DataDirectory): KnownDemo | Fault | undefined => {
  try {
    const value: unknown = JSON.parse(readFileSync(demo, 'utf8'))
    return isDemo(value) ? value : { code: 'demoUnreadable', detail: faultOf(value) ?? 'it does not describe a demo' }
  } catch (error) {
    if (isMissing(error)) return undefined
    return { code: isForbidden(error) ? 'demoForbidden' : 'demoUnreadable', detail: reasonOf(error) }
  }
}

/** Undefined before the first start. Throws UsageError when the file cannot be read. */
export const readDemo = (directory: DataDirectory): KnownDemo | undefined => {
  const demo = inspectDemo(directory)
  if (demo && 'code' in demo) throw refusalOf(directory, demo)
  return demo
}

export const writeDemo = ({ path, demo: file }: DataDirectory, demo: Demo, state: State): void =>
  // Root may remove a site of a service that runs as another user. That user must be able to read the file.
  writePrivately(file, `${JSON.stringify({ ...demo, state })}\n`, ownerToServe(path))

/** The demo file is written before the site is removed, so that no later site with this id counts as the demo. */
export const recordRemovedDemo = (sites: SiteDirectory, directory: DataDirectory): SiteDirectory => ({
  ...sites,
  async removeSite(id, entry) {
    const demo = inspectDemo(directory)
    try {
      if (demo && !('code' in demo) && demo.siteId === id) writeDemo(directory, demo, 'removed')
    } catch (error) {
      throw cannotBeWritten(directory, error)
    }
    return sites.removeSite(id, entry)
  },
})
