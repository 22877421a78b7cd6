/** What the page shows later than its first view: one script, as these share much. */
export { DeletedDialog } from './deleted-dialog.tsx'
export { Details } from './details.tsx'
export { RelocateDialog } from './relocate-dialog.tsx'
export { UploadPanel } from './upload-panel.tsx'
