import { errors } from '../../lib/core/errors.ts'
import { createDocument } from './document.ts'
import { type Recording, recordExamples } from './examples.ts'
import { cell, createRecordsPage } from './records.ts'

const exampleIn = (recordings: readonly Recording[]): string => {
  const shown = recordings.find(({ operation, error }) => operation === 'updateField' && error === 'fieldsMalformed')
  if (!shown?.answer) throw new Error('No example request was refused, so no error can be shown')
  return JSON.stringify(shown.answer.value)
}

// `docs/errors.md`: the error table for people, sorted by code.
const createErrorsPage = (recordings: readonly Recording[]): string => {
  const rows = Object.values(errors)
    .toSorted((a, b) => a.code - b.code)
    .map(({ code, status, message }) => `| ${code} | ${status} | ${cell(message)} |`)
  return `# Errors

For developers who call the API and handle its failures.

The answer to every failed request has this body, in JSON, or in XML (\`<error>\` with the same children):

\`\`\`json
${exampleIn(recordings)}
\`\`\`

\`code\` is for programs. \`message\` is for people. The table shows the usual messages, but an answer may name the cause
more precisely, or another cause of the same code. \`requestId\` is the \`X-Request-Id\` of the answer. Quote this id when
you report a fault. If a request has several faults, \`errors\` lists each of them. An answer with the status 405 has the
header \`Allow\`. An answer with 423, 429 or 503 has \`Retry-After\`, in seconds.

The reference lists the errors of each operation: \`GET /docs\`, or [openapi.json](openapi.json).

| Code | Status | Message |
|---|---|---|
${rows.join('\n')}

Generated from [lib/core/errors.ts](../lib/core/errors.ts) by \`npm run openapi\`.
`
}

export const generate = async (): Promise<Readonly<Record<string, string>>> => {
  const recordings = await recordExamples()
  return {
    'openapi.json': `${JSON.stringify(createDocument(recordings), null, 2)}\n`,
    'errors.md': createErrorsPage(recordings),
    'records.md': createRecordsPage(),
  }
}
