import { createDocument } from './document.ts'
import { createErrorsPage } from './errors-page.ts'
import { recordExamples } from './examples.ts'

/** The files in `docs/` that are made from the code, by name. */
export const generate = async (): Promise<Readonly<Record<string, string>>> => ({
  'openapi.json': `${JSON.stringify(createDocument(await recordExamples()), null, 2)}\n`,
  'errors.md': createErrorsPage(),
})
