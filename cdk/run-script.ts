import { type ParseArgsConfig, parseArgs } from 'node:util'

const noCredentials = /^(CredentialsProvider|TokenProvider|ExpiredToken|UnrecognizedClient|InvalidClientToken)/
const advice = `AWS needs valid credentials. Set AWS_PROFILE, sign in with "aws sso login" or "aws configure",
and repeat the command when "aws sts get-caller-identity" answers.`

export const lacksCredentials = (error: unknown): boolean => noCredentials.test(Object(error).name)

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
  if (process.argv.includes('--help')) {
    console.log(usage)
    return 0
  }
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals })
    return await run(values, positionals)
  } catch (error) {
    const isMisused = String(Object(error).code).startsWith('ERR_PARSE_ARGS')
    const message = error instanceof Error ? error.message : error
    console.error(isMisused ? `${String(message).split('. ')[0]}.\n${usage}` : message)
    if (lacksCredentials(error)) console.error(advice)
    return isMisused ? 2 : 1
  }
}
