import { readFile } from 'node:fs/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { contentShape } from '../../../lib/categories/query/item-shape.ts'
import { parseWhere } from '../../../lib/categories/query/where.ts'

const conditions: readonly (readonly [where: unknown, isRight: boolean])[] = [
  [{}, true],
  [{ subject: 'One', weight: null, enabled: true }, true],
  [{ weight: { $eq: 1, $ne: 2, $neq: 3, $lt: 4, $lte: 5, $gt: 6, $gte: 7, $in: [8], $nin: [9] } }, true],
  [{ subject: { $beginsWith: 'O', $contains: 'n' } }, true],
  [{ $and: [{ $or: [{ subject: 'One' }, { weight: 1 }] }] }, true],
  [[], false],
  [{ subject: ['One'] }, false],
  [{ subject: { $like: 'One' } }, false],
  [{ weight: { $in: 1 } }, false],
  [{ $and: {} }, false],
  [{ $or: [] }, false],
]

test('a member that several conditions name is read once for each item', () => {
  let reads = 0
  const item = {
    get subject() {
      reads += 1
      return 'One'
    },
  }
  const where = { $or: ['Three', 'Two', 'One'].map((subject) => ({ subject })) }
  expect(parseWhere(JSON.stringify(where), contentShape('news')).matches(item)).toBe(true)
  expect(reads).toBe(1)
})

test('the schema of where accepts exactly what the service accepts (C-28)', async () => {
  const document = JSON.parse(await readFile(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'))
  const ajv = new Ajv2020({ strict: false })
  const isRight = ajv.compile({ ...document, $ref: '#/components/schemas/Where' })
  for (const [where, expected] of conditions) {
    const text = JSON.stringify(where)
    const parse = () => parseWhere(text, contentShape('news'))
    if (expected) expect(parse, text).not.toThrow()
    else expect(parse, text).toThrow()
    expect(isRight(where), text).toBe(expected)
  }
  expect(JSON.stringify(document.paths)).toContain('`Where`')
})
