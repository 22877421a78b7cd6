import { Readable } from 'node:stream'
import { systemClock } from '../../lib/core/time.ts'
import type { EdgeDeps } from '../../lib/http/admission.ts'
import { createHandler } from '../../lib/http/handler.ts'
import type { PublicOperation } from '../../lib/http/operation.ts'
import type { Reply } from '../../lib/http/reply.ts'
import type { RequestRecord } from '../../lib/http/request.ts'
import { inPieces } from './in-pieces.ts'

const nobody = async () => undefined

/** The dependencies of a core, without callers and sites. `log` gets the record of each request. */
export const bareEdge = (log: (record: RequestRecord) => void): EdgeDeps => ({
  dataCentre: 'us',
  findCaller: nobody,
  findSite: nobody,
  findDataCentre: nobody,
  limitToken: () => {},
  limitSite: () => {},
  clock: systemClock,
  telemetry: { request: log },
})

/** A core with one public operation at `/`, and the records of its requests. */
export const bareHandler = (run: PublicOperation) => {
  const records: RequestRecord[] = []
  const shape = { path: '/', group: 'fields', public: true } as const
  const routes = (['GET', 'POST'] as const).map((method) => ({ operation: method, method, ...shape }))
  const edge = bareEdge((record) => void records.push(record))
  return { handler: createHandler('fields', routes, { GET: run, POST: run }, { edge }), records }
}

export const textReply = (length: number, bytes: Readable | Uint8Array): Reply => ({
  status: 200,
  content: { type: 'text/plain', length, bytes },
})

export const breakingStream = (failure: Error, text = ''): Readable =>
  Readable.from(inPieces(Buffer.from(text), 1_000, failure))
