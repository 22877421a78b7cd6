import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { validate } from '../../../lib/http/validate.ts'

const schema = z.object({
  items: z.array(z.object({ objectId: z.int('must be a whole number') }), 'must be a list'),
  name: z.optional(z.string('must be a text')),
})

const check = (value: unknown) => () => validate(schema, value, 'fieldsMalformed')

describe('checked input', () => {
  test('is returned without unknown members', () => {
    expect(check({ items: [{ objectId: 1, x: 1 }], y: 2 })()).toEqual({ items: [{ objectId: 1 }] })
  })

  test('is refused with the names of members and the positions of entries', () => {
    expect(check({ items: [{ objectId: 1 }, { objectId: 'one' }], name: 5 })).toThrow(
      expect.objectContaining({
        code: 115000,
        message: 'items[1].objectId: must be a whole number',
        problems: [
          { path: 'items[1].objectId', message: 'must be a whole number' },
          { path: 'name', message: 'must be a text' },
        ],
      }),
    )
  })
})
