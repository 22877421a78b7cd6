import { Loaded } from '../parts/loaded.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { useFiles } from './files-context.ts'
import { NewFolderDialog, RenameDialog } from './name-dialogs.tsx'
import { RelocateDialog } from './relocate-dialog.tsx'
import { RemoveDialog, RemoveDraftDialog } from './remove-dialogs.tsx'
import { ShortcutsDialog } from './shortcuts-dialog.tsx'

const loadZipDialog = async () => (await import('./zip-dialog.tsx')).ZipDialog

export const OpenDialog = () => {
  const { store } = useFiles()
  const dialog = store.dialog.value
  switch (dialog?.kind) {
    case 'newFolder':
      return <NewFolderDialog path={dialog.path} />
    case 'rename':
      return <RenameDialog path={dialog.path} />
    case 'relocate':
      return <RelocateDialog how={dialog.how} paths={dialog.paths} />
    case 'remove':
      return <RemoveDialog paths={dialog.paths} />
    case 'removeDraft':
      return <RemoveDraftDialog path={dialog.path} />
    case 'zip':
      return <Loaded load={loadZipDialog} props={{ paths: dialog.paths }} />
    case 'edit':
      return <EditDialog path={dialog.path} />
    case 'shortcuts':
      return <ShortcutsDialog />
    default:
      return null
  }
}
