import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { fromBufferPromise } from 'yauzl'

/** The texts of a zip by name. Throws an Error if the zip is incomplete, or if the bytes of a file are damaged. */
export const readZip = async (bytes: Uint8Array): Promise<Readonly<Record<string, string>>> => {
  const zip = await fromBufferPromise(Buffer.from(bytes))
  const texts: Record<string, string> = {}
  for await (const entry of zip.eachEntry()) {
    const content = entry.fileName.endsWith('/')
      ? Buffer.alloc(0)
      : await buffer(await zip.openReadStreamPromise(entry))
    if (crc32(content) !== entry.crc32) throw new Error(`The bytes of ${entry.fileName} are damaged.`)
    texts[entry.fileName] = content.toString('latin1')
  }
  return texts
}
