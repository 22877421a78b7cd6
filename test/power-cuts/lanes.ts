import { isDeepStrictEqual } from 'node:util'
import type { SiteId } from '../../lib/core/ids.ts'
import type { Change } from '../../lib/history/history.ts'
import type { Machine } from '../../lib/machine/machine.ts'
import { fieldLane } from '../support/kill/field-lane.ts'
import { fileLane } from '../support/kill/file-lane.ts'
import type { Lane as KnownLane, Step as KnownStep } from '../support/kill/lane.ts'
import { linkLane } from '../support/kill/link-lane.ts'
import { recordedLane } from '../support/kill/recorded-lane.ts'
import { storage } from '../support/paths.ts'
import type { Recording } from './record.ts'

export interface Service {
  request(path: string, init?: RequestInit): Promise<Response>
}

/** A body is sent as JSON, unless a header names another type. */
export const createService = (baseUrl: string, token: string): Service => ({
  request: (path, { headers, ...init } = {}) =>
    fetch(new URL(path, baseUrl), {
      ...init,
      headers: { Authorization: token, ...(init.body && { 'Content-Type': 'application/json' }), ...headers },
    }),
})

export interface Judged extends Service {
  readonly root: string
  readonly machine: Machine
}

/** The state that the service has acknowledged, and the state if the last change was made, too. */
export interface Expected<State> {
  readonly acknowledged: State
  readonly underWay?: State | undefined
}

export interface Step<State> {
  readonly after: State
  /** Returns the state after the change. Rejects if the change is refused, or if the service has ended. */
  send(service: Service, recording: Recording): Promise<State>
}

/** Consecutive changes of contents that no other lane changes. */
export interface Lane<State> {
  readonly start: State
  next(state: State, count: number): Step<State>
  faultIn(judged: Judged, expected: Expected<State>): Promise<string | undefined>
}

export const expectStatus = async (answer: Promise<Response>, what: string): Promise<Response> => {
  const response = await answer
  if (response.ok) return response
  throw new Refusal(`${what} was answered with ${response.status}: ${await response.text()}`)
}

export class Refusal extends Error {}

/** The found state must equal one of the two expected states. */
const findDifference = <State>({ acknowledged, underWay }: Expected<State>, found: unknown): string | undefined => {
  const isAllowed = isDeepStrictEqual(found, acknowledged) || (underWay && isDeepStrictEqual(found, underWay))
  if (isAllowed) return undefined
  return [{ acknowledged }, { underWay }, { found }].map((each) => JSON.stringify(each)).join('\n')
}

export const changesIn = ({ machine }: Judged): Promise<readonly Change[]> =>
  machine.stores.history.after(1001 as SiteId, 0, Number.MAX_SAFE_INTEGER)

type Ask = (service: Service) => Promise<Response>

export const stepOf = <State>(name: string, after: State, ask: Ask): Step<State> => ({
  after,
  async send(service) {
    await expectStatus(ask(service), name)
    return after
  },
})

/** Adapts a lane that was written for the tests in test/support/kill. */
const withKnownSteps = <State>(lane: KnownLane<State>): Lane<State> => ({
  start: lane.start,
  next(state, count) {
    const { name, path, init, after } = lane.next(state, count)
    return stepOf(name, after, ({ request }) => request(path, init))
  },
  faultIn: async ({ machine }, expected) => findDifference(expected, await lane.observe(machine)),
})

type Files = Readonly<Record<string, string>>

const isIn = (path: string, name: string): boolean => path === name || path.startsWith(`${name}/`)

const without = (files: Files, name: string): Files =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !isIn(path, name)))

/** Copies all files below a name to another name. */
const withCopies = (files: Files, name: string, to: string, rest = files): Files => {
  const taken = Object.entries(files).filter(([path]) => isIn(path, name))
  const made = taken.map(([path, digest]) => [to + path.slice(name.length), digest] as const)
  return Object.fromEntries([...Object.entries(rest), ...made].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** A lane that copies, moves, removes and restores files and folders, between other changes of files. */
const shelfLane = (folder: string): KnownLane<Files> => {
  const others = fileLane(folder)
  let removed: { readonly name: string; readonly files: Files } | undefined

  const step = (name: string, query: string, method: string, body: unknown, after: Files): KnownStep<Files> => ({
    name: `${method} ${name}${query} ${JSON.stringify(body)}`,
    path: `${storage}/${folder}/${name}${query}`,
    init: body === undefined ? { method } : { method, body: JSON.stringify(body) },
    after,
  })

  const remove = (files: Files, name: string): KnownStep<Files> => {
    removed = { name, files }
    return step(name, '', 'DELETE', undefined, without(files, name))
  }

  const change = (files: Files, path: string, count: number): KnownStep<Files> => {
    const [top = path] = path.split('/')
    const [copy, place] = [`copy-${count}`, `moved-${count}/deep/file`]
    switch (count % 5) {
      case 1:
        return step(top, '?meta', 'PUT', { copyTo: `/${folder}/${copy}` }, withCopies(files, top, copy))
      case 2:
        return step(
          path,
          '?meta',
          'PUT',
          { path: `/${folder}/${place}` },
          withCopies(files, path, place, without(files, path)),
        )
      case 4:
        return remove(files, count % 2 === 0 ? path : top)
      default:
        return others.next(files, count)
    }
  }

  return {
    ...others,
    next(files, count) {
      const last = removed
      removed = undefined
      if (last) return step(last.name, '?restore', 'POST', {}, last.files)
      const names = Object.keys(files)
      const path = names[count % names.length]
      return path === undefined ? others.next(files, count) : change(files, path, count)
    },
  }
}

const reported = <State>(lane: KnownLane<State>, folder: string) =>
  withKnownSteps(recordedLane(lane, ({ subject }) => subject.startsWith(`${folder}/`)))

export const fileChanges = (folder: string) => reported(fileLane(folder), folder)
export const shelfChanges = (folder: string) => reported(shelfLane(folder), folder)
export const fieldChanges = () => withKnownSteps(recordedLane(fieldLane(), ({ type }) => type.startsWith('field.')))
export const linkChanges = () => withKnownSteps(linkLane())

/** Content that repeats its mark every twelve bytes. */
export const fill = (mark: string, size: number): Buffer => Buffer.alloc(size, mark.padEnd(12, '.'))

/** Mark and size of a file that is filled with one mark. */
export const digestOf = (content: Buffer): string => {
  const mark = content.toString('latin1', 0, 12)
  return content.equals(fill(mark, content.length))
    ? `${mark} x ${content.length}`
    : `a mixture that begins with ${mark}`
}

export const readDigest = async ({ request }: Service, path: string): Promise<string> => {
  const response = await request(path)
  return response.ok ? digestOf(Buffer.from(await response.arrayBuffer())) : `status ${response.status}`
}

/** A lane that replaces one file repeatedly, or restores an old version. The state has its versions, newest first. */
export const versionChanges = (folder: string): Lane<readonly string[]> => {
  const path = `${storage}/${folder}/page`
  const listVersions = async ({ request }: Service): Promise<readonly string[]> => {
    const response = await request(`${path}?versions`)
    const { versions = [] } = (await response.json()) as { versions?: { version: string }[] }
    return versions.map(({ version }) => version)
  }
  return {
    start: [],
    next(state, count) {
      const oldest = state.at(-1)
      if (oldest !== undefined && count % 4 === 0) {
        return stepOf('put the first version back', [oldest, ...state], async (service) => {
          const body = JSON.stringify({ version: (await listVersions(service)).at(-1), replace: true })
          return service.request(`${path}?restore`, { method: 'POST', body })
        })
      }
      const body = fill(`${folder}${count}`, count % 2 === 0 ? 900 : 30_000)
      return stepOf(`put version ${count}`, [digestOf(body), ...state], ({ request }) =>
        request(path, { method: 'PUT', body: new Uint8Array(body) }),
      )
    },
    async faultIn(judged, expected) {
      const versions = await listVersions(judged)
      const contents = versions.map((version) => readDigest(judged, `${path}?versionId=${version}`))
      const entries = (await changesIn(judged)).filter(({ subject }) => subject === `${folder}/page`)
      if (entries.length !== versions.length) return `${entries.length} entries of ${versions.length} versions`
      return findDifference(expected, await Promise.all(contents))
    },
  }
}
