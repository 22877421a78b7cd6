import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { usePage } from '../page/context.ts'
import { createNewestRead } from '../page/newest-read.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { Failure } from '../parts/failure.tsx'
import { NameField } from '../parts/fields.tsx'
import { useRetainedFocus } from '../parts/focus.ts'
import { Icon } from '../parts/icon.tsx'
import { Rows } from '../parts/rows.tsx'
import { setter } from '../parts/setter.ts'
import { texts } from '../texts/texts.ts'
import { isWithin, join, parentOf } from '../uploads/paths.ts'
import { collator } from './arrange.ts'
import { useFiles } from './files-context.ts'
import type { Relocation } from './files-store.ts'
import { relocateAndNotify } from './notified-actions.ts'

interface RelocateDialogProps {
  readonly how: Relocation
  readonly paths: readonly string[]
}

interface FolderPickerProps {
  readonly folder: string
  /** Folders that cannot be targets, because no folder can be moved into itself. */
  readonly refused: readonly string[]
  readonly onFolder: (path: string) => void
}

/** Shows the folders in the chosen folder. A click or Enter opens one of them. The first row leads back. */
const FolderPicker = ({ folder, refused, onFolder }: FolderPickerProps) => {
  const { client, access } = usePage()
  const t = texts.value.files
  const names = useSignal<readonly string[]>([])
  const { failure, run, drop } = useMemo(createNewestRead, [])
  const box = useRetainedFocus<HTMLDivElement>()
  useEffect(() => {
    failure.value = undefined
    names.value = []
    run(async (isNewest) => {
      const found: string[] = []
      for await (const { name, type } of client.files.list(folder)) {
        if (!isNewest()) return
        if (type === 'folder') found.push(name)
      }
      if (isNewest()) names.value = found.sort(collator.compare)
    })
    return drop
  }, [folder, access])
  const offered = names.value.filter((name) => !refused.includes(join(folder, name)))
  const up = folder === '' ? [] : [{ path: parentOf(folder), name: t.upTo(parentOf(folder) || t.root) }]
  const steps = [...up, ...offered.map((name) => ({ path: join(folder, name), name }))]
  return (
    <div ref={box} class="folder-picker" role="group" aria-label={t.target} tabIndex={-1} data-default>
      <p class="folder-picked" role="status">
        <Icon name="folder" />
        <bdi>{folder === '' ? t.root : `/${folder}`}</bdi>
      </p>
      <Failure error={failure.value} />
      <Rows
        box={{ class: 'rows', role: 'list', 'aria-label': t.folders, tabIndex: 0 }}
        items={steps}
        row={({ path, name }, index) => (
          <div key={path} role="listitem">
            <button type="button" onClick={({ detail }) => detail < 2 && onFolder(path)}>
              <Icon name={index < up.length ? 'up' : 'folder'} />
              <bdi>{name}</bdi>
            </button>
          </div>
        )}
      />
    </div>
  )
}

/** With this dialog, keyboard users can move and copy without dragging. */
export const RelocateDialog = ({ how, paths }: RelocateDialogProps) => {
  const { store, rights } = useFiles()
  const t = texts.value.files
  const folder = useSignal(store.folder.path.value)
  const name = useSignal('')
  const target = name.value.trim() === '' ? folder.value : join(folder.value, name.value)
  const isUseful = paths.every((path) => parentOf(path) !== target && !isWithin(target, path))
  return (
    <FormDialog
      changesList
      title={t[`${how}Title` as const](paths.length)}
      action={t[`${how}Action` as const]}
      isReady={isUseful && rights.canWrite(target)}
      onSubmit={async (mayContinue) => {
        if (target !== folder.value) await store.refuseTaken(target)
        await relocateAndNotify(store, how, paths, target, mayContinue)
      }}
      onClose={setter(store.dialog, undefined)}
    >
      <FolderPicker
        folder={folder.value}
        refused={how === 'move' ? paths : []}
        onFolder={(path) => {
          folder.value = path
        }}
      />
      <NameField label={t.newTarget} value={name} />
    </FormDialog>
  )
}
