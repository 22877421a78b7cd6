import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { oneAtATime } from './one-at-a-time.ts'

/**
 * Copies a folder with a package.json and its lock to a folder below `.local`. Installs the pinned packages there at
 * the first use and after each change of the lock. The installation needs the network.
 */
export const preparePackages = (source: string, room: string): void => {
  const stamp = join(room, 'installed.json')
  const wanted = readFileSync(join(source, 'package-lock.json'), 'utf8')
  oneAtATime(`${room}.lock`, () => {
    const isCurrent = existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted
    if (!isCurrent) rmSync(room, { recursive: true, force: true })
    cpSync(source, room, { recursive: true })
    if (isCurrent) return
    const { status, stderr, error } = spawnSync('npm', ['ci', '--silent'], { cwd: room })
    if (status !== 0) throw new Error(`npm ci failed in ${room}:\n${stderr}`, { cause: error })
    writeFileSync(stamp, wanted)
  })
}
