/** What the example requests of this group find; openapi/stage.ts prepares it. */
export const stage = {
  file: 'hello.txt',
  folder: 'press',
  pageInWorkflow: 'press/release.html',
  /** A folder whose removal goes on. */
  goingFolder: 'archive/2024',
  /** Another one, whose removal is asked for again. */
  folderToGo: 'archive/2025',
} as const
