import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseFlags } from '../../local/flags.ts'

test('without flags, npm start serves 127.0.0.1 at port 4000 from .local (O-1)', () => {
  expect(parseFlags(['node', 'main.js'])).toEqual({
    host: '127.0.0.1',
    dataCentres: [{ id: 'us', port: 4000 }],
    dataDir: '.local',
    insecureSignIn: false,
    allowPrivateWebhooks: false,
    reset: false,
    yes: false,
    demo: true,
    json: false,
    quiet: false,
    log: 'text',
  })
})

// `npm start` refuses a folder that has other files.
test('no test and no tool stores files in the default data directory (O-1)', () => {
  const search = ['grep', '-l', "'\\.local'", '--', 'cdk', 'test', 'tools']
  const { stdout } = spawnSync('git', search, { cwd: join(import.meta.dirname, '..', '..'), encoding: 'utf8' })
  expect(stdout).toBe('test/unit/flags.test.ts\n')
})
