import { errors } from '../../lib/core/errors.ts'
import { createDocument } from './document.ts'
import { type Examples, recordExamples } from './examples.ts'
import { createRecordsPage } from './records.ts'

const cell = (text: string) => text.replaceAll('|', '\\|')

const exampleIn = ({ recordings }: Examples): string => {
  const { answer } =
    recordings.find(({ operation, error }) => operation === 'updateField' && error === 'fieldsMalformed') ?? {}
  if (!answer || !('value' in answer.example)) throw new Error('No request has shown what an error looks like')
  return JSON.stringify(answer.example.value)
}

/** `docs/errors.md`: the error table for people, sorted by code. */
const createErrorsPage = (examples: Examples): string => {
  const rows = Object.values(errors)
    .toSorted((a, b) => a.code - b.code)
    .map(({ code, status, message }) => `| ${code} | ${status} | ${cell(message)} |`)
  return `# Errors

Every failure has one body, in JSON or in XML (\`<error>\` with the same children):

\`\`\`json
${exampleIn(examples)}
\`\`\`

\`code\` says what went wrong, for programs. \`message\` says it for people, and may be more precise than below. \`requestId\` is the
\`X-Request-Id\` of the answer: quote it when reporting a fault. \`errors\` is there where several things are wrong, and names each.
\`405\` comes with \`Allow\`, \`429\` and \`503\` come with \`Retry-After\`, in seconds.

Which operation answers with which of them stands in the reference: \`GET /docs\`, or [openapi.json](openapi.json).

| Code | Status | Message |
|---|---|---|
${rows.join('\n')}

Made from [lib/core/errors.ts](../lib/core/errors.ts) by \`npm run openapi\`.
`
}

export const generate = async (): Promise<Readonly<Record<string, string>>> => {
  const examples = await recordExamples()
  return {
    'openapi.json': `${JSON.stringify(createDocument(examples), null, 2)}\n`,
    'errors.md': createErrorsPage(examples),
    'records.md': createRecordsPage(),
  }
}
