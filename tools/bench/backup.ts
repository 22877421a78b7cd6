import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { restoreBackup } from '../../lib/machine/backup/restore-backup.ts'
import { checkDataDirectory } from '../../lib/machine/check/check-directory.ts'
import { startService } from '../../test/support/spawned-service.ts'
import { atLeast, type Bench, inTurns, mebibyte, seconds } from './measure/figures.ts'
import { inScratchFolder } from './measure/grounds.ts'

// One GiB: half in files of 1 MiB, half in files of 16 MiB.
const sizes = [...Array.from({ length: 512 }, () => mebibyte), ...Array.from({ length: 32 }, () => 16 * mebibyte)]
const writers = 8
const runs = 3
const target = 0.5

const storage = '/api/v2/admin/sites/current/storage'

type Service = Awaited<ReturnType<typeof startService>>

const put = async (service: Service, path: string, body: Uint8Array<ArrayBuffer>): Promise<void> => {
  const { status } = await service.request(`${storage}/${path}`, { method: 'PUT', body })
  if (status !== 200) throw new Error(`${path} was answered with ${status}`)
}

const fill = async (service: Service): Promise<void> => {
  for (const [number, size] of sizes.entries()) await put(service, `files/${number}`, new Uint8Array(randomBytes(size)))
}

/** Several writers replace and remove files until they are stopped. Returns the writes per second. */
const writeBeside = (service: Service) => {
  let isOver = false
  let writes = 0
  const begun = performance.now()
  const all = Array.from({ length: writers }, async (_, writer) => {
    for (let count = 0; !isOver; count += 1) {
      await put(service, `busy/${writer}`, new Uint8Array(randomBytes(64 * 1024)))
      if (count % 8 === 7) await service.request(`${storage}/busy/${writer}`, { method: 'DELETE' })
      writes += 1
    }
  })
  return {
    async stop(): Promise<number> {
      const rate = writes / ((performance.now() - begun) / 1000)
      isOver = true
      await Promise.all(all)
      return rate
    },
  }
}

const run = promisify(execFile)

// Runs the command in its own process, as users do.
const backUp = (data: string, backup: string) =>
  run(process.execPath, ['admin/main.js', '--data-dir', data, 'backup', backup])

const copy = (data: string, target: string) => run('cp', ['-r', data, target])

/** The time does not include the cleanup. Every backup is compared byte by byte. */
const compare = (data: string, folder: string) => {
  const [copied, backup] = [join(folder, 'turn-copy'), join(folder, 'turn-backup')]
  return inTurns(runs, {
    async copy() {
      const time = await seconds(() => copy(data, copied))
      rmSync(copied, { recursive: true })
      return time
    },
    async backup() {
      const time = await seconds(() => backUp(data, backup))
      const faults = await checkDataDirectory(backup, { withBytes: true })
      if (faults.length > 0) throw new Error(`The backup is incomplete: ${JSON.stringify(faults[0])}`)
      rmSync(backup, { recursive: true })
      return time
    },
  })
}

const row = (name: string, { backup, copy }: Awaited<ReturnType<typeof compare>>, aim?: number) => {
  const ratio = copy / backup
  const judged = aim === undefined ? ['', ''] : atLeast(ratio, aim)
  return [name, backup.toFixed(2), copy.toFixed(2), ratio.toFixed(2), ...judged]
}

/**
 * A folder on another file system, where hard links to the blobs are impossible. Undefined if no other file system has
 * enough free space.
 */
const elsewhere = (folder: string): string | undefined => {
  const other = '/dev/shm'
  const found = statSync(other, { throwIfNoEntry: false })
  if (!found || found.dev === statSync(folder).dev) return undefined
  const { bavail, bsize } = statfsSync(other)
  return bavail * bsize > 4 * 1024 * mebibyte ? mkdtempSync(join(other, 'site-admin-')) : undefined
}

const measureElsewhere = async (data: string, folder: string) => {
  const other = elsewhere(folder)
  if (other === undefined) return []
  try {
    return [row('1 GiB, to another file system, with all bytes verified, s', await compare(data, other))]
  } finally {
    rmSync(other, { recursive: true })
  }
}

/** Compares a backup of 1 GiB with `cp -r` of the same directory. `cp -r` is not consistent while others write. */
export const backup: Bench = () =>
  inScratchFolder(async (folder) => {
    const data = join(folder, 'data')
    const service = await startService(data, ['--port', '0', '--quiet'])
    try {
      await fill(service)
      const rows = [row('1 GiB, at rest, s', await compare(data, folder), target)]
      rows.push(...(await measureElsewhere(data, folder)))
      const beside = writeBeside(service)
      rows.push(row(`1 GiB, beside ${writers} writers, s`, await compare(data, folder), target))
      rows.push(['changes a second meanwhile', (await beside.stop()).toFixed(0), '', '', '', ''])
      const place = join(folder, 'backup')
      await backUp(data, place)
      const options = { evenIfDamaged: false, signal: new AbortController().signal }
      const restoring = await seconds(() => restoreBackup(place, join(folder, 'restored'), options))
      rows.push(['restore, s', restoring.toFixed(2), '', '', '', ''])
      return [
        {
          title: `Backup of one machine (median of ${runs}, alternating)`,
          columns: ['figure', 'backup', 'cp -r', 'ratio', 'target', 'verdict'],
          rows,
        },
      ]
    } finally {
      await service.stop()
    }
  })
