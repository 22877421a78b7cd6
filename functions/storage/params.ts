import type { SiteCaller } from '../../lib/access/grants.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import type { Level } from '../../lib/core/rights.ts'
import { callerAfterBody } from '../../lib/http/admitted-caller.ts'
import { bodiesOf, type OperationInput, operationsOn, readSwitches, type Segments } from '../../lib/http/operation.ts'
import { bodyChunks, type Request, type Switches } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import type { Requester } from '../../lib/storage/changes/change.ts'
import { readConditions } from '../../lib/storage/conditions.ts'
import { longestListing } from '../../lib/storage/object-store.ts'
import {
  ownFoldersBelow,
  parentOf,
  parsePath,
  requireScope,
  type Scope,
  type StoragePath,
} from '../../lib/storage/path.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import type { Upload } from '../../lib/storage/uploads/upload.ts'

export const pathOf = ({ path = '' }: Segments): { path: StoragePath } => ({ path: parsePath(path) })

const deletedPathOf = (segments: Segments): { path: StoragePath } => {
  try {
    return pathOf(segments)
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause
    throw new ServiceError('pathUnknown', { message: cause.message, cause })
  }
}

const permittedPath =
  (level: Level, parse = pathOf, placeOf = (path: StoragePath) => path) =>
  (segments: Segments, { rights }: SiteCaller): { path: StoragePath } => {
    const { path } = parse(segments)
    requireScope({ rights, level }, placeOf(path))
    return { path }
  }

/** for operations that use the path exactly as written. The errors include privilegesMissing. */
export const readablePath = permittedPath('read')
export const writablePath = permittedPath('write')

export const purgeablePath = permittedPath('write', deletedPathOf)
export const removablePath = permittedPath('write', deletedPathOf, parentOf)

/** Also allows the folders that lead to a folder of the caller. */
export const describablePath = (segments: Segments, caller: SiteCaller): { path: StoragePath } => {
  const { path } = pathOf(segments)
  const isOnWay = ownFoldersBelow({ rights: caller.rights, level: 'read' }, path).length > 0
  return isOnWay ? { path } : readablePath(segments, caller)
}

export const scopeOf = ({ site, caller: { rights } }: OperationInput, level: Level): Scope => ({
  site: site.id,
  rights,
  level,
})

/** S-134. Errors: storageRefused. */
export const refuseTimeCondition = (headers: OperationInput['headers']): void => {
  if (headers['if-unmodified-since'] === undefined || headers['if-match'] !== undefined) return
  throw storageRefused('A change cannot have If-Unmodified-Since. Send If-Match with the ETag of the file instead.')
}

export const uploaderOf = (input: OperationInput): Requester => {
  const { author, deadline } = input
  return { ...scopeOf(input, 'write'), author, deadline, conditions: {} }
}

/** Errors: storageRefused. */
export const requesterOf = (input: OperationInput): Requester => {
  const { headers } = input
  refuseTimeCondition(headers)
  return { ...uploaderOf(input), ...readConditions(headers['if-match'], headers['if-none-match']) }
}

export const asDraft = (query: Switches): boolean => query.get('version') === 'draft'

export const operation = operationsOn<StorageDeps>()

const schemas = () => import('../../lib/contract/storage/switches.ts')

export const schemaOf = bodiesOf({ schemas, malformed: 'storageRefused' })

export const usualLimit = 100

export const pageOf = async (query: Switches) => {
  const { limit = usualLimit, cursor } = await readSwitches(query, ['limit', 'cursor'], schemaOf('listing'))
  return { limit: Math.min(limit, longestListing), cursor }
}

export const versionOf = (query: Switches) => readSwitches(query, ['versionId'], schemaOf('versionSwitches'))

export const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString()

export const declaredLength = ({ headers }: OperationInput): number | undefined => {
  const length = headers['content-length']
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

/** A small body has often arrived together with its headers. */
export const hasArrived = (input: OperationInput): boolean =>
  'bytes' in input.content || input.content.stream.readableLength === declaredLength(input)

/** The body of an upload to this path or below it. After a slow body, checks the right again. */
export async function* countedBody(
  { edge }: StorageDeps,
  input: OperationInput,
  count: (bytes: number) => void,
  path: StoragePath,
) {
  for await (const chunk of bodyChunks(input.content, 'storageRefused')) {
    count(chunk.length)
    yield chunk
  }
  requireScope({ ...(await callerAfterBody(edge, input.admission)), level: 'write' }, path)
}

/** Begins to report the progress of an upload to the token that sends it (operation 13). */
export const trackUpload = (
  { trackProgress }: StorageDeps,
  input: OperationInput,
  { id, length, offset = 0 }: Partial<Pick<Upload, 'id' | 'length' | 'offset'>> = {},
  isContinued = false,
) => {
  const total = id === undefined ? declaredLength(input) : (length ?? undefined)
  return trackProgress({ token: input.caller.hash, id, total, already: offset, isContinued })
}

// S-132: programs such as `curl -C -` send a part of the file, and some pages send each part in a form.
export const refusePart = ({ headers }: Pick<Request, 'headers'>): void => {
  if (headers['content-range'] === undefined) return
  throw storageRefused('Content-Range is not supported here. Send the whole file, or a resumable upload (tus 1.0).')
}
