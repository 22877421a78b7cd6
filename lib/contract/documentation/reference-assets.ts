/** What the reference page is drawn with: files of the renderer's package, by the name that the page knows them by. */
export const referenceAssets = {
  'swagger-ui.css': { file: 'swagger-ui-dist/swagger-ui.css', type: 'text/css' },
  'swagger-ui-bundle.js': { file: 'swagger-ui-dist/swagger-ui-bundle.js', type: 'text/javascript' },
} as const

export type ReferenceAsset = keyof typeof referenceAssets

/** The files, as they stand in `node_modules`: what is deployed takes them along. */
export const referenceFiles: readonly string[] = Object.values(referenceAssets).map(({ file }) => file)
