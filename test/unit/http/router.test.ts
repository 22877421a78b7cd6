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
  test('HEAD uses the route of GET', () => {
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
  ])('the path %j answers 404 to any method', (path) => {
    expect(() => router.match('FOO', path)).toThrow(refusal(100004))
  })

  test('the segments of a path are decoded once', () => {
    expect(router.match('GET', '/sites/%37/forms').params['site']).toBe('7')
    expect(router.match('GET', '/sites/%2537/forms').params['site']).toBe('%37')
    expect(router.match('GET', '/sites/a%2Fb/forms').params['site']).toBe('a/b')
    expect(router.match('GET', '/sites/%F0%9F%98%80+/forms').params['site']).toBe('😀+')
  })

  test.each(['/sites/%/forms', '/sites/%zz/forms', '/sites/%ff/forms', '/sites/%C0%AE/forms'])(
    'the path %s cannot be decoded, and answers 404',
    (path) => {
      expect(() => router.match('GET', path)).toThrow(refusal(100004))
    },
  )

  describe('a route that ends in a wildcard', () => {
    const files = createRouter([at('readFile', 'GET', '/files/{path+}'), at('readRoot', 'GET', '/files')])

    test.each([
      ['/files/a', 'a'],
      ['/files//a', 'a'],
      ['/files///a//b/', 'a//b/'],
      ['/files/%2Fa', 'a'],
      ['/files//%2f/a%2F', 'a%2F'],
      ['/files/%2E', '%2E'],
    ])('in %s, the wildcard matches the path after all slashes', (path, rest) => {
      expect(files.match('GET', path)).toMatchObject({ route: { operation: 'readFile' }, params: { path: rest } })
    })

    test.each(['/files', '/files/', '/files//', '/files/%2F', '/files//%2f/'])(
      'in the path %s, the wildcard is empty',
      (path) => {
        expect(files.match('GET', path)).toMatchObject({ route: { operation: 'readRoot' }, params: {} })
      },
    )

    test.each(['/files%2Fa', '//files/a', '/filesa'])('the path %s answers 404', (path) => {
      expect(() => files.match('GET', path)).toThrow(refusal(100004))
    })

    test('a path with 50,000 slashes is matched', () => {
      expect(files.match('GET', `/files${'/%2F'.repeat(50_000)}`).route.operation).toBe('readRoot')
    })
  })
})
