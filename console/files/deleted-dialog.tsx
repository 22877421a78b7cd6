import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Deleted, ServiceError } from '../../client/src/index.ts'
import { usePage } from '../page/context.ts'
import { keptDays } from '../page/kept-days.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { useRetainedFocus } from '../parts/focus.ts'
import { formatMoment, formatSize } from '../parts/format.ts'
import { Rows } from '../parts/rows.tsx'
import { texts } from '../texts/texts.ts'
import { join } from '../uploads/paths.ts'
import { folderName } from './commands.ts'
import { EntryIcon } from './entry-icon.tsx'
import { useFiles } from './files-context.ts'

const rowHeight = 44

export const DeletedDialog = ({ path }: { readonly path: string }) => {
  const { store, rights } = useFiles()
  const { client } = usePage()
  const found = useSignal<readonly Deleted[] | undefined>(undefined)
  const failure = useSignal<{ readonly error: unknown; readonly repeat: () => void } | undefined>(undefined)
  const busy = useSignal('')
  const t = texts.value.files
  const read = async () => {
    try {
      const all: Deleted[] = []
      for await (const each of client.files.deleted(path)) all.push(each)
      found.value = all
    } catch (error) {
      failure.value = { error, repeat: read }
    }
  }
  useEffect(() => {
    read()
  }, [path])
  const restore = async (name: string) => {
    if (busy.value !== '') return
    busy.value = name
    failure.value = undefined
    try {
      await client.files.restore(join(path, name))
      store.refresh()
      await read()
    } catch (error) {
      failure.value = { error, repeat: () => restore(name) }
      if (error instanceof ServiceError && error.status === 404) read()
    }
    busy.value = ''
  }
  const rows = found.value ?? []
  const body = useRetainedFocus<HTMLDivElement>()
  return (
    <Dialog
      title={t.deletedTitle(folderName(path))}
      kind="wide"
      onClose={() => {
        store.dialog.value = undefined
      }}
    >
      <div ref={body} class="dialog-body" tabIndex={-1}>
        {failure.value && <Failure error={failure.value.error} onRepeat={failure.value.repeat} />}
        {!found.value && !failure.value && <p class="soft">{texts.value.loading}</p>}
        {found.value && rows.length === 0 && <p class="soft">{t.deletedNone(keptDays())}</p>}
        {rows.length > 0 && (
          <div class="deleted" style={{ height: `${rows.length * rowHeight}px` }}>
            <Rows
              list={t.deletedTitle(folderName(path))}
              count={rows.length}
              height={rowHeight}
              row={(index) => {
                const row = rows[index]
                return (
                  row && (
                    <div key={`${row.type} ${row.name}`} role="listitem" class="deleted-row">
                      <EntryIcon name={row.name} type={row.type} />
                      <span class="deleted-name">
                        <bdi>{row.name}</bdi>
                        <span class="hint">
                          {formatMoment(row.removedAt)}
                          {row.size !== null && ` · ${formatSize(row.size)}`}
                        </span>
                      </span>
                      {rights.canWrite(join(path, row.name)) && (
                        <Button icon="restore" label={t.restoreOf(row.name)} onClick={() => restore(row.name)}>
                          {t.restore}
                        </Button>
                      )}
                    </div>
                  )
                )
              }}
            />
          </div>
        )}
      </div>
    </Dialog>
  )
}
