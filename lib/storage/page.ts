/** The folder that holds templates (decisions.md, section 5, "Pages and templates"). */
const templatesFolder = 'Templates'

// A path as the keys of the store have it is enough: whatever else is wrong with it, it says where something is and what it is called.
const isBelowTemplates = (path: string) => path.startsWith(`${templatesFolder}/`)

/** A page may have a draft beside the live file, and a running workflow. */
export const isPage = (path: string): boolean => /\.html?$/i.test(path) && !isBelowTemplates(path)

/** What a template holds is checked before it is stored. */
export const isTemplate = (path: string): boolean => /\.(?:html?|dwt)$/i.test(path) && isBelowTemplates(path)
