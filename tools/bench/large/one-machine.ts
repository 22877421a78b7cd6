import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { byName } from '../../../lib/core/names.ts'
import { preparePackages } from '../../../test/support/pinned-packages.ts'
import { atLeast, inTurns, mebibyte, type Table } from '../measure/figures.ts'
import { inScratchFolder } from '../measure/grounds.ts'
import { growthRow, type MeasuredProcess, startMeasured } from '../measure/measured-process.ts'
import { type BenchedService, own, startService } from '../measure/trees.ts'
import { type TusServer, upload } from './tus-uploads.ts'

const large = 1024 * mebibyte
const runs = 3
const many = { uploads: 16, size: 64 * mebibyte }
const targets = { whole: 1, pieces: 0.9, memory: 64, memoryOfMany: 256 }

const ownServer = ({ baseUrl, token }: BenchedService): TusServer => ({
  endpoint: `${baseUrl}/api/v2/admin/sites/current/storage`,
  headers: { Authorization: token },
})

const theirs = join('.cache', 'bench', 'tus-server')

const theirServer = ({ line }: MeasuredProcess): TusServer => ({
  endpoint: `${JSON.parse(line).baseUrl}/files`,
  headers: {},
})

// Files that are not yet on the disk would slow down the next run, so they are flushed first.
const clear = (folder: string): void => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name))
}

const ways = [
  { name: 'one PATCH', step: large, target: targets.whole },
  { name: 'PATCHes of 8 MiB', step: 8 * mebibyte, target: targets.pieces },
] as const

const rate = (seconds: number): string => (large / mebibyte / seconds).toFixed(0)

const serverNames = ['fsync on', 'fsync off', '@tus/server'] as const
type Servers = Readonly<Record<(typeof serverNames)[number], TusServer>>

/** The time does not include the cleanup. */
const measureWay = async (servers: Servers, folder: string, { name, step, target }: (typeof ways)[number]) => {
  const uploadTo = (server: TusServer) => async () => {
    const time = await upload(server, large, step)
    clear(folder)
    return time
  }
  const uploads = byName(serverNames, (server) => uploadTo(servers[server]))
  const times = await inTurns(runs, uploads)
  const theirs = times['@tus/server']
  return (['fsync on', 'fsync off'] as const).map((own) => {
    const ratio = theirs / times[own]
    const figure = `1 GiB, ${name}, ${own}, MiB/s`
    return [figure, rate(times[own]), rate(theirs), ratio.toFixed(2), ...atLeast(ratio, target)]
  })
}

/** Measures the memory of the service for one upload and for many at once, in MiB. */
const measureMemory = async (own: BenchedService): Promise<readonly (string | number)[][]> => {
  const service = ownServer(own)
  const one = () => upload(service, large, large)
  const all = () => Promise.all(Array.from({ length: many.uploads }, () => upload(service, many.size, many.size)))
  return [
    await growthRow(own.process, 'its peak memory growth, 1 GiB, MiB', targets.memory, one),
    await growthRow(own.process, `the same, ${many.uploads} of 64 MiB at once`, targets.memoryOfMany, all),
  ]
}

/**
 * Compares large tus uploads to this service and to the reference tus server. The file store of that server does not
 * flush files to the disk.
 */
export const measureOneMachine = (): Promise<Table> =>
  inScratchFolder(async (folder) => {
    preparePackages(join('tools', 'bench', 'large', 'tus-server'), theirs)
    const files = join(folder, 'theirs')
    const [on, off, their] = await Promise.all([
      startService(own, { FSYNC: 'on' }),
      startService(own, { FSYNC: 'off' }),
      startMeasured(join(theirs, 'serve.mjs'), [files]),
    ])
    try {
      const memory = await measureMemory(on)
      const each = { 'fsync on': ownServer(on), 'fsync off': ownServer(off), '@tus/server': theirServer(their) }
      const rows: (string | number)[][] = []
      for (const way of ways) rows.push(...(await measureWay(each, files, way)))
      return {
        title: `Large uploads in tus to disk (median of ${runs}, alternating)`,
        columns: ['figure', 'service', '@tus/server', 'ratio', 'target', 'verdict'],
        rows: [...rows, ...memory],
      }
    } finally {
      await Promise.all([on.stop(), off.stop(), their.stop()])
    }
  })
