import { readFileSync } from 'node:fs'
import type { CategoryId, SiteId, WebFormId } from '../lib/ids.ts'
import { type DataDirectory, isMissing, reasonOf } from './data-directory.ts'
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

/** What is in the file of the demo: undefined when there is none, or the reason why it cannot be read. */
export const lookAtDemo = ({ demo }: DataDirectory): Demo | { readonly fault: string } | undefined => {
  try {
    const value: unknown = JSON.parse(readFileSync(demo, 'utf8'))
    return isDemo(value) ? value : { fault: faultOf(value) ?? 'it is no demo' }
  } catch (error) {
    return isMissing(error) ? undefined : { fault: reasonOf(error) }
  }
}

/** The demo of a data directory; undefined before its first start. Throws UsageError when its file cannot be read. */
export const readDemo = (directory: DataDirectory): Demo | undefined => {
  const demo = lookAtDemo(directory)
  if (demo === undefined || !('fault' in demo)) return demo
  throw new UsageError(
    `The file ${directory.demo} cannot be read: ${demo.fault}. Put it back from a backup, or remove it: the next start then issues another demo token. Nothing was changed.`,
  )
}

export const writeDemo = ({ demo: file }: DataDirectory, demo: Demo): void =>
  writePrivately(file, `${JSON.stringify(demo)}\n`)
