import { type ParseArgsConfig, parseArgs } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>

const valuesOf = <const Wanted extends Options>(options: Wanted) => {
  try {
    return parseArgs({ options }).values
  } catch {
    return undefined
  }
}

/**
 * Runs a script with its options. Returns the exit status: the result of `run`, 1 for an error, or 2 for wrong usage.
 */
export const runScript = async <const Wanted extends Options>(
  usage: string,
  options: Wanted,
  run: (values: NonNullable<ReturnType<typeof valuesOf<Wanted>>>) => Promise<number>,
): Promise<number> => {
  const values = valuesOf(options)
  try {
    if (values) return await run(values)
    console.error(usage)
    return 2
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return 1
  }
}
