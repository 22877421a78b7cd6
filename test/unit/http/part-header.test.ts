import { expect, it } from 'vitest'
import { MultipartError, readPartHeader } from '../../../lib/http/part-header.ts'

const disposition = 'Content-Disposition:form-data; name="file"; filename="a.txt"'

it('takes blanks around a value for nothing', () => {
  const header = { name: 'file', fileName: 'a.txt', contentType: 'text/plain' }
  for (const type of ['Content-Type:text/plain', 'Content-Type: \t text/plain \t']) {
    expect(readPartHeader(Buffer.from(`${disposition}\r\n${type}`))).toEqual(header)
  }
})

it('refuses a broken field as quickly behind many blanks as behind none', () => {
  expect(() => readPartHeader(Buffer.from(`X:${' '.repeat(200_000)}\rY`))).toThrow(MultipartError)
})
