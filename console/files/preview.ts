import { batch, type ReadonlySignal, signal } from '@preact/signals'
import type { Entry, SiteClient, Version } from '../../client/src/index.ts'

/** `url` is an object URL of a picture. */
type Content =
  | { readonly kind: 'text'; readonly text: string; readonly isCut: boolean }
  | { readonly kind: 'picture'; readonly url: string }
  | { readonly kind: 'none' }

export interface Preview {
  /** Empty: no file is open. */
  readonly path: ReadonlySignal<string>
  readonly entry: ReadonlySignal<FoundEntry | undefined>
  readonly content: ReadonlySignal<Content | undefined>
  readonly failure: ReadonlySignal<unknown>
  readonly isDraft: ReadonlySignal<boolean>
  readonly versions: ReadonlySignal<readonly Version[] | undefined>
  open(path: string): Promise<void>
  /** Shows the old content until the answer arrives. */
  refresh(): Promise<void>
  showDraft(isShown: boolean): Promise<void>
  readVersions(): Promise<void>
  close(): void
}

/** In bytes: the part of a text that is shown, and the largest picture. */
const textShown = 64 * 1024
const largestPicture = 25_000_000

const pictureTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  svg: 'image/svg+xml',
}

/** The media type for the browser, by extension. Pictures of these types cannot run scripts. */
export const pictureType = (name: string): string | undefined =>
  pictureTypes[name.slice(name.lastIndexOf('.') + 1).toLowerCase()]

/** Undefined if the bytes are not text. The last character may be incomplete. */
export const asText = (bytes: Uint8Array, isCut: boolean): string | undefined => {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut })
  } catch {
    return undefined
  }
}

type ObjectUrls = Pick<typeof URL, 'createObjectURL' | 'revokeObjectURL'>
export type FoundEntry = Omit<Entry, 'contents' | 'cursor'>

interface PreviewOptions {
  readonly client: () => SiteClient
  readonly urls?: ObjectUrls
}

const release = (urls: ObjectUrls, content: Content | undefined) => {
  if (content?.kind === 'picture') urls.revokeObjectURL(content.url)
}

const readContent = async (
  files: SiteClient['files'],
  urls: ObjectUrls,
  path: string,
  { name, size: liveSize, draft: draftInfo }: FoundEntry,
  draft: boolean,
): Promise<Content> => {
  const size = draft ? (draftInfo?.size ?? liveSize) : liveSize
  const type = pictureType(name)
  if (type !== undefined) {
    if (size > largestPicture) return { kind: 'none' }
    const response = await files.read(path, { draft })
    return { kind: 'picture', url: urls.createObjectURL(new Blob([await response.arrayBuffer()], { type })) }
  }
  if (size === 0) return { kind: 'text', text: '', isCut: false }
  const range = { first: 0, last: textShown - 1 }
  const isCut = size > textShown
  const response = await files.read(path, { draft, ...(isCut && { range }) })
  const text = asText(new Uint8Array(await response.arrayBuffer()), isCut)
  return text === undefined ? { kind: 'none' } : { kind: 'text', text, isCut }
}

// A draft has no tag, so it is always read again.
const stateOf = ({ etag = '' }: FoundEntry, draft: boolean): string => (draft ? '' : etag)

export const createPreview = ({ client, urls = URL }: PreviewOptions): Preview => {
  const entry = signal<FoundEntry | undefined>(undefined)
  const content = signal<Content | undefined>(undefined)
  const failure = signal<unknown>(undefined)
  const isDraft = signal(false)
  const versions = signal<readonly Version[] | undefined>(undefined)
  const path = signal('')
  let turn = 0
  // The tag of the shown state. This state is not read again.
  let shown = ''

  const show = (next: Content | undefined) => {
    release(urls, content.value)
    content.value = next
  }

  const read = async () => {
    const mine = ++turn
    try {
      const found = await client().files.stat(path.value)
      if (mine !== turn) return
      batch(() => {
        isDraft.value = isDraft.value && Boolean(found.draft)
        entry.value = found
        failure.value = undefined
      })
      const state = stateOf(found, isDraft.value)
      if (state !== '' && state === shown) return
      const seen =
        found.type === 'file' ? await readContent(client().files, urls, path.value, found, isDraft.value) : undefined
      if (mine !== turn) return release(urls, seen)
      show(seen)
      shown = state
    } catch (error) {
      if (mine === turn) failure.value = error
    }
  }

  return {
    path,
    entry,
    content,
    failure,
    isDraft,
    versions,
    async open(wanted) {
      shown = ''
      batch(() => {
        path.value = wanted
        show(undefined)
        entry.value = undefined
        failure.value = undefined
        isDraft.value = false
        versions.value = undefined
      })
      await read()
    },
    refresh: read,
    async showDraft(isShown) {
      isDraft.value = isShown
      await read()
    },
    async readVersions() {
      const mine = path.value
      const found: Version[] = []
      for await (const version of client().files.versions(mine)) found.push(version)
      if (mine === path.value) versions.value = found
    },
    close() {
      turn++
      path.value = ''
      shown = ''
      show(undefined)
      entry.value = undefined
    },
  }
}
