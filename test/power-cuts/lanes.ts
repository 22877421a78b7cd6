import { isDeepStrictEqual } from 'node:util'
import type { SiteId } from '../../lib/core/ids.ts'
import type { Change } from '../../lib/history/history.ts'
import type { Machine } from '../../lib/machine/machine.ts'
import { fieldLane } from '../support/kill/field-lane.ts'
import { fileLane } from '../support/kill/file-lane.ts'
import type { Lane as KnownLane, Step as KnownStep } from '../support/kill/lane.ts'
import { linkLane } from '../support/kill/link-lane.ts'
import { toldLane } from '../support/kill/told-lane.ts'
import { storage } from '../support/paths.ts'
import type { Recording } from './record.ts'

export interface Service {
  request(path: string, init?: RequestInit): Promise<Response>
}

/** JSON, unless another type is named. */
export const createService = (baseUrl: string, token: string): Service => ({
  request: (path, { headers, ...init } = {}) =>
    fetch(new URL(path, baseUrl), {
      ...init,
      headers: { Authorization: token, ...(init.body && { 'Content-Type': 'application/json' }), ...headers },
    }),
})

/** What a power cut has left, with the service on it. */
export interface Judged extends Service {
  readonly root: string
  readonly machine: Machine
}

/** What a change may have left: it was acknowledged, or it was under way. */
export interface Expected<State> {
  readonly acknowledged: State
  readonly underWay: State | undefined
}

export interface Step<State> {
  readonly name: string
  readonly after: State
  /** Answers the state that the change has left; rejects when it is refused, or when the service has gone. */
  send(service: Service, recording: Recording): Promise<State>
}

/** Changes, one after the other, of something that nobody else changes. */
export interface Lane<State> {
  readonly start: State
  next(state: State, count: number): Step<State>
  /** A fault in what a power cut has left. */
  faultIn(judged: Judged, expected: Expected<State>): Promise<string | undefined>
}

export const expectStatus = async (answer: Promise<Response>, what: string): Promise<Response> => {
  const response = await answer
  if (response.ok) return response
  throw new Refusal(`${what} was answered with ${response.status}: ${await response.text()}`)
}

export class Refusal extends Error {}

/** There is one of two states, as a whole. */
const faultUnlessOneOf = <State>({ acknowledged, underWay }: Expected<State>, found: unknown): string | undefined => {
  const isAllowed = isDeepStrictEqual(found, acknowledged) || (underWay && isDeepStrictEqual(found, underWay))
  if (isAllowed) return undefined
  return [{ acknowledged }, { underWay }, { found }].map((each) => JSON.stringify(each)).join('\n')
}

export const changesIn = ({ machine }: Judged): Promise<readonly Change[]> =>
  machine.stores.history.after(1001 as SiteId, 0, Number.MAX_SAFE_INTEGER)

/** A lane of the tests that kill the service. */
const withKnownSteps = <State>(lane: KnownLane<State>): Lane<State> => ({
  start: lane.start,
  next(state, count) {
    const { name, path, init, after } = lane.next(state, count)
    return {
      name,
      after,
      async send(service) {
        await expectStatus(service.request(path, init), name)
        return after
      },
    }
  },
  faultIn: async ({ machine }, expected) => faultUnlessOneOf(expected, await lane.observe(machine)),
})

type Files = Readonly<Record<string, string>>

const below = (files: Files, name: string): readonly (readonly [string, string])[] =>
  Object.entries(files).filter(([path]) => path === name || path.startsWith(`${name}/`))

const sorted = (files: readonly (readonly [string, string])[]): Files =>
  Object.fromEntries(files.toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** Copies and moves of files and folders, and removals that are taken back, between other changes of files. */
const shelfLane = (folder: string): KnownLane<Files> => {
  const others = fileLane(folder)
  let removed: { readonly name: string; readonly files: Files } | undefined

  const transfer = (files: Files, name: string, key: 'copyTo' | 'path', to: string): KnownStep<Files> => {
    const taken = below(files, name)
    const rest =
      key === 'path' ? Object.entries(files).filter((entry) => !taken.some(([path]) => path === entry[0])) : []
    const made = taken.map(([path, digest]) => [to + path.slice(name.length), digest] as const)
    return {
      name: `${key} ${name} to ${to}`,
      path: `${storage}/${folder}/${name}?meta`,
      init: { method: 'PUT', body: JSON.stringify({ [key]: `/${folder}/${to}` }) },
      after: sorted([...(key === 'path' ? rest : Object.entries(files)), ...made]),
    }
  }

  const remove = (files: Files, name: string): KnownStep<Files> => {
    removed = { name, files }
    const path = `${storage}/${folder}/${name}`
    const rest = Object.entries(files).filter((entry) => !below(files, name).some(([gone]) => gone === entry[0]))
    return { name: `remove ${name}`, path, init: { method: 'DELETE' }, after: sorted(rest) }
  }

  const restore = (name: string, after: Files): KnownStep<Files> => {
    const path = `${storage}/${folder}/${name}?restore`
    return { name: `restore ${name}`, path, init: { method: 'POST', body: '{}' }, after }
  }

  const change = (files: Files, path: string, count: number): KnownStep<Files> => {
    const [top = path] = path.split('/')
    switch (count % 5) {
      case 1:
        return transfer(files, top, 'copyTo', `copy-${count}`)
      case 2:
        return transfer(files, path, 'path', `moved-${count}/deep/file`)
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
      if (last) return restore(last.name, last.files)
      const names = Object.keys(files)
      const path = names[count % names.length]
      return path === undefined ? others.next(files, count) : change(files, path, count)
    },
  }
}

const told = <State>(lane: KnownLane<State>, folder: string) =>
  withKnownSteps(toldLane(lane, ({ subject }) => subject.startsWith(`${folder}/`)))

export const fileChanges = (folder: string) => told(fileLane(folder), folder)
export const shelfChanges = (folder: string) => told(shelfLane(folder), folder)
export const fieldChanges = () => withKnownSteps(toldLane(fieldLane(), ({ type }) => type.startsWith('field.')))
export const linkChanges = () => withKnownSteps(linkLane())

/** Content whose every twelve bytes name it. */
export const fill = (mark: string, size: number): Buffer => Buffer.alloc(size, mark.padEnd(12, '.'))

/** What a file holds: only the mark and the size, when it is filled with one mark. */
export const digestOf = (content: Buffer): string => {
  const mark = content.toString('latin1', 0, 12)
  return content.equals(fill(mark, content.length))
    ? `${mark} x ${content.length}`
    : `a mixture that begins with ${mark}`
}

/** The versions of one file: replaced again and again, and put back to an earlier one. The newest is the first. */
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
        return {
          name: 'put the first version back',
          after: [oldest, ...state],
          async send(service) {
            const version = (await listVersions(service)).at(-1)
            const body = JSON.stringify({ version, replace: true })
            await expectStatus(service.request(`${path}?restore`, { method: 'POST', body }), 'restore')
            return [oldest, ...state]
          },
        }
      }
      const body = fill(`${folder}${count}`, count % 2 === 0 ? 900 : 30_000)
      const after = [digestOf(body), ...state]
      return {
        name: `put version ${count}`,
        after,
        async send(service) {
          await expectStatus(service.request(path, { method: 'PUT', body: new Uint8Array(body) }), 'put')
          return after
        },
      }
    },
    async faultIn(judged, expected) {
      const versions = await listVersions(judged)
      const contents = versions.map(async (version) => {
        const response = await judged.request(`${path}?versionId=${version}`)
        return response.ok ? digestOf(Buffer.from(await response.arrayBuffer())) : `status ${response.status}`
      })
      const entries = (await changesIn(judged)).filter(({ subject }) => subject === `${folder}/page`)
      if (entries.length !== versions.length) return `${entries.length} entries of ${versions.length} versions`
      return faultUnlessOneOf(expected, await Promise.all(contents))
    },
  }
}
