import type { Outage, Random } from './outage.ts'

interface Write {
  readonly index: number
  readonly at: number
  /** Undefined if the record changes the size of the file to `at`. */
  readonly bytes: Buffer | undefined
}

export interface Content {
  readonly kind: 'file'
  readonly index: number
  /** The bytes that are on the disk, and the writes since the last flush. */
  flushed: Buffer
  pending: Write[]
}

export const createContent = (index: number): Content => ({
  kind: 'file',
  index,
  flushed: Buffer.alloc(0),
  pending: [],
})

const copyOf = (content: Buffer, size = content.length): Buffer => {
  const copy = Buffer.alloc(size)
  content.copy(copy)
  return copy
}

/** Unwritten bytes are zeros. Allocates memory in advance, because the database file grows a little with each write. */
const grow = (content: Buffer, size: number): Buffer => {
  if (size <= content.buffer.byteLength) return Buffer.from(content.buffer, 0, size)
  const larger = Buffer.from(new ArrayBuffer(2 * size), 0, size)
  content.copy(larger)
  return larger
}

const resize = (content: Buffer, size: number): Buffer =>
  size > content.length ? grow(content, size) : copyOf(content, size)

const place = (content: Buffer, at: number, bytes: Buffer): Buffer => {
  const whole = at + bytes.length > content.length ? grow(content, at + bytes.length) : content
  bytes.copy(whole, at)
  return whole
}

const apply = (content: Buffer, { at, bytes }: Write): Buffer =>
  bytes ? place(content, at, bytes) : resize(content, at)

/** When a flush has ended, all writes from before its beginning are on the disk. */
export const flushContent = (file: Content, begun: number): void => {
  file.flushed = file.pending.filter(({ index }) => index < begun).reduce(apply, file.flushed)
  file.pending = file.pending.filter(({ index }) => index >= begun)
}

/** Each sector is kept, dropped, or torn. A torn sector keeps only its first bytes. */
const writeSectors = (content: Buffer, at: number, bytes: Buffer, random: Random, sector: number): Buffer => {
  let whole = content
  for (let from = 0; from < bytes.length; ) {
    const end = Math.min((Math.floor((at + from) / sector) + 1) * sector - at, bytes.length)
    const fate = random.below(5)
    const kept = fate < 2 ? end : fate < 4 ? from : from + random.below(end - from)
    if (kept > from) whole = place(whole, at + from, bytes.subarray(from, kept))
    from = end
  }
  return whole
}

const sizeOf = ({ flushed, pending }: Content): number =>
  pending.reduce((size, { at, bytes }) => (bytes ? Math.max(size, at + bytes.length) : at), flushed.length)

/** The bytes that the outage leaves. */
export const contentAfter = (file: Content, { fate, random }: Outage): Buffer => {
  if (fate === 'lost' || file.pending.length === 0) return file.flushed
  let content = copyOf(file.flushed)
  if (fate === 'kept') return file.pending.reduce(apply, content)
  const sector = random.pick([512, 4096])
  for (const write of file.pending) {
    if (write.bytes) content = writeSectors(content, write.at, write.bytes, random, sector)
    else if (random.below(2) === 0) content = apply(content, write)
  }
  // The new size may reach the disk before the bytes.
  const size = sizeOf(file)
  return random.below(2) === 0 && size > content.length ? resize(content, size) : content
}
