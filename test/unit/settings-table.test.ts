import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import * as config from '../../lib/config/config.ts'

/** The names of all variables that are asked for, whoever reads them. */
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
      // Nothing is set: what must be is missed.
    }
  }
  return [...names].filter((name) => /^[A-Z][A-Z_]*$/.test(name)).sort()
}

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'settings.md'), 'utf8')

/** The first cells of the table. */
const described = [...guide.matchAll(/^\| `([A-Z_]+)`(?: \*)? \|/gm)].map(([, name]) => name).sort()

it('the guide describes every setting of the functions, and none that there is not', () => {
  expect(described).toEqual(askedFor())
})
