import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { recordShapes } from '../../admin/records/record-schemas.ts'
import { type ContentKind, contentKinds, contentMembers } from '../../lib/core/content-kinds.ts'
import { errors } from '../../lib/core/errors.ts'
import { createDocument } from './document.ts'
import { type Recording, recordExamples } from './examples.ts'

// If a schema has `typeText`, the page shows this text as the type. `otherwise` is the text of the default.
type Member = z.core.JSONSchema.BaseSchema

const isMember = (schema: Member | boolean): schema is Member => typeof schema === 'object'

const code = (value: unknown) => `\`${value}\``

const typeOf = (member: Member): string => {
  const { type, anyOf, typeText, enum: values, minLength = 0, maxLength, minimum, maximum } = member
  if (anyOf) return anyOf.filter(isMember).map(typeOf).join(', or ')
  if (typeText !== undefined) return String(typeText)
  if (values) return values.map(code).join(' or ')
  if (type === 'integer') return `whole number from ${minimum} to ${maximum}`
  if (type === 'string') return `text of ${minLength > 0 ? `${minLength} to ` : 'up to '}${maxLength} characters`
  if (type === 'boolean') return `${code(true)} or ${code(false)}`
  return code(type)
}

const moment = 'the moment of the first import'

// The default of a member. If it is made of other members, their names are shown in braces.
const otherwiseOf = (kind: ContentKind, name: string): string | undefined => {
  const { otherwise, defaultText } = contentMembers[kind][name] ?? {}
  if (defaultText !== undefined || otherwise === undefined) return defaultText
  if (typeof otherwise !== 'function') return code(JSON.stringify(otherwise))
  const value = String(otherwise((other) => `{${other}}`, moment))
  const [, other] = /^\{(\w+)\}$/.exec(value) ?? []
  if (other !== undefined) return `as ${code(other)}`
  return value === moment ? value : code(value)
}

const isContentKind = (kind: string): kind is ContentKind => contentKinds.some((other) => other === kind)

const cell = (text: string) => text.replaceAll('|', '\\|')

const sectionOf = (kind: string, meaning: string, schema: z.ZodObject): string => {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' })
  const rows = Object.entries(properties).map(([name, member]) => {
    if (!isMember(member)) throw new Error(`${kind}.${name} has no schema`)
    const otherwise = isContentKind(kind) ? otherwiseOf(kind, name) : member['otherwise']
    const last = required.includes(name) ? 'required' : String(otherwise ?? '')
    return `| ${[code(name), typeOf(member), last, member.description ?? ''].map(cell).join(' | ')} |`
  })
  return `## ${code(kind)}

${meaning}

| Member | Type | Default | Meaning |
|---|---|---|---|
${rows.join('\n')}
`
}

/** `docs/records.md`: every record of an import with its members, made from the schemas that check them. */
const createRecordsPage = (): string => {
  const sections = Object.entries(recordShapes).map(([kind, { meaning, schema }]) => sectionOf(kind, meaning, schema))
  return `# The records of an import

For administrators who write or read the files of \`site-admin import\` and \`site-admin export\`.

\`site-admin import\` reads JSON lines or one JSON array, in UTF-8. \`site-admin export\` writes JSON lines. Each record
is an object with a \`kind\` and the members below. An import changes only the members that a record names. If the record
is already stored, its other members stay as they are. If the record is new, its other members get their defaults. With
\`--replace\`, its other members get their defaults in both cases. A record with an unknown member is an error. A record
may have up to 4,194,304 characters.

\`\`\`json
{"kind": "category", "id": 1, "name": "Press"}
{"kind": "news", "id": 36, "subject": "We are open", "body": "<p>Come in.</p>"}
{"kind": "link", "type": "news", "categoryId": 1, "objectId": 36}
\`\`\`

${sections.join('\n')}
Generated from the schemas in \`admin/records/record-schemas.ts\` by \`npm run openapi\`.
`
}

const exampleIn = (recordings: readonly Recording[]): string => {
  const refused = recordings.find(({ operation, error }) => operation === 'updateField' && error === 'fieldsMalformed')
  const [shown] = refused?.answer ?? []
  if (!shown) throw new Error('No example request was refused, so no error can be shown')
  return JSON.stringify(shown.value)
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

Generated from \`lib/core/errors.ts\` by \`npm run openapi\`.
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

if (import.meta.main) {
  const folder = join(import.meta.dirname, '..', '..', 'docs')
  for (const [name, text] of Object.entries(await generate())) await writeFile(join(folder, name), text)
}
