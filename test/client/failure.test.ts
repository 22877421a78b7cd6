import { beforeEach, expect, test, vi } from 'vitest'
import { Interrupted, report } from '../../client/src/command/failure.ts'
import { OutputLost } from '../../client/src/command/output.ts'
import { ServiceError } from '../../client/src/index.ts'
import { messages, phrase } from '../support/messages.ts'

let printed = ''
beforeEach(() => {
  printed = ''
  vi.spyOn(console, 'error').mockImplementation((text) => {
    printed += text
  })
})

test.for([
  ['a refused token', 401, 101000, phrase`^Refused. Pass a valid token with ….$`],
  ['a proxy that cannot connect to its service', 502, 502, messages.client.serviceDown],
  ['a proxy without an available service', 503, 503, messages.client.serviceDown],
  ['a proxy whose service does not answer', 504, 504, messages.client.serviceDown],
  ['an address with a wrong path', 404, 100004, phrase`^Refused. Check the address. ….$`],
  ['a busy service that sends its own message', 503, 100503, /^Refused\.$/],
  ['an untrusted certificate', 0, 0, messages.client.trustAuthority, 'x did not answer (DEPTH_ZERO_SELF_SIGNED_CERT).'],
  ['an unknown authority', 0, 0, messages.client.trustAuthority, 'x did not answer (UNABLE_TO_VERIFY_LEAF_SIGNATURE).'],
  ['an expired certificate', 0, 0, messages.client.renewCertificate, 'x did not answer (CERT_HAS_EXPIRED).'],
  ['a file named like a code', 404, 104001, /^Refused: "x \(SELF_SIGNED\)\."$/, 'Refused: "x (SELF_SIGNED)."'],
  ['several sites', 0, 0, /^Choose a site with --site: 1, 2\.$/, 'Choose a site by its id: 1, 2.'],
  ['a service without https', 0, 0, messages.client.beginWithHttp, 'x did not answer (ERR_SSL_WRONG_VERSION_NUMBER).'],
] as const)('advice about %s fits on one line', ([, status, code, sentence, message = 'Refused.']) => {
  expect(report(new ServiceError({ status, code, message }))).toBe(1)
  expect(printed).toMatch(sentence)
})

test.for([
  ['EDQUOT', /^Your quota on this disk is used up: a\. Free some space/],
  ['EMFILE', /^Too many files are open: a\. Raise the limit/],
] as const)('a failure of this machine says what to do: %s', ([code, sentence]) => {
  report(Object.assign(new Error('The write failed.'), { code, path: 'a' }))
  expect(printed).toMatch(sentence)
})

test('a failure says whose disk is full', () => {
  report(Object.assign(new Error('No space is left.'), { code: 'ENOSPC' }))
  report(new ServiceError({ status: 507, code: 100507, message: 'The disk is full.' }))
  expect(printed).toMatch(phrase`^The disk of this machine is full. …The disk of the service is full.$`)
})

const closed = Object.assign(new Error('The reader has closed the pipe.'), { code: 'EPIPE' })
test.for([new Interrupted(), new OutputLost(closed)])('with --json, a stop is one object (T-55): %s', (stop) => {
  expect(report(stop, true)).toBe(1)
  expect(JSON.parse(printed)).toEqual({ code: null, message: expect.stringMatching(/^Stopped/), path: null })
})
