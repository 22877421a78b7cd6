import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const folder = join(import.meta.dirname, '..', '.local', 'fuzz')
const stamp = join(folder, 'requirements.txt')
const requirements = join(import.meta.dirname, 'requirements.txt')

const isCurrent = async (): Promise<boolean> => {
  try {
    return (await readFile(stamp, 'utf8')) === (await readFile(requirements, 'utf8'))
  } catch {
    return false
  }
}

/** The command of the fuzzer, in a Python environment of the project's own with the pinned packages; made when it is not there yet. */
export const fuzzer = async (): Promise<string> => {
  const command = join(folder, 'bin', 'schemathesis')
  if (await isCurrent()) return command
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await run('python3', ['-m', 'venv', folder])
  await run(join(folder, 'bin', 'pip'), ['install', '--quiet', '--requirement', requirements])
  await writeFile(stamp, await readFile(requirements))
  return command
}
