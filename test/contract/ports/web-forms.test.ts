import { beforeEach, expect, test } from 'vitest'
import { createDeadline } from '../../../lib/core/deadline.ts'
import { ServiceError } from '../../../lib/core/errors.ts'
import type { SiteId, WebFormId } from '../../../lib/core/ids.ts'
import { fieldTypes } from '../../../lib/fields/catalogue.ts'
import { addField, changeField, removeField } from '../../../lib/fields/field-rules.ts'
import type { WebForm } from '../../../lib/fields/web-forms.ts'
import { describeOn, entry, hands, type TableStores } from '../../support/hands.ts'

const form = 7 as WebFormId
const anything = () => undefined

describeOn({ kinds: hands, subject: 'changing a web form' }, (hand) => {
  const { webForms } = hand.stores

  /** Each test has its own site. */
  let site = 0 as SiteId
  beforeEach(() => {
    site = (site + 1) as SiteId
  })

  const create = (fields: WebForm['fields'] = []) => webForms.create({ site, id: form, name: 'Form', fields }, entry)
  const storedTypes = async () => (await webForms.get(site, form))?.fields.map(({ typeId }) => typeId)

  test('Renaming or changing a missing form fails with 115001', async () => {
    for (const change of [
      webForms.rename(site, form, 'Feedback', entry),
      webForms.changeFields(site, form, () => [], entry),
    ]) {
      await expect(change).rejects.toMatchObject({ code: 115001 })
    }
    expect(await webForms.get(site, form)).toBeUndefined()
  })

  test('A request without time left changes nothing', async () => {
    await create([{ typeId: -2, mandatory: true, order: 1 }])
    const late = createDeadline(() => 0)
    const change = webForms.changeFields(site, form, () => [], entry, late)
    await expect(change).rejects.toMatchObject({ code: 100503 })
    expect(await storedTypes()).toEqual([-2])
  })

  test('50 concurrent changes over 5 connections are all kept', async () => {
    const types = [...fieldTypes.keys()]
    const [removed, moved, added] = [types.slice(0, 10), types.slice(10, 20), types.slice(20)]
    await create(types.slice(0, 20).map((typeId, index) => ({ typeId, mandatory: false, order: index + 1 })))
    const change =
      (apply: (fields: WebForm['fields']) => WebForm['fields']) =>
      (writer: TableStores): Promise<void> =>
        writer.webForms.changeFields(site, form, apply, entry)
    const [firstMoved = 0] = moved
    const changes = [
      ...removed.map((typeId) => change((fields) => removeField(fields, typeId, anything))),
      ...moved.map((typeId, index) =>
        change((fields) => changeField(fields, typeId, { mandatory: true, order: 100 + index }, anything)),
      ),
      ...added.map((typeId) => change((fields) => addField(fields, { typeId, mandatory: true, order: 1 }))),
      ...moved.map(
        (_, index) => (writer: TableStores) => writer.webForms.rename(site, form, `Renamed ${index}`, entry),
      ),
      ...Array.from({ length: 7 }, (_, index) =>
        change((fields) => changeField(fields, firstMoved, { order: 200 + index }, anything)),
      ),
    ]
    expect(changes).toHaveLength(50)
    const writers = Array.from({ length: 5 }, () => hand.connect())
    // On a slow machine a store may give up on a change that others overtake each time. Its answer asks the caller to
    // repeat the change.
    const insist = async (make: () => Promise<void>, tries = 30): Promise<void> => {
      try {
        await make()
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status !== 503 || tries === 0) throw error
        await insist(make, tries - 1)
      }
    }
    await Promise.all(changes.map((make, index) => insist(() => make(writers[index % writers.length] ?? hand.stores))))

    const { fields = [] } = (await webForms.get(site, form)) ?? {}
    expect(new Set(fields.map(({ typeId }) => typeId))).toEqual(new Set([...moved, ...added]))
    expect(fields.every(({ mandatory }) => mandatory)).toBe(true)
    expect(new Set(fields.map(({ order }) => order)).size).toBe(fields.length)
    expect(fields.filter(({ order }) => order <= added.length).map(({ typeId }) => typeId)).toHaveLength(added.length)
  })
})
