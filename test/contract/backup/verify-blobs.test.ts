import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openBlobVerifier } from '../../../lib/machine/check/verify-blobs.ts'
import { createFingerprint } from '../../../lib/storage/content.ts'
import { messages } from '../../support/messages.ts'
import { test } from '../../support/test.ts'

const size = 9 * 1024 * 1024

for (const [where, withoutThreads] of [
  ['in the main thread', size * 10],
  ['in other threads', 0],
] as const) {
  test(`verifying blobs ${where} finds short, different and missing blobs`, async ({ directory }) => {
    const bytes = Buffer.alloc(size, 'x')
    const making = createFingerprint()
    making.update(bytes)
    const content = { size, fingerprint: making.digest() }
    const path = (name: string) => join(directory, name)
    for (const name of ['whole', 'short', 'other']) writeFileSync(path(name), bytes)
    truncateSync(path('short'), 100)
    writeFileSync(path('other'), Buffer.from('y'), { flag: 'r+' })

    await using verifier = openBlobVerifier(withoutThreads)
    const names = ['whole', 'short', 'other', 'missing', 'whole']
    expect(await Promise.all(names.map((name) => verifier.faultOf(path(name), content)))).toEqual([
      undefined,
      messages.check.size(100, size),
      messages.check.bytesDiffer,
      messages.check.missing,
      undefined,
    ])
    expect(await verifier.faultOf(path('other'), { size, fingerprint: null })).toBeUndefined()
  })
}
