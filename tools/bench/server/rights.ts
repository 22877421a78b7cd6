import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { atMost, type Table } from '../measure/figures.ts'
import { own, startService } from '../measure/trees.ts'
import { prepare, reads } from './rates.ts'

const requests = 10_000
const target = 3
const rights = /\/lib\/(access\/|core\/rights\.ts|http\/admitted-caller\.ts)/

type Frame = { readonly functionName: string; readonly url: string }

/** The parts of a `.cpuprofile` of V8 that this bench needs. Times are in microseconds. */
interface Profile {
  readonly nodes: readonly { id: number; callFrame: Frame; children?: number[] }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** The profile of a service, and the seconds of its last requests, all of which ask for this path. */
const profileRequests = async (path: string): Promise<{ profile: Profile; seconds: number }> => {
  const folder = await mkdtemp(join(tmpdir(), 'site-admin-profile-'))
  try {
    const options = `--cpu-prof --cpu-prof-interval=150 --cpu-prof-dir=${folder}`
    const service = await startService(own, { NODE_OPTIONS: options })
    await prepare(service)
    const url = `${service.baseUrl}${path}`
    const asked = { url, headers: { Authorization: service.token }, connections: 1, amount: requests }
    const { non2xx, errors, start, finish } = await autocannon(asked)
    await service.stop()
    if (non2xx + errors > 0) throw new Error(`${path}: ${non2xx} refused, ${errors} failed`)
    const [name = ''] = await readdir(folder)
    const profile = JSON.parse(await readFile(join(folder, name), 'utf8'))
    return { profile, seconds: (finish.getTime() - start.getTime()) / 1000 }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

// Tokens were hashed before there were rights, so the hash does not count.
const isOfRights = ({ url, functionName }: Frame): boolean => rights.test(url) && functionName !== 'hashToken'

/** The processor time of the last seconds, and the part of it in functions of rights and in all that they call. */
const timesIn = ({ nodes, samples, timeDeltas }: Profile, seconds: number) => {
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const belongs = (id: number): boolean => {
    const [frame, caller] = [frames.get(id), callers.get(id)]
    return (frame !== undefined && isOfRights(frame)) || (caller !== undefined && belongs(caller))
  }
  let [all, found, left] = [0, 0, seconds * 1e6]
  for (const [index, id] of [...samples.entries()].reverse()) {
    const time = timeDeltas[index] ?? 0
    left -= time
    if (left < 0) break
    if (['(idle)', '(program)'].includes(frames.get(id)?.functionName ?? '')) continue
    all += time
    if (belongs(id)) found += time
  }
  return { all, found }
}

/**
 * Measures which part of the processor time of a warm request is spent on its caller and the rights. A profile shows
 * this even beside other work, which would hide a difference of two measured times.
 */
export const measureRights = async (): Promise<Table> => {
  const rows: (string | number)[][] = []
  for (const { name, path } of reads.filter(({ numbered }) => !numbered)) {
    const { profile, seconds } = await profileRequests(path)
    const { all, found } = timesIn(profile, seconds)
    const share = (100 * found) / all
    const each = [all, found].map((time) => (time / requests).toFixed(1))
    rows.push([name, ...each, share.toFixed(2), ...atMost(share, target)])
  }
  return {
    title: `Processor time of a warm request, µs (sampled over ${requests} requests)`,
    columns: ['request', 'all', 'caller and rights', 'percent', 'target', 'verdict'],
    rows,
  }
}
