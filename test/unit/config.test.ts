import { describe, expect, test } from 'vitest'
import { readDeployedStorageConfig, readFieldsConfig } from '../../lib/config.ts'

const complete = {
  DATA_CENTRE: 'us',
  SITES_TABLE: 'sites-of-us',
  TOKENS_TABLE: 'tokens-of-us',
  WEB_FORMS_TABLE: 'forms-of-us',
}

describe('the settings of the fields function', () => {
  test('are read from the environment, and nothing else is', () => {
    expect(readFieldsConfig({ ...complete, LOG_LEVEL: 'WARN', HOME: '/root' })).toEqual({
      ...complete,
      LOG_LEVEL: 'WARN',
    })
  })

  test('log at INFO unless told', () => {
    expect(readFieldsConfig(complete).LOG_LEVEL).toBe('INFO')
  })

  test.each(Object.keys(complete))('stop the start when %s is missing', (name) => {
    expect(() => readFieldsConfig({ ...complete, [name]: undefined })).toThrow(`${name} (must be set)`)
  })

  test.each([
    ['DATA_CENTRE', 'US east'],
    ['DATA_CENTRE', 'a'.repeat(33)],
    ['SITES_TABLE', ''],
    ['LOG_LEVEL', 'LOUD'],
  ])('stop the start when %s is %j, by name', (name, value) => {
    expect(() => readFieldsConfig({ ...complete, [name]: value })).toThrow(new RegExp(`${name} \\(must be`))
  })

  test('are all named when several are wrong', () => {
    const { SITES_TABLE: _, ...rest } = complete
    expect(() => readFieldsConfig({ ...rest, LOG_LEVEL: 'LOUD' })).toThrow(/SITES_TABLE .*LOG_LEVEL /)
  })
})

const completeStorage = {
  DATA_CENTRE: 'us',
  SITES_TABLE: 'sites-of-us',
  TOKENS_TABLE: 'tokens-of-us',
  PAGES_TABLE: 'pages-of-us',
  UPLOADS_TABLE: 'uploads-of-us',
  FILES_BUCKET: 'files-of-us',
  REMOVALS_QUEUE_URL: 'https://queue.example/removals',
}

describe('the settings of the storage function', () => {
  test('have bounds and reserved folders unless told', () => {
    expect(readDeployedStorageConfig(completeStorage)).toEqual({
      ...completeStorage,
      LOG_LEVEL: 'INFO',
      LARGEST_FILE: 104_857_600,
      RESERVED_FOLDERS: ['_System', 'Layouts', 'ModuleTemplates', 'Templates', 'StyleSheets'],
    })
  })

  test('are read as what they mean', () => {
    const told = { ...completeStorage, LARGEST_FILE: '4718592', RESERVED_FOLDERS: 'a,, b' }
    expect(readDeployedStorageConfig(told)).toMatchObject({ LARGEST_FILE: 4_718_592, RESERVED_FOLDERS: ['a', 'b'] })
    expect(readDeployedStorageConfig({ ...completeStorage, RESERVED_FOLDERS: '' }).RESERVED_FOLDERS).toEqual([])
  })

  test.each([
    ['LARGEST_FILE', '0'],
    ['LARGEST_FILE', '1e3'],
    ['LARGEST_FILE', '-1'],
    ['LARGEST_FILE', ''],
    ['LARGEST_FILE', '5368709121'],
    ['FILES_BUCKET', 'ab'],
    ['REMOVALS_QUEUE_URL', 'removals'],
    ['PATH_ENCODING', 'twice'],
  ])('stop the start when %s is %j, by name', (name, value) => {
    expect(() => readDeployedStorageConfig({ ...completeStorage, [name]: value })).toThrow(
      new RegExp(`${name} \\(must `),
    )
  })
})
