import { SettingsError } from '../lib/settings.ts'
import { parseFlags } from './flags.ts'
import { createLogLines } from './log-lines.ts'
import { createRequestLog } from './request-log.ts'
import { startService } from './service.ts'
import { UsageError } from './usage-error.ts'
import { machineWelcome, welcome } from './welcome.ts'

const standardError = 2

/** Nobody may be there any more to read what a service says: it goes on without. */
const outliveReaders = () => {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/** `npm start` (decisions.md, section 6). Ready means: the line with the base URL is printed. */
export const start = async (argv: readonly string[]): Promise<void> => {
  const lines = createLogLines(standardError)
  process.on('exit', lines.flush)
  outliveReaders()
  const say = (sentence: string) => console.error(sentence)
  try {
    const { quiet, log: format, json, dataDir, ...flags } = parseFlags(argv)
    const telemetry = createRequestLog(lines, { quiet, format })
    const service = await startService({ ...flags, dataDirectory: dataDir, telemetry, say })
    const stop = () => {
      process.off('SIGINT', stop).off('SIGTERM', stop)
      service.stop().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error('The service did not stop cleanly:', error)
          process.exit(1)
        },
      )
    }
    process.on('SIGINT', stop).on('SIGTERM', stop)
    console.log(json ? machineWelcome(service) : welcome(service))
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof SettingsError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
