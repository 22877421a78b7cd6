import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { openZip, type Zip } from '../../client/src/zip.ts'
import { usePage } from '../page/context.ts'
import { useAttempt } from '../parts/attempt.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { formatSize } from '../parts/format.ts'
import { Progress } from '../parts/progress.tsx'
import { setter } from '../parts/setter.ts'
import { notify } from '../parts/toasts.tsx'
import { texts } from '../texts/texts.ts'
import { nameOf } from '../uploads/paths.ts'
import { useFiles } from './files-context.ts'
import { canStream, mostInMemory, saveStream } from './save-stream.ts'

/** Some systems refuse these characters in names of files. */
const asFileName = (name: string): string => `${name.replaceAll(/[/\\:*?"<>|]/g, '_')}.zip`

/** Lists what the zip will contain, and then writes it (K-41). */
export const ZipDialog = ({ paths }: { readonly paths: readonly string[] }) => {
  const { store } = useFiles()
  const { client } = usePage()
  const zip = useSignal<Zip>()
  const written = useSignal<number>()
  const { failure, attempt } = useAttempt()
  const stop = useMemo(() => new AbortController(), [])
  const t = texts.value.files
  const [path = '', ...others] = paths
  const name = asFileName(nameOf(others.length === 0 ? path : store.folder.path.value) || client.site.name)
  const list = () =>
    attempt(async () => {
      zip.value = await openZip(client.files, paths, stop.signal)
    })
  useEffect(() => {
    list()
    return () => stop.abort()
  }, [])
  const save = async ({ stream }: Zip) => {
    const { signal } = stop
    const onProgress = ({ bytes }: { readonly bytes: number }) => {
      written.value = bytes
    }
    try {
      if (await saveStream(name, () => stream({ signal, onProgress }), signal)) notify(t.zip.saved(name))
    } catch (error) {
      // A failure may mean that the list is out of date, so the dialog reads it again.
      if (!signal.aborted) {
        written.value = undefined
        await list()
        throw error
      }
    }
  }
  const found = zip.value
  const isTooLarge = found !== undefined && !canStream() && found.bytes > mostInMemory
  return (
    <FormDialog
      title={t.zip.title(name)}
      action={t.download}
      isReady={found !== undefined && !isTooLarge}
      onSubmit={() => found && save(found)}
      onClose={setter(store.dialog, undefined)}
    >
      <Failure error={failure.value} onRepeat={list} />
      {failure.value === undefined && (
        <p role="status">{found ? t.zip.contents(found.files, formatSize(found.bytes)) : t.counting}</p>
      )}
      {isTooLarge && <p class="note">{t.zip.tooLarge(formatSize(mostInMemory))}</p>}
      {found && written.value !== undefined && <Progress label={name} sent={written.value} total={found.bytes} />}
    </FormDialog>
  )
}
