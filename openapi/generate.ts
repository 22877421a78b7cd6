import { createDocument } from './document.ts'
import { createErrorsPage } from './errors-page.ts'
import { recordExamples } from './examples.ts'

/** The files in `docs/` that are made from the code, by name. */
export const generate = async (): Promise<Readonly<Record<string, string>>> => {
  const examples = await recordExamples()
  return {
    'openapi.json': `${JSON.stringify(createDocument(examples), null, 2)}\n`,
    'errors.md': createErrorsPage(examples),
  }
}
