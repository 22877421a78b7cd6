import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createStorageHandler } from '../../functions/storage/group.ts'
import { hashToken, newToken } from '../../lib/access/token.ts'
import { createTokensTable } from '../../lib/access/tokens-table.ts'
import { createStorageDeps } from '../../lib/deps.ts'
import type { Handler } from '../../lib/http/request.ts'
import type { SiteId } from '../../lib/ids.ts'
import { createSitesTable } from '../../lib/sites/sites-table.ts'
import type { UploadsTable } from '../../lib/storage/uploads-table.ts'
import { openDataDirectory } from '../../local/data-directory.ts'
import { embeddedTableNames, openEmbeddedTables } from '../../local/embedded-tables.ts'
import { openEmbeddedObjectStore } from '../../local/objects/embedded-object-store.ts'
import { requestOf } from '../../test/support/gateway.ts'
import { median } from '../quantile.ts'
import { type Table, verdict } from '../table.ts'

const runs = 10
const gibibyte = 1024 ** 3
const size = 16 * gibibyte
const targets = { writes: 4, cost: 3 }
const site = 1 as SiteId
const token = newToken()

const seed = async (documents: DynamoDBDocumentClient): Promise<void> => {
  const sites = createSitesTable(documents, embeddedTableNames.sites)
  await sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
  await sites.createSite({ id: site, name: 'Bench', dataCentre: 'us', renderingEngine: true })
  await createTokensTable(documents, embeddedTableNames.tokens).put({
    hash: hashToken(token),
    user: 'bench',
    sites: [site],
    permissions: ['files'],
    expires: Math.floor(Date.now() / 1000) + 3600,
  })
}

async function* bytes(): AsyncGenerator<Buffer> {
  const chunk = Buffer.alloc(64 * 1024, 'x')
  for (let sent = 0; sent < size; sent += chunk.length) yield chunk
}

/** Seconds that one upload takes. */
const upload = async (handler: Handler): Promise<number> => {
  const startedAt = performance.now()
  const headers = { Authorization: token, 'Content-Length': String(size) }
  const request = requestOf('PUT', '/api/v2/admin/sites/current/storage/large.bin', { headers })
  const stream = Readable.from(bytes(), { objectMode: false })
  const { status } = await handler({ ...request, body: { stream } }, () => Number.POSITIVE_INFINITY)
  if (status !== 200) throw new Error(`The upload was answered ${status}`)
  return (performance.now() - startedAt) / 1000
}

const silent: UploadsTable = { begin: async () => {}, report: async () => {}, percentOf: async () => 0 }

/** Notes when each upload writes, by its id. */
const noted = (uploads: UploadsTable, writes: Map<string, number[]>): UploadsTable => {
  const note = (id: string) => writes.set(id, [...(writes.get(id) ?? []), performance.now()])
  return {
    ...uploads,
    begin(upload) {
      note(upload.id)
      return uploads.begin(upload)
    },
    report(upload, percent) {
      note(upload.id)
      return uploads.report(upload, percent)
    },
  }
}

/** The most writes that one upload makes within any second. */
const mostInASecond = (times: readonly number[]): number =>
  Math.max(...times.map((from) => times.filter((time) => time >= from && time < from + 1000).length))

const compare = async (folder: string, documents: DynamoDBDocumentClient): Promise<Table> => {
  await seed(documents)
  const kept = await openEmbeddedObjectStore(join(folder, 'objects'), { durable: false })
  const store: typeof kept = {
    ...kept,
    // The pace of a disk wavers by more than what is measured here, so the bytes are let go of when they have come in.
    async stage(content, target) {
      for await (const _ of content);
      return kept.stage(Readable.from([]), target)
    },
  }
  const deps = createStorageDeps(
    {
      DATA_CENTRE: 'us',
      SITES_TABLE: embeddedTableNames.sites,
      TOKENS_TABLE: embeddedTableNames.tokens,
      PAGES_TABLE: embeddedTableNames.pages,
      UPLOADS_TABLE: embeddedTableNames.uploads,
      LARGEST_FILE: size,
      RESERVED_FOLDERS: [],
      LOG_LEVEL: 'INFO',
    },
    { documents, telemetry: { request: () => undefined }, store, removals: { send: async () => {} } },
  )
  const writes = new Map<string, number[]>()
  const telling = createStorageHandler({ ...deps, uploads: noted(deps.uploads, writes) })
  const quiet = createStorageHandler({ ...deps, uploads: silent })
  const [tellingTimes, quietTimes]: [number[], number[]] = [[], []]
  await upload(quiet)
  await upload(telling)
  writes.clear()
  for (let run = 0; run < runs; run++) {
    // By turns, each of the two first as often as the other.
    if (run % 2 === 0) quietTimes.push(await upload(quiet))
    tellingTimes.push(await upload(telling))
    if (run % 2 === 1) quietTimes.push(await upload(quiet))
  }
  store.close()
  const [slow, fast] = [median(tellingTimes), median(quietTimes)]
  const most = Math.max(...[...writes.values()].map(mostInASecond))
  const cost = (slow / fast - 1) * 100
  return {
    title: `Progress of an upload of ${size / gibibyte} GiB that nothing else holds up (median of ${runs})`,
    columns: ['figure', 'with progress', 'without', 'cost', 'target', 'verdict'],
    rows: [
      [
        'MiB/s',
        (size / 1024 ** 2 / slow).toFixed(0),
        (size / 1024 ** 2 / fast).toFixed(0),
        `${cost.toFixed(1)} %`,
        `<= ${targets.cost} %`,
        verdict(cost <= targets.cost),
      ],
      ['most writes in a second', most, '', '', `<= ${targets.writes}`, verdict(most <= targets.writes)],
    ],
  }
}

/** What telling the progress costs an upload. */
export const measureProgress = async (): Promise<Table> => {
  const folder = await mkdtemp(join(tmpdir(), 'site-admin-bench-'))
  const directory = openDataDirectory(folder)
  const tables = await openEmbeddedTables(directory, directory.socket)
  try {
    return await compare(folder, tables.documents)
  } finally {
    await tables.close()
    await rm(folder, { recursive: true, force: true })
  }
}
