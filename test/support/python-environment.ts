import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { oneAtATime } from './one-at-a-time.ts'

/**
 * The folder with the programs of a list of pinned packages, in a virtual environment below `.local`. It is created at
 * the first use and after each change of the list. The installation needs Python 3.10 or newer, and the network.
 */
export const preparePython = (folder: string, requirements: string): string => {
  const programs = join(folder, 'bin')
  const stamp = join(folder, 'requirements.txt')
  const wanted = readFileSync(requirements, 'utf8')
  return oneAtATime(`${folder}.lock`, () => {
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return programs
    rmSync(folder, { recursive: true, force: true })
    execFileSync('python3', ['-m', 'venv', folder], { stdio: 'inherit' })
    execFileSync(
      join(programs, 'pip'),
      ['install', '--quiet', '--disable-pip-version-check', '--requirement', requirements],
      { stdio: 'inherit' },
    )
    writeFileSync(stamp, wanted)
    return programs
  })
}
