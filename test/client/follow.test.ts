import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Change, ServiceError } from '../../client/src/index.ts'
import { changeWith } from './support/change.ts'
import { clientOver, json, scripted } from './support/scripted-fetch.ts'

const changeOf = (id: number) => changeWith({ id: String(id).padStart(3, '0'), subject: `ä\u2028${id}.txt` })

/** An answer whose bytes arrive in these pieces. Then the connection breaks, or stays open in silence. */
const streamed = (pieces: readonly (string | Uint8Array<ArrayBuffer>)[], breaks = true): Response => {
  const waiting = [...pieces]
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = waiting.shift()
      if (piece !== undefined) controller.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece)
      else if (breaks) controller.error(new TypeError('terminated'))
      else return new Promise(() => {})
    },
  })
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
}

const eventOf = (change: Change): string => `id: ${change.id}\ndata: ${JSON.stringify(change)}\n\n`
const open = (after = '000') => `:\n\nid: ${after}\n\n`

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Lets the pauses of the client pass until a promise is settled. */
const settled = async <Value>(promise: Promise<Value>): Promise<Value> => {
  let isOver = false
  const over = () => {
    isOver = true
  }
  promise.then(over, over)
  while (!isOver) await vi.advanceTimersByTimeAsync(1_000)
  return promise
}

const history = Array.from({ length: 12 }, (_, index) => changeOf(index + 1))

type Fate = { readonly cutAfter: number } | 'no network' | 'busy' | 'a page' | 'whole'
const answerOf = (fate: Fate, after: string): Response | undefined => {
  const left = history.filter(({ id }) => id > after)
  const items = left.slice(0, 2)
  const events = [open(after), ...left.map(eventOf)]
  if (fate === 'no network') return undefined
  if (fate === 'busy') return json({ code: 100503, message: 'Busy.' }, 503, { 'Retry-After': '0' })
  if (fate === 'a page') return json({ items, next: items.at(-1)?.id ?? null })
  if (fate === 'whole') return streamed(events, false)
  return streamed([new TextEncoder().encode(events.join('')).slice(0, fate.cutAfter)])
}

test('a follower gets each change once, even if connections break (T-62, V-19)', async () => {
  const fate = fc.oneof(
    fc.record({ cutAfter: fc.nat(900) }),
    fc.constantFrom('no network' as const, 'busy' as const, 'a page' as const),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fate, { maxLength: 12 }), async (fates) => {
      const { client, asked } = await scripted([
        ...fates.map((one) => () => answerOf(one, position())),
        ...history.map(() => () => answerOf('whole', position())),
      ])
      const position = () => new URL(asked.at(-1)?.url ?? '').searchParams.get('after') ?? ''
      const heard: Change[] = []
      const follow = async () => {
        for await (const change of client.changes.follow({ after: '000' })) {
          heard.push(change)
          if (heard.length === history.length) return
        }
      }
      await settled(follow())
      expect(heard).toEqual(history)
    }),
    { numRuns: 60 },
  )
})

test('a follower begins with the next change, and ends when its signal aborts (T-62)', async () => {
  const stop = new AbortController()
  const { client, asked } = await scripted([
    () => json({ items: [changeOf(1)], next: '007' }),
    () => streamed([open(), eventOf(changeOf(8))], false),
  ])
  const heard: string[] = []
  const follow = async () => {
    for await (const { id } of client.changes.follow({ types: ['file.stored'], subject: 'ä', signal: stop.signal })) {
      heard.push(id)
      stop.abort(new Error('enough'))
    }
  }
  await expect(settled(follow())).rejects.toThrow('enough')
  expect(heard).toEqual(['008'])
  expect(asked[1]?.accept).toBe('text/event-stream, application/json')
  expect(Object.fromEntries(new URL(asked[1]?.url ?? '').searchParams)).toEqual({
    after: '007',
    wait: '20',
    type: 'file.stored',
    subject: 'ä',
  })
})

const ended = () => new Response(open(), { headers: { 'Content-Type': 'text/event-stream' } })
const busy = () => json({ code: 100429, message: 'Too many.' }, 429, { 'Retry-After': '10' })
test.for<[string, number, (() => Response | undefined)[]]>([
  ['ends without a network', 0, [ended, () => undefined]],
  ['ends, and the service is busy', 429, [ended, busy]],
  ['ends, and a proxy finds no service', 404, [ended, () => new Response('Not found', { status: 404 })]],
  ['is silent', 0, [() => streamed([open()], false)]],
])('a follower whose stream %s reports this, and opens another one (T-62)', async ([, status, answers]) => {
  const { client } = await scripted([...answers, () => streamed([open(), eventOf(changeOf(1))], false)])
  const states: (ServiceError | undefined)[] = []
  const changes = client.changes.follow({ after: '', onConnection: (failure) => states.push(failure) })
  const { value } = await settled(changes[Symbol.asyncIterator]().next())
  expect([value?.id, states]).toMatchObject(['001', [{ status }, undefined]])
})

/** The connection stays open after these bytes until the client gives up. */
const halfPage = ({ signal }: Request): Response => {
  const start = (controller: ReadableStreamDefaultController) => {
    controller.enqueue(new TextEncoder().encode('{"items":['))
    signal.addEventListener('abort', () => controller.error(signal.reason))
  }
  return new Response(new ReadableStream({ start }), { headers: { 'Content-Type': 'application/json' } })
}

test('a follower gives up a page that stops after its beginning (T-62)', async () => {
  const answers = [halfPage, () => streamed([open(), eventOf(changeOf(1))], false)]
  const client = await clientOver((request) => answers.shift()?.(request) ?? expect.fail())
  const next = client.changes.follow({ after: '' })[Symbol.asyncIterator]().next()
  expect((await settled(next)).value?.id).toBe('001')
})

test('a follower ends when the service refuses it (T-62)', async () => {
  const { client } = await scripted([() => json({ code: 101000, message: 'No.', requestId: 'r' }, 401)])
  const next = client.changes.follow({ after: '' })[Symbol.asyncIterator]().next()
  await expect(settled(next)).rejects.toMatchObject({ status: 401, code: 101000 })
})
