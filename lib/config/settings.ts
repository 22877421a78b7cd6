import { readFileSync } from 'node:fs'
import { isPlainObject } from '../core/names.ts'

type Reader<Value> = (text: string) => Value

type Presence = 'required' | 'standard' | 'optional'

interface Setting<Value, Present extends Presence> {
  readonly variable: string
  readonly presence: Present
  readonly read: (text: string | undefined) => Value
}

type Settings = Readonly<Record<string, Setting<unknown, Presence>>>

type NamesOf<Wanted extends Settings, Present extends Presence> = {
  [Name in keyof Wanted]: Wanted[Name]['presence'] extends Present ? Name : never
}[keyof Wanted]

type ValuesOf<Wanted extends Settings> = { readonly [Name in keyof Wanted]: ReturnType<Wanted[Name]['read']> }

export type SettingsOf<Wanted extends Settings> = Partial<ValuesOf<Wanted>> &
  Pick<ValuesOf<Wanted>, NamesOf<Wanted, 'required' | 'standard'>>

/** The text of each setting, by its name. Required settings must have a text. */
export type SettingTexts<Wanted extends Settings> = Partial<Record<keyof Wanted, string | undefined>> &
  Record<NamesOf<Wanted, 'required'>, string>

export const required = <Value>(variable: string, reader: Reader<Value>): Setting<Value, 'required'> => ({
  variable,
  presence: 'required',
  read(given = '') {
    if (given === '') throw new Error('must be set')
    return reader(given)
  },
})

export const otherwise = <Value>(
  variable: string,
  reader: Reader<Value>,
  standard: string,
): Setting<Value, 'standard'> => ({ variable, presence: 'standard', read: (given = standard) => reader(given) })

export const optional = <Value>(variable: string, reader: Reader<Value>): Setting<Value | undefined, 'optional'> => ({
  variable,
  presence: 'optional',
  read: (given) => (given === undefined ? undefined : reader(given)),
})

const textThat =
  (fits: (given: string) => boolean, rule: string): Reader<string> =>
  (given) => {
    if (!fits(given)) throw new Error(`must ${rule}`)
    return given
  }

export const text = (shortest = 1) =>
  textThat(({ length }) => length >= shortest, `have ${shortest} characters or more`)

export const textLike = (pattern: RegExp, shape: string) => textThat((given) => pattern.test(given), `be ${shape}`)

export const oneOf =
  <const Choice extends string>(choices: readonly Choice[]): Reader<Choice> =>
  (given) => {
    const choice = choices.find((each) => each === given)
    if (choice === undefined) throw new Error(`must be one of ${choices.join(', ')}`)
    return choice
  }

export const wholeNumber =
  (least: number, most: number): Reader<number> =>
  (given) => {
    const value = Number(given)
    if (!/^\d+$/.test(given) || value < least || value > most) {
      throw new Error(`must be a whole number from ${least} to ${most}`)
    }
    return value
  }

export const list: Reader<readonly string[]> = (given) =>
  given
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/**
 * Reads settings from an environment. Throws a SettingsError that names every fault. Uses no schema library, because
 * every cold start would have to load it.
 */
export const readSettings = <Wanted extends Settings>(
  wanted: Wanted,
  environment: NodeJS.ProcessEnv,
): SettingsOf<Wanted> => {
  const faults: string[] = []
  const values = Object.entries(wanted).map(([name, { variable, read }]): [string, unknown] => {
    try {
      return [name, read(environment[variable])]
    } catch (error) {
      faults.push(`${variable} (${(error as Error).message})`)
      return [name, undefined]
    }
  })
  if (faults.length > 0) throw new SettingsError(`Settings missing or wrong: ${faults.join(', ')}.`)
  return Object.fromEntries(values) as SettingsOf<Wanted>
}

/** The environment variables for the settings in `wanted`. The compiler reports a required setting that is left out. */
export const environmentOf = <Wanted extends Settings>(
  wanted: Wanted,
  texts: SettingTexts<Wanted>,
): Record<string, string> => {
  const given: Readonly<Record<string, string | undefined>> = texts
  const variables = Object.entries(wanted).map(([name, { variable }]) => [variable, given[name]] as const)
  return Object.fromEntries(variables.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

/**
 * the client secrets by the id of their issuer. Throws an Error that begins with `place`, and does not contain the
 * text.
 */
export const readClientSecrets = (text: string, place = ''): ReadonlyMap<string, string> => {
  const fault = `${place}must be a JSON object with the client secret of each issuer by its id, such as {"work": "…"}`
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(fault)
  }
  if (!isPlainObject(value)) throw new Error(fault)
  const secrets = Object.entries(value)
  if (!secrets.every((entry): entry is [string, string] => typeof entry[1] === 'string')) throw new Error(fault)
  return new Map(secrets)
}

const textOfFile = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`must name a file that this user can read: ${(error as Error).message}`)
  }
}

/** Reads the file at once, and again with each call of the returned function. */
export const secretsFile = (file: string): (() => ReadonlyMap<string, string>) => {
  const read = () => readClientSecrets(textOfFile(file), `The file ${file} `)
  read()
  return read
}
