import { existsSync } from 'node:fs'
import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { messages, phrase, wrongFileCommands } from '../support/messages.ts'
import { asDemo, outcome, siteFiles, test } from './support/command.ts'

test.for(wrongFileCommands)('wrong usage prints a message, with status 2: %s (T-52)', async ([line, sentence]) => {
  const { status, stderr } = await siteFiles(line.split(' '))
  expect(status).toBe(2)
  expect(stderr).toContain(sentence)
  expect(stderr).not.toMatch(/\n {4}at /)
})

const elsewhere: readonly (readonly [string, string, (response: ServerResponse) => void])[] = [
  ['no answer', messages.client.noAnswer, (response) => response.destroy()],
  ['a page of another program', messages.client.answeredWith(404), (response) => response.writeHead(404).end('<html>')],
  ['an unknown token', 'Unknown.', (response) => response.writeHead(401).end('{"code":101000,"message":"Unknown."}')],
]
test.for(elsewhere)('if a site is at %s, the failure names both addresses', async ([, first, answer], { listen }) => {
  // Chooses the shortest of the random waits before repetitions.
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const wrong = await listen((_, response) => answer(response))
  const site = { id: 1, name: 'Shop', url: wrong, permissions: ['files'] }
  const url = await listen((_, response) => response.end(JSON.stringify({ items: [site] })))
  const { status, stderr } = await siteFiles(['rm', 'a.txt'], asDemo({ baseUrl: url, token: 'a' }))
  expect({ status, stderr }).toStrictEqual({ status: 1, stderr: expect.stringContaining(first) })
  expect(stderr).toContain(`The service at ${url} gave the address ${wrong}.`)
  expect(stderr).toContain('ask the operator to correct it with --base-url')
})

/** Commands with an empty name, or with `/` for the root where a file is needed. */
const unnamed =
  'push |diff |watch |pull |pull news |mv  x|cp / x|rm |rm hello.txt /|cat /|get  x|get hello.txt -|versions |purge /|restore /'

test('an empty name is refused as wrong usage', async ({ demo }) => {
  for (const line of unnamed.split('|')) {
    expect(await demo(...line.split(' ')), line).toStrictEqual({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(phrase`^Name ….$`),
    })
  }
})

test('an invalid address is refused, also if it comes from the environment', async () => {
  const environment = { SITE_ADMIN_URL: 'ftp://x', SITE_ADMIN_TOKEN: 'a' }
  for (const command of ['ls', 'login']) {
    expect(await siteFiles([command], environment)).toMatchObject(outcome(2, messages.client.noAddress('"ftp://x"')))
  }
})

test('a command that must fail prints a message, with status 1', async ({ service, demo, folder, makeDirectory }) => {
  const here = await makeDirectory({ 'a.txt': 'a' })
  await symlink('/dev/zero', join(here, 'device'))
  await mkdir(join(here, 'odd', '.siteignore'), { recursive: true })
  const blocked = await makeDirectory({ 'a.txt': 'a', '.site-files': 'a file, where a folder has to be' })
  const failing: readonly (readonly [() => ReturnType<typeof siteFiles>, RegExp | string])[] = [
    [() => siteFiles(['ls'], { ...asDemo(service), SITE_ADMIN_TOKEN: 'wrong' }), /expired. Pass .*login/],
    [() => siteFiles(['--site', '77', 'ls'], asDemo(service)), messages.client.siteNotCovered(77)],
    [() => demo('cat', `${folder}/nothing`), messages.client.siteLacksPath('nothing')],
    [() => demo('get', `${folder}/nothing`, here), messages.client.siteLacksPath('nothing')],
    [() => demo('restore', `${folder}/nothing`), messages.client.listDeleted('nothing')],
    [() => demo('restore', 'hello.txt', '--state', 'unknown'), messages.client.listVersions],
    [() => demo('mv', `${folder}/nothing`, `${folder}/b`), /has no ".*\/nothing"\. Check/],
    [() => demo('cp', `${folder}/nothing`, `${folder}/b`), /has no ".*\/nothing"\. Check/],
    [() => demo('push', join(here, 'nothing'), folder), messages.client.missingAt('nothing')],
    [() => demo('push', join(here, 'a.txt'), folder), messages.client.notAFolder('a.txt')],
    [() => demo('watch', join(here, 'a.txt'), folder), messages.client.notAFolder('a.txt')],
    [() => demo('pull', folder, join(here, 'a.txt')), messages.client.notAFolder('a.txt')],
    [() => demo('get', 'hello.txt', join(here, 'a.txt', 'x', 'y')), messages.client.fileForFolder('/a.txt')],
    [() => demo('put', join(here, 'nothing'), folder), 'This file or folder does not exist'],
    [() => demo('cat', `${folder}/../x`), /contains "\."/],
    [() => demo('get', 'hello.txt', join(here, 'nothing', 'x')), messages.client.missingAt('nothing')],
    [() => demo('get', 'hello.txt', join(here, 'device'), '--force'), messages.client.notRegular('')],
    [() => demo('get', 'hello.txt', `${join(here, 'nothing')}/`), messages.client.noFolder('nothing/')],
    [() => demo('get', 'hello.txt', `${join(here, 'a.txt')}/`), messages.client.noFolder('a.txt/')],
    [() => demo('push', join(here, 'odd'), folder), phrase`^"….siteignore" is not a file. Remove it, or replace it`],
    [() => demo('push', blocked, folder), messages.client.noStateFolder],
    [() => demo('--token-file', here, 'ls'), phrase`This is a folder, but a file is needed: …`],
    [() => demo('pull', `${folder}/nothing`, here), messages.client.siteLacks],
  ]
  for (const [call, sentence] of failing) {
    const { status, stderr } = await call()
    expect({ status, stderr }).toStrictEqual({ status: 1, stderr: expect.stringMatching(sentence) })
    expect(stderr).not.toMatch(/\n {4}at /)
  }
  // The push had no place for its state, so it sent nothing and created no folder.
  expect(await demo('ls', folder)).toMatchObject(outcome(1, messages.client.siteLacks))
})

/** Linux creates nothing in this folder, and reports each folder below it as missing. */
const barren = '/proc'
test.skipIf(!existsSync(barren))('if no folder can be created, pull prints a message', async ({ demo }) => {
  const { status, stderr } = await demo('pull', join(barren, 'site/files'))
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(messages.client.missingAt('site')) })
})

test('the help of every command has an example and the common options (T-38)', async () => {
  const { stdout } = await siteFiles(['--help'])
  const commands = [...stdout.matchAll(/^ {2}([a-z]+)[ |]/gm)]
    .map(([, name]) => name ?? '')
    .filter((name) => name !== 'help')
  expect(commands).toHaveLength(16)
  for (const command of commands) {
    const { status, stdout } = await siteFiles([command, '--help'])
    expect(status).toBe(0)
    for (const part of ['Example:\n  $ site-files', '--url', '--site', '--json', '--token-file'])
      expect(stdout, command).toContain(part)
  }
})

test('completion prints a script for each shell, which includes every command', async () => {
  for (const shell of ['bash', 'zsh']) {
    const { stdout, status } = await siteFiles(['completion', shell])
    expect(status).toBe(0)
    // Without suggestions, the shell completes file names.
    for (const part of ['ls', 'push', 'login', 'complete -o bashdefault -o default']) expect(stdout).toContain(part)
  }
})

test('login saves a token for one address, private to the user (T-39)', async ({ service, makeDirectory, demo }) => {
  const config = await makeDirectory({ 'site-files/login.json': '{}' })
  await chmod(join(config, 'site-files', 'login.json'), 0o644)
  const environment = { XDG_CONFIG_HOME: config }
  const printed = await siteFiles(['--url', `${service.baseUrl}/`, 'login'], environment, `${service.token}\n`)
  expect(printed).toMatchObject({ status: 0, stdout: '', stderr: expect.stringContaining('Demo site') })
  expect(printed.stderr).not.toContain(service.token)
  expect((await stat(join(config, 'site-files', 'login.json'))).mode & 0o777).toBe(0o600)
  expect((await siteFiles(['ls'], environment)).status).toBe(0)
  const otherAddress = await siteFiles(['--url', 'http://127.0.0.1:1', 'ls'], environment)
  expect(otherAddress).toMatchObject(outcome(2, 'No token for'))
  const tokenFile = join(config, 'token')
  await writeFile(tokenFile, `${service.token}\n`)
  const otherLogin = JSON.stringify({ url: service.baseUrl, token: 'other', site: 7 })
  await writeFile(join(config, 'site-files', 'login.json'), otherLogin)
  expect((await siteFiles(['--url', service.baseUrl, '--token-file', tokenFile, 'ls'], environment)).status).toBe(0)
  expect((await demo('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

/** Clears the screen, forges a line, and reverses the writing direction. */
const evil = 'a\u001b[2J\u009b2J\r\nDone: b\u202e'
const steering = /[^\P{Cc}\n]|[\u{2028}-\u{202e}]/u

const evilUses = [
  ...['E', '--E', 'ls --E', 'ls a E', 'completion E', '--site E ls', '--url E ls', '--token-file E ls', 'ls E'],
  ...['cat nothing/\u202eE', 'get hello.txt /nowhere/E/x', 'put E x', 'put package.json E', 'mv E x', 'rm E'],
  ...['restore E', 'versions E', 'diff E', 'push E', 'push . ../E', 'pull E /nowhere'],
]
test.for(evilUses)('control characters in an argument are escaped: site-files %s', async (line, { demo }) => {
  const { status, stdout, stderr } = await demo(...line.split(' ').map((word) => word.replace(/E$|E(?=\/)/, evil)))
  expect(status).not.toBe(0)
  expect(stdout).toBe('')
  expect(stderr).not.toMatch(steering)
  const more = stderr.endsWith(`\n${messages.usage.help}\n`) ? 2 : 1
  expect(stderr.split('\n')).toHaveLength(more + 1)
})

test('control characters in messages and names are escaped', async ({ demo, folder, site, makeDirectory, listen }) => {
  const url: string = await listen((_, response) => {
    const site = { id: 1, name: 'Shop\n\u001b[2J', url, permissions: ['files'] }
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ items: [site] }))
  })
  const login = await siteFiles(['--url', url, 'login'], { XDG_CONFIG_HOME: await makeDirectory() }, 'a\n')
  expect(login).toMatchObject(outcome(0, '(Shop\\u{a}\\u{1b}[2J)'))
  const baseUrl = await listen((_, response) => {
    response.writeHead(400).end(JSON.stringify({ code: 104000, message: evil, requestId: evil }))
  })
  const printed = await siteFiles(['ls'], asDemo({ baseUrl, token: 'a' }))
  expect([printed.stdout, printed.stderr.split('\n').length]).toEqual(['', 2])
  expect(printed.stderr).not.toMatch(steering)
  const name = 'turned\u202e\u2028.txt'
  await site.put(name, 'a')
  expect((await demo('ls', folder)).stdout).toBe('turned\\u{202e}\\u{2028}.txt\n')
  const { stdout } = await demo('--json', 'ls', folder)
  expect(stdout).not.toMatch(steering)
  expect(JSON.parse(stdout)).toMatchObject({ name })
  const pulled = await demo('--json', 'pull', folder, await makeDirectory())
  expect(pulled.stdout).toContain('"turned\\u202e\\u2028.txt"')
  expect(pulled.stdout).not.toMatch(steering)
})

test('with --json, a refusal is one object with its code and path (T-55)', async ({ demo, folder, site }) => {
  for (const text of ['1', '2']) await site.put('a', text, { replace: true })
  const refused = async (...args: readonly string[]) => {
    const { stdout, stderr } = await demo('--json', ...args)
    expect(stdout).toBe('')
    return JSON.parse(stderr)
  }
  const message = expect.stringMatching(/\S/)
  expect(await refused('cat', `${folder}/none`)).toEqual({ code: 104001, message, path: `${folder}/none` })
  expect(await refused('restore', `${folder}/a`)).toEqual({ code: 104022, message, path: `${folder}/a` })
  expect(await refused('get', '')).toEqual({ code: null, message, path: null })
  expect(await refused('ls', '--site', '77')).toEqual({ code: null, message, path: null })
  expect(await refused()).toEqual({ code: null, message: expect.stringContaining('Name a command: '), path: null })
  expect(await refused('nope')).toEqual({ code: null, message: expect.stringContaining("'nope'"), path: null })
})
