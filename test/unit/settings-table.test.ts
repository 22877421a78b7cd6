import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { settingsOf } from '../../lib/config/config.ts'

/** The names of all variables that any function reads. */
const askedFor = (): string[] => {
  const names = Object.values(settingsOf).flatMap((settings) => Object.values(settings).map(({ variable }) => variable))
  return [...new Set(names)].sort()
}

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'settings.md'), 'utf8')

/** The first column of the table. */
const described = [...guide.matchAll(/^\| `([A-Z_]+)`(?: \*)? \|/gm)].map(([, name]) => name).sort()

it('the guide describes every setting of the functions, and no others', () => {
  expect(described).toEqual(askedFor())
})
