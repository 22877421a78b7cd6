import { form, formEnd, formOf, partHead, send } from '../measure/content.ts'
import { atLeast, inTurns, mebibyte, type Table } from '../measure/figures.ts'
import { inScratchFolder } from '../measure/grounds.ts'
import { growthRow, startMeasured } from '../measure/measured-process.ts'
import { own, startService } from '../measure/trees.ts'

const runs = 7
const large = 256 * mebibyte
const targets = { ratio: 1.3, memory: 32, files: 1_000 }
const files = { requests: 10, each: 100, bytes: 4096 }

interface Service {
  readonly baseUrl: string
  readonly token: string
}

const storage = '/api/v2/admin/sites/current/storage'

const start = (fsync: 'on' | 'off') => startService(own, { LARGEST_FILE: String(1024 * mebibyte), FSYNC: fsync })

/** Each bench uploads a file as a form, and as plain bytes. */
const uploads = {
  POST: ({ baseUrl, token }: Service) =>
    send(
      `${baseUrl}${storage}/large`,
      { head: partHead('large.bin'), length: large, tail: formEnd },
      { token, contentType: form },
    ),
  PUT: ({ baseUrl, token }: Service) =>
    send(`${baseUrl}${storage}/large.bin`, { length: large }, { method: 'PUT', token }),
}
type Method = keyof typeof uploads
const methods: readonly Method[] = ['POST', 'PUT']

const uploadSmall = async ({ baseUrl, token }: Service, run: number): Promise<number> => {
  const names = Array.from({ length: files.each }, (_, index) => `f${index}`)
  const head = formOf(names, 'x'.repeat(files.bytes))
  let seconds = 0
  for (let request = 0; request < files.requests; request++) {
    const url = `${baseUrl}${storage}/small-${run}/${request}`
    seconds += await send(url, { head, length: 0 }, { token, contentType: form })
  }
  return seconds
}

/**
 * Uploads one file of 256 MiB through the local server by each method, alternating with a server that only writes each
 * body to a file.
 */
const measureLarge = (fsync: 'on' | 'off') =>
  inScratchFolder(async (folder) => {
    const bare = await startMeasured('tools/bench/bare-server.ts', [folder, fsync])
    const service = await start(fsync)
    try {
      const { baseUrl } = JSON.parse(bare.line) as { baseUrl: string }
      // The memory of the service after these first uploads is the base of the other figures.
      for (const method of methods) await uploads[method](service)
      let times: Readonly<Record<Method | 'bare', number>> = { bare: 0, POST: 0, PUT: 0 }
      const growth = await growthRow(service.process, 'its peak memory growth, MiB', targets.memory, async () => {
        times = await inTurns(runs, {
          bare: () => send(baseUrl, { length: large }),
          POST: () => uploads.POST(service),
          PUT: () => uploads.PUT(service),
        })
      })
      return { times, growth }
    } finally {
      await Promise.all([bare.stop(), service.stop()])
    }
  })

const measureSmall = async (fsync: 'on' | 'off') => {
  const service = await start(fsync)
  try {
    const { small } = await inTurns(runs, { small: (run) => uploadSmall(service, run) })
    return (files.requests * files.each) / small
  } finally {
    await service.stop()
  }
}

const rate = (seconds: number): string => (large / mebibyte / seconds).toFixed(0)

/** Measures uploads to the disk through the local server, with and without fsync at commit. */
export const measureUpload = async (): Promise<Table> => {
  const rows: (string | number)[][] = []
  for (const fsync of ['on', 'off'] as const) {
    const { times, growth } = await measureLarge(fsync)
    for (const method of methods) {
      const ratio = times.bare / times[method]
      const figure = `${method} of 256 MiB, fsync ${fsync}, MiB/s`
      rows.push([figure, rate(times[method]), rate(times.bare), ratio.toFixed(2), ...atLeast(ratio, targets.ratio)])
    }
    rows.push(growth)
    const small = await measureSmall(fsync)
    const figure = `1,000 files of 4 KiB, fsync ${fsync}, files/s`
    rows.push([figure, small.toFixed(0), '', '', ...atLeast(small, targets.files)])
  }
  return {
    title: `Uploads to disk (median of ${runs})`,
    columns: ['figure', 'service', 'bare server', 'ratio', 'target', 'verdict'],
    rows,
  }
}
