import { readFileSync } from 'node:fs'
import * as z from 'zod'
import type { CategoryId, SiteId, WebFormId } from '../../core/ids.ts'
import { isMissing, reasonOf } from '../../core/system-failures.ts'
import type { SiteDirectory } from '../../sites/site-directory.ts'
import { type DataDirectory, ownerToServe, writePrivately } from './data-directory.ts'
import { cannotBeWritten, type Fault, isForbidden, refusalOf } from './faults.ts'

const id = <Id extends number>() => z.custom<Id>((value) => Number.isSafeInteger(value) && Number(value) > 0)

// After `removed`, another site may have the id of the demo site. Files of older versions have no state.
const demoSchema = z.object({
  siteId: id<SiteId>(),
  webFormId: id<WebFormId>(),
  categoryIds: z.array(id<CategoryId>()).readonly(),
  token: z.string().regex(/^[0-9a-f]{64}$/),
  state: z.enum(['begun', 'made', 'removed']).optional(),
})

export type KnownDemo = Readonly<z.infer<typeof demoSchema>>

export type Demo = Omit<KnownDemo, 'state'>

export const inspectDemo = ({ demo }: DataDirectory): KnownDemo | Fault | undefined => {
  try {
    const { data, error } = demoSchema.safeParse(JSON.parse(readFileSync(demo, 'utf8')))
    return (
      data ?? { code: 'demoUnreadable', detail: `it lacks a valid "${String(error?.issues[0]?.path[0] ?? 'siteId')}"` }
    )
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

export const writeDemo = ({ path, demo: file }: DataDirectory, demo: Demo, state: KnownDemo['state']): void =>
  // Root may remove a site of a service that runs as another user. That user must be able to read the file.
  writePrivately(file, `${JSON.stringify({ ...demo, state })}\n`, ownerToServe(path))

const isDemo = (demo: KnownDemo | Fault | undefined, id: SiteId): demo is KnownDemo =>
  demo !== undefined && !('code' in demo) && demo.siteId === id

/** Any other site with the id of an incomplete demo site would get its contents and its token. */
export const reserveDemoId = (sites: SiteDirectory, directory: DataDirectory): SiteDirectory => ({
  ...sites,
  async createSite(site, entry) {
    const demo = inspectDemo(directory)
    if (isDemo(demo, site.id) && demo.state === 'begun')
      throw refusalOf(directory, { code: 'demoBegun', detail: String(site.id) })
    return sites.createSite(site, entry)
  },
})

/** The demo file is written before the site is removed, so that no later site with this id counts as the demo. */
export const recordRemovedDemo = (sites: SiteDirectory, directory: DataDirectory): SiteDirectory => ({
  ...sites,
  async removeSite(id, entry) {
    const demo = inspectDemo(directory)
    try {
      if (isDemo(demo, id)) writeDemo(directory, demo, 'removed')
    } catch (error) {
      throw cannotBeWritten(directory, error)
    }
    return sites.removeSite(id, entry)
  },
})
