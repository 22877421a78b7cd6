import { batch, type ReadonlySignal, signal } from '@preact/signals'
import type { SiteClient, Version } from '../../client/src/index.ts'
import { createNewestRead } from '../page/newest-read.ts'
import { type Content, type FoundEntry, type ObjectUrls, readContent } from './preview-content.ts'

export interface Preview {
  /** An empty path means that no file is open. */
  readonly path: ReadonlySignal<string>
  readonly entry: ReadonlySignal<FoundEntry | undefined>
  readonly content: ReadonlySignal<Content | undefined>
  readonly failure: ReadonlySignal<unknown>
  readonly isDraft: ReadonlySignal<boolean>
  readonly versions: ReadonlySignal<readonly Version[] | undefined>
  open(path: string): Promise<void>
  /** Shows the old content until the answer arrives. */
  refresh(): Promise<void>
  refreshLater(): Promise<void>
  showDraft(isShown: boolean): Promise<void>
  readVersions(): Promise<void>
  /** Call this when the browser cannot show the content. */
  cannotShow(): void
  close(): void
}

interface PreviewOptions {
  readonly client: () => SiteClient
  readonly urls?: ObjectUrls
}

const release = (urls: ObjectUrls, content: Content | undefined) => {
  if (content?.kind === 'picture') urls.revokeObjectURL(content.url)
}

// A draft has no tag, so it is always read again.
const stateOf = ({ etag = '' }: FoundEntry, draft: boolean): string => (draft ? '' : etag)

export const createPreview = ({ client, urls = URL }: PreviewOptions): Preview => {
  const entry = signal<FoundEntry>()
  const content = signal<Content>()
  const { failure, run, runLater, drop } = createNewestRead()
  const isDraft = signal(false)
  const versions = signal<readonly Version[]>()
  const path = signal('')
  // The tag of the shown state. While the file has this tag, it is not read again.
  let shown = ''
  let versionReads = 0

  const show = (next: Content | undefined) => {
    release(urls, content.value)
    content.value = next
  }

  const read = async (isNewest: () => boolean) => {
    const found = await client().files.stat(path.value)
    if (!isNewest()) return
    batch(() => {
      isDraft.value = isDraft.value && Boolean(found.draft)
      entry.value = found
      failure.value = undefined
    })
    const state = stateOf(found, isDraft.value)
    if (state !== '' && state === shown) return
    const seen =
      found.type === 'file' ? await readContent(client().files, urls, path.value, found, isDraft.value) : undefined
    if (!isNewest()) return release(urls, seen)
    show(seen)
    shown = state
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
      versionReads++
      batch(() => {
        path.value = wanted
        show(undefined)
        entry.value = undefined
        failure.value = undefined
        isDraft.value = false
        versions.value = undefined
      })
      await run(read)
    },
    refresh: () => run(read),
    refreshLater: () => runLater(read),
    async showDraft(isShown) {
      isDraft.value = isShown
      show(undefined)
      shown = ''
      await run(read)
    },
    async readVersions() {
      const own = ++versionReads
      const found = await Array.fromAsync(client().files.versions(path.value))
      if (own === versionReads) versions.value = found
    },
    cannotShow: () => show({ kind: 'none' }),
    close() {
      drop()
      path.value = ''
      shown = ''
      show(undefined)
      entry.value = undefined
    },
  }
}
