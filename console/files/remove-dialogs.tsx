import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { RemovalPreview } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { keptDays } from '../page/kept-days.ts'
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

const sum = (previews: readonly RemovalPreview[]): RemovalPreview => {
  const code = previews.find((preview) => preview.code !== undefined)?.code
  return {
    files: previews.reduce((total, { files }) => total + files, 0),
    folders: previews.reduce((total, { folders }) => total + folders, 0),
    bytes: previews.reduce((total, { bytes }) => total + bytes, 0),
    atLeast: previews.some(({ atLeast }) => atLeast),
    ...(code !== undefined && { code }),
  }
}

const sentenceOf = ({ files, folders, bytes, atLeast }: RemovalPreview): string => {
  const t = texts.value.files
  const sentence = t.goes(files, folders, formatSize(bytes))
  return atLeast ? t.atLeast(sentence) : sentence
}

/**
 * One request for each of more files would take long. So the list then gives their sizes, and only the deletion itself
 * shows which files a running workflow keeps.
 */
const mostAsked = 50

export const RemoveDialog = ({ paths }: { readonly paths: readonly string[] }) => {
  const { store } = useFiles()
  const { client } = usePage()
  const preview = useSignal<RemovalPreview>()
  const failure = useSignal<unknown>()
  const isShown = useRef(true)
  const t = texts.value.files
  const count = async () => {
    failure.value = undefined
    const known = paths.length > mostAsked ? store.folder.chosen.value.filter(({ type }) => type === 'file') : []
    const previews = known.map(({ size }): RemovalPreview => ({ files: 1, folders: 0, bytes: size, atLeast: false }))
    const names = new Set(known.map(({ name }) => name))
    const asked = paths.filter((path) => !names.has(nameOf(path)))
    const { failed } = await forEachPath(asked, async (path) => {
      if (isShown.current) previews.push(await client.files.removal(path))
    })
    failure.value = failed[0]?.error
    if (failed.length === 0) preview.value = sum(previews)
  }
  useEffect(() => {
    isShown.current = true
    count()
    return () => {
      isShown.current = false
    }
  }, [])
  const found = preview.value
  return (
    <FormDialog
      changesList
      title={t.removeTitle(paths.length, nameOf(paths[0] ?? ''))}
      action={t.removeAction}
      isDangerous
      isReady={found !== undefined}
      onSubmit={() => removeAndNotify(store, paths)}
      onClose={setter(store.dialog, undefined)}
    >
      <Failure error={failure.value} onRepeat={count} />
      <p role="status">{found ? sentenceOf(found) : t.counting}</p>
      {found?.code !== undefined && <p class="note">{t.refused(found.code)}</p>}
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
