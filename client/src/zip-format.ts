import { makeZip } from 'client-zip'

interface ZippedFile {
  readonly name: string
  readonly size: number
  readonly modified?: Date | undefined
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A folder has no bytes. */
export type ZipItem = ZippedFile | { readonly name: string }

const zip64Length = 76
const zip64Mark = 0x504b0606
/** The largest number that fits into the field for the number of items. */
const mostCounted = 0xfffe

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

/** The Zip64 records with the number of items, before the last record (APPNOTE.TXT, sections 4.3.14 and 4.3.15). */
const countRecords = (items: number, last: Uint8Array): Uint8Array => {
  const [directorySize, directoryStart] = [viewOf(last).getUint32(12, true), viewOf(last).getUint32(16, true)]
  const bytes = new Uint8Array(zip64Length)
  const view = viewOf(bytes)
  view.setUint32(0, zip64Mark)
  view.setBigUint64(4, 44n, true)
  view.setUint16(12, 45, true)
  view.setUint16(14, 45, true)
  view.setBigUint64(24, BigInt(items), true)
  view.setBigUint64(32, BigInt(items), true)
  view.setBigUint64(40, BigInt(directorySize), true)
  view.setBigUint64(48, BigInt(directoryStart), true)
  view.setUint32(56, 0x504b0607)
  view.setBigUint64(64, BigInt(directoryStart + directorySize), true)
  view.setUint32(72, 1, true)
  return bytes
}

const isZip64 = (chunk: Uint8Array | undefined): boolean =>
  chunk?.length === zip64Length && viewOf(chunk).getUint32(0) === zip64Mark

/** client-zip 2.5.1 writes Zip64 records for large zips, but not for zips with many small files. */
const withCount = (items: number): TransformStream<Uint8Array, Uint8Array> => {
  let before: Uint8Array | undefined
  let last: Uint8Array | undefined
  return new TransformStream({
    transform(chunk, controller) {
      if (last) controller.enqueue(last)
      before = last
      last = chunk
    },
    flush(controller) {
      if (!last) return
      if (!isZip64(before)) controller.enqueue(countRecords(items, last))
      controller.enqueue(last)
    },
  })
}

/** The bytes of a zip without compression. Fails with the first failure of an item. */
export const formatZip = (items: AsyncIterable<ZipItem>, count: number): ReadableStream<Uint8Array> => {
  const rows = async function* () {
    for await (const item of items) {
      yield 'bytes' in item
        ? { name: item.name, size: item.size, lastModified: item.modified, input: item.bytes }
        : { name: item.name }
    }
  }
  const zip = makeZip(rows(), { buffersAreUTF8: true })
  const reader = (count > mostCounted ? zip.pipeThrough(withCount(count)) : zip).getReader()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    // client-zip rejects a cancellation before the first file and after the last file.
    cancel: (reason) => reader.cancel(reason).catch(() => {}),
  })
}
