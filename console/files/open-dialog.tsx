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
      return <NewFolderDialog {...dialog} />
    case 'rename':
      return <RenameDialog {...dialog} />
    case 'relocate':
      return <RelocateDialog {...dialog} />
    case 'remove':
      return <RemoveDialog {...dialog} />
    case 'removeDraft':
      return <RemoveDraftDialog {...dialog} />
    case 'zip':
      return <Loaded load={loadZipDialog} props={dialog} />
    case 'edit':
      return <EditDialog {...dialog} />
    case 'shortcuts':
      return <ShortcutsDialog />
    default:
      return null
  }
}
