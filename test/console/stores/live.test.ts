import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { ServiceError, type SiteClient } from '../../../client/src/index.ts'
import { createLive } from '../../../console/page/live.ts'
import { changeWith } from '../../client/support/change.ts'
import { siteOf } from '../support/site.ts'

const changeOf = (id: number) => changeWith({ id: String(id).padStart(3, '0') })

/** A site with a growing history. */
const createSite = (length: number) => {
  const history = Array.from({ length }, (_, index) => changeOf(index + 1))
  let fault: unknown
  let asked = 0
  let wake = () => {}
  const read = () => {
    asked++
    if (fault) throw fault
  }
  const client: SiteClient = {
    ...siteOf({}),
    changes: {
      async newest(count) {
        read()
        return history.slice(-count)
      },
      async *list() {},
      page: async () => ({ items: [], next: undefined }),
      async *follow({ after = '', signal } = {}) {
        read()
        for (let last = after; ; ) {
          for (const change of history.filter(({ id }) => id > last)) {
            last = change.id
            yield change
          }
          await new Promise<void>((resolve, reject) => {
            wake = resolve
            signal?.addEventListener('abort', () => reject(signal.reason))
          })
        }
      },
    },
  }
  return {
    client,
    asked: () => asked,
    fail: (error: unknown) => {
      fault = error
    },
    add: () => {
      history.push(changeOf(history.length + 1))
      wake()
    },
  }
}

const createPage = () => {
  const recorded: string[] = []
  const listeners: (() => unknown)[] = []
  const seen = {
    isVisible: true,
    show: () => {
      for (const listener of listeners) listener()
    },
    online: () => {},
  }
  const live = createLive({
    isVisible: () => seen.isVisible,
    onOnline: (listener) => {
      seen.online = listener
    },
    onVisible: (listener) => {
      listeners.push(listener)
      return () => {}
    },
  })
  live.subscribe((changes) => recorded.push(...changes.map(({ id }) => id)))
  return { live, recorded, seen }
}

/** A page that follows a site with this many changes, whose requests fail with `fault`. */
const openPage = (length: number, fault?: unknown) => {
  const site = createSite(length)
  site.fail(fault)
  const page = createPage()
  const end = page.live.follow(site.client)
  onTestFinished(end)
  return { ...site, ...page, end }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('one connection reports each change once, also from before the page opened', async () => {
  const { add, asked, recorded, end } = openPage(30)
  await vi.advanceTimersByTimeAsync(3000)
  expect(recorded).toEqual(['022', '023', '024', '025', '026', '027', '028', '029', '030'])
  add()
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(recorded.slice(9)).toEqual(['031'])
  end()
  add()
  await vi.advanceTimersByTimeAsync(60_000)
  expect([asked(), recorded.length]).toEqual([2, 10])
})

test('a history that has just begun is reported from its first entry', async () => {
  const { recorded } = openPage(3)
  await vi.advanceTimersByTimeAsync(3000)
  expect(recorded).toEqual(['001', '002', '003'])
})

test('a hidden page sends no requests until the page is visible again', async () => {
  const { add, asked, live, recorded, seen } = openPage(0)
  await vi.advanceTimersByTimeAsync(0)
  seen.isVisible = false
  seen.show()
  await vi.advanceTimersByTimeAsync(3000)
  const before = asked()
  add()
  await vi.advanceTimersByTimeAsync(60_000)
  seen.online()
  expect([asked(), live.reconnects.value]).toEqual([before, 0])
  seen.isVisible = true
  seen.show()
  await vi.advanceTimersByTimeAsync(500)
  expect([recorded, live.reconnects.value]).toEqual([['001'], 1])
})

test('views read again when the device has a network again', () => {
  const { live, seen } = createPage()
  seen.online()
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
  const { asked, fail, live } = openPage(1, new ServiceError({ status: 0, code: 0, message: 'No answer came.' }))
  await vi.advanceTimersByTimeAsync(0)
  expect(live.isOffline.value).toBe(true)
  await vi.advanceTimersByTimeAsync(90_000)
  expect(asked()).toBeLessThan(6)
  expect(live.reconnects.value).toBe(0)
  fail(unauthorised)
  await vi.advanceTimersByTimeAsync(120_000)
  expect(live.isOffline.value).toBe(false)
  expect(live.reconnects.value).toBe(1)
})

test('a page whose token is refused asks again only after a new sign-in (K-6)', async () => {
  const { asked, client, end, fail, live, recorded } = openPage(1, unauthorised)
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(asked()).toBe(1)
  end()
  fail(undefined)
  onTestFinished(live.follow(client))
  await vi.advanceTimersByTimeAsync(3000)
  expect(recorded).toEqual(['001'])
})
