import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { RemovalPreview } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { keptDays } from '../page/kept-days.ts'
import { createNewestRead } from '../page/newest-read.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { formatSize } from '../parts/format.ts'
import { setter } from '../parts/setter.ts'
import { notify } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import { forEachPath } from '../uploads/for-each-path.ts'
import { nameOf } from '../uploads/paths.ts'
import { useFiles } from './files-context.ts'
import { removeAndNotify } from './notified-actions.ts'
import { isPage } from './picture-type.ts'

const sentenceOf = (previews: readonly RemovalPreview[]): string => {
  const t = texts.value.files
  const sumOf = (member: 'files' | 'folders' | 'bytes') =>
    previews.reduce((total, preview) => total + preview[member], 0)
  const sentence = t.goes(sumOf('files'), sumOf('folders'), formatSize(sumOf('bytes')))
  return previews.some(({ atLeast }) => atLeast) ? t.atLeast(sentence) : sentence
}

/** One request for each of more files would take long. So the list then gives their sizes. */
const mostAsked = 50

interface Found {
  readonly previews: readonly RemovalPreview[]
  readonly refused: readonly { readonly name: string; readonly code: number }[]
  readonly mayKeepPages: boolean
}

export const RemoveDialog = ({ paths }: { readonly paths: readonly string[] }) => {
  const { store } = useFiles()
  const { client } = usePage()
  const preview = useSignal<Found>()
  const { failure, run, drop } = useMemo(createNewestRead, [])
  const t = texts.value.files
  const read = async (isNewest: () => boolean) => {
    failure.value = undefined
    const files = paths.length > mostAsked ? store.folder.chosen.value.filter(({ type }) => type === 'file') : []
    // Only pages can have workflows.
    const mayKeepPages = files.filter(({ name }) => isPage(name)).length > mostAsked
    const known = files.filter(({ name }) => mayKeepPages || !isPage(name))
    const previews = known.map(({ size }): RemovalPreview => ({ files: 1, folders: 0, bytes: size }))
    const refused: { name: string; code: number }[] = []
    const names = new Set(known.map(({ name }) => name))
    const asked = paths.filter((path) => !names.has(nameOf(path)))
    const ask = async (path: string) => {
      const found = await client.files.removal(path)
      previews.push(found)
      if (found.code !== undefined) refused.push({ name: nameOf(path), code: found.code })
    }
    const [first] = (await forEachPath(asked, ask, isNewest)).failed
    if (first) throw first.error
    preview.value = { previews, refused, mayKeepPages }
  }
  const count = () => run(read)
  useEffect(() => {
    count()
    return drop
  }, [])
  const found = preview.value
  return (
    <FormDialog
      changesList
      title={t.removeTitle(paths.length, nameOf(paths[0] ?? ''))}
      action={t.remove}
      isDangerous
      isReady={found !== undefined}
      onSubmit={(mayContinue) => removeAndNotify(store, paths, mayContinue)}
      onClose={setter(store.dialog, undefined)}
    >
      <Failure error={failure.value} onRepeat={count} />
      <p role="status">{found ? sentenceOf(found.previews) : t.counting}</p>
      {found?.refused.map(({ name, code }) => (
        <p key={name} class="note">
          {t.notDone(name, 0)} {t.refused(code)}
        </p>
      ))}
      {found?.mayKeepPages && <p class="note">{t.keepsPages}</p>}
      <p class="soft">{t.comesBack(keptDays())}</p>
    </FormDialog>
  )
}

/** Drafts have no versions, so they cannot be restored. */
export const RemoveDraftDialog = ({ path }: { readonly path: string }) => {
  const { store } = useFiles()
  const { client } = usePage()
  const t = texts.value.files
  return (
    <FormDialog
      title={t.removeDraftTitle(nameOf(path))}
      action={t.removeDraftAction}
      isDangerous
      onSubmit={async () => {
        await client.files.removeDraft(path)
        notify(t.draftRemoved(nameOf(path)))
        await store.preview.refresh()
      }}
      onClose={setter(store.dialog, undefined)}
    >
      <p>{t.removeDraftText}</p>
    </FormDialog>
  )
}
