import { join } from 'node:path'
import { bundleFunction } from '../../../cdk/config/functions.ts'
import { createGrants, createSiteDirectory } from '../../../lib/aws/dynamodb/directory-stores.ts'
import { type StreamProcess, startStreamProcess } from '../../../test/deployed/stream-process.ts'
import { fillDirectory } from '../../../test/support/every-operation.ts'
import { unrecorded } from '../../../test/support/history.ts'
import { openTestTables, type TestTables } from '../../../test/support/tables.ts'
import { send } from '../measure/content.ts'
import { atLeast, inTurns, mebibyte, type Table } from '../measure/figures.ts'
import { inScratchFolder, openCloudFiles } from '../measure/grounds.ts'
import { growthRow, memoryOf, startMeasured } from '../measure/measured-process.ts'

const runs = 5
const large = 256 * mebibyte
const many = { uploads: 16, size: 64 * mebibyte }
const targets = { rate: 0.95, memory: 64, memoryOfMany: 256 }

/** Starts the deployed bundle, with its own tables and its own bucket at `AWS_ENDPOINT_URL`. */
const startBundle = async (folder: string, tables: TestTables): Promise<{ stream: StreamProcess; bucket: string }> => {
  const { names, connect } = tables
  const { bucket } = await openCloudFiles(connect())
  const bundle = join(folder, 'bundle')
  await bundleFunction('stream', bundle)
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

const measure = (tables: TestTables): Promise<Table> =>
  inScratchFolder(async (folder) => {
    const { names, connect } = tables
    const dynamodb = connect()
    const token = await fillDirectory({
      sites: createSiteDirectory({ dynamodb, table: names.sites, record: unrecorded }),
      grants: createGrants({ dynamodb, table: names.tokens, record: unrecorded }),
    })
    const { stream, bucket } = await startBundle(folder, tables)
    const library = await startMeasured(join('tools', 'bench', 'large', 'library-server.ts'), [bucket])
    const put = (name: string, length: number) => {
      const url = `${stream.url}/api/v2/admin/sites/1001/storage/${name}`
      return send(url, { length }, { method: 'PUT', token, headers: stream.headers })
    }
    try {
      const memory = memoryOf(stream.pid)
      // The memory after this first small upload is the base of the other figures.
      await put('first.bin', mebibyte)
      const one = () => put('one.bin', large)
      const all = () => Promise.all(Array.from({ length: many.uploads }, (_, at) => put(`many-${at}.bin`, many.size)))
      const growth = [
        await growthRow(memory, 'its peak memory growth, 256 MiB, MiB', targets.memory, one),
        await growthRow(memory, `the same, ${many.uploads} of 64 MiB at once`, targets.memoryOfMany, all),
      ]
      const { own, theirs } = await inTurns(runs, {
        own: () => put('large.bin', large),
        theirs: () => send(`http://127.0.0.1:${library.line}/`, { length: large }, { method: 'PUT' }),
      })
      const ratio = theirs / own
      return {
        title: `Streaming to S3 at ${process.env['AWS_ENDPOINT_URL']} (median of ${runs}, alternating)`,
        columns: ['figure', 'service', 'lib-storage behind a server', 'ratio', 'target', 'verdict'],
        rows: [
          ['256 MiB by PUT, s', own.toFixed(2), theirs.toFixed(2), ratio.toFixed(2), ...atLeast(ratio, targets.rate)],
          ...growth,
        ],
      }
    } finally {
      await Promise.all([stream.stop(), library.stop()])
    }
  })

/** Measures speed and memory of the deployed streaming function with `AWS_ENDPOINT_URL`. */
export const measureStreaming = async (): Promise<readonly Table[]> => {
  const tables = await openTestTables()
  try {
    return [await measure(tables)]
  } finally {
    await tables.close()
  }
}
