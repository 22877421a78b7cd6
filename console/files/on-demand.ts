/** Everything that the first view does not need, in one script, because these dialogs share code. */
export { copyPaths } from './copy-path.ts'
export { Details } from './details.tsx'
export { download } from './download.ts'
export { FileGrid } from './file-grid.tsx'
export { OpenDialog } from './open-dialog.tsx'
export { SearchResults } from './search-results.tsx'
export { UploadPanel } from './upload-panel.tsx'
