import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { importRecords } from '../../admin/commands/import.ts'
import type { RawRecord } from '../../admin/records/read-records.ts'
import { createCategoryStores } from '../../lib/aws/dynamodb/category-stores.ts'
import { createWebForms } from '../../lib/aws/dynamodb/web-forms.ts'
import type { SiteId } from '../../lib/core/ids.ts'
import { openMachine } from '../../lib/machine/machine.ts'
import { entry, unrecorded } from '../../test/support/history.ts'
import { type Bench, type Table, verdict } from './measure/figures.ts'
import { inScratchFolder, onTables } from './measure/grounds.ts'
import { memoryOf } from './measure/measured-process.ts'
import { meter } from './measure/meter.ts'

const site = 1001 as SiteId
const many = 200_000
const targets = { seconds: 60, mebibytes: 256 }

const body = `<p>${'It was a day like any other. '.repeat(35)}</p>`
const categories = 50

// Twenty records have ten news items with a text of 1 KB, two blogs and eight links.
function* recordsOf(count: number): Generator<object> {
  for (let id = 1; id <= categories; id++) yield { kind: 'category', id, name: `Category ${id}` }
  const news = Math.floor((count - categories) * 0.5)
  const blogs = Math.floor((count - categories) * 0.1)
  for (let id = 1; id <= news; id++) yield { kind: 'news', id, subject: `News of day ${id}`, body, weight: id % 100 }
  for (let id = 1; id <= blogs; id++) yield { kind: 'blog', id, blogName: `Blog ${id}` }
  for (let index = 0; index < count - categories - news - blogs; index++) {
    const categoryId = 1 + Math.floor((index * categories) / count)
    yield { kind: 'link', type: 'news', categoryId, objectId: 1 + (index % news) }
  }
}

const writeRecords = async (file: string): Promise<void> => {
  const out = createWriteStream(file)
  for (const record of recordsOf(many)) {
    if (!out.write(`${JSON.stringify(record)}\n`)) await once(out, 'drain')
  }
  await once(out.end(), 'close')
}

// In milliseconds: the time between two readings of the memory.
const interval = 20

/** Runs `site-admin`. Returns seconds, the peak of its memory in MiB, and its output. */
const measure = async (args: readonly string[]) => {
  const begun = performance.now()
  const child = spawn(process.execPath, ['admin/main.js', '--json', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const printed = text(child.stdout)
  const memory = memoryOf(child.pid)
  let peak = 0
  const timer = setInterval(() => {
    try {
      peak = Math.max(peak, memory.peak())
    } catch {
      // The process has just ended, so its memory can no longer be read.
    }
  }, interval)
  const [status] = await once(child, 'exit')
  clearInterval(timer)
  const seconds = (performance.now() - begun) / 1000
  if (status !== 0) throw new Error(`site-admin ${args.join(' ')} ended with status ${status}: ${await printed}`)
  return { seconds, peak }
}

const measureOneMachine = (): Promise<Table> =>
  inScratchFolder(async (folder) => {
    const directory = join(folder, 'data')
    const file = join(folder, 'records.jsonl')
    const { stores, close } = await openMachine(directory, { role: 'service' })
    await stores.sites.createSite({ id: site, name: 'Bench', dataCentre: 'us', renderingEngine: true }, entry)
    await close()
    await writeRecords(file)
    const onDirectory = ['--data-dir', directory] as const
    const runs = [
      ['import into an empty site', ['import', file, '--site', String(site)]],
      ['import of the same file again', ['import', file, '--site', String(site)]],
      ['import of the same file with --replace', ['import', file, '--site', String(site), '--replace']],
      ['export', ['export', '--site', String(site), '--out', join(folder, 'exported.jsonl')]],
    ] as const
    const rows: string[][] = []
    for (const [name, args] of runs) {
      const { seconds, peak } = await measure([...onDirectory, ...args])
      const met = verdict(seconds <= targets.seconds && peak <= targets.mebibytes)
      rows.push([name, seconds.toFixed(1), peak.toFixed(0), `≤ ${targets.seconds}, ≤ ${targets.mebibytes}: ${met}`])
    }
    return {
      title: `${many.toLocaleString('en')} records on one machine, each change on the disk`,
      columns: ['command', 's', 'peak of memory, MiB', 'targets'],
      rows,
    }
  })

const few = 2_000

async function* rawRecords(): AsyncGenerator<RawRecord> {
  let line = 0
  for (const record of recordsOf(few)) yield { line: ++line, text: JSON.stringify(record) }
}

const countOnAws = (): Promise<Table> =>
  onTables(async (dynamodb) => {
    const consumed = meter(dynamodb)
    const stores = {
      webForms: createWebForms({ dynamodb, table: 'webForms', record: unrecorded }),
      ...createCategoryStores({
        dynamodb,
        contentTable: 'content',
        categoryLinksTable: 'categoryLinks',
        record: unrecorded,
      }),
    }
    const rows: string[][] = []
    for (const name of ['into an empty site', 'the same again']) {
      await importRecords(rawRecords(), site, stores)
      const { reads, readUnits, writes, writeUnits } = consumed()
      rows.push([name, ...[reads, readUnits, writes, writeUnits].map((figure) => figure.toFixed(0))])
    }
    return {
      title: `An import of ${few.toLocaleString('en')} records on AWS, without entries of the history`,
      columns: ['import', 'reads', 'RCU', 'writes', 'WCU'],
      rows,
    }
  })

export const importing: Bench = async () => [await measureOneMachine(), await countOnAws()]
