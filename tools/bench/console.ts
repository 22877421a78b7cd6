import type { Browser, Page } from 'playwright-core'
import { launchBrowser } from '../../test/support/browser.ts'
import { type SpawnedService, startService } from '../../test/support/spawned-service.ts'
import { type Bench, median, type Table, verdict } from './measure/figures.ts'
import { inScratchFolder } from './measure/grounds.ts'

const runs = 5
const entries = 10_000
const filesInRequest = 100
const targets = { firstView: 1000, listing: 300, frame: 50 }

// Scripts for the page, as texts, because the benches are compiled without the types of a browser.
const scripts = {
  // Opens a folder. Returns the milliseconds from the last byte of its list to its first painted row.
  listing: `new Promise((resolve) => {
    location.hash = '#/1001/files/many'
    const look = () => {
      const answer = performance.getEntriesByType('resource').find(({ name }) => name.includes('/storage/many?meta='))
      const row = document.querySelector('[role=grid] .rows a[title^="file "]')
      if (answer && row) requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - answer.responseEnd)))
      else requestAnimationFrame(look)
    }
    look()
  })`,
  // Scrolls through all rows in 300 steps of about 30 rows. Returns the longest time between two frames, in
  // milliseconds.
  scrolling: `new Promise((resolve) => {
    const box = document.querySelector('[role=grid] .rows')
    const step = box.scrollHeight / 300
    let [longest, before, count] = [0, performance.now(), 0]
    const next = (now) => {
      if (count > 1) longest = Math.max(longest, now - before)
      before = now
      if (++count > 300) return resolve(longest)
      box.scrollTop += step
      requestAnimationFrame(next)
    }
    requestAnimationFrame(next)
  })`,
} as const

const fill = async ({ request }: SpawnedService): Promise<void> => {
  for (let first = 0; first < entries; first += filesInRequest) {
    const form = new FormData()
    for (let index = first; index < first + filesInRequest; index++)
      form.append('file', new Blob(['x']), `file ${index}.txt`)
    const { status } = await request('/api/v2/admin/sites/1001/storage/many', {
      method: 'POST',
      body: form,
      headers: {},
    })
    if (status !== 200) throw new Error(`An upload was answered with ${status}.`)
  }
}

// A new context has an empty cache.
const open = async (browser: Browser, { baseUrl, token }: SpawnedService): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  await page.goto(`${baseUrl}/console#token=${token}`, { waitUntil: 'commit' })
  return page
}

const measure = async (page: Page, script: string): Promise<number> => Number(await page.evaluate(script))

const measureAll = async (browser: Browser, service: SpawnedService) => {
  const samples = { firstView: [] as number[], listing: [] as number[], frame: [] as number[] }
  // The first page of a browser loads much that later pages reuse, so it is not measured.
  for (let run = 0; run <= runs; run++) {
    const page = await open(browser, service)
    await page.getByRole('grid').getByRole('row').nth(1).waitFor()
    // In milliseconds since the start of the navigation.
    const firstView = await measure(page, 'performance.now()')
    const listing = await measure(page, scripts.listing)
    const frame = await measure(page, scripts.scrolling)
    await page.context().close()
    if (run === 0) continue
    samples.firstView.push(firstView)
    samples.listing.push(listing)
    samples.frame.push(frame)
  }
  return samples
}

/** Measures how fast the console loads, shows a long list and scrolls through the list, in the browser of the tests. */
export const consoleInBrowser: Bench = () =>
  inScratchFolder(async (scratch): Promise<readonly Table[]> => {
    const service = await startService(scratch)
    const browser = await launchBrowser()
    try {
      await fill(service)
      const { firstView, listing, frame } = await measureAll(browser, service)
      const row = (what: string, samples: readonly number[], target: number) => {
        const value = median(samples)
        return [what, Math.round(value), Math.round(Math.max(...samples)), target, verdict(value <= target)]
      }
      return [
        {
          title: `The console in a browser: ${runs} runs, in ms`,
          columns: ['what', 'median', 'worst', 'target', ''],
          rows: [
            row('first view, nothing in the cache', firstView, targets.firstView),
            row(`${entries} entries, from their last byte to the first row`, listing, targets.listing),
            row('longest frame while scrolling through them', frame, targets.frame),
          ],
        },
      ]
    } finally {
      await browser.close()
      await service.stop()
    }
  })
