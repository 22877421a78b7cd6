import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ServiceError } from '../../../lib/core/errors.ts'
import { createTemplateCheck, isPage, isTemplate } from '../../../lib/storage/file-kind.ts'
import { parsePath } from '../../../lib/storage/path.ts'
import { timesToTry } from '../../support/each-call.ts'

const check = (chunks: readonly Uint8Array[]): number | 'fine' => {
  const template = createTemplateCheck()
  for (const chunk of chunks) template.write(chunk)
  const fault = template.end()
  return fault ? new ServiceError(fault).code : 'fine'
}

const region = (name: string, content: string) =>
  `<!-- TemplateBeginEditable ${name} -->${content}<!-- TemplateEndEditable -->`

const templates: readonly (readonly [string, number | 'fine'])[] = [
  ['<html>{tag_pagecontent}</html>', 'fine'],
  ['<html>{pagecontent}</html>', 'fine'],
  ['<html>{TAG_PageContent}</html>', 'fine'],
  ['<html></html>', 104008],
  ['', 104008],
  ['{tag_pagecontents} { tag_pagecontent}', 104008],
  [region('name="body"', '{tag_pagecontent}'), 'fine'],
  [region("name='body'", '{pagecontent}'), 'fine'],
  [region('name="body"', 'nothing'), 104007],
  [`{tag_pagecontent}${region('name="body"', 'nothing')}`, 104007],
  [`${region('name="a"', 'x')}é😀${region('name="b"', '{tag_pagecontent}')}`, 'fine'],
  [region('', '{tag_pagecontent}'), 104006],
  [region('name=""', '{tag_pagecontent}'), 104006],
  [region('name="a"', '{tag_pagecontent}') + region('name="a"', 'x'), 104006],
]

/** The first chunk may be longer than the longest comment. */
const leads = fc.constantFrom('', ' '.repeat(3_000))

it('the result of the check does not depend on how the template is split', () => {
  fc.assert(
    fc.property(fc.constantFrom(...templates), leads, fc.array(fc.nat(40), { maxLength: 30 }), (given, lead, cuts) => {
      const [text, verdict] = given
      const bytes = Buffer.from(lead + text)
      const chunks: Buffer[] = []
      let [at, end] = [0, lead.length]
      for (const length of cuts) {
        end += length
        chunks.push(bytes.subarray(at, end))
        at = end
      }
      expect(check([...chunks, bytes.subarray(at)])).toBe(verdict)
    }),
    { numRuns: timesToTry(3_000) },
  )
})

it('the content tag is found after an unterminated comment', () => {
  const chunks = Array.from({ length: 64 }, () => Buffer.from('<!-- x '.repeat(200)))
  expect(check([...chunks, Buffer.from('{tag_pagecontent}')])).toBe('fine')
})

it.each([
  ['index.html', 'a page'],
  ['a/b.HTM', 'a page'],
  ['a.txt', 'an ordinary file'],
  ['Templates/main.html', 'a template'],
  ['Templates/a/b.dwt', 'a template'],
  ['Templates/a.css', 'an ordinary file'],
  ['templates/main.html', 'a template'],
  ['TEMPLATES/a/b.dwt', 'a template'],
  ['Templates2/main.html', 'a page'],
  ['/Templates.html', 'a page'],
  ['Templates', 'an ordinary file'],
  ['a/Templates/x.dwt', 'an ordinary file'],
])('the path %s is %s (S-18, S-19, S-21)', (text, kind) => {
  expect([isPage(parsePath(text)), isTemplate(parsePath(text))]).toEqual([kind === 'a page', kind === 'a template'])
})
