import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../../package.json' with { type: 'json' }
import { preparePackages } from '../../../test/support/node-packages.ts'
import { median, type Table, verdict } from '../measure/figures.ts'
import { inScratchFolder } from '../measure/grounds.ts'
import { type MeasuredProcess, startMeasured } from '../measure/measured-process.ts'
import { type TusServer, upload } from './tus-uploads.ts'

const mebibyte = 1024 * 1024
const large = 1024 * mebibyte
const runs = 3
const many = { uploads: 16, size: 64 * mebibyte }
const targets = { whole: 1, pieces: 0.9, memory: 64, memoryOfMany: 256 }

const nodeFlags = manifest.scripts.start.match(/--\S+/g) ?? []

const startOwn = (folder: string, fsync: 'on' | 'off') =>
  startMeasured(
    'local/main.js',
    ['--port', '0', '--json', '--quiet', '--data-dir', folder],
    { FSYNC: fsync },
    nodeFlags,
  )

const ownServer = ({ line }: MeasuredProcess): TusServer => {
  const { baseUrl, token } = JSON.parse(line)
  return { endpoint: `${baseUrl}/api/v2/admin/sites/current/storage`, headers: { Authorization: token } }
}

const theirs = join('.local', 'bench', 'tus-server')

const theirServer = ({ line }: MeasuredProcess): TusServer => ({
  endpoint: `${JSON.parse(line).baseUrl}/files`,
  headers: {},
})

// Files that are not yet on the disk would slow down the next run.
const clear = (folder: string): void => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name))
}

const ways = { 'one PATCH': large, 'PATCHes of 8 MiB': 8 * mebibyte } as const
type Way = keyof typeof ways
const wayNames: readonly Way[] = ['one PATCH', 'PATCHes of 8 MiB']
const servers = ['fsync on', 'fsync off', '@tus/server'] as const
type Times = Record<(typeof servers)[number], number[]>

// Takes turns after one unmeasured run of each. Cleanup is not measured.
const measureWay = async (
  each: Readonly<Record<(typeof servers)[number], TusServer>>,
  folder: string,
  way: Way,
): Promise<Times> => {
  const times: Times = { 'fsync on': [], 'fsync off': [], '@tus/server': [] }
  for (let run = 0; run <= runs; run++) {
    for (const name of servers) {
      const time = await upload(each[name], large, ways[way])
      if (run > 0) times[name].push(time)
      clear(folder)
    }
  }
  return times
}

const rate = (seconds: number): string => (large / mebibyte / seconds).toFixed(0)

const rowsOf = (way: Way, times: Times): readonly (string | number)[][] => {
  const target = way === 'one PATCH' ? targets.whole : targets.pieces
  const measure = median(times['@tus/server'])
  return (['fsync on', 'fsync off'] as const).map((own) => {
    const time = median(times[own])
    const ratio = measure / time
    return [
      `1 GiB, ${way}, ${own}, MiB/s`,
      rate(time),
      rate(measure),
      ratio.toFixed(2),
      `>= ${target}`,
      verdict(ratio >= target),
    ]
  })
}

/** Memory of the service for one upload and for many at once, in MiB. */
const measureMemory = async (own: MeasuredProcess): Promise<readonly (string | number)[][]> => {
  const service = ownServer(own)
  const row = async (name: string, target: number, run: () => Promise<unknown>) => {
    const before = own.reset()
    await run()
    const growth = own.peak() - before
    return [name, growth.toFixed(0), '', '', `<= ${target}`, verdict(growth <= target)]
  }
  const one = await row('its peak memory growth, 1 GiB, MiB', targets.memory, () => upload(service, large, large))
  const all = () => Promise.all(Array.from({ length: many.uploads }, () => upload(service, many.size, many.size)))
  return [one, await row(`the same, ${many.uploads} of 64 MiB at once`, targets.memoryOfMany, all)]
}

/** Compares large tus uploads with the file store of the reference tus server, which does not flush. */
export const measureOneMachine = (): Promise<Table> =>
  inScratchFolder(async (folder) => {
    preparePackages(join('tools', 'bench', 'large', 'tus-server'), theirs)
    const files = join(folder, 'theirs')
    const [on, off, their] = await Promise.all([
      startOwn(join(folder, 'on'), 'on'),
      startOwn(join(folder, 'off'), 'off'),
      startMeasured(join(theirs, 'serve.mjs'), [files]),
    ])
    try {
      const memory = await measureMemory(on)
      const each = { 'fsync on': ownServer(on), 'fsync off': ownServer(off), '@tus/server': theirServer(their) }
      const rows: (string | number)[][] = []
      for (const way of wayNames) rows.push(...rowsOf(way, await measureWay(each, files, way)))
      return {
        title: `Large uploads in tus to disk (median of ${runs}, alternating)`,
        columns: ['figure', 'service', '@tus/server', 'ratio', 'target', 'verdict'],
        rows: [...rows, ...memory],
      }
    } finally {
      await Promise.all([on.stop(), off.stop(), their.stop()])
    }
  })
