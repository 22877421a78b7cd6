import { nameOf, type StoragePath, segmentsOf } from './path.ts'

/** The folder that holds templates (decisions.md, section 5, "Pages and templates"). */
const templatesFolder = 'Templates'

const isBelowTemplates = (path: StoragePath) => {
  const segments = segmentsOf(path)
  return segments.length > 1 && segments[0] === templatesFolder
}

/** A page may have a draft beside the live file, and a running workflow. */
export const isPage = (path: StoragePath): boolean => /\.html?$/i.test(nameOf(path)) && !isBelowTemplates(path)

/** What a template holds is checked before it is stored. */
export const isTemplate = (path: StoragePath): boolean =>
  /\.(?:html?|dwt)$/i.test(nameOf(path)) && isBelowTemplates(path)
