import { expect, test } from 'vitest'
import { messages } from '../../support/messages.ts'
import { expectError } from '../support/expectations.ts'
import { addField, fieldsOf, formWith, layoutOf, site } from '../support/forms.ts'
import { call } from '../support/http.ts'

const xml = { Accept: 'application/xml' }
const sendXml = { 'Content-Type': 'application/xml' }
const namespaces = 'xmlns="http://ns.adobe.com/bc/api/v1" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"'
const valid = '<type><id>-2</id></type><mandatory>true</mandatory>'
const deep = (levels: number) => `${'<a>'.repeat(levels)}1${'</a>'.repeat(levels)}`
const post = (form: number, body: string, headers: Record<string, string> = sendXml) =>
  call(fieldsOf(form), { method: 'POST', body, headers })
const expectXmlError = (answer: Awaited<ReturnType<typeof call>>, status: number, code: number) => {
  expect(answer.status).toBe(status)
  expect(answer.headers['content-type']).toBe('application/xml; charset=utf-8')
  expect(answer.text).toContain(`<error ${namespaces}><code>${code}</code><message>`)
  expect(answer.text).toContain(`<requestId>${answer.headers['x-request-id']}</requestId>`)
}

test('A list in XML has its root elements, and nil for null (F-27, F-28)', async () => {
  const form = await formWith({ id: -2, mandatory: true })
  const json = (await call(fieldsOf(form))).json
  const { text, headers } = await call(fieldsOf(form), { headers: xml })
  expect(headers['content-type']).toBe('application/xml; charset=utf-8')
  const field = `<field><links><link><rel>self</rel><uri>${json.items[0].links[0].uri}</uri></link></links><id>-2</id><name>CustomerDetails</name><type><id>-2</id><name>CustomerDetails</name></type><mandatory>true</mandatory><order>1</order></field>`
  expect(text).toBe(
    `<?xml version="1.0" encoding="utf-8"?><fields ${namespaces}><links><link><rel>self</rel><uri>${json.links[0].uri}</uri></link>` +
      '<link><rel>previous</rel><uri i:nil="true"/></link><link><rel>next</rel><uri i:nil="true"/></link></links>' +
      `<items>${field}</items><totalItemsCount>1</totalItemsCount><itemsPerPageCount>1000</itemsPerPageCount><currentPage>1</currentPage></fields>`,
  )
})

test('A field, and the answer to a new one, have the root element field (F-27)', async () => {
  const form = await formWith({ id: -3 })
  const read = await call(`${fieldsOf(form)}/-3`, { headers: xml })
  expect(read.text).toContain(`<field ${namespaces}><links><link><rel>self</rel>`)
  const { status, text } = await call(fieldsOf(form), {
    method: 'POST',
    headers: xml,
    body: { type: { id: -2 }, mandatory: true },
  })
  expect(status).toBe(201)
  expect(text).toMatch(
    /<field [^>]*><links><link><rel>self<\/rel><uri>[^<]+<\/uri><\/link><\/links><id>-2<\/id><\/field>$/,
  )
})

test('Forms and field types are also available in XML (F-25)', async () => {
  expect((await call(`${site}/webforms`, { headers: xml })).text).toContain('<webForm><links><link><rel>self</rel>')
  const { text } = await call(`${site}/webformfieldtypes/system`, { headers: xml })
  expect(text).toContain('<fieldType><id>-2</id><name>CustomerDetails</name></fieldType>')
})

test('A caller who asks for XML gets errors in XML (E-3)', async () => {
  const form = await formWith()
  expectXmlError(await call(`${fieldsOf(form)}/-2`, { headers: xml }), 404, 115002)
  expectXmlError(await call(`${site}/webforms`, { headers: xml, token: null }), 401, 101000)
  const answer = await call(fieldsOf(form), { method: 'POST', headers: xml, body: { type: {}, mandatory: 1 } })
  expectXmlError(answer, 400, 115000)
  expect(answer.text).toContain('<errors><error><path>type.id</path><message>')
})

test('An error in XML leaves out characters that XML forbids (E-3)', async () => {
  const body = '{"a": \u0001\u001B<&]]>'
  const headers = { ...xml, 'Content-Type': 'application/json' }
  const answer = await call(fieldsOf(await formWith()), { method: 'POST', headers, body })
  expectXmlError(answer, 400, 115000)
  expect(answer.text).not.toMatch(/\p{Cc}/u)
})

test.each<[string, string]>([
  ['the root element field and the namespace', `<field ${namespaces}>${valid}</field>`],
  ['any root element, without a namespace', `<whatever>${valid}</whatever>`],
  ['a prefix', '<a:x xmlns:a="urn:x"><a:type><a:id>-2</a:id></a:type><a:mandatory>true</a:mandatory></a:x>'],
  [
    'a declaration and white space',
    '\uFEFF<?xml version="1.0"?>\r\n<f>\n <type>\n  <id> -2 </id>\n </type>\n <mandatory> true\n</mandatory>\n</f>\n',
  ],
  [
    'comments, instructions and CDATA',
    '<f><!-- a & b --><?keep this?><type><id><![CDATA[-2]]></id></type><mandatory>tr<!-- cut -->ue</mandatory></f>',
  ],
  [
    'entities and references to characters',
    '<f><x>&lt;&gt;&amp;&quot;&apos;&#x1F600;</x><type><id>&#45;2</id></type><mandatory>true</mandatory></f>',
  ],
  ['32 levels', `<f>${deep(32)}${valid}</f>`],
  ['a declaration in text and in a comment', `<f><x><![CDATA[<!DOCTYPE]]></x><!-- <!ENTITY -->${valid}</f>`],
  ['names of shared prototypes', `<f><toString>1</toString>${valid}</f>`],
  ['unknown elements', '<f><x><y/></x><type><id>-2</id><name>n</name></type><mandatory>true</mandatory></f>'],
])('A body in XML with %s is accepted (F-29)', async (_, body) => {
  const form = await formWith({ id: -3 })
  expect((await post(form, body)).status).toBe(201)
  expect(await layoutOf(form)).toBe('-3@1 -2@2')
})

test('A body of type text/xml is read, and the answer follows Accept (F-25)', async () => {
  const form = await formWith()
  const headers = { 'Content-Type': 'text/xml; charset="UTF-8"' }
  const added = await post(
    form,
    '<f><type><id>-2</id></type><mandatory>false</mandatory><order>14</order></f>',
    headers,
  )
  expect(added).toMatchObject({ status: 201, json: { id: -2 } })
  expect((await call(`${fieldsOf(form)}/-2`)).json).toMatchObject({ mandatory: false, order: 14 })
  const body = '<field><mandatory>true</mandatory><order>3</order></field>'
  expect((await call(`${fieldsOf(form)}/-2`, { method: 'PUT', body, headers })).status).toBe(200)
  expect((await call(`${fieldsOf(form)}/-2`)).json).toMatchObject({ mandatory: true, order: 3 })
})

test('A field that was read in XML can be sent back whole (F-20)', async () => {
  const form = await formWith({ id: -2 })
  await addField(form, { id: -3, mandatory: true })
  const { text } = await call(`${fieldsOf(form)}/-3`, { headers: xml })
  const body = text.replace('<order>2</order>', '<order>1</order>')
  expect((await call(`${fieldsOf(form)}/-3`, { method: 'PUT', body, headers: sendXml })).status).toBe(200)
  expect(await layoutOf(form)).toBe('-3@1 -2@2')
})

test.each<[string, string]>([
  ['nothing', ''],
  ['plain text', 'hello'],
  ['JSON in place of XML', '{"type":{"id":-2},"mandatory":true}'],
  ['tags that overlap', '<f><type><id>-2</type></id><mandatory>true</mandatory></f>'],
  ['text after the root element', `<f>${valid}</f>hello`],
  ['a document type declaration', `<!DOCTYPE f><f>${valid}</f>`],
  ['an external entity', '<!DOCTYPE f [<!ENTITY x SYSTEM "file:///etc/passwd">]><f><type><id>&x;</id></type></f>'],
  ['an entity bomb', `<!DOCTYPE f [<!ENTITY a "ha"><!ENTITY b "${'&a;'.repeat(1000)}">]><f>&b;</f>`],
  ['a reference to a character that XML forbids', `<f>&#0;${valid}</f>`],
  ['an ampersand without an entity', `<f>a & b${valid}</f>`],
  ['text before the root element', `x<f>${valid}</f>`],
  ['blanks alone', ' \n '],
  ['33 levels', `<f>${deep(33)}${valid}</f>`],
  ['10,000 elements that are not closed', '<a>'.repeat(10_000)],
  ['a name of 10,000 letters', `<${'a'.repeat(10_000)}>`],
  ['10,000 comments that are not closed', `<f>${'<!--'.repeat(10_000)}</f>`],
  ['a constructor', `<f><constructor>1</constructor>${valid}</f>`],
  ['a __proto__ element', `<f><__proto__><x>1</x></__proto__>${valid}</f>`],
  ['mandatory twice', `<f>${valid}<mandatory>true</mandatory></f>`],
  ['mandatory empty', '<f><type><id>-2</id></type><mandatory/></f>'],
  ['mandatory nil', `<f ${namespaces}><type><id>-2</id></type><mandatory i:nil="true">true</mandatory></f>`],
  ['mandatory nil by 1', '<f xmlns:b="urn:x"><type><id>-2</id></type><mandatory b:nil="1">true</mandatory></f>'],
  ['mandatory in capitals', '<f><type><id>-2</id></type><mandatory>TRUE</mandatory></f>'],
  ['letters for order', `<f>${valid}<order>first</order></f>`],
  ['a hexadecimal order', `<f>${valid}<order>0x1</order></f>`],
  ['order 1e3', `<f>${valid}<order>1e3</order></f>`],
])('A body in XML with %s is refused with 115000 (F-30)', async (_, body) => {
  const form = await formWith({ id: -3 })
  const answer = await post(form, body, { ...sendXml, ...xml })
  expectXmlError(answer, 400, 115000)
  expect(answer.text.length).toBeLessThan(800)
  expect(await layoutOf(form)).toBe('-3@1')
})

test.each<[fault: string, string]>([
  ['document type definition', '<!DOCTYPE f><f/>'],
  ["Named entity isn't defined: &nbsp;", '<f>&nbsp;</f>'],
  ['Extra content at the end of the document', '<f/><g/>'],
  [messages.http.xmlTooDeep, deep(34)],
  [messages.http.xmlTooDeep, deep(9_000)],
  [messages.http.xmlUnclosed('b', 2), '<a>\n<b>'],
  [messages.http.xmlUnclosed('password', 1), '<f><password>open sesame</f>'],
])('A refusal names the fault, and does not quote the body (F-30): %s', async (fault, body) => {
  const form = await formWith({ id: -3 })
  const answer = await post(form, body)
  expectError(answer, 400, 115000)
  expect(answer.json.message).toContain(fault)
})
