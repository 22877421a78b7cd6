import type { Answer } from '../../lib/contract/contract.ts'
import type { deleting } from '../../lib/contract/storage/contract-schemas.ts'
import { mediaType } from '../../lib/core/headers.ts'
import { type OperationHandler, readSwitches } from '../../lib/http/operation.ts'
import { done } from '../../lib/http/reply.ts'
import { type Request, refuseCoding, type Switches } from '../../lib/http/request.ts'
import type { StorageDeps } from '../../lib/service/deps.ts'
import { purge } from '../../lib/storage/changes/purge.ts'
import { createFolder, fileTooLarge, putFile } from '../../lib/storage/changes/put.ts'
import { relocate } from '../../lib/storage/changes/relocate.ts'
import { remove } from '../../lib/storage/changes/remove.ts'
import { restore } from '../../lib/storage/changes/restore.ts'
import { storageRefused } from '../../lib/storage/refusals.ts'
import {
  countedBody,
  declaredLength,
  hasArrived,
  operation,
  pathOf,
  purgeablePath,
  refusePart,
  removablePath,
  requesterOf,
  schemaOf,
  trackUpload,
  versionOf,
  writablePath,
} from './params.ts'
import { readSwitchNames } from './read-path.ts'
import { beginParts, createUpload } from './resumable-upload.ts'
import { isTus } from './tus.ts'
import { isMultipart, succeeded, uploadForm } from './upload.ts'

// S-98: old clients send `?version=draft?force=false`, and mean both switches.
const secondMarkQuirk = /^draft\?force=(true|false)$/

const optionsOf = async (query: Switches) => {
  const [, forceInVersion] = secondMarkQuirk.exec(query.get('version') ?? '') ?? []
  const given = forceInVersion ? new Map(Object.entries({ version: 'draft', force: forceInVersion })) : query
  const { version, force: forced } = await readSwitches(given, ['version', 'force'], schemaOf('deleteSwitches'))
  return { draftOnly: version === 'draft', withContents: forced !== 'false' }
}

const purgePath = operation({ params: purgeablePath, query: versionOf }, async (input, deps) => {
  await purge(deps, input.params.path, input.query.versionId, requesterOf(input))
  return done
})

const removePath = operation({ params: removablePath, query: optionsOf }, async (input, deps) => {
  const { params, query } = input
  const outcome = await remove(deps, params.path, { ...query, ...requesterOf(input) })
  if (outcome === 'removed') return done
  const value: Answer<typeof deleting> = { status: 'deleting' }
  return { status: 202, document: { value } }
})

const restorePath = operation({ params: writablePath, body: schemaOf('restoreBody') }, async (input, deps) => {
  await restore(deps, input.params.path, input.body, requesterOf(input))
  return succeeded
})

/** The first of these switches that a POST has selects its effect. */
const effects: Readonly<Record<string, OperationHandler<StorageDeps>>> = { restore: restorePath, parts: beginParts }

// S-137: the body of such a PUT would replace the file, and such a DELETE would delete the file or folder.
const shared = ['meta', 'versions']
const ofPost = Object.keys(effects)
const ofOtherMethods = [...readSwitchNames.filter((name) => !shared.includes(name)), ...ofPost].sort()
const refuseSwitches = ({ method, query }: Pick<Request, 'method' | 'query'>, names: readonly string[]): void => {
  const name = names.find((one) => query.has(one))
  if (name !== undefined) throw storageRefused(`${method} has no switch "${name}". GET /docs shows its method.`)
}

/** Operation 14: deletes a file, a draft or a folder. 202 when a large folder is still being deleted. */
export const deletePath: OperationHandler<StorageDeps> = async (exchange, deps) => {
  refuseSwitches(exchange, ofOtherMethods)
  const isPurge = exchange.query.has('versions') || exchange.query.has('versionId')
  return (isPurge ? purgePath : removePath)(exchange, deps)
}

const relocatePath = operation({ params: pathOf, body: schemaOf('destinationBody') }, async (input, deps) => {
  await relocate(deps, input.params.path, input.body, requesterOf(input))
  return succeeded
})

const switchesOf = (query: Switches) => readSwitches(query, ['version', 'type'], schemaOf('putSwitches'))

const putFolder = operation({ params: writablePath, query: switchesOf }, async (input, deps) => {
  await createFolder(deps, input.params.path, requesterOf(input))
  return succeeded
})

// Most requests have no digest, so the check is loaded on demand.
const checkedContent = async ({ headers }: Pick<Request, 'headers'>) => {
  if (headers['content-md5'] === undefined && headers['content-digest'] === undefined) return undefined
  const { checkedBy, digestsOf } = await import('../../lib/http/content-digest.ts')
  const digests = digestsOf(headers)
  return (content: AsyncIterable<Uint8Array>) => checkedBy(digests, content)
}

const putFileContent = operation({ params: writablePath, query: switchesOf }, async (input, deps) => {
  refusePart(input)
  refuseCoding(input, 'storageRefused')
  if ((declaredLength(input) ?? 0) > deps.largestFile) throw fileTooLarge(deps.largestFile)
  const contentType = mediaType(input.headers['content-type'])
  const checked = await checkedContent(input)
  const { path } = input.params
  const progress = trackUpload(deps, input)
  const bytes = countedBody(deps, input, progress.advance, path)
  const requester = { ...requesterOf(input), progress }
  const content = { contentType, content: checked?.(bytes) ?? bytes, hasArrived: () => hasArrived(input) }
  await progress.follow(putFile(deps, { path, asDraft: input.query.version === 'draft' }, content, requester))
  return succeeded
})

export const postPath: OperationHandler<StorageDeps> = async (exchange, deps) => {
  const upload = isTus(exchange.headers) ? createUpload : uploadForm
  const name = ofPost.find((one) => exchange.query.has(one)) ?? ''
  return (effects[name] ?? upload)(exchange, deps)
}

export const putPath: OperationHandler<StorageDeps> = async (exchange, deps) => {
  refuseSwitches(exchange, [...ofOtherMethods, 'versions', 'versionId'])
  if (exchange.query.has('meta')) return relocatePath(exchange, deps)
  if (exchange.query.has('type')) return putFolder(exchange, deps)
  return (isMultipart(exchange.headers['content-type']) ? uploadForm : putFileContent)(exchange, deps)
}
