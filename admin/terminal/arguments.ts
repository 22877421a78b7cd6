import { Command, InvalidArgumentError, Option } from 'commander'
import { largestContentId, largestNamedId, parseId, type SiteId } from '../../lib/core/ids.ts'
import { plainId } from '../../lib/core/names.ts'
import { areas, mostEntries, parseRight } from '../../lib/core/rights.ts'
import { parserIf, parserOf } from '../../local/flags.ts'

const idUpTo = <Id extends number>(largest: number, text: string): Id => {
  const id = parseId<Id>(text)
  if (id !== undefined && id >= 1 && id <= largest) return id
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${largest}.`)
}

export const parsePositiveId = <Id extends number>(text: string) => idUpTo<Id>(largestNamedId, text)
export const parseContentId = <Id extends number>(text: string) => idUpTo<Id>(largestContentId, text)

export const collect =
  <Value>(parse: (text: string) => Value, most = Number.POSITIVE_INFINITY) =>
  (text: string, previous: readonly Value[] = []): Value[] => {
    if (previous.length < most) return [...previous, parse(text)]
    throw new InvalidArgumentError(`Give this option at most ${most} times.`)
  }

// In characters.
export const longestName = 200

export const parseName = parserOf((text) => {
  const name = text.trim().normalize('NFC')
  return name === '' || name.length > longestName || /\p{Cc}/u.test(name) ? undefined : name
}, `It must have 1 to ${longestName} characters without control characters.`)

/** The id of a data centre or an issuer. */
export const parsePlainId = parserIf(
  (text) => plainId.test(text),
  'It must begin with a lower-case letter, and have only lower-case letters, digits and hyphens.',
)

export const parseRegion = parserIf(
  (text) => /^[a-z]{2}(?:-[a-z]+)+-\d$/.test(text),
  'It must be a region such as eu-west-1.',
)

export const parseQuota = (text: string): number | undefined => {
  if (text === 'none') return undefined
  if (!/^\d{1,15}$/.test(text))
    throw new InvalidArgumentError(
      'It must be a number of bytes with at most 15 digits, or the word none for no quota.',
    )
  return Number(text)
}

const day = 24 * 3600
const secondsIn: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: day, w: 7 * day, y: 365 * day }

/** Parses a duration such as `15m` to seconds. */
export const spanUpTo = (longest: number, fault: string) =>
  parserOf((text) => {
    const [, count = '', unit = ''] = /^(\d{1,8})([smhdwy])$/.exec(text) ?? []
    const seconds = Number(count) * (secondsIn[unit] ?? 0)
    return seconds < 1 || seconds > longest ? undefined : seconds
  }, fault)

/** In seconds: `30m`, `4h`, `2d`, `1w`. */
export const parseSpan = spanUpTo(Number.POSITIVE_INFINITY, 'It must be a duration such as 30m, 4h, 2d or 1w.')

// In seconds. Tokens live from `30m` to a year.
const parseLifetime = spanUpTo(365 * day, 'It must be a duration such as 30m, 4h, 3d or 2w, and at most a year.')

export const lifetimeOption = (description: string, usual: string, parse = parseLifetime): Option =>
  new Option('--ttl <lifetime>', description).argParser(parse).default(parse(usual), usual)

const parseGivenRight = parserOf(
  parseRight,
  `It must be an area, a colon and read or write, such as forms:read. Areas: ${areas.join(', ')}. ` +
    'A right on files may name a folder, such as files:write:/news.',
)

export const rightOption = (description: string): Option =>
  new Option('--right <right>', `${description}, such as files:write:/news (repeatable)`).argParser(
    collect(parseGivenRight, mostEntries),
  )

const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name()

/** Each example is the text behind the name of the command. */
export const commandOf = (name: string, description: string, ...examples: readonly string[]): Command =>
  new Command(name).description(description).addHelpText('after', ({ command }) => {
    const lines = (examples.length > 0 ? examples : ['']).map((example) => `  ${nameOf(command)} ${example}`.trimEnd())
    return `\nExample:\n${lines.join('\n')}`
  })

export const parseSiteId = parsePositiveId<SiteId>

export const siteCommandOf = (name: string, description: string, ...examples: readonly string[]): Command => {
  const shown = examples.length > 0 ? examples : ['--site 1001']
  return commandOf(name, description, ...shown).requiredOption('--site <id>', 'the site', parseSiteId)
}

/** `example` names the thing to remove. */
export const removeCommandOf = (create: typeof commandOf, description: string, example: string): Command =>
  create('remove', description, `${example} --dry-run`, `${example} --yes`)
    .option('--yes', 'remove it; without --yes, only list what would be removed')
    .option('--dry-run', 'only list what would be removed')

export const groupOf = (name: string, description: string, example: string, commands: readonly Command[]): Command =>
  commands.reduce((group, command) => group.addCommand(command), commandOf(name, description, example))

export interface OfSite {
  readonly site: SiteId
}

export interface NewOptions<Id> extends OfSite {
  readonly name: string
  readonly id?: Id
}

export interface RemoveOptions {
  readonly yes?: true
  readonly dryRun?: true
}
