import * as z from 'zod'

/**
 * The settings of the functions: the only place that reads environment variables. A missing or bad one stops the cold
 * start with its name, before any request is taken.
 */
const edge = z.object({
  /** The id of the data centre that this function belongs to. */
  DATA_CENTRE: z.string().regex(/^[a-z][a-z0-9-]{0,31}$/),
  SITES_TABLE: z.string().min(1),
  TOKENS_TABLE: z.string().min(1),
  LOG_LEVEL: z.enum(['DEBUG', 'INFO', 'WARN', 'ERROR']).default('INFO'),
})

const fields = edge.extend({ WEB_FORMS_TABLE: z.string().min(1) })

export type EdgeConfig = z.infer<typeof edge>
export type FieldsConfig = z.infer<typeof fields>

const read = <Config>(schema: z.ZodType<Config>, environment: NodeJS.ProcessEnv): Config => {
  const result = schema.safeParse(environment)
  if (result.success) return result.data
  const faults = result.error.issues.map(({ path, message }) => `${path.join('.')} (${message})`)
  throw new Error(`Settings missing or wrong: ${faults.join(', ')}`)
}

export const readFieldsConfig = (environment: NodeJS.ProcessEnv = process.env): FieldsConfig =>
  read(fields, environment)
