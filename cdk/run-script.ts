import { type ParseArgsConfig, parseArgs } from 'node:util'

/**
 * Runs a script with its options, and with names if it accepts some. Returns the exit status: the result of `run`, 1 for
 * an error, or 2 for wrong usage.
 */
export const runScript = async <const Options extends NonNullable<ParseArgsConfig['options']>>(
  usage: string,
  options: Options,
  run: (
    values: ReturnType<typeof parseArgs<{ options: Options }>>['values'],
    names: readonly string[],
  ) => Promise<number>,
  allowPositionals = false,
): Promise<number> => {
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals })
    return await run(values, positionals)
  } catch (error) {
    const isMisused = String(Object(error).code).startsWith('ERR_PARSE_ARGS')
    console.error(isMisused ? usage : error instanceof Error ? error.message : error)
    return isMisused ? 2 : 1
  }
}
