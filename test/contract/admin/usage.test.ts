import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect } from 'vitest'
import { createProgram } from '../../../admin/program.ts'
import { administer } from '../../support/administration.ts'
import { launch } from '../../support/program.ts'
import { test } from '../../support/test.ts'

describe('people see tables', () => {
  test('with a heading, and columns below one another (T-3)', async ({ siteDirectory }) => {
    await administer(siteDirectory, ['site', 'create', '--name', 'A long name', '--id', '7', '--no-rendering-engine'])
    const { stdout, stderr } = await administer(siteDirectory, ['site', 'list'])
    expect(stderr).toBe('')
    expect(stdout).toBe(
      [
        'id    name         dataCentre  renderingEngine',
        '7     A long name  us          false',
        '1001  Shop         us          true',
        '',
      ].join('\n'),
    )
  })

  test('of one line for one thing', async ({ siteDirectory }) => {
    const { stdout } = await administer(siteDirectory, ['form', 'create', '--site', '1001', '--name', 'Contact'])
    expect(stdout).toBe('id  name\n1   Contact\n')
  })

  test('or that there is nothing', async ({ dataDirectory }) => {
    expect(await administer(dataDirectory, ['token', 'list'])).toMatchObject({ status: 0, stdout: '(none)\n' })
  })

  test('with the faults of an import in one of their own', async ({ siteDirectory }) => {
    const records = '{"kind":"webForm","id":1}\n7\n'
    const { stdout } = await administer(siteDirectory, ['import', '-', '--site', '1001'], records)
    expect(stdout).toBe(
      'imported  skipped\n1         1\n\nrecords  lines  message\n1        2      it is not an object\n',
    )
  })

  test('without a column for faults when an import has none', async ({ siteDirectory }) => {
    const { stdout } = await administer(siteDirectory, ['import', '-', '--site', '1001'], '{"kind":"webForm","id":1}')
    expect(stdout).toBe('imported  skipped\n1         0\n')
  })
})

describe('help', () => {
  test.for([
    ['--help', ['data-centre', 'site', 'token', 'form', 'import', '--data-dir', '--json']],
    ['help', ['data-centre', 'site', 'token', 'form', 'import']],
    ['site create --help', ['--name', '--id', '--data-centre', '--no-rendering-engine']],
    ['token issue --help', ['--user', '--site', '--permission', '--ttl', '"files"', '4h', '2w']],
    ['import --help', ['<file>', '--site', '--strict']],
  ] as const)('%s names what there is, and ends well', async ([command, names], { directory }) => {
    const { status, stdout } = await administer(directory, command.split(' '))
    expect(status).toBe(0)
    for (const name of names) expect(stdout).toContain(name)
    expect(await readdir(directory)).toEqual([])
  })
})

/** The commands of the program that have none below them, each with what people type to get there. */
const leavesOf = (command: Command, names: readonly string[] = []): readonly (readonly [string, Command])[] =>
  command.commands.length === 0
    ? [[names.join(' '), command]]
    : command.commands.flatMap((child) => leavesOf(child, [...names, child.name()]))

/** The words of a line, as a shell takes it apart. */
const wordsOf = (line: string): string[] =>
  [...line.replace(/ >+ .*/, '').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  )

/** Commands that have others below them, too. */
const commandsOf = (program: Command): readonly (readonly [string, Command])[] => [
  ...program.commands.flatMap((group) => (group.commands.length > 0 ? [[group.name(), group] as const] : [])),
  ...leavesOf(program),
]

describe('the help of each command shows examples that it takes', () => {
  test.for(commandsOf(createProgram()))('%s', ([name, command]) => {
    const help: string[] = []
    command.configureOutput({ writeOut: (text) => help.push(text) }).outputHelp()
    const [, examples = ''] = help.join('').split('\nExample:\n')
    const lines = examples
      .trim()
      .split('\n')
      .map((line) => line.trim())
    for (const line of lines) {
      expect(line).toMatch(/^site-admin /)
      const program = createProgram()
      const done: string[] = []
      for (const [own, leaf] of leavesOf(program)) leaf.action(() => void done.push(own))
      program.parse(wordsOf(line).slice(1), { from: 'user' })
      expect(done).toEqual([expect.stringMatching(new RegExp(`^${name}( |$)`))])
    }
  })
})

test('--version tells the version of the package (T-19)', async ({ directory }) => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'))
  expect(await administer(directory, ['--version'])).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' })
})

describe('wrong usage has status 2, says what is wrong, and does nothing (T-4)', () => {
  test.for([
    ['bogus', "unknown command 'bogus'"],
    ['site', 'Usage: site-admin site'],
    ['site create', "required option '--name <name>' not specified"],
    ['site create --name', "option '--name <name>' argument missing"],
    ['site create --name A --colour red', "unknown option '--colour'"],
    ['site create --name \u0007', 'without control characters'],
    [`site create --name ${'x'.repeat(201)}`, '1 to 200 characters'],
    ['site create --name A --id 0', 'It must be a whole number from 1.'],
    ['site create --name A --id 1.5', 'It must be a whole number from 1.'],
    ['site create --name A --data-centre U$', 'lower-case letters'],
    ['site show', "missing required argument 'id'"],
    ['site show 1001 1002', 'too many arguments'],
    ['data-centre add Us --url http://a', 'lower-case letters'],
    ['data-centre add us --url ftp://a', 'http or https URL'],
    ['data-centre add us --url http://a/?b', 'http or https URL'],
    ['data-centre add us --url http://me:secret@a', 'http or https URL'],
    ['data-centre add us --url http://:secret@a', 'http or https URL'],
    ['token issue --site 1001', "required option '--user <name>' not specified"],
    ['token issue --user ann', "required option '--site <id>' not specified"],
    ['token issue --user ann --site 1001 --permission root', 'Allowed choices are files.'],
    ['token issue --user ann --site 1001 --ttl 0s', 'It must be a duration such as 30m'],
    ['token issue --user ann --site 1001 --ttl toString', 'It must be a duration such as 30m'],
    ['token issue --user ann --site 1001 --ttl 31536001s', 'a year at most'],
    ['form create --name Contact', "required option '--site <id>' not specified"],
    ['import --site 1001', "missing required argument 'file'"],
    ['import -', "required option '--site <id>' not specified"],
    ['export', "required option '--site <id>' not specified"],
    ['site rename 1001', "required option '--name <name>' not specified"],
    ['site rename 1001 --name', "option '--name <name>' argument missing"],
    ['site remove', "missing required argument 'id'"],
    ['site remove x --yes', 'It must be a whole number from 1.'],
    ['form rename 1 --name A', "required option '--site <id>' not specified"],
    ['form remove 1', "required option '--site <id>' not specified"],
    ['category rename 2147483648 --site 1001 --name A', 'It must be 2147483647 or less.'],
    ['object list --site 1001', "missing required argument 'kind'"],
    ['object list poem --site 1001', 'Allowed choices are news, blog.'],
    ['object show news --site 1001', "missing required argument 'id'"],
    ['object create news --site 1001 --members 7', 'It must be a JSON object'],
    ['object create news --site 1001 --members {', 'It must be a JSON object'],
    ['workflow list', "required option '--site <id>' not specified"],
    ['token list --site x', 'It must be a whole number from 1.'],
  ] as const)('%s', async ([command, complaint], { directory }) => {
    const { status, stdout, stderr } = await administer(directory, ['--json', ...command.split(' ')])
    expect(status).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(complaint)
    expect(await readdir(directory)).toEqual([])
  })
})

test.for([
  [['sh\n\u001b[2Jow']],
  [['site', 'sh\n\u001b[2Jow']],
  [['site', 'list', '--da\n\u001b[2Jta-dir', 'x']],
  [['site', 'show', '1\n\u001b[2J']],
  [['object', 'list', 'ne\n\u001b[2Jws', '--site', '1001']],
  [['import', 'file\n\u001b[2J', '--site', '1001']],
  [['--data-dir', 'x\n\u001b[2J', 'site', 'list']],
] as const)('%j is refused in printable characters', async ([args], { siteDirectory }) => {
  const { status, stderr } = await administer(siteDirectory, args)
  expect(status).toBeGreaterThan(0)
  const [first, ...rest] = stderr.split('\n')
  expect(first).toMatch(/^\P{Cc}*\\u\{a\}\\u\{1b\}\[2J\P{Cc}*$/u)
  const advice = ['Add --help to see what it takes.', '']
  expect(rest).toEqual(status === 2 ? advice : [''])
})

describe('a data directory that cannot be used is refused in one line', () => {
  test('because it lies in a file', async ({ directory }) => {
    const file = join(directory, 'file')
    await writeFile(file, '')
    const { status, stderr } = await administer(join(file, 'data'), ['site', 'list'])
    expect(status).toBe(1)
    expect(stderr).toMatch(
      /^The data directory .+ cannot be used: ENOTDIR: .+ in the way\. Name another directory with --data-dir\.\n$/,
    )
  })
})

test('a data directory may have a long path', async ({ directory, start }) => {
  const long = join(directory, 'x'.repeat(200))
  await start(['--port', '0', '--data-dir', long])
  expect(await administer(long, ['site', 'list'])).toMatchObject({ status: 0 })
})

describe('what is deployed is refused in one line', () => {
  const nobody = { HOME: '/', AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null', AWS_PROFILE: '' }
  const nowhere = { AWS_REGION: '', AWS_DEFAULT_REGION: '', AWS_ENDPOINT_URL: 'http://127.0.0.1:9' }
  const noKeys = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_EC2_METADATA_DISABLED: 'true' }

  test.for([
    [
      'without a region',
      {},
      /^No valid region is set\. Set AWS_REGION to the home region of the directory, such as us-east-1\. \(Stacks: SiteAdmin-… at http:\/\/127\.0\.0\.1:9\)\n$/,
    ],
    [
      'by nobody at the address',
      { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
      /^The store is busy or does not answer\. .+ \(Stacks: SiteAdmin-… at http:\/\/127\.0\.0\.1:9, us-east-1\)\n$/,
    ],
    [
      'at an address that is none',
      { AWS_REGION: 'us-east-1', AWS_ENDPOINT_URL: 'elsewhere' },
      /^AWS_ENDPOINT_URL is no URL\. Set it to .+, or leave it out\. \(Stacks: SiteAdmin-… at elsewhere, us-east-1\)\n$/,
    ],
    [
      'without credentials',
      { AWS_REGION: 'us-east-1' },
      /^AWS refuses this: .*credentials.*\. Check your credentials.*\. \(Stacks: SiteAdmin-… at http:\/\/127\.0\.0\.1:9, us-east-1\)\n$/,
    ],
  ] as const)('%s', async ([, environment, reason]) => {
    const program = launch('admin/main.js', ['--target', 'aws', 'site', 'list'], {
      ...nobody,
      ...nowhere,
      ...noKeys,
      ...environment,
    })
    expect(await program.ended).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(reason) })
  })

  test('by what answers there', async () => {
    const answer = '<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not you.</Message></Error></ErrorResponse>'
    const server = createServer((_, response) => response.writeHead(403, { 'Content-Type': 'text/xml' }).end(answer))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const program = launch('admin/main.js', ['--target', 'aws', 'site', 'list'], {
      ...nobody,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    })
    const outcome = await program.ended
    server.close()
    const reason = /^AWS refuses this: Not you\. Check your credentials and their permissions\. \(.+\)\n$/
    expect(outcome).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(reason) })
  })
})
