import { describe, expect, test } from 'vitest'
import { readFieldsConfig } from '../../lib/config.ts'

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
