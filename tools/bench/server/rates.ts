import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { fieldTypes } from '../../../lib/fields/web-forms.ts'
import { atLeast, median, type Table, verdict } from '../measure/figures.ts'
import { startMeasured } from '../measure/measured-process.ts'
import { type BenchedService, startService, type Tree, trees } from '../measure/trees.ts'

const connections = 16
const seconds = 4
const rounds = 3
const content = 'x'.repeat(4096)

const v1 = '/api/v1/admin/sites/current/webforms/1/fields/system'
const v2 = '/api/v2/admin/sites/current/storage'
const v3 = '/webresources/api/v3/sites/current/categories/1/news'

interface Subject {
  readonly name: string
  readonly path: string
  /** Adds a unique number to the end of the path of each request. */
  readonly numbered?: true
  /** The lowest acceptable rate, as a fraction of the rate of the bare server. */
  readonly target: number | undefined
}

export const reads: readonly Subject[] = [
  { name: '/health', path: '/health', target: undefined },
  { name: 'list of 33 fields', path: v1, target: 0.12 },
  { name: 'list of 10 news', path: v3, target: 0.07 },
  // Each unknown field is another key of the cache, so no answer comes from the cache.
  { name: 'list of 10 news, each time another one', path: `${v3}?fields=`, numbered: true, target: undefined },
  { name: '?meta of a folder of 100', path: `${v2}/folder?meta`, target: 0.04 },
  { name: 'GET of a 4 KiB file', path: `${v2}/folder/f0.txt`, target: 0.1 },
]

/** The average number of requests per second. Throws an Error after any answer other than 200. */
const rateOf = async (options: Omit<autocannon.Options, 'connections' | 'duration'>): Promise<number> => {
  const result = await autocannon({ connections, duration: seconds, ...options })
  if (result.non2xx + result.errors > 0)
    throw new Error(`${options.url}: ${result.non2xx} refused, ${result.errors} failed`)
  return result.requests.average
}

export const prepare = async ({ baseUrl, token }: BenchedService): Promise<void> => {
  const send = async (method: string, path: string, body: string, type: string) => {
    const headers = { Authorization: token, 'Content-Type': type }
    const answer = await fetch(`${baseUrl}${path}`, { method, headers, body })
    // The form of the demo already has some of the types.
    if (!answer.ok && answer.status !== 403)
      throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  }
  for (const id of fieldTypes.keys()) {
    await send('POST', v1, JSON.stringify({ type: { id }, mandatory: false }), 'application/json')
  }
  for (let file = 0; file < 100; file++) await send('PUT', `${v2}/folder/f${file}.txt`, content, 'text/plain')
}

/** The number of 4 KiB writes per second that the disk can flush. */
const fsyncsPerSecond = (): number => {
  const folder = mkdtempSync(join(tmpdir(), 'site-admin-bench-'))
  const file = openSync(join(folder, 'file'), 'w')
  const until = performance.now() + 1_000
  let count = 0
  for (; performance.now() < until; count++) {
    writeSync(file, content, (count % 64) * content.length)
    fdatasyncSync(file)
  }
  closeSync(file)
  rmSync(folder, { recursive: true })
  return count
}

const loadOf = ({ path, numbered }: Subject): Partial<autocannon.Options> => {
  let number = 0
  return numbered ? { requests: [{ setupRequest: (request) => ({ ...request, path: `${path}${number++}` }) }] } : {}
}

const measureReads = async (tree: Tree, service: BenchedService, bareUrl: string) => {
  const rows: (string | number)[][] = []
  for (const subject of reads) {
    const { name, path, target } = subject
    const ratios: number[] = []
    const rates: number[] = []
    for (let round = 0; round < rounds; round++) {
      const bare = await rateOf({ url: bareUrl })
      const headers = { Authorization: service.token }
      const rate = await rateOf({ url: `${service.baseUrl}${path}`, headers, ...loadOf(subject) })
      rates.push(rate)
      ratios.push(rate / bare)
    }
    const ratio = median(ratios)
    const judged = target === undefined ? ['', ''] : atLeast(ratio, target)
    rows.push([tree.name, name, Math.round(median(rates)), ratio.toFixed(3), ...judged])
  }
  return rows
}

const measureWrites = async (tree: Tree, { baseUrl, token }: BenchedService) => {
  let next = 0
  const rates: number[] = []
  // The speed of a shared disk varies by a factor of two, so it is measured right before and after each run.
  const fsyncs: number[] = [fsyncsPerSecond()]
  for (let round = 0; round < rounds; round++) {
    const rate = await rateOf({
      url: baseUrl,
      requests: [
        {
          method: 'PUT',
          headers: { Authorization: token, 'Content-Type': 'text/plain' },
          body: content,
          setupRequest: (request) => ({ ...request, path: `${v2}/written/${next++ % 50_000}.txt` }),
        },
      ],
    })
    rates.push(rate)
    fsyncs.push(fsyncsPerSecond())
  }
  const target = Math.min(2_000, 0.3 * median(fsyncs))
  const rate = median(rates)
  const name = `PUT of 4 KiB to different files (the disk: ${Math.round(median(fsyncs))} fsyncs/s)`
  return [tree.name, name, Math.round(rate), '', `>= ${Math.round(target)}/s`, verdict(rate >= target)]
}

/** Measures requests per second. The runs alternate with those of a bare server in its own process. */
export const measureRates = async (): Promise<Table> => {
  const bare = await startMeasured('tools/bench/bare-server.ts', [])
  const { baseUrl: bareUrl } = JSON.parse(bare.line) as { baseUrl: string }
  const rows: (string | number)[][] = []
  try {
    rows.push(['', 'bare server', Math.round(await rateOf({ url: bareUrl })), 1, '', ''])
    for (const tree of trees()) {
      const service = await startService(tree)
      try {
        await prepare(service)
        rows.push(...(await measureReads(tree, service, bareUrl)), await measureWrites(tree, service))
      } finally {
        await service.stop()
      }
    }
  } finally {
    await bare.stop()
  }
  return {
    title: `Requests a second at ${connections} connections (median of ${rounds} runs of ${seconds} s)`,
    columns: ['tree', 'request', 'requests/s', 'part of the bare rate', 'target', 'verdict'],
    rows,
  }
}
