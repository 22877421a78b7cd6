import { partLength } from '../content.ts'
import { storageRefused } from '../refusals.ts'
import type { DirectParts, StoredPart, Upload, WantedPart } from './upload.ts'

export const requireDirectParts = (parts: DirectParts | undefined): DirectParts => {
  if (parts) return parts
  throw storageRefused('This installation offers no addresses of parts. Send the file as a resumable upload (tus 1.0).')
}

export const requireParts = (length: number): void => {
  if (length > partLength) return
  throw storageRefused(`A file of up to ${partLength} bytes has no parts. Send it by PUT or as a resumable upload.`)
}

const countOf = (length: number): number => Math.ceil(length / partLength)

const sizeOf = (number: number, length: number): number => Math.min(partLength, length - (number - 1) * partLength)

export const wantedParts = ({ length }: Upload, first: number, digests: readonly string[]): readonly WantedPart[] => {
  const last = countOf(length ?? 0)
  if (first + digests.length - 1 > last)
    throw storageRefused(`The upload has ${last} parts, from 1 to ${last}. Request addresses of these parts only.`)
  return digests.map((sha256, index) => ({ number: first + index, sha256 }))
}

export const wholeParts = (stored: readonly StoredPart[], { length }: Upload): readonly StoredPart[] =>
  stored.filter(({ number, size }) => size === sizeOf(number, length ?? 0))

/** The entity tags of the parts. Errors: storageRefused, which names a missing part and leaves the upload open. */
export const tagsOf = (stored: readonly StoredPart[], upload: Upload): readonly string[] => {
  const parts = new Map(wholeParts(stored, upload).map(({ number, tag }) => [number, tag]))
  return Array.from({ length: countOf(upload.length ?? 0) }, (_, index) => {
    const tag = parts.get(index + 1)
    if (tag !== undefined) return tag
    const size = sizeOf(index + 1, upload.length ?? 0)
    throw storageRefused(
      `Part ${index + 1} is missing. Request its address, send its ${size} bytes, then complete the upload.`,
    )
  })
}
