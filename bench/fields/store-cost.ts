import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createFieldsHandler } from '../../functions/fields/group.ts'
import { hashToken, newToken } from '../../lib/access/token.ts'
import { createTokensTable } from '../../lib/access/tokens-table.ts'
import { createFieldsDeps } from '../../lib/deps.ts'
import { createWebFormsTable } from '../../lib/fields/web-forms-table.ts'
import type { Request } from '../../lib/http/request.ts'
import { createSitesTable } from '../../lib/sites/sites-table.ts'
import { openDataDirectory } from '../../local/data-directory.ts'
import { embeddedTableNames, openEmbeddedTables } from '../../local/embedded-tables.ts'
import { requestOf, textOf } from '../../test/support/gateway.ts'
import { type Table, verdict } from '../table.ts'
import { fullForm, listPath, site } from './full-form.ts'

interface Call {
  readonly name: string
  readonly units: number
}

/** Has the store report the capacity that each call consumes, and notes it. */
const meter = (documents: DynamoDBDocumentClient): Call[] => {
  const calls: Call[] = []
  documents.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } })
        const { ConsumedCapacity } = result.output as { ConsumedCapacity?: { CapacityUnits?: number } }
        calls.push({ name: commandName, units: ConsumedCapacity?.CapacityUnits ?? Number.NaN })
        return result
      },
    { step: 'initialize', name: 'meter' },
  )
  return calls
}

const token = newToken()

const seed = async (documents: DynamoDBDocumentClient): Promise<void> => {
  const sites = createSitesTable(documents, embeddedTableNames.sites)
  await sites.putDataCentre({ id: 'us', url: 'https://us.example.com', isDefault: true })
  await sites.createSite({ id: site, name: 'Bench', dataCentre: 'us', renderingEngine: true })
  await createWebFormsTable(documents, embeddedTableNames.webForms).create(fullForm)
  await createTokensTable(documents, embeddedTableNames.tokens).put({
    hash: hashToken(token),
    user: 'bench',
    sites: [site],
    permissions: [],
    expires: Math.floor(Date.now() / 1000) + 3600,
  })
}

const authorized = { headers: { Authorization: token } }
const writing = (body: object) => ({ ...authorized, body })
const one = `${listPath}/-2`

/** In this order, each leaves the form as the next one needs it. */
const requests: readonly [name: string, request: Request, reads: number, writes: number][] = [
  [`list of ${fullForm.fields.length}`, requestOf('GET', listPath, authorized), 1, 0],
  ['one field', requestOf('GET', one, authorized), 1, 0],
  ['update', requestOf('PUT', one, writing({ mandatory: false, order: 9 })), 1, 1],
  ['remove', requestOf('DELETE', one, authorized), 1, 1],
  ['create', requestOf('POST', listPath, writing({ type: { id: -2 }, mandatory: true, order: 1 })), 1, 1],
]

const isRead = ({ name }: Call) => name.startsWith('Get')
const unitsOf = (calls: readonly Call[]) => calls.reduce((sum, { units }) => sum + units, 0)

const measure = async (documents: DynamoDBDocumentClient): Promise<Table> => {
  await seed(documents)
  const calls = meter(documents)
  const handler = createFieldsHandler(
    createFieldsDeps(
      {
        DATA_CENTRE: 'us',
        SITES_TABLE: embeddedTableNames.sites,
        TOKENS_TABLE: embeddedTableNames.tokens,
        WEB_FORMS_TABLE: embeddedTableNames.webForms,
        LOG_LEVEL: 'INFO',
      },
      { documents, telemetry: { request: () => undefined } },
    ),
  )
  const rows: (string | number)[][] = []
  for (const [name, request, reads, writes] of [...requests.slice(0, 1), ...requests]) {
    calls.length = 0
    const answer = await handler(request, () => Number.POSITIVE_INFINITY)
    if (answer.status >= 300) throw new Error(`${name}: ${answer.status} ${await textOf(answer)}`)
    const [reading, other] = [calls.filter(isRead), calls.filter((call) => !isRead(call))]
    const met = reading.length === reads && other.length === writes && (writes > 0 || unitsOf(reading) === 0.5)
    const asked = rows.length === 0 ? `${name}, cold caches` : name
    rows.push([
      asked,
      reading.length,
      unitsOf(reading),
      other.length,
      unitsOf(other),
      rows.length === 0 ? '' : verdict(met),
    ])
  }
  return {
    title: `Store cost of a request, as the store reports it (form of ${fullForm.fields.length} fields, warm caches)`,
    columns: ['request', 'reads', 'RCU', 'writes', 'WCU', 'verdict'],
    rows,
  }
}

/** What one request consumes of DynamoDB's capacity. */
export const measureStoreCost = async (): Promise<Table> => {
  const path = await mkdtemp(join(tmpdir(), 'site-admin-bench-'))
  try {
    const directory = openDataDirectory(path)
    const { documents, close } = await openEmbeddedTables(directory, directory.socket)
    try {
      return await measure(documents)
    } finally {
      await close()
    }
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}
