import { describe, expect, test } from 'vitest'
import { readXml } from '../../../lib/http/read-xml.ts'
import { messages } from '../../support/messages.ts'

describe('a request body in XML', () => {
  test.each([
    ['true', true],
    ['false', false],
    [' true\n', true],
    ['-304', -304],
    ['007', 7],
    ['1.5', '1.5'],
    ['1e99', '1e99'],
    ['99999999999999999', '99999999999999999'],
    ['TRUE', 'TRUE'],
    ['', ''],
  ])('the text %j is read as %j', (text, value) => {
    expect(readXml(`<f><order>${text}</order></f>`)).toEqual({ order: value })
  })

  test('a repeated element is read as a list', () => {
    expect(readXml('<f><order>1</order><order>2</order></f>')).toEqual({ order: [1, 2] })
  })

  test('a body may use the five predefined entities and character references of XML', () => {
    expect(readXml('<f><a>&lt;&gt;&amp;&quot;&apos;&#228;&#x1F600;</a></f>')).toEqual({ a: `<>&"'ä😀` })
  })

  const deep = (levels: number) => `${'<a>'.repeat(levels)}1${'</a>'.repeat(levels)}`
  const laughs = `<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><l>&b;</l>`

  test.each([
    ['a document type in lower case', '<!doctype f><f/>'],
    ['a document type after a comment', '<f a="<!--"><!DOCTYPE f></f>'],
    ['a reference to a character that XML forbids', '<f>&#0;</f>'],
    ['an ampersand without an entity', '<f>a & b</f>'],
    ['text before the root element', 'x<f/>'],
    ['blanks alone', ' \n '],
    ['a constructor', '<f><constructor><prototype>1</prototype></constructor></f>'],
    ['10,000 elements that are not closed', '<a>'.repeat(10_000)],
    ['10,000 comments that are not closed', `<f>${'<!--'.repeat(10_000)}</f>`],
  ])('a body with %s is refused', (_, text) => {
    expect(() => readXml(text)).toThrow(Error)
  })

  test('a body may have 32 levels in its root element', () => {
    expect(() => readXml(deep(33))).not.toThrow()
  })

  test('a body cannot change shared prototypes', () => {
    expect(readXml('<f><toString>1</toString><hasOwnProperty>2</hasOwnProperty></f>')).not.toHaveProperty('polluted')
    expect(`${{}}`).toBe('[object Object]')
  })

  test('every refused body gets a message that names the fault', () => {
    expect(() => readXml(laughs)).toThrow(messages.http.xmlType)
    expect(() => readXml('<f>&nbsp;</f>')).toThrow(messages.http.xmlEntity)
    expect(() => readXml('<f/><g/>')).toThrow(messages.http.xmlSecondRoot)
    expect(() => readXml('<a>\n<b>')).toThrow(messages.http.xmlUnclosed('b', 2))
    for (const levels of [34, 10_000]) expect(() => readXml(deep(levels))).toThrow(messages.http.xmlTooDeep)
  })

  test('the message of a refusal does not quote the body', () => {
    expect(() => readXml('<f><password>open sesame</f>')).toThrow(messages.http.xmlUnclosed('password', 1))
  })

  test('the message of a refusal is short, even if the body is long', () => {
    for (const text of ['<a>'.repeat(10_000), `<${'a'.repeat(10_000)}>`]) {
      expect(() => readXml(text)).toThrow(/^.{10,250}$/)
    }
  })
})
