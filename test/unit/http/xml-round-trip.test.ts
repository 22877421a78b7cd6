import fc, { type GeneratorValue } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fieldView, wholeList } from '../../../functions/fields/views.ts'
import { readJson } from '../../../lib/http/json.ts'
import { readXml } from '../../../lib/http/read-xml.ts'
import { writeXml } from '../../../lib/http/write-xml.ts'
import { fieldName, formFields } from '../../support/arbitrary-fields.ts'
import { timesToTry } from '../../support/each-call.ts'
import { readXmlAnswer } from '../../support/read-xml-answer.ts'

const runs = { numRuns: timesToTry(1_000) }

const asJson = (value: unknown): unknown => readJson(JSON.stringify(value))

const self = 'https://us.example.com/api/v1/admin/sites/1001/webforms/1/fields/system?a=1&b=<2>'

describe('answers in XML', () => {
  test('a list of fields has the same content in XML and JSON', () => {
    fc.assert(
      fc.property(formFields, (fields) => {
        const items = fields.map((field) => fieldView(field, `${self}/${field.typeId}`))
        const value = wholeList(self, items)
        expect(readXmlAnswer(writeXml({ value, xml: { root: 'fields', item: 'field' } }))).toEqual(asJson(value))
      }),
      runs,
    )
  })

  test('an error has the same content in XML and JSON, with any message', () => {
    fc.assert(
      fc.property(fieldName, fc.array(fc.record({ path: fieldName, message: fieldName })), (message, errors) => {
        const value = { code: 115000, message, requestId: '8b2f', errors }
        expect(readXmlAnswer(writeXml({ value, xml: { root: 'error' } }))).toEqual(asJson(value))
      }),
      runs,
    )
  })
})

const memberName = fc
  .oneof(fc.constantFrom('type', 'id', 'mandatory', 'order', 'x-y', 'a.b', '_c'), fc.stringMatching(/^[a-z]{1,8}$/))
  .filter((name) => !(name in {}) && name !== 'xmlns')

const plainText = fieldName.filter((text) => /[^\s\d-]/.test(text) && !/^\s*(?:true|false)\s*$/.test(text))

/** The values that both formats can express. XML has neither empty objects nor strings that look like numbers. */
const { body: anyBody } = fc.letrec((tie) => ({
  body: fc
    .uniqueArray(fc.tuple(memberName, tie('value')), { selector: ([name]) => name, minLength: 1, maxLength: 5 })
    .map((members) => Object.fromEntries(members)),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.integer(),
    fc.boolean(),
    plainText,
    fc.constant(null),
    tie('body'),
  ),
}))

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Writes a value in one of the forms that XML allows, chosen at random. */
const writtenBySomeone = (value: unknown, g: GeneratorValue): string => {
  const prefix = g(fc.constantFrom, '', 'b:', 'ns0:')
  const between = () => g(fc.constantFrom, '', ' ', '\n  ', '\t', '<!-- a & b -->', '<?keep this?>', '\r\n')
  const quote = g(fc.constantFrom, '"', "'")
  const attribute = (name: string, text: string) => ` ${name}=${quote}${text}${quote}`

  const text = (content: string): string => {
    if (!content.includes(']]>') && g(fc.boolean)) return `<![CDATA[${content}]]>`
    if (!g(fc.boolean)) return escaped(content)
    const characters = [...content].map(escaped)
    return characters.toSpliced(g(fc.nat, characters.length), 0, '<!-- cut -->').join('')
  }

  const element = (name: string, content: unknown, attributes = ''): string => {
    const tag = `${prefix}${name}`
    const extra = attributes + (g(fc.boolean) ? attribute('note', 'a &amp; b') : '')
    if (content === null) return `<${tag}${extra}${attribute('i:nil', g(fc.constantFrom, 'true', '1'))}/>`
    if (typeof content !== 'object') return `<${tag}${extra}>${text(String(content))}</${tag}>`
    const members = Object.entries(content).map(([member, inner]) => between() + element(member, inner))
    return `<${tag}${extra}>${members.join('')}${between()}</${tag}>`
  }

  const declaration = g(
    fc.constantFrom,
    '',
    '<?xml version="1.0"?>',
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n',
  )
  const namespaces =
    attribute(prefix === '' ? 'xmlns' : `xmlns:${prefix.slice(0, -1)}`, 'http://ns.adobe.com/bc/api/v1') +
    attribute('xmlns:i', 'http://www.w3.org/2001/XMLSchema-instance')
  const root = g(fc.constantFrom, 'field', 'systemField', 'root', 'a-b')
  return declaration + between() + element(root, value, namespaces) + between()
}

describe('requests in XML', () => {
  test('prefixes, declarations, blanks, comments and CDATA do not change the content', () => {
    fc.assert(
      fc.property(anyBody, fc.gen(), (body, g) => {
        expect(readXml(writtenBySomeone(body, g))).toEqual(asJson(body))
      }),
      runs,
    )
  })
})
