import { execFile, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect } from 'vitest'
import { administerJson } from '../../support/administration.ts'
import { messages, phrase } from '../../support/messages.ts'
import { asDemo } from '../support/command.ts'
import { test as base } from '../support/site.ts'

const execute = promisify(execFile)
const hasTerminal = spawnSync('tmux', ['-V']).status === 0

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A terminal of 100 columns that runs a command line. Tests can read its screen. */
const openTerminal = async (args: readonly string[], environment: Record<string, string>, output?: string) => {
  const socket = `site-files-${randomUUID()}`
  const tmux = async (...words: readonly string[]) =>
    (await execute('tmux', ['-L', socket, '-f', '/dev/null', ...words])).stdout
  const settings = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const program = ['env', ...settings, process.execPath, resolve('client/src/command/main.ts'), ...args]
  // Ctrl+C ends only the program, and the shell keeps the screen open.
  const line = `trap : INT; ${program.map(quoted).join(' ')}${output ? ` > ${quoted(output)}` : ''}; echo "status $?"; cat`
  await tmux('new-session', '-d', '-x', '100', '-y', '40', '-s', 'own', 'sh', '-c', line)
  return {
    type: (...keys: readonly string[]) => tmux('send-keys', '-t', 'own', ...keys),
    screen: () => tmux('capture-pane', '-p', '-t', 'own'),
    terminate: async () =>
      execute('pkill', ['-TERM', '-P', (await tmux('display-message', '-p', '#{pane_pid}')).trim()]),
    close: () => tmux('kill-server'),
  }
}

const test = base.extend('run', ({ onTestFinished }) => async (...given: Parameters<typeof openTerminal>) => {
  const terminal = await openTerminal(...given)
  onTestFinished(async () => void (await terminal.close()))
  return terminal
})

describe.skipIf(!hasTerminal)('on a terminal', () => {
  test('a push with redirected output writes actions to the file', async ({ service, run, folder, makeDirectory }) => {
    const here = await makeDirectory({ 'a.txt': 'a' })
    const file = join(await makeDirectory(), 'log')
    const terminal = await run(['push', here, folder], asDemo(service), file)
    await expect.poll(terminal.screen).toContain('status 0')
    expect(await readFile(file, 'utf8')).toBe('created  a.txt\n')
    expect(await terminal.screen()).toContain(messages.client.done(1))
  })

  test.for([
    ['C-c', 'token'],
    ['C-d', 'token'],
    ['SIGTERM', 'token'],
    ['SIGTERM', 'name'],
  ])('%s at the prompt for the %s ends the command login', async ([key = '', prompt], { run }) => {
    const terminal = await run(['--url', 'http://127.0.0.1:1', 'login'], { XDG_CONFIG_HOME: '/nonexistent' })
    await expect.poll(terminal.screen).toContain(messages.client.askName)
    if (prompt === 'token') {
      await terminal.type('Enter')
      await expect.poll(terminal.screen).toContain('Token (not shown)')
    }
    await (key === 'SIGTERM' ? terminal.terminate() : terminal.type(key))
    await expect.poll(terminal.screen).toContain('status 1')
    expect(await terminal.screen()).toContain('Stopped.')
  })

  test('an invalid address is refused before the prompt for the token', async ({ run }) => {
    const terminal = await run(['login'], { XDG_CONFIG_HOME: '/nonexistent', SITE_ADMIN_URL: '' })
    await expect.poll(terminal.screen).toContain('Address of the service')
    await terminal.type('foo', 'Enter')
    await expect.poll(terminal.screen).toContain('status 2')
    expect(await terminal.screen()).not.toContain('Token')
  })

  test('a push on a terminal asks before it removes files', async ({ service, run, folder, makeDirectory, site }) => {
    const here = await makeDirectory({ 'a.txt': 'a', 'b.txt': 'b' })
    await site.push(here)
    await rm(join(here, 'b.txt'))
    const terminal = await run(['push', '--delete', here, folder], asDemo(service))
    await expect.poll(terminal.screen).toMatch(/b\.txt[\s\S]*\?/)
    await terminal.type('n', 'Enter')
    await expect.poll(terminal.screen).toContain('status ')
    expect(Object.keys(await site.texts())).toStrictEqual(['a.txt', 'b.txt'])
    const again = await run(['push', '--delete', here, folder], asDemo(service))
    await expect.poll(again.screen).toMatch(/b\.txt[\s\S]*\?/)
    await again.type('y', 'Enter')
    await expect.poll(again.screen).toContain('status 0')
    expect((await again.screen()).trimEnd().split('\n').at(-2)).toMatch(phrase`^Done: …, 1 removed`)
    expect(Object.keys(await site.texts())).toStrictEqual(['a.txt'])
  })

  test('a login asks for a name and a hidden password (T-39, A-107)', async ({ service, run, makeDirectory }) => {
    const password = 'correct horse 👩‍👩‍👧'
    const flags = ['--site', '1001', '--role', 'owner', '--password-stdin']
    await administerJson(service.directory, ['user', 'add', 'ann', ...flags], password)
    const terminal = await run(['--url', service.baseUrl, 'login'], { XDG_CONFIG_HOME: await makeDirectory() })
    await expect.poll(terminal.screen).toContain(messages.client.askName)
    await terminal.type('ann', 'Enter')
    await expect.poll(terminal.screen).toContain('Password (not shown)')
    await terminal.type('-l', 'mistyped')
    await terminal.type('C-u')
    await terminal.type('-l', `${password}é👩🏽‍🚀`)
    await terminal.type('BSpace', 'BSpace', 'Space', 'a', 'b', 'C-w', 'BSpace')
    await terminal.type('Enter')
    await expect.poll(terminal.screen).toContain('status 0')
    expect(await terminal.screen()).toContain('Demo site')
    expect(await terminal.screen()).not.toContain('correct')
  })
})
