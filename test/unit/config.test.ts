import { expect, test } from 'vitest'
import { readSettingsOf, settingsOf } from '../../lib/config/config.ts'
import { environmentOf } from '../../lib/config/settings.ts'

const ofFields = {
  DATA_CENTRE: 'us',
  SITES_TABLE: 'sites-of-us',
  TOKENS_TABLE: 'tokens-of-us',
  USERS_TABLE: 'users-of-us',
  JOURNAL_TABLE: 'journal-of-us',
  WEB_FORMS_TABLE: 'forms-of-us',
}
const texts = {
  dataCentre: 'us',
  sitesTable: 'sites-of-us',
  tokensTable: 'tokens-of-us',
  usersTable: 'users-of-us',
  journalTable: 'journal-of-us',
}
const [present, former] = ['p'.repeat(32), 'f'.repeat(32)]
const ofStream = {
  ...ofFields,
  PATH_LOCKS_TABLE: 'locks-of-us',
  UPLOADS_TABLE: 'uploads-of-us',
  FILES_BUCKET: 'files-of-us',
  REMOVALS_QUEUE_URL: 'https://queue.example/removals',
  ORIGIN_SECRETS: present,
}

test('a function reads no environment variables except its settings', () => {
  expect(readSettingsOf('fields', { ...ofFields, LOG_LEVEL: 'WARN', HOME: '/root' })).toEqual({
    ...texts,
    webFormsTable: 'forms-of-us',
    requestsPerToken: 0,
    requestsPerSite: 0,
    pathEncoding: 'encoded',
    binaryAccept: 'any',
    logLevel: 'WARN',
  })
})

test('the error names all settings that are missing or wrong', () => {
  for (const name of Object.keys(ofFields)) {
    expect(() => readSettingsOf('fields', { ...ofFields, [name]: undefined })).toThrow(`${name} (must be set)`)
  }
  const wrong = { ...ofFields, SITES_TABLE: undefined, LOG_LEVEL: 'LOUD' }
  expect(() => readSettingsOf('fields', wrong)).toThrow(/SITES_TABLE .*LOG_LEVEL /)
})

test('settings have defaults, and are parsed into numbers and lists', () => {
  expect(readSettingsOf('stream', ofStream)).toMatchObject({
    logLevel: 'INFO',
    largestFile: 104_857_600,
    reservedFolders: ['_System', 'Layouts', 'ModuleTemplates', 'Templates', 'StyleSheets'],
    originSecrets: [present],
  })
  const given = { LARGEST_FILE: '4718592', RESERVED_FOLDERS: 'a,, b', ORIGIN_SECRETS: `${present},${former}` }
  expect(readSettingsOf('stream', { ...ofStream, ...given })).toMatchObject({
    largestFile: 4_718_592,
    reservedFolders: ['a', 'b'],
    originSecrets: [present, former],
  })
  expect(readSettingsOf('stream', { ...ofStream, RESERVED_FOLDERS: '' }).reservedFolders).toEqual([])
  expect(readSettingsOf('machine', {})).toMatchObject({ longestList: 20_000, fsync: 'on' })
  for (const longestList of [1, Number.MAX_SAFE_INTEGER])
    expect(readSettingsOf('machine', { LONGEST_LIST: String(longestList) })).toMatchObject({ longestList })
  for (const httpEndpoint of ['0.0.0.0:3000', '[::]:3000', 'localhost:80'])
    expect(readSettingsOf('listening', { AWS_LAMBDA_HTTP_ENDPOINT: httpEndpoint })).toEqual({ httpEndpoint })
})

const wrongValues: Readonly<Record<string, readonly (string | undefined)[]>> = {
  DATA_CENTRE: ['US east', 'a'.repeat(33)],
  SITES_TABLE: [''],
  LOG_LEVEL: ['LOUD'],
  LARGEST_FILE: ['0', '1e3', '-1', '', '5368709121'],
  LARGEST_RESUMABLE_FILE: ['0', '5368709121'],
  FILES_BUCKET: ['ab'],
  REMOVALS_QUEUE_URL: ['removals'],
  PATH_ENCODING: ['twice'],
  BINARY_ACCEPT: ['none'],
  REQUESTS_PER_TOKEN: ['-1', '1.5', 'none', '1000001'],
  REQUESTS_PER_SITE: ['-1', '1000001'],
  ORIGIN_SECRETS: [undefined, '', ',', present.slice(1), `${present},short`, `${present},${former},${present}`],
}
test.each(Object.entries(wrongValues))('a function does not start with a wrong %s: %j', (name, values) => {
  for (const value of values)
    expect(() => readSettingsOf('stream', { ...ofStream, [name]: value })).toThrow(new RegExp(`${name} \\(must `))
})

test.each([
  ['machine', 'LONGEST_LIST', ['0']],
  ['listening', 'AWS_LAMBDA_HTTP_ENDPOINT', [undefined, '3000', 'localhost:', 'localhost:http']],
] as const)('%s does not start with a wrong %s: %j', (group, name, values) => {
  for (const value of values) expect(() => readSettingsOf(group, { [name]: value })).toThrow(`${name} (must `)
})

test('the function reads the settings that the deployment writes', () => {
  const all = { ...texts, webFormsTable: 'forms-of-us' }
  expect(environmentOf(settingsOf.fields, { ...all, directoryRegion: undefined })).toEqual(ofFields)
  expect(environmentOf(settingsOf.fields, { ...all, directoryRegion: 'us-east-1' })).toEqual({
    ...ofFields,
    DIRECTORY_REGION: 'us-east-1',
  })
})

test('a deployment without a required setting does not compile', () => {
  // @ts-expect-error the table of the web forms is missing
  expect(environmentOf(settingsOf.fields, texts)).not.toHaveProperty('WEB_FORMS_TABLE')
})
