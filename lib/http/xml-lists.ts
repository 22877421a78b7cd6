/** Members that are lists, and what their entries are called; the entries of `items` are called after the document. */
export const entryNames: Readonly<Record<string, string>> = { links: 'link', errors: 'error' }

export const isList = (name: string): boolean => name === 'items' || Object.hasOwn(entryNames, name)
