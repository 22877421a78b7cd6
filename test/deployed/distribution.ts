import { once } from 'node:events'
import { request as ask, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createDocumentClient } from '../../lib/aws/dynamodb/dynamodb.ts'
import { openAccessStores, openCategoriesStores, openFieldsStores } from '../../lib/aws/open-tables.ts'
import { readSettingsOf } from '../../lib/config/config.ts'
import type { Answer, Handler, Request } from '../../lib/http/request.ts'
import { createServer, dispatch } from '../../server/server.ts'
import { openHandler } from '../support/handlers.ts'
import { freePort } from '../support/listen.ts'
import { type StreamProcess, startStreamProcess } from './stream-process.ts'

/**
 * A process that replaces the distribution of a data centre. It sends requests for files to the bundled streaming
 * function, as Lambda would. It answers all other requests itself, with the tables at `AWS_ENDPOINT_URL`. It prints its
 * address in one line.
 */

/**
 * The headers that Lambda removes (https://docs.aws.amazon.com/lambda/latest/dg/web-functions-http.html), and the
 * headers that belong to one connection.
 */
const removed =
  /^(connection|keep-alive|upgrade|expect|te|trailer|transfer-encoding|proxy-.*|x-real-ip|x-http-method(-override)?|x-method-override|lambda-web-.*|host)$/

const headersFor = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !removed.test(name)))

const headersOf = ({ rawHeaders }: IncomingMessage): Record<string, string> => {
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (!/^(connection|keep-alive|transfer-encoding|date)$/i.test(name)) headers[name] = rawHeaders[at + 1] ?? ''
  }
  return headers
}

/** Calls the function as Lambda does, which sends the whole body before it reads an answer. */
const askFunction = async (
  { port, headers: secret }: StreamProcess,
  { method, path, rawQuery, headers, body }: Request,
): Promise<Answer> => {
  if ('bytes' in body) throw new Error('The body of a request must be a stream')
  const target = rawQuery ? `${path}?${rawQuery}` : path
  const sent = { ...headersFor(headers), ...secret }
  const upstream = ask({ host: '127.0.0.1', port, method, path: target, headers: sent })
  const answered = once(upstream, 'response').then(([answer]: IncomingMessage[]) => {
    if (answer && upstream.writableFinished) return answer
    throw new Error('The function has answered before it received the whole body')
  })
  const [answer] = await Promise.all([answered, pipeline(body.stream, upstream)])
  return { status: answer.statusCode ?? 502, headers: headersOf(answer), body: answer }
}

const handingOver =
  (stream: StreamProcess): Handler =>
  async (request) => ({
    answer: await askFunction(stream, request),
    withError(failure) {
      throw failure
    },
    record({ cut }) {
      if (cut !== undefined) console.error(cut)
    },
  })

const [bundle = ''] = process.argv.slice(2)
const stream = await startStreamProcess(bundle, process.env)
const settings = { ...readSettingsOf('access'), ...readSettingsOf('fields'), ...readSettingsOf('categories') }
const given = { dynamodb: createDocumentClient() }
const stores = { ...openFieldsStores(settings, given), ...openCategoriesStores(settings, given) }
const consoleFolder = join(import.meta.dirname, '..', '..', 'console', 'dist')
const silent = { telemetry: { request: () => {} } }
const unanswered: Handler = async () => {
  throw new Error('No case behind the distribution uses webhooks')
}
const ofPages = { ...settings, keptDays: 30, dataCentres: [settings.dataCentre] }
const server = createServer(
  dispatch({
    documentation: openHandler.documentation(ofPages, stores, { ...silent, consoleFolder }),
    access: openHandler.access(settings, openAccessStores(settings, given), silent),
    fields: openHandler.fields(settings, stores, silent),
    categories: openHandler.categories(settings, stores, silent),
    storage: handingOver(stream),
    webhooks: unanswered,
  }),
)
const port = await freePort()
server.listen(port, '127.0.0.1')
await once(server, 'listening')
process.once('SIGTERM', () => void stream.stop().then(() => process.exit(0)))
console.log(`http://127.0.0.1:${port}`)
