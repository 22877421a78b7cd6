import { write, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describeError } from '../lib/core/errors.ts'
import { systemCodeOf } from '../lib/core/system-failures.ts'
import type { RequestRecord, SignInRecord, Telemetry } from '../lib/http/request.ts'

// The log also contains faults of the flags, so this flag is read before all others.
const isJson = /(^|\s)--log[\s=]json(\s|$)/.test(process.argv.join(' '))

const inJson = (message: string, error?: unknown): string =>
  JSON.stringify({ time: new Date().toISOString(), message, error: error && describeError(error) })

// In milliseconds: until new lines are written, and until a full pipe is tried again.
const delay = 50
const pause = 10
// In characters: waiting lines that nobody reads may take this much memory. Further lines are lost, and counted.
const mostWaiting = 4 * 1024 * 1024

let waiting: string[] = []
let length = 0
let lost = 0
let writing: Promise<void> | undefined

const takeWaiting = (): Buffer => {
  const loss = `${lost} lines of the log were lost, because no program read standard error.`
  const lines = lost > 0 ? [...waiting, `${isJson ? inJson(loss) : loss}\n`] : waiting
  waiting = []
  length = 0
  lost = 0
  return Buffer.from(lines.join(''))
}

const { fd } = process.stderr
const writeSome = promisify(write)

// If the reader has closed the pipe, or the disk is full, the service continues without its log.
const writeAll = async (bytes: Buffer): Promise<void> => {
  for (let left = bytes; left.length > 0; ) {
    try {
      const { bytesWritten } = await writeSome(fd, left)
      left = left.subarray(bytesWritten)
    } catch (error) {
      if (systemCodeOf(error) !== 'EAGAIN') return
      await sleep(pause, undefined, { ref: false })
    }
  }
}

const writeWaiting = async (): Promise<void> => {
  while (waiting.length > 0) {
    await sleep(delay, undefined, { ref: false })
    await writeAll(takeWaiting())
  }
  writing = undefined
}

// Requests do not wait for the writes.
const logLine = (line: string): void => {
  if (length > mostWaiting) {
    lost += 1
    return
  }
  waiting.push(`${line}\n`)
  length += line.length + 1
  writing ??= writeWaiting()
}

/** Waits until all lines are written. If nobody reads the log, gives up after a second. */
export const settleLog = () => Promise.race([writing, sleep(1_000)])

process.on('exit', () => {
  try {
    writeSync(fd, takeWaiting())
  } catch {
    // If nobody reads the log any more, its last lines are lost.
  }
})

/** With `--log json`, every message on standard error becomes a line of the log (O-8). The result is then true. */
export const logInJson = (): boolean => {
  if (!isJson) return false
  const say = (message: string, error?: unknown) => logLine(inJson(message, error))
  Object.assign(console, { error: say, warn: say })
  process.removeAllListeners('warning').on('warning', (warning) => say(warning.message, warning))
  process.on('uncaughtException', (error) => {
    say('The service failed:', error)
    process.exit(1)
  })
  return true
}

export type LogFormat = 'text' | 'json'

const milliseconds = (duration: number) => Math.round(duration * 10) / 10

const stackOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\n  because of ${stackOf(error.cause)}`
  return `${error.stack ?? error.message}${cause}`
}

const formats: Readonly<Record<LogFormat, (record: RequestRecord, time: string) => string>> = {
  text: ({ method, path, status, durationMs, requestId, error }, time) => {
    const line = `${time} ${method} ${path} ${status} ${milliseconds(durationMs)} ms ${requestId}`
    return error === undefined ? line : `${line}\nRequest ${requestId} failed: ${stackOf(error)}`
  },
  json: ({ method, path, status, durationMs, requestId, operation, site, token, error }, time) =>
    JSON.stringify({
      time,
      method,
      path,
      status,
      milliseconds: milliseconds(durationMs),
      requestId,
      operation,
      site,
      token,
      ...(error !== undefined && { error: describeError(error) }),
    }),
}

const signInFormats: Readonly<Record<LogFormat, (record: SignInRecord, time: string) => string>> = {
  text: ({ name, address, outcome, fault }, time) =>
    `${time} sign-in of ${name ?? 'an unknown name'} from ${address ?? 'an unknown address'}: ${outcome}` +
    `${fault === undefined ? '' : ` (${fault})`}`,
  json: (record, time) => JSON.stringify({ time, message: 'sign-in', ...record }),
}

/** When quiet, logs only failures of the service itself. */
export const createRequestLog = (quiet: boolean, format: LogFormat): Telemetry => ({
  signIn(record) {
    if (!quiet) logLine(signInFormats[format](record, new Date().toISOString()))
  },

  request(record) {
    if (quiet && record.error === undefined) return
    logLine(formats[format](record, new Date().toISOString()))
  },
})
