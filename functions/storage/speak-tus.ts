import type { RemainingTime } from '../../lib/core/remaining-time.ts'
import type { Answer, Handler, Request, Send } from '../../lib/http/request.ts'
import { isTus, tusAbilities, tusAnswer } from '../../lib/storage/uploads/tus.ts'

const uploadPath = /^\/api\/v2\/admin\/sites\/[^/]+\/uploads\/[^/]+\/?$/

/**
 * "The X-HTTP-Method-Override request header MUST be interpreted as the request's method" (tus 1.0): at an upload
 * alone, elsewhere it means nothing.
 */
const asMeant = (request: Request): Request => {
  const method = request.headers['x-http-method-override']?.trim().toUpperCase()
  return method && uploadPath.test(request.path) ? { ...request, method } : request
}

const headersFor = ({ method, path, headers }: Request, largest: number): Answer['headers'] | undefined => {
  if (method === 'OPTIONS') return tusAbilities(largest)
  return isTus(headers) || uploadPath.test(path) ? tusAnswer : undefined
}

const withHeaders = (answer: Answer, headers: Answer['headers']): Answer => {
  const { elsewhere } = answer
  return {
    ...answer,
    headers: { ...answer.headers, ...headers },
    ...(elsewhere && { elsewhere: async () => withHeaders(await elsewhere(), headers) }),
  }
}

const asItIs: Send<Answer> = (answer) => answer

/** The same handler, with tus spoken on every answer to a request in it. `largest`: the largest upload, in bytes. */
export const speakingTus = (handler: Handler, largest: number): Handler => {
  async function handle(request: Request, remainingTime: RemainingTime): Promise<Answer>
  async function handle<Sent>(request: Request, remainingTime: RemainingTime, send: Send<Sent>): Promise<Sent>
  async function handle(came: Request, remainingTime: RemainingTime, send: Send<unknown> = asItIs): Promise<unknown> {
    const request = asMeant(came)
    const headers = headersFor(request, largest)
    if (!headers) return handler(request, remainingTime, send)
    return handler(request, remainingTime, (answer, cut) => send(withHeaders(answer, headers), cut))
  }
  return handle
}
