import { describe, expect, test } from 'vitest'
import { readSettingsOf, settingsOf } from '../../lib/config/config.ts'
import { environmentOf } from '../../lib/config/settings.ts'

const complete = {
  DATA_CENTRE: 'us',
  SITES_TABLE: 'sites-of-us',
  TOKENS_TABLE: 'tokens-of-us',
  USERS_TABLE: 'users-of-us',
  JOURNAL_TABLE: 'journal-of-us',
  WEB_FORMS_TABLE: 'forms-of-us',
}

describe('the settings of the fields function', () => {
  test('the function reads no environment variables except its settings', () => {
    expect(readSettingsOf('fields', { ...complete, LOG_LEVEL: 'WARN', HOME: '/root' })).toEqual({
      dataCentre: 'us',
      requestsPerToken: 0,
      requestsPerSite: 0,
      sitesTable: 'sites-of-us',
      tokensTable: 'tokens-of-us',
      usersTable: 'users-of-us',
      journalTable: 'journal-of-us',
      webFormsTable: 'forms-of-us',
      pathEncoding: 'encoded',
      binaryAccept: 'any',
      logLevel: 'WARN',
    })
  })

  test.each(['REQUESTS_PER_TOKEN', 'REQUESTS_PER_SITE'])('a limit of requests must be a number: %s', (name) => {
    for (const limit of ['-1', '1.5', 'none', '1000001'])
      expect(() => readSettingsOf('fields', { ...complete, [name]: limit })).toThrow(name)
    expect(readSettingsOf('machine', { [name]: '1000000' })).toMatchObject({ fsync: 'on' })
  })

  test('the error names all settings that are missing or wrong', () => {
    for (const name of Object.keys(complete)) {
      expect(() => readSettingsOf('fields', { ...complete, [name]: undefined })).toThrow(`${name} (must be set)`)
    }
    const { SITES_TABLE: _, ...rest } = complete
    expect(() => readSettingsOf('fields', { ...rest, LOG_LEVEL: 'LOUD' })).toThrow(/SITES_TABLE .*LOG_LEVEL /)
  })
})

const { WEB_FORMS_TABLE: _, ...shared } = complete
const completeStorage = {
  ...shared,
  PATH_LOCKS_TABLE: 'locks-of-us',
  UPLOADS_TABLE: 'uploads-of-us',
  FILES_BUCKET: 'files-of-us',
  REMOVALS_QUEUE_URL: 'https://queue.example/removals',
}

describe('the settings of the storage function', () => {
  test('the size of files and the reserved folders have defaults', () => {
    expect(readSettingsOf('storage', completeStorage)).toMatchObject({
      logLevel: 'INFO',
      largestFile: 104_857_600,
      reservedFolders: ['_System', 'Layouts', 'ModuleTemplates', 'Templates', 'StyleSheets'],
    })
  })

  test('the settings are parsed into numbers and lists', () => {
    const reported = { ...completeStorage, LARGEST_FILE: '4718592', RESERVED_FOLDERS: 'a,, b' }
    expect(readSettingsOf('storage', reported)).toMatchObject({ largestFile: 4_718_592, reservedFolders: ['a', 'b'] })
    expect(readSettingsOf('storage', { ...completeStorage, RESERVED_FOLDERS: '' }).reservedFolders).toEqual([])
  })

  test.each([
    ['DATA_CENTRE', 'US east'],
    ['DATA_CENTRE', 'a'.repeat(33)],
    ['SITES_TABLE', ''],
    ['LOG_LEVEL', 'LOUD'],
    ['LARGEST_FILE', '0'],
    ['LARGEST_FILE', '1e3'],
    ['LARGEST_FILE', '-1'],
    ['LARGEST_FILE', ''],
    ['LARGEST_FILE', '5368709121'],
    ['LARGEST_RESUMABLE_FILE', '0'],
    ['LARGEST_RESUMABLE_FILE', '5368709121'],
    ['FILES_BUCKET', 'ab'],
    ['REMOVALS_QUEUE_URL', 'removals'],
    ['PATH_ENCODING', 'twice'],
    ['BINARY_ACCEPT', 'none'],
  ])('the function does not start if %s is %j, and names the setting', (name, value) => {
    expect(() => readSettingsOf('storage', { ...completeStorage, [name]: value })).toThrow(
      new RegExp(`${name} \\(must `),
    )
  })
})

describe('the settings of the function that streams', () => {
  const [present, former] = ['p'.repeat(32), 'f'.repeat(32)]

  test.each([
    [present, [present]],
    [`${present},${former}`, [present, former]],
  ])('the function needs one or two secrets besides the storage settings', (ORIGIN_SECRETS, originSecrets) => {
    expect(readSettingsOf('stream', { ...completeStorage, ORIGIN_SECRETS })).toMatchObject({
      originSecrets,
      filesBucket: 'files-of-us',
      largestFile: 104_857_600,
    })
  })

  test.each([undefined, '', ',', 'short', present.slice(1), `${present},short`, `${present},${former},${present}`])(
    'the secrets %j are refused',
    (ORIGIN_SECRETS) => {
      expect(() => readSettingsOf('stream', { ...completeStorage, ORIGIN_SECRETS })).toThrow(/ORIGIN_SECRETS \(must /)
    },
  )

  test('the address to listen on must have a port', () => {
    const read = (address?: string) => readSettingsOf('listening', { AWS_LAMBDA_HTTP_ENDPOINT: address }).httpEndpoint
    for (const address of ['0.0.0.0:3000', '[::]:3000', 'localhost:80']) expect(read(address)).toBe(address)
    for (const address of [undefined, '3000', 'localhost:', 'localhost:http']) {
      expect(() => read(address)).toThrow(/AWS_LAMBDA_HTTP_ENDPOINT/)
    }
  })
})

test('the limit for sorted lists may be any number from 1 up', () => {
  expect(readSettingsOf('machine', {}).longestList).toBe(20_000)
  for (const longestList of [1, Number.MAX_SAFE_INTEGER]) {
    expect(readSettingsOf('machine', { LONGEST_LIST: String(longestList) }).longestList).toBe(longestList)
  }
  expect(() => readSettingsOf('machine', { LONGEST_LIST: '0' })).toThrow(/LONGEST_LIST \(must /)
})

describe('the environment of the deployment', () => {
  test('the function reads the settings that the deployment writes', () => {
    const { fields } = settingsOf
    const texts = {
      dataCentre: 'us',
      sitesTable: 'sites-of-us',
      tokensTable: 'tokens-of-us',
      usersTable: 'users-of-us',
      webFormsTable: 'forms-of-us',
      journalTable: 'journal-of-us',
      directoryRegion: undefined,
    }
    expect(environmentOf(fields, texts)).toEqual(complete)
    expect(environmentOf(fields, { ...texts, directoryRegion: 'us-east-1' })).toEqual({
      ...complete,
      DIRECTORY_REGION: 'us-east-1',
    })
  })

  test('a deployment without a required setting does not compile', () => {
    const { fields } = settingsOf
    const texts = { dataCentre: 'us', sitesTable: 's', tokensTable: 't', usersTable: 'u', journalTable: 'j' }
    // @ts-expect-error the table of the web forms is missing
    expect(environmentOf(fields, texts)).not.toHaveProperty('WEB_FORMS_TABLE')
  })
})
