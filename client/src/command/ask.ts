import { createInterface } from 'node:readline/promises'
import { Interrupted } from './failure.ts'

export const isTerminal = (): boolean => process.stdin.isTTY === true

const readLine = async (question: string): Promise<string> => {
  const lines = createInterface({ input: process.stdin, ...(isTerminal() && { output: process.stderr }) })
  try {
    if (isTerminal()) return await lines.question(question)
    for await (const line of lines) return line
    return ''
  } catch (error) {
    // Ctrl+C and Ctrl+D reach this code as an AbortError, not as signals.
    throw error instanceof Error && error.name === 'AbortError' ? new Interrupted() : error
  } finally {
    lines.close()
  }
}

export const askLine = async (question: string): Promise<string> => (await readLine(question)).trim()

const enter = /[\r\n]/
/** The codes that a terminal sends for Ctrl+C and Ctrl+D, Backspace and Delete. */
const stops = [3, 4].map((code) => String.fromCharCode(code))
const erases = [8, 127].map((code) => String.fromCharCode(code))

const askHidden = (question: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { stdin, stderr } = process
    let text = ''
    stderr.write(question)
    const end = () => {
      stdin.off('data', take).setRawMode(false).pause()
      stderr.write('\n')
    }
    const take = (data: Buffer | string) => {
      const [typed = '', ...more] = String(data).split(enter)
      for (const character of typed) text = erases.includes(character) ? text.slice(0, -1) : text + character
      const isStopped = stops.some((key) => text.includes(key))
      if (!isStopped && more.length === 0) return
      end()
      if (isStopped) reject(new Interrupted())
      else resolve(text)
    }
    stdin.setRawMode(true).setEncoding('utf8').on('data', take).resume()
  })

/**
 * Reads a secret without showing it. Without a terminal, reads the next line of standard input. Keeps spaces, because a
 * password may contain spaces.
 */
export const askSecret = async (question: string): Promise<string> =>
  isTerminal() ? askHidden(question) : readLine('')

export const askYesNo = async (question: string): Promise<boolean | undefined> =>
  isTerminal() ? /^y(es)?$/i.test(await askLine(`${question} [y/N] `)) : undefined
