import { systemClock } from '../../lib/core/clock.ts'
import { createHandler, type EdgeDeps } from '../../lib/http/handler.ts'
import { type PublicOperation, publicOperation } from '../../lib/http/public-operation.ts'
import type { Handler, RequestRecord } from '../../lib/http/request.ts'

const nobody = async () => undefined

/** A core with one public operation at `/`, and the records of its requests. */
export const bareHandler = (
  run: PublicOperation['run'],
): { readonly handler: Handler; readonly records: readonly RequestRecord[] } => {
  const records: RequestRecord[] = []
  const routes = (['GET', 'POST'] as const).map((method) => ({
    operation: method,
    method,
    path: '/',
    group: 'fields' as const,
    public: true,
  }))
  const operation = publicOperation(run)
  const edge: EdgeDeps = {
    dataCentre: 'us',
    findCaller: nobody,
    findSite: nobody,
    findDataCentre: nobody,
    limitToken: () => {},
    limitSite: () => {},
    clock: systemClock,
    telemetry: { request: (record) => void records.push(record) },
  }
  const handler = createHandler('fields', routes, { GET: operation, POST: operation }, { edge })
  return { handler, records }
}
