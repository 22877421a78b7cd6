import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import packageFile from '../../package.json' with { type: 'json' }
import { packInto, workWith } from './installed.ts'

// Installs the package from a registry into an empty folder, as `npm i -g` does, and tests the package with the Node of
// the machine, not with the Node of this repository.
const folder = mkdtempSync(join(tmpdir(), 'site-admin-package-'))
try {
  const ours = join(import.meta.dirname, '..', '..', 'node_modules', '.bin')
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((each) => each !== ours && !each.includes('node_modules'))
  const environment = { ...process.env, PATH: path.join(delimiter), SCARF_ANALYTICS: 'false' }
  const file = await packInto(folder)
  const prefix = join(folder, 'prefix')
  const options = ['--global', '--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund']
  execFileSync('npm', ['install', ...options, file], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const work = join(folder, 'work')
  mkdirSync(work)
  const { help, ...findings } = await workWith({
    command: join(prefix, 'bin', 'site-admin'),
    folder: work,
    environment,
  })
  assert.match(help, /^Usage: site-admin /)
  assert.deepEqual(findings, {
    version: packageFile.version,
    docs: 200,
    console: [200],
    isRead: true,
    faults: [],
    ended: 0,
  })
  const node = execFileSync('node', ['--version'], { env: environment, encoding: 'utf8' }).trim()
  console.log(`The installed package works with Node ${node}.`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
