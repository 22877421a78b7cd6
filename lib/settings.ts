/** Reads one setting from its text; undefined when it is not set. Throws an Error that says what it must be. */
type Setting<Value> = (text: string | undefined) => Value

type Settings = Readonly<Record<string, Setting<unknown>>>

type OptionalNames<Wanted extends Settings> = {
  [Name in keyof Wanted]: undefined extends ReturnType<Wanted[Name]> ? Name : never
}[keyof Wanted]

/** The settings by name, each with what was read of it. */
export type SettingsOf<Wanted extends Settings> = {
  readonly [Name in Exclude<keyof Wanted, OptionalNames<Wanted>>]: ReturnType<Wanted[Name]>
} & {
  readonly [Name in OptionalNames<Wanted>]?: Exclude<ReturnType<Wanted[Name]>, undefined>
}

export const text =
  (shortest = 1): Setting<string> =>
  (given = '') => {
    if (given === '') throw new Error('must be set')
    if (given.length < shortest) throw new Error(`must have ${shortest} characters or more`)
    return given
  }

/** A text of a certain shape; `shape` says in words which. */
export const textLike =
  (pattern: RegExp, shape: string): Setting<string> =>
  (given) => {
    const value = text()(given)
    if (!pattern.test(value)) throw new Error(`must be ${shape}`)
    return value
  }

export const oneOf =
  <const Choice extends string>(choices: readonly Choice[]): Setting<Choice> =>
  (given) => {
    const choice = choices.find((each) => each === given)
    if (choice === undefined) throw new Error(`must be one of ${choices.join(', ')}`)
    return choice
  }

export const wholeNumber =
  (least: number, most: number): Setting<number> =>
  (given = '') => {
    const value = Number(given)
    if (!/^\d+$/.test(given) || value < least || value > most) {
      throw new Error(`must be a whole number from ${least} to ${most}`)
    }
    return value
  }

/** Texts separated by commas, which blanks may surround; none at all when it is empty. */
export const list: Setting<readonly string[]> = (given = '') =>
  given
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

export const optional =
  <Value>(setting: Setting<Value>): Setting<Value | undefined> =>
  (given) =>
    given === undefined ? undefined : setting(given)

/** What a setting is when it is left out, in the words in which it would be set. */
export const otherwise =
  <Value>(setting: Setting<Value>, standard: string): Setting<Value> =>
  (given = standard) =>
    setting(given)

/** What is missing or wrong in an environment, in one sentence. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/**
 * Reads the wanted settings from an environment. Throws a SettingsError that names all that is missing or wrong.
 * (By hand, and not by a schema library: this runs in every cold start, which would wait for one to load.)
 */
export const readSettings = <Wanted extends Settings>(
  wanted: Wanted,
  environment: NodeJS.ProcessEnv,
): SettingsOf<Wanted> => {
  const faults: string[] = []
  const read = (name: string, setting: Setting<unknown>): [string, unknown] => {
    try {
      return [name, setting(environment[name])]
    } catch (error) {
      faults.push(`${name} (${(error as Error).message})`)
      return [name, undefined]
    }
  }
  const values = Object.entries(wanted).map(([name, setting]) => read(name, setting))
  if (faults.length > 0) throw new SettingsError(`Settings missing or wrong: ${faults.join(', ')}.`)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as SettingsOf<Wanted>
}
