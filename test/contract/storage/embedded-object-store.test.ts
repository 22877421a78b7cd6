import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { openEmbeddedObjectStore } from '../../../local/objects/embedded-object-store.ts'
import { keptContents } from '../../support/kept-contents.ts'
import { describeObjectStore } from './object-store.suite.ts'

const variants = [
  ['safe from power cuts', { durable: true }],
  ['without fsync', { durable: false }],
  ['with every content in a file', { durable: true, smallContent: -1 }],
] as const

for (const [name, options] of variants) {
  describeObjectStore(`The embedded object store, ${name}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'objects-'))
    const store = await openEmbeddedObjectStore(folder, options)
    return {
      store,
      comparesVersions: true,
      leftovers: async () => keptContents(folder).leftovers.length,
      async close() {
        store.close()
        rmSync(folder, { recursive: true })
      },
    }
  })
}

it('The embedded object store sweeps what a killed process left, and keeps the rest, when it is opened', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'objects-'))
  const contents = new Map([
    ['live/1/small', 'few bytes'],
    ['live/1/large', 'many bytes'.repeat(10_000)],
  ])
  const first = await openEmbeddedObjectStore(folder, { durable: false })
  for (const [key, content] of contents) {
    const staged = await first.stage(Readable.from([Buffer.from(content)]), { key, contentType: 'a/b' })
    await first.place([{ kind: 'put', key, staged }], [])
  }
  first.close()
  writeFileSync(join(folder, 'blobs', 'f'.repeat(32)), 'left behind')
  const index = new DatabaseSync(join(folder, 'index.db'))
  index.prepare('INSERT INTO contents (name, bytes) VALUES (?, ?)').run('e'.repeat(32), Buffer.from('left behind'))
  index.close()

  const second = await openEmbeddedObjectStore(folder, { durable: false })
  const { kept, referenced } = keptContents(folder)
  expect(new Set<unknown>(kept)).toEqual(referenced)
  for (const [key, content] of contents) {
    const object = await second.read(key, ({ size }) => ({ first: 0, last: size - 1 }))
    expect(Buffer.concat((await object?.body?.toArray()) ?? []).toString()).toBe(content)
  }
  second.close()
  rmSync(folder, { recursive: true })
})
