import { createInterface } from 'node:readline/promises'
import { Interrupted } from './failure.ts'

const never = new AbortController().signal

export const isTerminal = (): boolean => process.stdin.isTTY === true

const readLine = async (question: string, signal: AbortSignal): Promise<string> => {
  const lines = createInterface({ input: process.stdin, ...(isTerminal() ? { output: process.stderr } : { signal }) })
  try {
    if (isTerminal()) return await lines.question(question, { signal })
    for await (const line of lines) return line
    signal.throwIfAborted()
    return ''
  } catch (error) {
    // Ctrl+C and Ctrl+D reach this code as an AbortError, not as signals.
    throw error instanceof Error && error.name === 'AbortError' ? new Interrupted() : error
  } finally {
    lines.close()
  }
}

export const askLine = async (question: string, signal: AbortSignal): Promise<string> =>
  (await readLine(question, signal)).trim()

const enter = /[\r\n]/
const withoutLast = (text: string): string =>
  Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
    .slice(0, -1)
    .join('')

/** The codes that a terminal sends for Ctrl+C and Ctrl+D, Backspace and Delete, Ctrl+U and Ctrl+W. */
const stops = ['\x03', '\x04']
const edits: Readonly<Record<string, (text: string) => string>> = {
  '\b': withoutLast,
  '\x7f': withoutLast,
  '\x15': () => '',
  '\x17': (text) => text.replace(/\S*\s*$/, ''),
}

const askHidden = (question: string, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    const { stdin, stderr } = process
    let text = ''
    stderr.write(question)
    const end = () => {
      stdin.off('data', take).setRawMode(false).pause()
      signal.removeEventListener('abort', stop)
      stderr.write('\n')
    }
    const stop = () => {
      end()
      reject(new Interrupted())
    }
    const take = (data: Buffer | string) => {
      const [typed = '', ...more] = String(data).split(enter)
      for (const key of typed) text = edits[key]?.(text) ?? text + key
      if (stops.some((key) => text.includes(key))) return stop()
      if (more.length === 0) return
      end()
      resolve(text)
    }
    signal.addEventListener('abort', stop, { once: true })
    stdin.setRawMode(true).setEncoding('utf8').on('data', take).resume()
  })

/**
 * Reads a secret without showing it. Without a terminal, reads the next line of standard input. Keeps spaces, because a
 * password may contain spaces.
 */
export const askSecret = async (question: string, signal = never): Promise<string> =>
  isTerminal() ? askHidden(question, signal) : readLine('', signal)

export const askYesNo = async (question: string, signal = never): Promise<boolean | undefined> =>
  isTerminal() ? /^y(es)?$/i.test(await askLine(`${question} [y/N] `, signal)) : undefined
