import { batch, computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { SiteClient } from '../../client/src/index.ts'
import { hasStatus } from '../../client/src/service-error.ts'
import { refuseUnreachable } from '../parts/failure.tsx'
import { asText, mostEdited } from './preview-content.ts'

interface Saved {
  /** The line ends of the text are line feeds. Undefined if the file is not text. */
  readonly text: string | undefined
  readonly etag: string | undefined
  readonly contentType: string | undefined
  /** Undefined if the file has several kinds of line ends. A text field would make them equal. */
  readonly lineEnd: '\n' | '\r\n' | undefined
  /** A save of the live page removes its draft (S-48). */
  readonly hasDraft: boolean
}

const absent: Saved = { text: '', etag: undefined, contentType: undefined, lineEnd: '\n', hasDraft: false }

export interface Editor {
  readonly text: Signal<string>
  /** The state on which the text is based. Undefined before the first answer. */
  readonly base: ReadonlySignal<Saved | undefined>
  /**
   * The newer state that somebody else has saved. A state without a tag means that somebody else has removed the file.
   */
  readonly theirs: ReadonlySignal<Saved | undefined>
  readonly isChanged: ReadonlySignal<boolean>
  open(): Promise<void>
  /** Returns false if somebody else saved first. Then `theirs` is that state, and the next call replaces it. */
  save(): Promise<boolean>
  takeTheirs(): void
}

const lineEndOf = (text: string): Saved['lineEnd'] => {
  const rest = text.replaceAll('\r\n', '')
  if (rest === text) return rest.includes('\r') ? undefined : '\n'
  return /[\r\n]/.test(rest) ? undefined : '\r\n'
}

const readSaved = async ({ files }: SiteClient, path: string): Promise<Saved> => {
  const { etag, contentType, draft } = await files.stat(path)
  const response = await files.read(path, { etag })
  const bytes = await response.arrayBuffer().catch(refuseUnreachable)
  const text = bytes.byteLength > mostEdited ? undefined : asText(new Uint8Array(bytes), false)
  return {
    text: text?.replaceAll('\r\n', '\n'),
    etag,
    contentType,
    lineEnd: lineEndOf(text ?? ''),
    hasDraft: Boolean(draft),
  }
}

/** Lets a person change the text of a file. Saving replaces only the state that this person has seen (K-44). */
export const createEditor = (client: SiteClient, path: string): Editor => {
  const text = signal('')
  const base = signal<Saved>()
  const theirs = signal<Saved>()
  const isChanged = computed(() => base.value !== undefined && text.value !== base.value.text)

  const begin = (saved: Saved) =>
    batch(() => {
      base.value = saved
      theirs.value = undefined
      text.value = saved.text ?? ''
    })

  const put = async ({ etag, contentType }: Saved) => {
    const content = base.value?.lineEnd === '\r\n' ? text.value.replaceAll('\n', '\r\n') : text.value
    const replace = etag === undefined ? {} : { replace: etag }
    await client.files.put(path, content, { ...replace, ...(contentType !== undefined && { contentType }) })
  }

  return {
    text,
    base,
    theirs,
    isChanged,
    async open() {
      begin(await readSaved(client, path))
    },
    async save() {
      const expected = theirs.value ?? base.value
      if (!expected) return false
      try {
        await put(expected)
      } catch (error) {
        if (!hasStatus(error, 412)) throw error
        const now = await readSaved(client, path).catch((failure: unknown) => {
          if (hasStatus(failure, 404)) return { ...absent, contentType: base.value?.contentType }
          throw failure
        })
        // After a lost answer, this person may have saved the text before.
        const isSaved = now.etag !== undefined && now.text === text.value
        if (isSaved) begin(now)
        else theirs.value = now
        return isSaved
      }
      begin({ ...expected, text: text.value })
      return true
    },
    takeTheirs() {
      if (theirs.value) begin(theirs.value)
    },
  }
}
