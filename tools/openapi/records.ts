import * as z from 'zod'
import { recordShapes } from '../../admin/records/record-schemas.ts'
import { type ContentKind, contentKinds, contentMembers } from '../../lib/core/content-kinds.ts'

const memberSchema = z.object({
  type: z.string().optional(),
  /** Replaces the type of the schema. */
  said: z.string().optional(),
  description: z.string().default(''),
  /** The default. */
  otherwise: z.string().optional(),
  enum: z.array(z.union([z.string(), z.number()])).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  get anyOf() {
    return z.array(memberSchema).optional()
  },
})

type MemberSchema = z.infer<typeof memberSchema>

const objectSchema = z.object({
  properties: z.record(z.string(), memberSchema),
  required: z.array(z.string()).default([]),
})

const code = (value: unknown) => `\`${value}\``

const typeOf = (schema: MemberSchema): string => {
  const { type, minLength = 0 } = schema
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(', or ')
  if (schema.said !== undefined) return schema.said
  if (schema.enum) return schema.enum.map(code).join(' or ')
  if (type === 'integer') return `whole number from ${schema.minimum} to ${schema.maximum}`
  if (type === 'string') return `text of ${minLength > 0 ? `${minLength} to ` : 'up to '}${schema.maxLength} characters`
  if (type === 'boolean') return `${code(true)} or ${code(false)}`
  return code(type)
}

const moment = 'the moment of the first import'

/** The default of a member. One that is made of other members shows their names in braces. */
const otherwiseOf = (kind: ContentKind, name: string): string | undefined => {
  const { otherwise, otherwiseSaid } = contentMembers[kind][name] ?? {}
  if (otherwiseSaid !== undefined || otherwise === undefined) return otherwiseSaid
  if (typeof otherwise !== 'function') return code(JSON.stringify(otherwise))
  const value = String(otherwise((other) => `{${other}}`, moment))
  const [, other] = /^\{(\w+)\}$/.exec(value) ?? []
  if (other !== undefined) return `as ${code(other)}`
  return value === moment ? value : code(value)
}

const isContentKind = (kind: string): kind is ContentKind => contentKinds.some((other) => other === kind)

export const cell = (text: string) => text.replaceAll('|', '\\|')

const sectionOf = (kind: string, meaning: string, schema: z.ZodObject): string => {
  const { properties, required } = objectSchema.parse(z.toJSONSchema(schema, { io: 'input' }))
  const rows = Object.entries(properties).map(([name, member]) => {
    const otherwise = isContentKind(kind) ? otherwiseOf(kind, name) : member.otherwise
    const last = required.includes(name) ? 'required' : (otherwise ?? '')
    return `| ${[code(name), typeOf(member), last, member.description].map(cell).join(' | ')} |`
  })
  return `## ${code(kind)}

${meaning}

| Member | Type | Default | Meaning |
|---|---|---|---|
${rows.join('\n')}
`
}

/** `docs/records.md`: every record of an import with its members, made from the schemas that check them. */
export const createRecordsPage = (): string => {
  const sections = Object.entries(recordShapes).map(([kind, { meaning, schema }]) => sectionOf(kind, meaning, schema))
  return `# The records of an import

\`site-admin import\` reads JSON lines or one JSON array, in UTF-8. \`site-admin export\` writes JSON lines. Each record
is an object with a \`kind\` and the members below. An import changes only the members that the record names. Other
members of a stored record stay as they are; those of a new record get their defaults. With \`--replace\`, all of them
get their defaults. Unknown members are errors. A record may have 1,048,576 characters.

\`\`\`json
{"kind": "category", "id": 1, "name": "Press"}
{"kind": "news", "id": 36, "subject": "We are open", "body": "<p>Come in.</p>"}
{"kind": "link", "type": "news", "categoryId": 1, "objectId": 36}
\`\`\`

${sections.join('\n')}
Made from the schemas in [admin/records/record-schemas.ts](../admin/records/record-schemas.ts) and
[lib/categories/](../lib/categories/) by \`npm run openapi\`.
`
}
