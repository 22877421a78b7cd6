import { Readable } from 'node:stream'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { hashToken } from '../../../lib/access/grants.ts'
import { ServiceError } from '../../../lib/core/errors.ts'
import { createDeadline } from '../../../lib/core/time.ts'
import { createLiveChanges } from '../../../lib/history/live-changes.ts'
import { toStoragePath } from '../../../lib/storage/path.ts'
import { eventsIn } from '../../support/event-stream.ts'
import { fillDirectory, site } from '../../support/every-operation.ts'
import { type Between, openTestFiles } from '../../support/files.ts'
import { answerTo, requestOf, send } from '../../support/gateway.ts'
import { hands } from '../../support/hands.ts'
import { entry } from '../../support/history.ts'

const heartbeat = 15_000

// Only timers are fake: writes to the database wait for the event loop.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

/** The storage of one machine, with a clock of its own. */
const openLive = async (limits = { perSite: 3, inAll: 100 }) => {
  let now = Date.now()
  const clock = { wall: () => now, monotonic: () => now }
  const between: Between = ({ history }) => ({ live: createLiveChanges(history, limits) })
  const files = await openTestFiles({ clock, between })
  onTestFinished(() => files.close())
  const { grants, workflows } = files.stores
  const token = await fillDirectory(files.stores)
  const hash = hashToken(token)
  const permit = (...permissions: string[]) =>
    grants.put({ hash, user: 'ann', sites: [site], permissions, expires: 9_999_999_999 }, [])

  const path = `/api/v2/admin/sites/${site}/changes`
  const own = { Authorization: token }
  const streaming = { headers: { ...own, Accept: 'text/event-stream' } }
  const read = (query = {}) => send(files.handler, 'GET', path, { headers: own, query })
  const open = async (time = Number.POSITIVE_INFINITY, query = {}) => {
    const end = now + time
    const deadline = createDeadline(() => end - now)
    const request = requestOf('GET', path, { ...streaming, query })
    const { status, body, headers } = await answerTo(files.handler, request, deadline)
    if (!(body instanceof Readable)) return { status, headers }
    onTestFinished(() => void body.destroy())
    return { status, headers, stream: body, events: eventsIn(body) }
  }
  /** A new stream, after its first event. */
  const listen = async (time?: number, query = {}) => {
    const { events = expect.fail('There is no stream'), stream } = await open(time, query)
    await events.next()
    return { events, stream }
  }
  /** Waits for the next change. */
  const wait = async () => read({ after: (await read()).json.next, wait: '20' })
  return {
    ...files,
    hash,
    permit,
    read,
    open,
    listen,
    wait,
    after: vi.spyOn(files.stores.history, 'after'),
    change: (path: string) =>
      workflows.start(site, toStoragePath(path), { ...entry, type: 'workflow.created', subject: path }),
    pass: (milliseconds: number) => {
      now += milliseconds
      return vi.advanceTimersByTimeAsync(milliseconds)
    },
  }
}

const expectEnd = async (events: AsyncGenerator<unknown>): Promise<void> => {
  for await (const event of events) expect(event).toMatchObject({ comment: true })
}

test('a listener gets a comment every 15 s, without a read of the history (V-19, V-22)', async () => {
  const { listen, pass, after } = await openLive()
  const { events } = await listen()
  for (let time = 0; time < 4; time++) {
    const next = events.next()
    await pass(heartbeat)
    expect((await next).value).toMatchObject({ comment: true })
  }
  expect(after).not.toHaveBeenCalled()
})

test('a listener can continue after the changes that it does not want (V-19)', async () => {
  const { listen, permit, change, pass, read } = await openLive()
  await permit('history:read')
  const { events } = await listen()
  await change('unwanted.html')
  const next = events.next()
  await pass(heartbeat)
  const { next: id } = (await read()).json
  expect((await next).value).toEqual({ id, comment: true })
})

test('a listener learns how far a long search has come (V-19)', async () => {
  const { listen, change, permit, pass, after } = await openLive()
  await permit('history:read')
  await change('unwanted.html')
  const unwanted = { site, at: 0, type: 'file.stored', subject: 'unwanted.html', actor: 'ann' } as const
  after.mockImplementation(async (_, position, limit) => {
    await yieldTurn()
    return Array.from({ length: limit }, (_, index) => ({ ...unwanted, position: position + 1 + index }))
  })
  const { events } = await listen(20_000, { after: '' })
  const ids: (string | undefined)[] = []
  for (const time of [heartbeat, 5_000]) {
    const next = events.next()
    await pass(time)
    const { value } = await next
    expect(value).toMatchObject({ comment: true })
    ids.push(value?.id)
  }
  expect(ids).toEqual([...new Set(ids)].toSorted())
  await expectEnd(events)
})

test('a stream ends with its position when the time of its request is over (V-19)', async () => {
  const { listen, change, pass, read } = await openLive()
  await change('before.html')
  const { events } = await listen(5_000)
  await pass(5_000)
  const { next: id } = (await read()).json
  expect([(await events.next()).value, (await events.next()).done]).toEqual([{ id, comment: true }, true])
})

test('a listener whose token is revoked hears no more, and the stream ends (V-21)', async () => {
  const { listen, pass, change, stores, hash } = await openLive()
  const { events } = await listen()
  await change('heard.html')
  expect((await events.next()).value?.data).toMatchObject({ subject: 'heard.html' })
  await stores.grants.remove(hash, [])
  await pass(2 * heartbeat)
  await change('secret.html')
  await pass(heartbeat)
  await expectEnd(events)
})

test('a listener that loses a right hears what its other rights cover (V-21, A-47)', async () => {
  const { listen, pass, change, permit } = await openLive()
  const { events } = await listen()
  await permit('history:read', 'files:read:/b')
  await pass(2 * heartbeat)
  await change('a/secret.html')
  await change('b/public.html')
  let { value } = await events.next()
  while (value?.comment) value = (await events.next()).value
  expect(value?.data).toMatchObject({ subject: 'b/public.html' })
})

test('a listener that pauses uses no memory, and gets every change later (V-24)', async () => {
  const { listen, change, pass } = await openLive()
  const { stream, events } = await listen()
  const paths = Array.from({ length: 400 }, (_, index) => `${index}-${'x'.repeat(200)}.html`)
  for (const path of paths) await change(path)
  await pass(0)
  expect(stream?.readableLength).toBeLessThan(40_000)
  const heard: string[] = []
  while (heard.length < paths.length) heard.push((await events.next()).value?.data?.subject)
  expect(heard).toEqual(paths)
})

test('a listener gets a change although reads have failed, with one more read', async () => {
  const { listen, change, pass, after } = await openLive()
  const { events } = await listen()
  for (let failure = 0; failure < 2; failure++) after.mockRejectedValueOnce(new ServiceError('unavailable'))
  for (const path of ['late.html', 'later.html']) await change(path)
  expect(after).toHaveBeenCalledTimes(2)
  const next = events.next()
  await pass(1_000)
  expect((await next).value?.data).toMatchObject({ subject: 'late.html' })
  expect(after).toHaveBeenCalledTimes(3)
})

test('beyond the listeners of a site, streams are refused, waits end (V-23, V-24)', async () => {
  const { open, wait } = await openLive()
  const some = [await open(), await open(), await open()]
  expect(await open()).toMatchObject({ status: 429, headers: { 'Retry-After': '10' } })
  expect((await wait()).json).toEqual({ items: [], next: null })
  some[0]?.stream?.destroy()
  expect((await open()).status).toBe(200)
})

test('all sites together have a limit of listeners (V-24)', async () => {
  const { open } = await openLive({ perSite: 3, inAll: 1 })
  expect([(await open()).status, (await open()).status]).toEqual([200, 429])
})

test('when the service stops, the streams end and nobody can listen (V-24)', async () => {
  const { listen, open, wait, stores } = await openLive()
  const { events } = await listen()
  stores.live.close()
  await expectEnd(events)
  expect([(await open()).status, (await wait()).status]).toEqual([503, 503])
})

test.each(hands)('one read finds a change for all listeners of the site: $name (V-22, V-23)', async ({ open }) => {
  vi.useRealTimers()
  const hand = await open()
  onTestFinished(() => hand.close())
  const { history } = hand.stores
  const [after, watch, ends] = [vi.spyOn(history, 'after'), history.watch, vi.fn()]
  vi.spyOn(history, 'watch').mockImplementationOnce((...wanted) => {
    const end = watch(...wanted)
    return () => {
      ends()
      end()
    }
  })
  const live = createLiveChanges(history, { perSite: 50, inAll: 50 })
  const listeners = await Promise.all(Array.from({ length: 50 }, () => live.listen(site)))
  const changed = listeners.map((listener) => new Promise<void>((resolve) => listener?.watch(resolve)))
  await hand.stores.workflows.start(site, toStoragePath('a.html'), { ...entry, type: 'workflow.created' })
  await Promise.all(changed)
  expect(listeners.map((listener) => listener?.recentAfter(0)?.length)).toEqual(listeners.map(() => 1))
  // On AWS, earlier reads may have found nothing.
  expect(after.mock.calls.length).toBeLessThan(10)
  expect(history.watch).toHaveBeenCalledTimes(1)
  for (const listener of listeners) listener?.[Symbol.dispose]()
  expect(ends).toHaveBeenCalledTimes(1)
})
