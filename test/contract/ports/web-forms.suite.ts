import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createDeadline } from '../../../lib/core/deadline.ts'
import { ServiceError } from '../../../lib/core/errors.ts'
import { largestNamedId, type SiteId, type WebFormId } from '../../../lib/core/ids.ts'
import { inParallel } from '../../../lib/core/in-parallel.ts'
import { fieldTypes } from '../../../lib/fields/catalogue.ts'
import { addField, changeField, removeField } from '../../../lib/fields/field-rules.ts'
import { maxOrder, type WebForm } from '../../../lib/fields/web-forms.ts'
import type { Stores } from '../../../lib/service/stores.ts'
import { entry, type Hand, type OpenedHand } from '../../support/hands.ts'

type Tested = Pick<Stores, 'webForms'>

const formId = (id: number) => id as WebFormId
const anything = () => undefined

/** What every store of web forms does, whatever it is made of. */
export const describeWebForms = ({ name, open }: Hand<Tested>): void => {
  let hand: OpenedHand<Tested>
  let webForms: Tested['webForms']
  beforeAll(async () => {
    hand = await open()
    webForms = hand.stores.webForms
  })
  afterAll(() => hand.close())

  /** Each test has a site for itself. */
  let lastSite = 0
  let site: SiteId
  beforeEach(() => {
    lastSite += 1
    site = lastSite as SiteId
  })

  const form = (id: number, fields: WebForm['fields'] = []): WebForm => ({
    site,
    id: formId(id),
    name: `Form ${id}`,
    fields,
  })
  const create = (...parts: Parameters<typeof form>) => webForms.create(form(...parts), entry)
  const typesOf = async (id: number) => (await webForms.get(site, formId(id)))?.fields.map(({ typeId }) => typeId)

  describe(`a web form: ${name}`, () => {
    test('comes back as it was stored, to every connection', async () => {
      const stored = form(7, [
        { typeId: -2, mandatory: true, order: 1 },
        { typeId: -400, name: '[ImageVerification]', mandatory: false, order: maxOrder },
      ])
      expect(await webForms.create(stored, entry)).toBe(true)
      expect(await webForms.get(site, formId(7))).toEqual(stored)
      expect(await hand.connect().webForms.get(site, formId(7))).toEqual(stored)
    })

    test('keeps names of any characters, and the largest ids', async () => {
      const odd = `Ä "b" 'c' \\ 🍐 \u{ffff}`
      const stored: WebForm = {
        site: largestNamedId as SiteId,
        id: formId(largestNamedId),
        name: odd,
        fields: [{ typeId: -2, name: odd, mandatory: true, order: 1 }],
      }
      await webForms.create(stored, entry)
      expect(await webForms.get(stored.site, stored.id)).toEqual(stored)
      expect(await webForms.highestId(stored.site)).toBe(largestNamedId)
    })

    test('is not found under another id, nor on another site', async () => {
      await create(7)
      expect(await webForms.get(site, formId(8))).toBeUndefined()
      expect(await webForms.get((site + 1_000) as SiteId, formId(7))).toBeUndefined()
    })

    test('is not made over one that is there', async () => {
      await create(7, [{ typeId: -2, mandatory: true, order: 1 }])
      expect(await create(7)).toBe(false)
      expect(await typesOf(7)).toEqual([-2])
    })

    test('is made once when several make it at once', async () => {
      const made = await Promise.all(Array.from({ length: 10 }, () => create(7)))
      expect(made.filter(Boolean)).toHaveLength(1)
    })

    test('is renamed without touching its fields', async () => {
      await create(7, [{ typeId: -2, mandatory: true, order: 1 }])
      await webForms.rename(site, formId(7), 'Feedback', entry)
      expect(await webForms.get(site, formId(7))).toMatchObject({ name: 'Feedback', fields: [{ typeId: -2 }] })
    })

    test('does not come into being by a new name: 115001', async () => {
      const renaming = webForms.rename(site, formId(7), 'Feedback', entry)
      await expect(renaming).rejects.toThrow(expect.objectContaining({ code: 115001 }))
      expect(await webForms.get(site, formId(7))).toBeUndefined()
    })
  })

  describe(`the web forms of a site: ${name}`, () => {
    test('are listed by id, and no others', async () => {
      for (const id of [10, 9, 100]) await create(id)
      await webForms.create({ ...form(1), site: (site + 1_000) as SiteId }, entry)
      expect(await webForms.list(site)).toEqual([
        { id: 9, name: 'Form 9' },
        { id: 10, name: 'Form 10' },
        { id: 100, name: 'Form 100' },
      ])
      expect(await webForms.highestId(site)).toBe(100)
    })

    test('are all listed when their names are long', async () => {
      // A page of DynamoDB is 1 MB; these have 1.2 MB.
      const long = 'x'.repeat(30_000)
      await Promise.all(Array.from({ length: 40 }, (_, id) => webForms.create({ ...form(id), name: long }, entry)))
      expect(await webForms.list(site)).toHaveLength(40)
    })

    test('are all listed when they are many', async () => {
      const ids = Array.from({ length: 130 }, (_, index) => index + 1)
      await inParallel(ids, 50, async (id) => void (await hand.unrecorded.webForms.create(form(id), entry)))
      expect((await webForms.list(site)).map(({ id }) => id)).toEqual(ids)
    })

    test('may be none', async () => {
      expect(await webForms.list(site)).toEqual([])
      expect(await webForms.highestId(site)).toBe(0)
    })
  })

  describe(`changing the fields of a web form: ${name}`, () => {
    const addTwo = () =>
      webForms.changeFields(
        site,
        formId(7),
        (fields) => addField(fields, { typeId: -2, mandatory: true, order: 1 }),
        entry,
      )

    test('leaves what the rules make of them', async () => {
      await create(7, [{ typeId: -3, mandatory: true, order: 1 }])
      await addTwo()
      expect(await typesOf(7)).toEqual([-2, -3])
    })

    test('of a form that is not there is 115001, and makes none', async () => {
      const change = webForms.changeFields(site, formId(7), () => [], entry)
      await expect(change).rejects.toThrow(expect.objectContaining({ code: 115001 }))
      expect(await webForms.get(site, formId(7))).toBeUndefined()
    })

    test('changes nothing when the rules refuse it', async () => {
      await create(7, [{ typeId: -2, mandatory: true, order: 1 }])
      await expect(addTwo()).rejects.toThrow(expect.objectContaining({ code: 115006 }))
      expect(await typesOf(7)).toEqual([-2])
    })

    test('changes nothing when the request has no time left', async () => {
      await create(7, [{ typeId: -2, mandatory: true, order: 1 }])
      const late = webForms.changeFields(
        site,
        formId(7),
        () => [],
        entry,
        createDeadline(() => 0),
      )
      await expect(late).rejects.toMatchObject({ code: 100503 })
      expect(await typesOf(7)).toEqual([-2])
    })

    test('50 times at once, over 5 connections, loses none', async () => {
      const types = [...fieldTypes.keys()]
      const [removed, moved, added] = [types.slice(0, 10), types.slice(10, 20), types.slice(20)]
      await create(
        7,
        types.slice(0, 20).map((typeId, index) => ({ typeId, mandatory: false, order: index + 1 })),
      )
      const change =
        (apply: (fields: WebForm['fields']) => WebForm['fields']) =>
        (writer: Tested): Promise<void> =>
          writer.webForms.changeFields(site, formId(7), apply, entry)
      const [firstMoved = 0] = moved
      const changes = [
        ...removed.map((typeId) => change((fields) => removeField(fields, typeId, anything))),
        ...moved.map((typeId, index) =>
          change((fields) => changeField(fields, typeId, { mandatory: true, order: 100 + index }, anything)),
        ),
        ...added.map((typeId) => change((fields) => addField(fields, { typeId, mandatory: true, order: 1 }))),
        ...moved.map(
          (_, index) => (writer: Tested) => writer.webForms.rename(site, formId(7), `Renamed ${index}`, entry),
        ),
        ...Array.from({ length: 7 }, (_, index) =>
          change((fields) => changeField(fields, firstMoved, { order: 200 + index }, anything)),
        ),
      ]
      expect(changes).toHaveLength(50)
      const writers = Array.from({ length: 5 }, () => hand.connect())
      // On a slow machine a store may give up on a change that loses again and again: its caller repeats it, as it is
      // told to.
      const insist = async (make: () => Promise<void>, tries = 30): Promise<void> => {
        try {
          await make()
        } catch (error) {
          if (!(error instanceof ServiceError) || error.status !== 503 || tries === 0) throw error
          await insist(make, tries - 1)
        }
      }
      await Promise.all(
        changes.map((make, index) => insist(() => make(writers[index % writers.length] ?? hand.stores))),
      )

      const { fields = [] } = (await webForms.get(site, formId(7))) ?? {}
      expect(new Set(fields.map(({ typeId }) => typeId))).toEqual(new Set([...moved, ...added]))
      expect(fields.every(({ mandatory }) => mandatory)).toBe(true)
      expect(new Set(fields.map(({ order }) => order)).size).toBe(fields.length)
      expect(fields.filter(({ order }) => order <= added.length).map(({ typeId }) => typeId)).toHaveLength(added.length)
    })
  })
}
