import type { Entry, SiteClient } from '../../client/src/index.ts'
import { refuseUnreachable } from '../parts/failure.tsx'
import { mediaKind } from './media-kind.ts'
import { pictureType } from './picture-type.ts'

/** `url` is an object URL of a picture. */
export type Content =
  | { readonly kind: 'text'; readonly text: string; readonly isCut: boolean; readonly isEditable: boolean }
  | { readonly kind: 'picture'; readonly url: string }
  | { readonly kind: 'audio' }
  | { readonly kind: 'video' }
  | { readonly kind: 'none' }

export type ObjectUrls = Pick<typeof URL, 'createObjectURL' | 'revokeObjectURL'>
export type FoundEntry = Omit<Entry, 'contents' | 'cursor'>

/** In bytes: the shown part of a text, the largest text that can be edited, and the largest picture. */
const textShown = 64 * 1024
export const mostEdited = 1_000_000
const largestPicture = 25_000_000

/** Undefined if the bytes are not text. The last character may be incomplete. */
export const asText = (bytes: Uint8Array, isCut: boolean): string | undefined => {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut })
  } catch {
    return undefined
  }
}

export const readContent = async (
  files: SiteClient['files'],
  urls: ObjectUrls,
  path: string,
  { name, size: liveSize, draft: draftInfo }: FoundEntry,
  draft: boolean,
): Promise<Content> => {
  const size = draft ? (draftInfo?.size ?? liveSize) : liveSize
  const media = mediaKind(name)
  if (media !== undefined) return { kind: media }
  const type = pictureType(name)
  if (type !== undefined) {
    if (size > largestPicture) return { kind: 'none' }
    const response = await files.read(path, { draft })
    return {
      kind: 'picture',
      url: urls.createObjectURL(new Blob([await response.arrayBuffer().catch(refuseUnreachable)], { type })),
    }
  }
  const isEditable = !draft && size <= mostEdited
  if (size === 0) return { kind: 'text', text: '', isCut: false, isEditable }
  const range = { first: 0, last: textShown - 1 }
  const isCut = size > textShown
  const response = await files.read(path, { draft, ...(isCut && { range }) })
  const text = asText(new Uint8Array(await response.arrayBuffer().catch(refuseUnreachable)), isCut)
  return text === undefined ? { kind: 'none' } : { kind: 'text', text, isCut, isEditable }
}
