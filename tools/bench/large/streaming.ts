import { join } from 'node:path'
import { bundleStream } from '../../../cdk/config/bundles.ts'
import { hashToken, newToken } from '../../../lib/access/grants.ts'
import { createGrants, createSiteDirectory } from '../../../lib/aws/dynamodb/directory-stores.ts'
import type { SiteId } from '../../../lib/core/ids.ts'
import { type StreamProcess, startStreamProcess } from '../../../test/deployed/stream-process.ts'
import { entry, unrecorded } from '../../../test/support/history.ts'
import { openTestTables, type TestTables } from '../../../test/support/tables.ts'
import { median, type Table, verdict } from '../measure/figures.ts'
import { inScratchFolder, openCloudFiles } from '../measure/grounds.ts'
import { memoryOf, startMeasured } from '../measure/measured-process.ts'
import { mebibyte, send } from '../storage/content.ts'

const runs = 5
const large = 256 * mebibyte
const many = { uploads: 16, size: 64 * mebibyte }
const targets = { rate: 0.95, memory: 64, memoryOfMany: 256 }

const fillDirectory = async ({ names, connect }: TestTables): Promise<string> => {
  const dynamodb = connect()
  const sites = createSiteDirectory({ dynamodb, table: names.sites, record: unrecorded })
  await sites.putDataCentre({ id: 'us', url: 'http://localhost', isDefault: true })
  await sites.createSite({ id: 1001 as SiteId, name: 'Bench', dataCentre: 'us', renderingEngine: true }, entry)
  const token = newToken()
  const expires = Math.floor(Date.now() / 1000) + 24 * 3600
  const grant = {
    hash: hashToken(token),
    user: 'bench',
    sites: [1001 as SiteId],
    permissions: ['files' as const],
    expires,
  }
  await createGrants({ dynamodb, table: names.tokens, record: unrecorded }).put(grant, [])
  return token
}

/** Starts the deployed bundle over tables and a bucket of its own at `AWS_ENDPOINT_URL`. */
const startBundle = async (folder: string, tables: TestTables): Promise<{ stream: StreamProcess; bucket: string }> => {
  const { names, connect } = tables
  const { bucket } = await openCloudFiles(connect())
  const bundle = join(folder, 'bundle')
  await bundleStream(bundle)
  const stream = await startStreamProcess(bundle, {
    ...process.env,
    LOG_LEVEL: 'ERROR',
    DATA_CENTRE: 'us',
    SITES_TABLE: names.sites,
    TOKENS_TABLE: names.tokens,
    JOURNAL_TABLE: names.journal,
    PATH_LOCKS_TABLE: names.pathLocks,
    UPLOADS_TABLE: names.uploads,
    FILES_BUCKET: bucket,
    REMOVALS_QUEUE_URL: 'http://localhost/removals',
    LARGEST_FILE: String(large),
  })
  return { stream, bucket }
}

/** Memory of the process for one upload and for many at once, in MiB. */
const measureMemory = async (
  { pid }: StreamProcess,
  put: (name: string, length: number) => Promise<number>,
): Promise<readonly (string | number)[][]> => {
  const memory = memoryOf(pid)
  const row = async (name: string, target: number, run: () => Promise<unknown>) => {
    const before = memory.reset()
    await run()
    const growth = memory.peak() - before
    return [name, growth.toFixed(0), '', '', `<= ${target}`, verdict(growth <= target)]
  }
  // The process needs this much to work.
  await put('first.bin', mebibyte)
  const one = await row('its peak memory growth, 256 MiB, MiB', targets.memory, () => put('one.bin', large))
  const all = () => Promise.all(Array.from({ length: many.uploads }, (_, at) => put(`many-${at}.bin`, many.size)))
  return [one, await row(`the same, ${many.uploads} of 64 MiB at once`, targets.memoryOfMany, all)]
}

const measure = (tables: TestTables): Promise<Table> =>
  inScratchFolder(async (folder) => {
    const token = await fillDirectory(tables)
    const { stream, bucket } = await startBundle(folder, tables)
    const library = await startMeasured(join('tools', 'bench', 'large', 'library-server.ts'), [bucket])
    const put = (name: string, length: number) => {
      const url = `${stream.url}/api/v2/admin/sites/1001/storage/${name}`
      return send(url, { length }, { method: 'PUT', token, headers: stream.headers })
    }
    try {
      const memory = await measureMemory(stream, put)
      const [own, theirs]: [number[], number[]] = [[], []]
      for (let run = 0; run <= runs; run++) {
        const times = [
          await put('large.bin', large),
          await send(`http://127.0.0.1:${library.line}/`, { length: large }, { method: 'PUT' }),
        ] as const
        // The first run of each is a warm-up.
        if (run === 0) continue
        own.push(times[0])
        theirs.push(times[1])
      }
      const ratio = median(theirs) / median(own)
      return {
        title: `Streaming to S3 at ${process.env['AWS_ENDPOINT_URL']} (median of ${runs}, alternating)`,
        columns: ['figure', 'service', 'lib-storage behind a server', 'ratio', 'target', 'verdict'],
        rows: [
          [
            '256 MiB by PUT, s',
            median(own).toFixed(2),
            median(theirs).toFixed(2),
            ratio.toFixed(2),
            `>= ${targets.rate}`,
            verdict(ratio >= targets.rate),
          ],
          ...memory,
        ],
      }
    } finally {
      await Promise.all([stream.stop(), library.stop()])
    }
  })

/** Measures speed and memory of the deployed streaming function with `AWS_ENDPOINT_URL`. */
export const measureStreaming = async (): Promise<readonly Table[]> => {
  if (!process.env['AWS_ENDPOINT_URL']) {
    console.warn('NO AWS_ENDPOINT_URL: streaming is SKIPPED.\n')
    return []
  }
  const tables = await openTestTables()
  try {
    return [await measure(tables)]
  } finally {
    await tables.close()
  }
}
