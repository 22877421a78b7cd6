import type { FolderContent, SiteClient } from '../../client/src/index.ts'
import { pictureType } from './picture-type.ts'

/** In bytes. */
const largestPicture = 2_000_000
/** In pixels: the largest picture that is decoded, and the longer side of a thumbnail. */
const mostPixels = 40_000_000
const longestSide = 240
const mostKept = 500
const mostAtOnce = 4

type Pictured = Pick<FolderContent, 'name' | 'type' | 'size' | 'lastModified'>

export const hasThumbnail = ({ name, type, size }: Pictured): boolean =>
  type === 'file' && size > 0 && size <= largestPicture && pictureType(name) !== undefined

/** Object URLs by the state of a file, least recently used first. */
const kept = new Map<string, string>()
const waiting: (() => void)[] = []
let running = 0

const keep = (key: string, url: string): string => {
  kept.delete(key)
  kept.set(key, url)
  for (const [oldest, old] of kept) {
    if (kept.size <= mostKept) break
    kept.delete(oldest)
    URL.revokeObjectURL(old)
  }
  return url
}

const load = (url: string): Promise<HTMLImageElement> =>
  new Promise((resolve, reject) => {
    const picture = new Image()
    picture.onload = () => resolve(picture)
    picture.onerror = reject
    picture.src = url
  })

/** Reads the size before the browser decodes the pixels. */
const draw = (picture: HTMLImageElement): Promise<Blob> => {
  // A vector picture may have no size.
  const [width, height] = [picture.naturalWidth || longestSide, picture.naturalHeight || longestSide]
  if (width * height > mostPixels) return Promise.reject()
  const scale = Math.min(1, longestSide / Math.max(width, height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(width * scale))
  canvas.height = Math.max(1, Math.round(height * scale))
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height)
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject()), 'image/webp', 0.8)
  })
}

const make = async (client: SiteClient, path: string, signal: AbortSignal): Promise<string> => {
  const response = await client.files.read(path, { range: { first: 0, last: largestPicture - 1 }, signal })
  const type = pictureType(path) ?? ''
  const source = URL.createObjectURL(new Blob([await response.arrayBuffer()], { type }))
  try {
    return URL.createObjectURL(await draw(await load(source)))
  } finally {
    URL.revokeObjectURL(source)
  }
}

/** Makes the thumbnail of the newest request first, because the tile of that thumbnail is visible. */
const takeTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  if (running < mostAtOnce) running++
  else await new Promise<void>((resolve) => waiting.push(resolve))
  try {
    return await work()
  } finally {
    const next = waiting.pop()
    if (next) next()
    else running--
  }
}

/**
 * Returns the URL of a small picture of the file. Rejects without a reason if no picture can be drawn. Each state of the
 * file needs only one thumbnail.
 */
export const thumbnailOf = async (
  client: SiteClient,
  path: string,
  { size, lastModified }: Pictured,
  signal: AbortSignal,
): Promise<string> => {
  const key = [client.site.id, lastModified, size, path].join(' ')
  const url = kept.get(key)
  if (url !== undefined) return keep(key, url)
  return takeTurn(async () => {
    signal.throwIfAborted()
    return keep(key, await make(client, path, signal))
  })
}
