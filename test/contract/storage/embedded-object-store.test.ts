import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { openEmbeddedObjectStore } from '../../../local/objects/embedded-object-store.ts'
import { describeObjectStore } from './object-store.suite.ts'

const referenced = (folder: string): Set<unknown> => {
  const database = new DatabaseSync(join(folder, 'index.db'), { readOnly: true })
  const rows = database.prepare('SELECT blob FROM objects').all()
  database.close()
  return new Set(rows.map(({ blob }) => blob))
}

for (const durable of [true, false]) {
  describeObjectStore(`The embedded object store, ${durable ? 'safe from power cuts' : 'without fsync'}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'objects-'))
    const store = await openEmbeddedObjectStore(folder, { durable })
    return {
      store,
      comparesVersions: true,
      async leftovers() {
        const rows = referenced(folder)
        return readdirSync(join(folder, 'blobs')).filter((name) => !rows.has(name)).length
      },
      async close() {
        store.close()
        rmSync(folder, { recursive: true })
      },
    }
  })
}

it('The embedded object store sweeps what a killed process left, and keeps the rest, when it is opened', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'objects-'))
  const first = await openEmbeddedObjectStore(folder, { durable: false })
  const staged = await first.stage(
    (async function* () {
      yield Buffer.from('kept')
    })(),
    { key: 'live/1/a', contentType: 'a/b' },
  )
  await first.place([{ kind: 'put', key: 'live/1/a', staged }], [])
  first.close()
  writeFileSync(join(folder, 'blobs', 'f'.repeat(32)), 'left behind')

  const second = await openEmbeddedObjectStore(folder, { durable: false })
  expect(readdirSync(join(folder, 'blobs'))).toHaveLength(1)
  const object = await second.read('live/1/a', ({ size }) => ({ first: 0, last: size - 1 }))
  expect(Buffer.concat((await object?.body?.toArray()) ?? []).toString()).toBe('kept')
  second.close()
  rmSync(folder, { recursive: true })
})
