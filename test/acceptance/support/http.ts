import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, answerOf } from '../../support/answer.ts'
import { target } from '../setup/target.ts'
import { createCheck, type OpenApi } from './document.ts'
import { underOwnNames } from './headers-on-the-way.ts'

export interface Call {
  readonly method?: string
  /** `null` sends no token. Default: the token of the target. */
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** `null` sends no `Accept`. Default: any type, as most clients send. */
  readonly accept?: null
  /** Text and bytes are sent unchanged, other values as JSON. */
  readonly body?: unknown
  /** Sends the body in chunks, without its length. */
  readonly isChunked?: boolean
  readonly baseUrl?: string
}

const isRaw = (body: unknown): body is string | Buffer => typeof body === 'string' || Buffer.isBuffer(body)

const bodyOf = (body: unknown): string | Buffer | undefined =>
  body === undefined || isRaw(body) ? body : JSON.stringify(body)

const send = async (path: string, options: Call = {}): Promise<Answer> => {
  const { method = 'GET', token = target.token, baseUrl = target.baseUrl } = options
  const body = bodyOf(options.body)
  const isJson = body !== undefined && !isRaw(options.body)
  const url = new URL(baseUrl)
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)({
    protocol: url.protocol,
    hostname: url.hostname,
    port: url.port,
    path: `${url.pathname === '/' ? '' : url.pathname}${path}`,
    method,
    headers: {
      ...(options.accept !== null && { Accept: '*/*' }),
      ...(token !== null && { Authorization: token }),
      ...(isJson && { 'Content-Type': 'application/json' }),
      ...(body !== undefined && !options.isChunked && { 'Content-Length': String(Buffer.byteLength(body)) }),
      ...(options.isChunked && { 'Transfer-Encoding': 'chunked' }),
      ...options.headers,
    },
  })
  request.end(body)
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request.on('response', resolve).on('error', reject)
  const response = await promise
  const headers = Object.entries(response.headers).map(([name, value]) => [name, value && [value].flat().join(', ')])
  const text = (await buffer(response)).toString()
  return answerOf(response.statusCode ?? 0, underOwnNames(Object.fromEntries(headers)), text)
}

let check: Promise<ReturnType<typeof createCheck>> | undefined

const withoutQuery = (path: string) => path.replace(/\?.*$/s, '')

export const pathWithBase = (path: string, baseUrl = target.baseUrl): string =>
  new URL(baseUrl).pathname.replace(/\/$/, '') + path

/** The path within the service, without the query. Each data centre may have a prefix of its own. */
const pathOf = (path: string, { baseUrl }: Call): string => {
  const prefix = pathWithBase('')
  const whole = pathWithBase(withoutQuery(path), baseUrl)
  return whole.startsWith(prefix) ? whole.slice(prefix.length) : withoutQuery(path)
}

const readDocument = async () => {
  const { text } = await send('/openapi.json', { token: null })
  const document: OpenApi = JSON.parse(text)
  return createCheck(document)
}

/** Sends one request, and checks the answer against the document of the service. */
const callOnce = async (path: string, options: Call): Promise<Answer> => {
  check ??= readDocument()
  const [answer, checkAnswer] = await Promise.all([send(path, options), check])
  checkAnswer(options.method ?? 'GET', pathOf(path, options), answer)
  return answer
}

const mostTries = 30

/** Repeats a request after the delay that the service asks for, while the service is too busy. */
export const callPatiently = async (path: string, options: Call): Promise<Answer> => {
  for (let tries = 1; ; tries++) {
    const answer = await callOnce(path, options)
    if (answer.status !== 503 || tries === mostTries) return answer
    await sleep(Number(answer.headers['retry-after']) * 1000)
  }
}

const isReading = ({ method = 'GET' }: Call) => method === 'GET' || method === 'HEAD'

/** Sends a request unchanged, without redirects. Throws an Error if the answer contradicts the document. */
export const call = (path: string, options: Call = {}): Promise<Answer> =>
  target.isSlow && isReading(options) ? callPatiently(path, options) : callOnce(path, options)
