import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { fromBufferPromise } from 'yauzl'
import { formatZip } from '../../../client/src/zip-format.ts'

test('a zip of 65,536 entries is complete, with Zip64 records (T-63)', async () => {
  const count = 65_536
  const items = async function* () {
    for (let index = 0; index < count; index++) yield { name: String(index) }
  }
  const bytes = await buffer(formatZip(items(), count))
  expect(bytes.readUInt32LE(bytes.length - 98)).toBe(0x06064b50)
  expect((await fromBufferPromise(bytes)).entryCount).toBe(count)
})
