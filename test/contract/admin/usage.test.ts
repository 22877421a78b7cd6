import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { administer } from '../../support/administration.ts'
import { launch } from '../../support/program.ts'
import { test } from '../../support/test.ts'

describe('people see tables', () => {
  test('with a heading, and columns below one another', async ({ siteDirectory }) => {
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

  test('or that there is nothing', async ({ directory }) => {
    expect(await administer(directory, ['token', 'list'])).toMatchObject({ status: 0, stdout: '(none)\n' })
  })

  test('with the faults of an import in one of their own', async ({ siteDirectory }) => {
    const records = '{"kind":"webForm","id":1}\n7\n'
    const { stdout } = await administer(siteDirectory, ['import', '-', '--site', '1001'], records)
    expect(stdout).toBe('imported  skipped\n1         1\n\nline  message\n2     it is not an object\n')
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

describe('wrong usage has status 2, says what is wrong, and does nothing', () => {
  test.for([
    ['bogus', "unknown command 'bogus'"],
    ['site', 'Usage: site-admin site'],
    ['site create', "required option '--name <name>' not specified"],
    ['site create --name', "option '--name <name>' argument missing"],
    ['site create --name A --colour red', "unknown option '--colour'"],
    ['site create --name \u0007', 'no control characters'],
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
    ['token issue --user ann --site 1001 --ttl 0s', 'It must be 4h, 2w, or seconds'],
    ['token issue --user ann --site 1001 --ttl 3d', 'It must be 4h, 2w, or seconds'],
    ['token issue --user ann --site 1001 --ttl toString', 'It must be 4h, 2w, or seconds'],
    ['token issue --user ann --site 1001 --ttl 31536001s', 'a year at most'],
    ['form create --name Contact', "required option '--site <id>' not specified"],
    ['import --site 1001', "missing required argument 'file'"],
    ['import -', "required option '--site <id>' not specified"],
  ] as const)('%s', async ([command, complaint], { directory }) => {
    const { status, stdout, stderr } = await administer(directory, ['--json', ...command.split(' ')])
    expect(status).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(complaint)
    expect(await readdir(directory)).toEqual([])
  })
})

describe('a data directory that cannot be used is refused in one line', () => {
  test('because it cannot be written', async ({ directory }) => {
    const file = join(directory, 'file')
    await writeFile(file, '')
    const { status, stderr } = await administer(join(file, 'data'), ['site', 'list'])
    expect(status).toBe(1)
    expect(stderr).toMatch(/^The data directory .+ cannot be written: .+\n$/)
  })

  test('because its path is too long, however little', async ({ directory }) => {
    const withSocketOf = (bytes: number) =>
      join(directory, 'x'.repeat(bytes - `${directory}/`.length - '/run/tables.sock'.length))
    const longest = withSocketOf(103)
    await mkdir(longest)
    expect(await administer(longest, ['site', 'list'])).toMatchObject({ status: 0 })

    const { status, stderr } = await administer(withSocketOf(104), ['site', 'list'])
    expect(status).toBe(1)
    expect(stderr).toMatch(/^The path of the data directory is too long: .+--data-dir\.\n$/)
  })
})

describe('what the environment lacks for AWS is said in one line', () => {
  /** As on a machine that no AWS tool was ever set up on. */
  const bare = {
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '',
    AWS_CONTAINER_CREDENTIALS_FULL_URI: '',
    AWS_ACCESS_KEY_ID: '',
    AWS_SECRET_ACCESS_KEY: '',
    AWS_PROFILE: '',
  }

  test.for([
    ['a region', { AWS_REGION: '' }, 'No usable region is set. Set AWS_REGION to the home region of the directory.\n'],
    ['credentials', { AWS_REGION: 'us-east-1' }, /^There are no credentials for AWS\. .+\n$/],
  ] as const)('%s', async ([, environment, complaint]) => {
    const program = launch('admin/main.ts', ['--target', 'aws', 'site', 'list'], { ...bare, ...environment })
    program.stdin.end()
    const { status, stdout, stderr } = await program.ended
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(complaint)
  })
})
