import * as z from 'zod/mini'
import { typePatterns } from '../../core/history-entry.ts'
import { isOneLine, isTarget, longest } from '../../webhooks/webhooks.ts'
import { anyMember, atMost, objectOf } from '../request-parts.ts'

const text = z.string('must be a text')
const oneLine = z.refine<string>(isOneLine, 'must be one line of text')

const noTarget = 'must be an https address without user, password and fragment'

const type = z.literal(
  [...typePatterns],
  'must be a type of change, such as file.stored or file.*. GET /docs lists all types',
)

const settings = {
  targetUrl: z
    .string('must be an address, such as https://example.com/hooks')
    .check(
      atMost(longest.targetUrl),
      z.regex(/^https?:\/\//i, { error: noTarget, abort: true }),
      z.refine(isTarget, noTarget),
    ),
  types: z.optional(
    z
      .array(type, 'must be a list of types, such as ["file.*"]')
      .check(z.maxLength(longest.types, `must have ${longest.types} entries or fewer`)),
  ),
  subject: z.optional(text.check(atMost(longest.subject), oneLine, z.normalize())),
  enabled: z.optional(z.boolean('must be true or false')),
  description: z.optional(text.check(atMost(longest.description), oneLine)),
}

/** V-2. */
export const webhookCreationBody = objectOf(settings)

/** V-5. */
export const webhookChangeBody = objectOf({
  ...settings,
  targetUrl: z.optional(settings.targetUrl),
  rotate: z.optional(z.literal(true, 'must be true, or be left out')),
}).check(anyMember)
