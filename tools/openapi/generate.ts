import { readFile, writeFile } from 'node:fs/promises'
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

const moment = 'the stored date, or the moment of the import'

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

const exampleIn = (recordings: readonly Recording[]): string => {
  const refused = recordings.find(({ operation, error }) => operation === 'updateField' && error === 'fieldsMalformed')
  const [shown] = refused?.answer ?? []
  if (!shown) throw new Error('No example request was refused, so no error can be shown')
  return JSON.stringify(shown.value)
}

const errorRows = (): string =>
  Object.values(errors)
    .toSorted((a, b) => a.code - b.code)
    .map(({ code, status, message }) => `| ${code} | ${status} | ${cell(message)} |`)
    .join('\n')

const docs = join(import.meta.dirname, '..', '..', 'docs')

// Keeps the text that people wrote around the generated part.
const replaceBetween = (page: string, begin: string, end: string, text: string): string => {
  const [from, to] = [page.indexOf(begin), page.indexOf(end, page.indexOf(begin) + begin.length)]
  if (from < 0 || to < 0) throw new Error(`The page has no place for generated text: ${begin.trim()}`)
  return `${page.slice(0, from)}${begin}${text}${page.slice(to)}`
}

export const generate = async (): Promise<Readonly<Record<string, string>>> => {
  const recordings = await recordExamples()
  const read = (name: string) => readFile(join(docs, name), 'utf8')
  const records = Object.entries(recordShapes).map(([kind, { meaning, schema }]) => sectionOf(kind, meaning, schema))
  return {
    'openapi.json': `${JSON.stringify(createDocument(recordings), null, 2)}\n`,
    'errors.md': replaceBetween(
      replaceBetween(await read('errors.md'), '```json\n', '\n```', exampleIn(recordings)),
      '|---|---|---|\n',
      '\n\nGenerated from',
      errorRows(),
    ),
    'records.md': replaceBetween(await read('records.md'), '\n```\n\n', '\nGenerated from', records.join('\n')),
  }
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(await generate())) await writeFile(join(docs, name), text)
}
