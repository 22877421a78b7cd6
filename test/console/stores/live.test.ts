import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { ServiceError, type SiteClient } from '../../../client/src/index.ts'
import { createLive } from '../../../console/page/live.ts'
import { changeWith } from '../../client/support/change.ts'
import { siteOf } from '../support/site.ts'

const changeOf = (id: number) => changeWith({ id: String(id).padStart(3, '0') })

/** A page that follows a site whose history grows. Requests fail with `fault`. */
const openPage = (length: number, fault?: unknown) => {
  const history = Array.from({ length }, (_, index) => changeOf(index + 1))
  const state = { fault, asked: 0, isVisible: true, recorded: [] as string[], report: (_: ServiceError) => {} }
  const events = new EventTarget()
  const happen = (name: 'change' | 'online' | 'visibility') => events.dispatchEvent(new Event(name))
  const read = () => {
    state.asked++
    if (state.fault) throw state.fault
  }
  const client: SiteClient = {
    ...siteOf({}),
    changes: {
      newest: async () => [],
      async *list() {},
      async page({ limit = 500 } = {}) {
        read()
        return { items: history.slice(-limit).toReversed(), next: history.length > limit ? 'more' : undefined }
      },
      async *follow({ after = '', signal, onConnection } = {}) {
        read()
        state.report = (failure) => onConnection?.(failure)
        for (let last = after; ; ) {
          for (const change of history.filter(({ id }) => id > last)) {
            last = change.id
            yield change
          }
          await new Promise((resolve, reject) => {
            events.addEventListener('change', resolve, { once: true })
            signal?.addEventListener('abort', () => reject(signal.reason))
          })
        }
      },
    },
  }
  const live = createLive({
    isVisible: () => state.isVisible,
    onOnline: (listener) => events.addEventListener('online', listener),
    onVisible: (listener) => {
      events.addEventListener('visibility', listener)
      return () => {}
    },
  })
  live.subscribe((changes) => state.recorded.push(...changes.map(({ id }) => id)))
  const end = live.follow(client)
  onTestFinished(end)
  const add = () => {
    history.push(changeOf(history.length + 1))
    happen('change')
  }
  return { state, live, client, add, happen, end }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('one connection reports each change once, also from before the page opened', async () => {
  const { add, state, end } = openPage(30)
  await vi.advanceTimersByTimeAsync(3000)
  expect(state.recorded).toEqual(['022', '023', '024', '025', '026', '027', '028', '029', '030'])
  add()
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(state.recorded.slice(9)).toEqual(['031'])
  end()
  add()
  await vi.advanceTimersByTimeAsync(60_000)
  expect([state.asked, state.recorded.length]).toEqual([2, 10])
})

test('a history that has just begun is reported from its first entry', async () => {
  const { state } = openPage(3)
  await vi.advanceTimersByTimeAsync(3000)
  expect(state.recorded).toEqual(['001', '002', '003'])
})

test('a hidden page sends no requests until the page is visible again', async () => {
  const { add, happen, live, state } = openPage(0)
  await vi.advanceTimersByTimeAsync(0)
  state.isVisible = false
  happen('visibility')
  await vi.advanceTimersByTimeAsync(3000)
  const before = state.asked
  add()
  await vi.advanceTimersByTimeAsync(60_000)
  happen('online')
  expect([state.asked, live.reconnects.value]).toEqual([before, 0])
  state.isVisible = true
  happen('visibility')
  await vi.advanceTimersByTimeAsync(500)
  expect([state.recorded, live.reconnects.value]).toEqual([['001'], 1])
})

test('views read again when the device has a network again', () => {
  const { live, happen } = openPage(0)
  happen('online')
  expect(live.reconnects.value).toBe(1)
})

test('without the script that follows changes, views read again and stay online', async () => {
  const { live } = openPage(1, new TypeError('Failed to fetch dynamically imported module.'))
  await vi.advanceTimersByTimeAsync(120_000)
  expect(live.isOffline.value).toBe(false)
  expect(live.reconnects.value).toBeGreaterThan(2)
})

const unauthorised = new ServiceError({ status: 401, code: 101000, message: 'The token is wrong.' })

test('while the service is unavailable, the page shows this and sends fewer requests', async () => {
  const { live, state } = openPage(1, new ServiceError({ status: 0, code: 0, message: 'No answer came.' }))
  await vi.advanceTimersByTimeAsync(0)
  expect(live.isOffline.value).toBe(true)
  await vi.advanceTimersByTimeAsync(90_000)
  expect(state.asked).toBeLessThan(6)
  expect(live.reconnects.value).toBe(0)
  state.fault = unauthorised
  await vi.advanceTimersByTimeAsync(120_000)
  expect(live.isOffline.value).toBe(false)
  expect(live.reconnects.value).toBe(1)
})

test('a page is offline without an answer, but not after a refusal (K-8)', async () => {
  const { state, live } = openPage(5)
  await vi.advanceTimersByTimeAsync(0)
  const isOfflineAfter = (status: number) => {
    state.report(new ServiceError({ status, code: 0, message: '' }))
    return live.isOffline.value
  }
  expect([429, 0, 403, 503].map(isOfflineAfter)).toEqual([false, true, false, true])
})

test('a page that no longer follows a site is not offline', async () => {
  const { live, end } = openPage(5, new ServiceError({ status: 0, code: 0, message: 'No network.' }))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(live.isOffline.value).toBe(true)
  end()
  expect(live.isOffline.value).toBe(false)
})

test('a page whose token is refused asks again only after a new sign-in (K-6)', async () => {
  const { client, end, live, state } = openPage(1, unauthorised)
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(state.asked).toBe(1)
  end()
  state.fault = undefined
  onTestFinished(live.follow(client))
  await vi.advanceTimersByTimeAsync(3000)
  expect(state.recorded).toEqual(['001'])
})
