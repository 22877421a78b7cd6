import { join } from 'node:path'
import manifest from '../../../package.json' with { type: 'json' }
import { median, type Table, verdict } from '../measure/figures.ts'
import { inScratchFolder } from '../measure/grounds.ts'
import { type MeasuredProcess, startMeasured } from '../measure/measured-process.ts'
import { boundary, form, formEnd, mebibyte, partHead, send } from './content.ts'

const runs = 7
const large = 256 * mebibyte
const targets = { ratio: 1.3, memory: 32, files: 1_000 }
const files = { requests: 10, each: 100, bytes: 4096 }

/** The Node flags of `npm start`. */
const nodeFlags = manifest.scripts.start.match(/--\S+/g) ?? []

const startService = (folder: string, fsync: 'on' | 'off') =>
  startMeasured(
    'local/main.js',
    ['--port', '0', '--json', '--quiet', '--data-dir', folder],
    { LARGEST_FILE: String(1024 * mebibyte), FSYNC: fsync },
    nodeFlags,
  )

interface Service {
  readonly storage: string
  readonly token: string
}

const readService = ({ line }: MeasuredProcess): Service => {
  const { baseUrl, token } = JSON.parse(line) as { baseUrl: string; token: string }
  return { storage: `${baseUrl}/api/v2/admin/sites/current/storage`, token }
}

/** As a form, and as plain bytes. */
const uploads = {
  POST: ({ storage, token }: Service) =>
    send(
      `${storage}/large`,
      { head: partHead('large.bin'), length: large, tail: formEnd },
      { token, contentType: form },
    ),
  PUT: ({ storage, token }: Service) => send(`${storage}/large.bin`, { length: large }, { method: 'PUT', token }),
}
type Method = keyof typeof uploads
const methods: readonly Method[] = ['POST', 'PUT']

const uploadSmall = async ({ storage, token }: Service, run: number): Promise<number> => {
  const content = 'x'.repeat(files.bytes)
  let seconds = 0
  for (let request = 0; request < files.requests; request++) {
    const parts = Array.from({ length: files.each }, (_, index) => `${partHead(`f${index}`)}${content}\r\n`)
    const body = `${parts.join('')}--${boundary}--\r\n`
    seconds += await send(`${storage}/small-${run}/${request}`, { head: body, length: 0 }, { token, contentType: form })
  }
  return seconds
}

/**
 * One file of 256 MiB through the local server by each method, alternating with a server that only writes its body to a
 * file.
 */
const measureLarge = async (fsync: 'on' | 'off') =>
  inScratchFolder(async (folder) => {
    const bare = await startMeasured('tools/bench/bare-server.ts', [folder, fsync])
    const own = await startService(join(folder, 'data'), fsync)
    try {
      const { baseUrl } = JSON.parse(bare.line) as { baseUrl: string }
      const service = readService(own)
      const bareTimes: number[] = []
      const ownTimes: Record<Method, number[]> = { POST: [], PUT: [] }
      await send(baseUrl, { length: large })
      for (const method of methods) await uploads[method](service)
      const before = own.reset()
      for (let run = 0; run < runs; run++) {
        bareTimes.push(await send(baseUrl, { length: large }))
        for (const method of methods) ownTimes[method].push(await uploads[method](service))
      }
      return {
        bare: median(bareTimes),
        own: { POST: median(ownTimes.POST), PUT: median(ownTimes.PUT) },
        growth: own.peak() - before,
      }
    } finally {
      await Promise.all([bare.stop(), own.stop()])
    }
  })

const measureSmall = async (fsync: 'on' | 'off') =>
  inScratchFolder(async (folder) => {
    const own = await startService(folder, fsync)
    try {
      const service = readService(own)
      await uploadSmall(service, -1)
      const times: number[] = []
      for (let run = 0; run < runs; run++) times.push(await uploadSmall(service, run))
      return (files.requests * files.each) / median(times)
    } finally {
      await own.stop()
    }
  })

const rate = (seconds: number): string => (large / mebibyte / seconds).toFixed(0)

/** Uploads to disk through the local server, with fsync at commit and without. */
export const measureUpload = async (): Promise<Table> => {
  const rows: (string | number)[][] = []
  for (const fsync of ['on', 'off'] as const) {
    const { bare, own, growth } = await measureLarge(fsync)
    for (const method of methods) {
      const ratio = bare / own[method]
      rows.push([
        `${method} of 256 MiB, fsync ${fsync}, MiB/s`,
        rate(own[method]),
        rate(bare),
        ratio.toFixed(2),
        `>= ${targets.ratio}`,
        verdict(ratio >= targets.ratio),
      ])
    }
    rows.push([
      `its peak memory growth, MiB`,
      growth.toFixed(0),
      '',
      '',
      `<= ${targets.memory}`,
      verdict(growth <= targets.memory),
    ])
    const small = await measureSmall(fsync)
    rows.push([
      `1,000 files of 4 KiB, fsync ${fsync}, files/s`,
      small.toFixed(0),
      '',
      '',
      `>= ${targets.files}`,
      verdict(small >= targets.files),
    ])
  }
  return {
    title: `Uploads to disk (median of ${runs})`,
    columns: ['figure', 'service', 'bare server', 'ratio', 'target', 'verdict'],
    rows,
  }
}
