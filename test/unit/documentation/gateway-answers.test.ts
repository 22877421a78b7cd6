import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test.each(['fields', 'categories', 'storage'])('The README of %s describes answers of the gateway (E-5)', (group) => {
  const text = readFileSync(`functions/${group}/README.md`, 'utf8')
  const line = text.split('\n').find((one) => one.includes('raw `{`, `}` or `|`'))
  for (const named of ['10 MB', '413', '431', '400']) expect(line).toContain(named)
})
