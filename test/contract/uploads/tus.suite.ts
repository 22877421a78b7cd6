import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { statusAndCode } from '../../support/answer.ts'
import { checksum, metadata, type UploadsUnderTest, uploadIn } from './service.ts'

/**
 * The protocol tus 1.0.0, sentence by sentence: each case quotes what it proves, by its section
 * (https://tus.io/protocols/resumable-upload). What is a matter of the client, or of an extension that is not offered,
 * has no case.
 */
export const describeTus = (name: string, open: () => Promise<UploadsUnderTest>): void => {
  describe(name, () => {
    let service: UploadsUnderTest
    beforeAll(async () => {
      service = await open()
    })
    afterAll(() => service.close())

    let count = 0
    const begin = async (length: number | undefined, more?: Parameters<UploadsUnderTest['create']>[2]) => {
      count += 1
      return uploadIn(await service.create(`file-${count}.bin`, length, more))
    }

    const offsetOf = async (upload: string) => (await service.head(upload)).headers['upload-offset']

    describe('Core Protocol, headers', () => {
      test.each(['-1', 'x', '1.5', '', '0x1', '1e3', ' ', '0, 0', null])(
        'Upload-Offset: "The value MUST be a non-negative integer." (%j)',
        async (value) => {
          const upload = await begin(5)
          const refused = await service.patch(upload, 0, 'hello', { headers: { 'Upload-Offset': value } })
          expect(statusAndCode(refused)).toEqual([400, 104000])
          expect(await offsetOf(upload)).toBe('0')
        },
      )

      test.each(['-1', 'x', '1.5', '', '5, 5'])(
        'Upload-Length: "The value MUST be a non-negative integer." (%j)',
        async (value) => {
          const refused = await service.create('length.bin', 5, { headers: { 'Upload-Length': value } })
          expect(statusAndCode(refused)).toEqual([400, 104000])
        },
      )

      test('Tus-Version: "MUST be a comma-separated list of protocol versions supported by the Server."', async () => {
        expect((await service.call('OPTIONS', '/storage')).headers['tus-version']).toBe('1.0.0')
      })

      test('Tus-Resumable: "MUST be included in every request and response except for OPTIONS requests."', async () => {
        const upload = await begin(5)
        const unknown = `/uploads/${'0'.repeat(32)}`
        const answers = [
          await service.create('resumable.bin', 3),
          await service.create('resumable.bin', -1),
          await service.head(upload),
          await service.patch(upload, 3, 'x'),
          await service.patch(upload, 0, 'hello'),
          await service.call('DELETE', upload),
          await service.head(unknown),
          await service.head(unknown, { token: 'f'.repeat(64) }),
          await service.call('PUT', unknown),
          await service.call('HEAD', unknown, { headers: { 'Tus-Resumable': '0.2.2' } }),
        ]
        expect(answers.map(({ status }) => status)).toEqual([201, 400, 200, 409, 204, 204, 404, 401, 405, 412])
        expect(answers.map(({ headers }) => headers['tus-resumable'])).toEqual(answers.map(() => '1.0.0'))
      })

      test.each(['0.2.2', '1.0.1', '2.0.0', 'x', '', '1.0.0, 1.0.0'])(
        'Tus-Resumable: "If the version specified by the Client is not supported by the Server, it MUST respond with ' +
          'the 412 Precondition Failed status and MUST include the Tus-Version header into the response. In addition, ' +
          'the Server MUST NOT process the request." (%j)',
        async (version) => {
          const upload = await begin(5)
          const headers = { 'Tus-Resumable': version }
          const refused = [
            await service.head(upload, { headers }),
            await service.patch(upload, 0, 'hello', { headers }),
            await service.call('DELETE', upload, { headers }),
            await service.create('version.bin', 0, { headers }),
          ]
          expect(refused.map(({ status }) => status)).toEqual([412, 412, 412, 412])
          expect(refused.map((answer) => answer.headers['tus-version'])).toEqual(refused.map(() => '1.0.0'))
          expect(await offsetOf(upload)).toBe('0')
          expect(await service.content('version.bin')).toBeUndefined()
        },
      )

      test('Tus-Extension: "MUST be a comma-separated list of the extensions supported by the Server."', async () => {
        expect((await service.call('OPTIONS', '/storage/folder')).headers['tus-extension']).toBe(
          'creation,creation-with-upload,creation-defer-length,expiration,termination,checksum',
        )
      })

      test('Tus-Max-Size: "MUST be a non-negative integer indicating the maximum allowed size of an entire upload in bytes."', async () => {
        expect((await service.call('OPTIONS', '/storage')).headers['tus-max-size']).toBe(String(32 * 1024 * 1024))
      })

      test('X-HTTP-Method-Override: "MUST be interpreted as the request\'s method by the Server, if the header is presented. The actual method of the request MUST be ignored."', async () => {
        const upload = await begin(5)
        const overridden = (method: string) => ({ headers: { 'X-HTTP-Method-Override': method } })
        const bytes = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' }
        const patched = await service.call('POST', upload, {
          body: 'he',
          headers: { ...bytes, ...overridden('PATCH').headers },
        })
        expect([patched.status, patched.headers['upload-offset']]).toEqual([204, '2'])
        expect((await service.call('GET', upload, overridden('HEAD'))).headers['upload-offset']).toBe('2')
        expect((await service.call('POST', upload, overridden('PATCH, PATCH'))).status).toBe(405)
        expect((await service.call('POST', upload, overridden('DELETE'))).status).toBe(204)
        expect((await service.head(upload)).status).toBe(404)
      })

      test('X-HTTP-Method-Override means nothing anywhere else: a form of another page cannot delete by it', async () => {
        await service.call('PUT', '/storage/kept/a.txt', { body: 'kept' })
        const headers = { 'X-HTTP-Method-Override': 'DELETE', 'Tus-Resumable': null }
        for (const path of ['/storage/kept/a.txt', '/storage/kept', '/storage/uploads/x', '/storage']) {
          const { status } = await service.call('POST', path, { headers })
          expect([400, 404, 405]).toContain(status)
        }
        expect((await service.create('created.bin', 5, { headers: { 'X-HTTP-Method-Override': 'PUT' } })).status).toBe(
          201,
        )
        expect(await service.content('kept/a.txt')).toBe('kept')
      })
    })

    describe('Core Protocol, HEAD', () => {
      test('"If the resource is not found, the Server SHOULD return either the 404 Not Found, 410 Gone or 403 Forbidden status without the Upload-Offset header."', async () => {
        for (const upload of ['/uploads/none', `/uploads/${'a'.repeat(32)}`]) {
          const answer = await service.head(upload)
          expect([...statusAndCode(answer), answer.headers['upload-offset']]).toEqual([404, 104032, undefined])
        }
      })

      test('"The Server MUST prevent the client and/or proxies from caching the response by adding the Cache-Control: no-store header to the response."', async () => {
        expect((await service.head(await begin(5))).headers['cache-control']).toBe('no-store')
      })
    })

    describe('Core Protocol, PATCH', () => {
      test.each(['application/octet-stream', 'text/plain', ''])(
        '"All PATCH requests MUST use Content-Type: application/offset+octet-stream, otherwise the server SHOULD ' +
          'return a 415." (%j)',
        async (type) => {
          const upload = await begin(5)
          const refused = await service.patch(upload, 0, 'hello', { headers: { 'Content-Type': type } })
          expect(statusAndCode(refused)).toEqual([415, 100015])
          expect(await offsetOf(upload)).toBe('0')
        },
      )

      test.each([0, 1, 3, 5, 9007199254740992])(
        '"If the offsets do not match, the Server MUST respond with the 409 Conflict status without modifying the ' +
          'upload resource." (%d instead of 2)',
        async (offset) => {
          const upload = await begin(5)
          await service.patch(upload, 0, 'he')
          const refused = await service.patch(upload, offset, 'x')
          expect(statusAndCode(refused)).toEqual([409, 104030])
          expect(await offsetOf(upload)).toBe('2')
        },
      )

      test('"The new offset MUST be the sum of the offset before the PATCH request and the number of bytes received and processed or stored during the current PATCH request."', async () => {
        const upload = await begin(10)
        const broken = Readable.from(
          (async function* () {
            yield Buffer.from('hell')
            throw new Error('The caller has gone')
          })(),
        )
        await service.patch(upload, 0, broken, { headers: { 'Content-Length': '10' } })
        expect(await offsetOf(upload)).toBe('4')
        expect((await service.patch(upload, 4, '')).headers['upload-offset']).toBe('4')
      })
    })

    describe('Core Protocol, OPTIONS', () => {
      test.each(['1.0.0', '0.1', ''])(
        '"A successful response indicated by the 204 No Content or 200 OK status MUST contain the Tus-Version ' +
          'header." "The Server MUST ignore the header [Tus-Resumable]." (%j)',
        async (version) => {
          for (const path of ['/storage', '/storage/a/b', '/uploads/x']) {
            const headers = { 'Tus-Resumable': version }
            const { status, headers: answered } = await service.call('OPTIONS', path, { headers, token: '' })
            expect([status, answered['tus-version']]).toEqual([204, '1.0.0'])
            expect(answered['access-control-allow-methods']).toContain('PATCH')
          }
        },
      )
    })

    describe('Creation', () => {
      test('"The Server MUST acknowledge a successful upload creation with the 201 Created status. The Server MUST set the Location header to the URL of the created resource."', async () => {
        const { status, headers } = await service.create('created.bin', 5)
        expect(status).toBe(201)
        expect(headers['location']).toMatch(
          /^https:\/\/us\.example\.com\/api\/v2\/admin\/sites\/1001\/uploads\/[0-9a-f]{32}$/,
        )
      })

      test('"The request MUST include one of the following headers: Upload-Length, Upload-Defer-Length: 1."', async () => {
        const named = { 'Upload-Metadata': metadata({ filename: 'a' }) }
        const none = await service.call('POST', '/storage', { headers: named })
        const both = await service.create('a', 5, { headers: { 'Upload-Defer-Length': '1' } })
        expect([...statusAndCode(none), ...statusAndCode(both)]).toEqual([400, 104000, 400, 104000])
      })

      test.each(['0', '2', 'true', ''])(
        '"If the Upload-Defer-Length header contains any other value than 1 the server should return a 400." (%j)',
        async (value) => {
          const refused = await service.create('a', undefined, { headers: { 'Upload-Defer-Length': value } })
          expect(statusAndCode(refused)).toEqual([400, 104000])
        },
      )

      test('"If the length of an upload is not deferred, this header MUST be omitted."', async () => {
        const upload = await begin(undefined)
        await service.patch(upload, 0, 'he', { headers: { 'Upload-Length': '5' } })
        const { headers } = await service.head(upload)
        expect([headers['upload-defer-length'], headers['upload-length']]).toEqual([undefined, '5'])
        expect((await service.head(await begin(5))).headers['upload-defer-length']).toBeUndefined()
      })

      test.each(['4', '6', '1'])('"Once set the length MUST NOT be changed." (%s instead of 5)', async (length) => {
        const upload = await begin(5)
        await service.patch(upload, 0, 'he')
        const refused = await service.patch(upload, 2, 'l', { headers: { 'Upload-Length': length } })
        expect(statusAndCode(refused)).toEqual([400, 104000])
        expect((await service.head(upload)).headers).toMatchObject({ 'upload-offset': '2', 'upload-length': '5' })
        expect((await service.patch(upload, 2, 'l', { headers: { 'Upload-Length': '5' } })).status).toBe(204)
      })

      test('"Responses to HEAD requests MUST include the Upload-Metadata header and its value as specified by the Client during the creation."', async () => {
        const value = `${metadata({ filename: 'Grüße.txt', filetype: 'text/plain' })},is_confidential`
        const upload = await begin(5, { headers: { 'Upload-Metadata': value } })
        expect((await service.head(upload)).headers['upload-metadata']).toBe(value)
      })

      test.each([
        ['The key and value MUST be separated by a space.', 'filename\tYQ=='],
        ['The key MUST NOT contain spaces and commas.', 'file name YQ=='],
        ['[The key] MUST NOT be empty.', 'filename YQ==,'],
        ['The value MUST be Base64 encoded.', 'filename a.txt'],
        ['The value MUST be Base64 encoded.', 'filename Y*=='],
        ['All keys MUST be unique.', 'filename YQ==,filename Yg=='],
      ])('Upload-Metadata: "%s"', async (_, value) => {
        const refused = await service.create('a', 5, { headers: { 'Upload-Metadata': value } })
        expect(statusAndCode(refused)).toEqual([400, 104000])
      })

      test.each([String(32 * 1024 * 1024 + 1), '9007199254740992', '9'.repeat(100)])(
        '"If the length of the upload exceeds the maximum, the Server MUST respond with the 413 Request Entity Too ' +
          'Large status." (%s)',
        async (length) => {
          const refused = await service.create('a', 5, { headers: { 'Upload-Length': length } })
          expect(statusAndCode(refused)).toEqual([413, 104005])
          const deferred = await begin(undefined)
          const late = await service.patch(deferred, 0, 'x', { headers: { 'Upload-Length': length } })
          expect(statusAndCode(late)).toEqual([413, 104005])
        },
      )
    })

    describe('Creation With Upload', () => {
      test('"The Client MUST include the Content-Type: application/offset+octet-stream header."', async () => {
        const refused = await service.create('typed.txt', 5, {
          body: 'hello',
          headers: { 'Content-Type': 'text/plain' },
        })
        expect(statusAndCode(refused)).toEqual([415, 100015])
        expect(await service.content('typed.txt')).toBeUndefined()
      })
    })

    describe('Expiration', () => {
      test('"This header MUST be included in every PATCH response if the upload is going to expire. If the expiration is known at the creation, the Upload-Expires header MUST be included in the response to the initial POST request."', async () => {
        const created = await service.create('expires.bin', 5)
        const patched = await service.patch(uploadIn(created), 0, 'he')
        for (const { headers } of [created, patched]) {
          const left = Date.parse(headers['upload-expires'] ?? '') - Date.now()
          expect(left).toBeGreaterThan(23.9 * 3600 * 1000)
          expect(left).toBeLessThanOrEqual(24 * 3600 * 1000)
        }
        // What is complete does not expire: it is a file.
        expect((await service.patch(uploadIn(created), 2, 'llo')).headers['upload-expires']).toBeUndefined()
      })

      test('"The value of the Upload-Expires header MUST be in RFC 7231 datetime format."', async () => {
        const { headers } = await service.create('expires.bin', 5)
        expect(headers['upload-expires']).toMatch(/^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/)
      })
    })

    describe('Checksum', () => {
      test.each(['crc32 AAAAAA==', 'SHA1 qvTGHdzF6KLavt4PO0gs2a6pQ00=', 'sha1', 'sha1 no base64', 'sha1 ', '', 'x'])(
        '"400 Bad Request if the checksum algorithm is not supported by the server … the uploaded chunk MUST be ' +
          'discarded." (%j)',
        async (value) => {
          const upload = await begin(5)
          const refused = await service.patch(upload, 0, 'hello', { headers: { 'Upload-Checksum': value } })
          expect(statusAndCode(refused)).toEqual([400, 104033])
          expect(await offsetOf(upload)).toBe('0')
        },
      )

      test('holds for the bytes of a POST as well ("similar rules as for the PATCH request and response apply")', async () => {
        const headers = {
          'Content-Type': 'application/offset+octet-stream',
          'Upload-Checksum': checksum('sha1', 'other'),
        }
        const refused = await service.create('wrong.txt', 5, { body: 'hello', headers })
        expect([...statusAndCode(refused), refused.headers['location']]).toEqual([460, 104033, undefined])
        expect(await service.content('wrong.txt')).toBeUndefined()
      })
    })
  })
}
