import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import * as config from '../../lib/config/config.ts'

/** The names of all variables that any function reads. */
const askedFor = (): string[] => {
  const names = new Set<string>()
  const environment = new Proxy<NodeJS.ProcessEnv>(
    {},
    {
      get(_, name) {
        if (typeof name === 'string') names.add(name)
        return undefined
      },
    },
  )
  for (const read of Object.values(config)) {
    if (typeof read !== 'function') continue
    try {
      read(environment)
    } catch {
      // Nothing is set, so required variables are missing.
    }
  }
  return [...names].filter((name) => /^[A-Z][A-Z_]*$/.test(name)).sort()
}

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'settings.md'), 'utf8')

/** The first column of the table. */
const described = [...guide.matchAll(/^\| `([A-Z_]+)`(?: \*)? \|/gm)].map(([, name]) => name).sort()

it('the guide describes every setting of the functions, and no others', () => {
  expect(described).toEqual(askedFor())
})
