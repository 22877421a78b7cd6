import { expect, test } from 'vitest'
import { fieldTag } from '../../../functions/fields/group.ts'
import type { SystemField } from '../../../lib/fields/web-forms.ts'

const field: SystemField = { typeId: -2, name: 'Title', mandatory: true, order: 3 }

test('a member that a later version adds to fields also changes the tag', () => {
  const grown = { ...field, hint: 'as on the passport' }
  expect(fieldTag(grown)).not.toBe(fieldTag(field))
  const other = { ...field, hint: 'any' }
  expect(fieldTag(other)).not.toBe(fieldTag(grown))
})

test('the tag does not depend on the order of members in a store', () => {
  expect(fieldTag({ order: 3, mandatory: true, name: 'Title', typeId: -2 })).toBe(fieldTag(field))
})
