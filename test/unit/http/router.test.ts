import { describe, expect, test } from 'vitest'
import { createRouter, type Route } from '../../../lib/http/router.ts'

const at = (operation: string, method: string, path: string): Route => ({ operation, method, path, group: 'fields' })

const router = createRouter([
  at('readHealth', 'GET', '/health.json'),
  at('listForms', 'GET', '/sites/{site}/forms'),
  at('createForm', 'POST', '/sites/{site}/forms'),
  at('removeForm', 'DELETE', '/sites/{site}/forms/{form}'),
])

const refusal = (code: number, headers: object = {}) => expect.objectContaining({ code, headers })

describe('the router', () => {
  test('answers HEAD for every GET', () => {
    expect(router.match('HEAD', '/sites/7/forms').route.operation).toBe('listForms')
    expect(() => router.match('HEAD', '/sites/7/forms/1')).toThrow(refusal(100005, { Allow: 'DELETE, OPTIONS' }))
  })

  test.each([
    '/',
    '',
    '/sites',
    '/sites//forms',
    '/sites/7/forms//',
    '/sites/7/forms/1/2',
    '/healthXjson',
    '/sites/7%2Fforms',
  ])('finds no route for %j with any method: 404', (path) => {
    expect(() => router.match('FOO', path)).toThrow(refusal(100004))
  })

  test('decodes the segments of a path once', () => {
    expect(router.match('GET', '/sites/%37/forms').params['site']).toBe('7')
    expect(router.match('GET', '/sites/%2537/forms').params['site']).toBe('%37')
    expect(router.match('GET', '/sites/a%2Fb/forms').params['site']).toBe('a/b')
    expect(router.match('GET', '/sites/%F0%9F%98%80+/forms').params['site']).toBe('😀+')
  })

  test.each(['/sites/%/forms', '/sites/%zz/forms', '/sites/%ff/forms', '/sites/%C0%AE/forms'])(
    'finds no route for %s, which cannot be decoded: 404',
    (path) => {
      expect(() => router.match('GET', path)).toThrow(refusal(100004))
    },
  )

  describe('for a path with a rest,', () => {
    const files = createRouter([at('readFile', 'GET', '/files/{path+}'), at('readRoot', 'GET', '/files')])

    test.each([
      ['/files/a', 'a'],
      ['/files//a', 'a'],
      ['/files///a//b/', 'a//b/'],
      ['/files/%2Fa', 'a'],
      ['/files//%2f/a%2F', 'a%2F'],
      ['/files/%2E', '%2E'],
    ])('finds it in %s after all slashes', (path, rest) => {
      expect(files.match('GET', path)).toMatchObject({ route: { operation: 'readFile' }, params: { path: rest } })
    })

    test.each(['/files', '/files/', '/files//', '/files/%2F', '/files//%2f/'])('finds none in %s', (path) => {
      expect(files.match('GET', path)).toMatchObject({ route: { operation: 'readRoot' }, params: {} })
    })

    test.each(['/files%2Fa', '//files/a', '/filesa'])('finds no route for %s: 404', (path) => {
      expect(() => files.match('GET', path)).toThrow(refusal(100004))
    })

    test('is as fast with many slashes as with few', () => {
      expect(files.match('GET', `/files${'/%2F'.repeat(50_000)}`).route.operation).toBe('readRoot')
    })
  })
})
