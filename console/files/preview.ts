import { batch, type ReadonlySignal, signal } from '@preact/signals'
import type { SiteClient, Version } from '../../client/src/index.ts'
import type { Content, FoundEntry, ObjectUrls } from './preview-content.ts'

// The first view needs no content of files, so this code is loaded on demand.
const loadContent = () => import('./preview-content.ts')

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
  showDraft(isShown: boolean): Promise<void>
  readVersions(): Promise<void>
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
        found.type === 'file'
          ? await (await loadContent()).readContent(client().files, urls, path.value, found, isDraft.value)
          : undefined
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
