import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { FormDialog } from '../parts/dialog.tsx'
import { NameField } from '../parts/fields.tsx'
import { setter } from '../parts/setter.ts'
import { texts } from '../texts/texts.ts'
import { nameOf } from '../uploads/paths.ts'
import { useFiles } from './files-context.ts'
import { renameAndNotify } from './notified-actions.ts'

interface NameDialogProps {
  readonly title: string
  readonly label: string
  readonly action: string
  readonly name: string
  readonly onName: (name: string) => Promise<void>
}

const NameDialog = ({ title, label, action, name: before, onName }: NameDialogProps) => {
  const { store } = useFiles()
  const input = useRef<HTMLInputElement>(null)
  const name = useSignal(before)
  useLayoutEffect(() => {
    input.current?.focus()
    // Selects the name without its extension, so that the user keeps the extension.
    const dot = before.lastIndexOf('.')
    input.current?.setSelectionRange(0, dot > 0 ? dot : before.length)
  }, [])
  return (
    <FormDialog
      changesList
      title={title}
      action={action}
      isReady={name.value.trim() !== '' && name.value !== before}
      onSubmit={() => onName(name.value)}
      onClose={setter(store.dialog, undefined)}
    >
      <NameField label={label} value={name} inputRef={input} />
    </FormDialog>
  )
}

export const NewFolderDialog = ({ path }: { readonly path: string }) => {
  const { store } = useFiles()
  const t = texts.value.files
  return (
    <NameDialog
      title={t.newFolder}
      label={t.folderName}
      action={texts.value.create}
      name=""
      onName={(name) => store.createFolder(path, name)}
    />
  )
}

export const RenameDialog = ({ path }: { readonly path: string }) => {
  const { store } = useFiles()
  const t = texts.value.files
  const name = nameOf(path)
  return (
    <NameDialog
      title={t.renameTitle(name)}
      label={t.newName}
      action={t.rename}
      name={name}
      onName={(next) => renameAndNotify(store, path, next)}
    />
  )
}
