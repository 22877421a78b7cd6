import { type ParseArgsConfig, parseArgs } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>

const argumentsOf = <const Wanted extends Options>(options: Wanted, allowPositionals: boolean) => {
  try {
    return parseArgs({ options, allowPositionals })
  } catch {
    return undefined
  }
}

type Arguments<Wanted extends Options> = NonNullable<ReturnType<typeof argumentsOf<Wanted>>>

/**
 * Runs a script with its options, and with names if it accepts some. Returns the exit status: the result of `run`, 1 for
 * an error, or 2 for wrong usage.
 */
export const runScript = async <const Wanted extends Options>(
  usage: string,
  options: Wanted,
  run: (values: Arguments<Wanted>['values'], names: readonly string[]) => Promise<number>,
  acceptsNames = false,
): Promise<number> => {
  const found = argumentsOf(options, acceptsNames)
  try {
    if (found) return await run(found.values, found.positionals)
    console.error(usage)
    return 2
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return 1
  }
}
