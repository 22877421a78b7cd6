/** One script contains everything that the first view does not need, because these parts share code. */
export { Details } from './details.tsx'
export { FileGrid } from './file-grid.tsx'
export { OpenDialog } from './open-dialog.tsx'
export { SearchResults } from './search-results.tsx'
export { TrashView } from './trash-view.tsx'
export { UploadPanel } from './upload-panel.tsx'
