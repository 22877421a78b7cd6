import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { report } from '../../client/src/command/failure.ts'
import { ServiceError } from '../../client/src/index.ts'

let said = ''
beforeEach(() => {
  said = ''
  vi.spyOn(console, 'error').mockImplementation((text) => {
    said += text
  })
})
afterEach(() => void vi.restoreAllMocks())

test.for([
  ['a token that is refused', 401, 101000, /^Refused\. Pass a valid token with .+\.$/],
  ['a proxy whose service has gone', 502, 502, /^Refused\. The service behind the proxy may be down\. .+\.$/],
  ['a proxy that knows of no service', 503, 503, /^Refused\. The service behind the proxy may be down\. .+\.$/],
  ['a proxy whose service says nothing', 504, 504, /^Refused\. The service behind the proxy may be down\. .+\.$/],
  ['an address with a path that is none', 404, 100004, /^Refused\. Check the address\. .+\.$/],
  ['a service that is busy, in its own words', 503, 100503, /^Refused\.$/],
] as const)('the advice about %s is one line', ([, status, code, sentence]) => {
  expect(report(new ServiceError({ status, code, message: 'Refused.' }))).toBe(1)
  expect(said).toMatch(sentence)
})
