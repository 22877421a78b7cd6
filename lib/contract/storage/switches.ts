import * as z from 'zod/mini'
import { changeTypes, readChangeType } from '../../core/history-entry.ts'
import { atMost, digits, pageLimit, pageSwitches } from '../request-parts.ts'

// Query switches with bounded values. The operations and the OpenAPI document use these schemas.
const putVersion = z.enum(['draft', 'draft-publish'], 'must be draft or draft-publish, or be left out')
export const force = z.enum(['true', 'false'], 'must be true or false')

const leftOutOr = <Text extends string>(text: Text) => z.optional(z.literal(text, `must be ${text}, or be left out`))

export const deleteSwitches = z.object({ version: leftOutOr('draft'), force: z.optional(force) })
export const putSwitches = z.object({ version: z.optional(putVersion), type: leftOutOr('folder') })
export const listing = z.object({ ...pageSwitches.shape, recursive: leftOutOr('true') })

const searchText = 'must be 1 to 255 characters without control characters or slashes'
export const searchQuery = z.object({
  ...pageSwitches.shape,
  search: z.string().check(z.regex(/^[^\p{Cc}/]{1,255}$/u, searchText)),
})

const fewChanges = 'must be a whole number from 1 to 500'
const changesLimit = z.int(fewChanges).check(z.minimum(1, fewChanges), z.maximum(500, fewChanges))

const typesIn = (text: string) => text.split(',').map((type) => readChangeType(type.trim()))
const unknownType = `must be types of changes, separated by commas. Types: ${changeTypes.join(', ')}`

const shortWait = 'must be a whole number of seconds from 1 to 20'
const changesWait = z.int(shortWait).check(z.minimum(1, shortWait), z.maximum(20, shortWait))

export const changesQuery = z.object({
  limit: z.optional(z.pipe(digits, changesLimit)),
  wait: z.optional(z.pipe(digits, changesWait)),
  type: z.optional(
    z.pipe(
      z.string().check(
        atMost(1_000),
        z.refine((text) => !typesIn(text).includes(undefined), unknownType),
      ),
      z.transform((text) => typesIn(text).filter((type) => type !== undefined)),
    ),
  ),
  subject: z.optional(z.string().check(atMost(1_000), z.normalize())),
})

// A PUT with `?meta` renames, moves or copies (S-51). The rules of paths check the texts later.
export const renamePath = z.object({ name: z.string() })
export const movePath = z.object({ path: z.string() })
export const copyPath = z.object({ copyTo: z.string() })

const manyDigests = 'must be 1 to 64 SHA-256 digests'
const digest = z.string().check(z.regex(/^[0-9a-f]{64}$/, 'must have 64 digits of 0-9 and a-f'))

const byteCount = 'must be a whole number of bytes'
export const partsBody = z.strictObject(
  {
    name: z.string('must be a string'),
    size: z.int(byteCount).check(z.minimum(0, byteCount)),
    type: z.optional(z.string('must be a string')),
    version: z.optional(putVersion),
    digests: z.optional(z.array(digest, manyDigests).check(z.minLength(1, manyDigests), z.maxLength(64, manyDigests))),
  },
  'The body must be an object with name and size; type, version and digests are optional',
)

const digestsText = `${manyDigests}, each with 64 digits of 0-9 and a-f, separated by commas`
export const partsQuery = z.object({
  first: z.optional(z.pipe(digits, pageLimit)),
  digests: z.optional(z.string().check(z.regex(/^[0-9a-f]{64}(,[0-9a-f]{64}){0,63}$/, digestsText))),
})

const versionName = z.string('must be a string').check(z.minLength(1, 'must not be empty'), atMost(1_024))
export const restoreBody = z.strictObject(
  { version: z.optional(versionName), replace: z.optional(z.boolean('must be true or false')) },
  'The body must be an object; its members version and replace are optional',
)
export const restorationOrParts = z.union([restoreBody, partsBody])
export const versionSwitches = z.object({ versionId: z.optional(versionName) })

const destinations = ['name', 'path', 'copyTo']
const onlyOne = `Send exactly one of ${destinations.map((name) => `"${name}"`).join(', ')}`
export const destinationBody = z.pipe(
  z
    .looseObject({}, onlyOne)
    .check(z.refine((body) => destinations.filter((name) => Object.hasOwn(body, name)).length === 1, onlyOne)),
  z.union([renamePath, movePath, copyPath], `${onlyOne}, as a string`),
)
