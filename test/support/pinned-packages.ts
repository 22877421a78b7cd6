import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Milliseconds that a process waits for another process, which may be installing packages. */
const patience = 600_000

/** Runs `work` while no other process runs work with the same lock file. The lock ends with the process. */
const oneAtATime = (lock: string, work: () => void): void => {
  mkdirSync(dirname(lock), { recursive: true })
  const database = new DatabaseSync(lock, { timeout: patience })
  try {
    database.exec('BEGIN EXCLUSIVE')
    work()
  } finally {
    database.close()
  }
}

/** Installs the packages of a list at the first use, and after each change of the list. Needs the network then. */
const installOnce = (folder: string, list: string, install: () => void): void => {
  const stamp = join(folder, 'installed.txt')
  const wanted = readFileSync(list, 'utf8')
  oneAtATime(`${folder}.lock`, () => {
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
    rmSync(folder, { recursive: true, force: true })
    install()
    writeFileSync(stamp, wanted)
  })
}

/** Installs pinned packages of Python below `.cache`. Returns the folder of their programs. Needs Python 3.10. */
export const preparePython = (folder: string, requirements: string): string => {
  const programs = join(folder, 'bin')
  const pip = ['install', '--quiet', '--disable-pip-version-check', '--requirement', requirements]
  installOnce(folder, requirements, () => {
    execFileSync('python3', ['-m', 'venv', folder], { stdio: 'inherit' })
    execFileSync(join(programs, 'pip'), pip, { stdio: 'inherit' })
  })
  return programs
}

/** Copies a folder with a package.json and its lock to a folder below `.cache`, and installs the pinned packages. */
export const preparePackages = (source: string, room: string): void => {
  const copy = () => cpSync(source, room, { recursive: true })
  installOnce(room, join(source, 'package-lock.json'), () => {
    copy()
    const { status, stderr, error } = spawnSync('npm', ['ci', '--silent'], { cwd: room })
    if (status !== 0) throw new Error(`npm ci failed in ${room}:\n${stderr}`, { cause: error })
  })
  copy()
}
