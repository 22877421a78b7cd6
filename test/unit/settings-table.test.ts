import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { settingsOf } from '../../lib/config/config.ts'

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'settings.md'), 'utf8')

/** The readers that the page calls by another name. */
const readersNamed: Readonly<Record<string, readonly string[]>> = {
  operations: ['access', 'fields', 'categories', 'storage', 'stream', 'webhooks'],
  '`npm start`': ['machine'],
}

it('the guide describes every setting with the functions that read it, and no others', () => {
  const described = [...guide.matchAll(/^\| `([A-Z_]+)`(?: \*)? \| ([^|]*) \|/gm)].flatMap(([, name, readers = '']) =>
    readers.split(', ').flatMap((reader) => (readersNamed[reader] ?? [reader]).map((one) => `${name}: ${one}`)),
  )
  const read = Object.entries(settingsOf).flatMap(([reader, settings]) =>
    Object.values(settings).map(({ variable }) => `${variable}: ${reader === 'listening' ? 'stream' : reader}`),
  )
  expect(described.sort()).toEqual(read.sort())
})
