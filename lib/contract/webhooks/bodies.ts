import * as z from 'zod/mini'
import { typePatterns } from '../../core/history-entry.ts'
import { atMost } from '../page-switches.ts'

const text = z.string('must be a text')
const oneLine = z.refine<string>(
  (value) => /^\P{Cc}*$/u.test(value) && value.isWellFormed(),
  'must be one line of text',
)

const isTarget = (value: string): boolean => {
  const url = URL.parse(value)
  if (!url || !/^https?:\/\/[^/]/i.test(value) || value.includes('#')) return false
  return url.username === '' && url.password === ''
}

const settings = {
  targetUrl: z
    .string('must be an address, such as https://example.com/hooks')
    .check(atMost(2_000), z.refine(isTarget, 'must be an https address without user, password and fragment')),
  types: z.optional(
    z
      .array(
        z.literal(
          [...typePatterns],
          'must be a type of change, such as file.stored or file.*. GET /docs lists all types',
        ),
        'must be a list of types, such as ["file.*"]',
      )
      .check(z.maxLength(50, 'must have 50 entries or fewer')),
  ),
  subject: z.optional(text.check(atMost(1_024), oneLine)),
  enabled: z.optional(z.boolean('must be true or false')),
  description: z.optional(text.check(atMost(200), oneLine)),
}

/** V-2. */
export const newWebhookBody = z.object(settings, 'must be an object')

/** V-5. */
export const webhookChangeBody = z
  .object(
    {
      ...settings,
      targetUrl: z.optional(settings.targetUrl),
      rotate: z.optional(z.literal(true, 'must be true, or be left out')),
    },
    'must be an object',
  )
  .check(
    z.refine(
      (change) => Object.values(change).some((value) => value !== undefined),
      'Send at least one member to change',
    ),
  )
