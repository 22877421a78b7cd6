/** Everything that the first view does not need, in one script, because these dialogs share code. */
export { DeletedDialog } from './deleted-dialog.tsx'
export { Details } from './details.tsx'
export { RelocateDialog } from './relocate-dialog.tsx'
export { UploadPanel } from './upload-panel.tsx'
