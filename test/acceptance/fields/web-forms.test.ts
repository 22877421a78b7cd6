import { describe, expect, test } from 'vitest'
import { formWith, ownSiteId, site } from '../support/forms.ts'
import { call } from '../support/http.ts'

describe('The web forms of a site', () => {
  test('The list of forms is wrapped like the list of fields, and has links (F-8)', async () => {
    const form = await formWith()
    const { status, json } = await call(`${site}/webforms`)
    expect(status).toBe(200)
    expect(json).toMatchObject({ totalItemsCount: json.items.length, itemsPerPageCount: 1000, currentPage: 1 })
    expect(json.links.map(({ rel }: { rel: string }) => rel)).toEqual(['self', 'previous', 'next'])
    const item = json.items.find(({ id }: { id: number }) => id === form)
    const path = `/api/v1/admin/sites/${await ownSiteId()}/webforms/${form}`
    expect(item).toEqual({
      links: [
        { rel: 'self', uri: expect.stringMatching(new RegExp(`${path}$`)) },
        { rel: 'systemFields', uri: expect.stringMatching(new RegExp(`${path}/fields/system$`)) },
      ],
      id: form,
      name: expect.any(String),
    })
  })

  test('A form read alone equals its entry in the list, and links to its fields (F-8)', async () => {
    const form = await formWith({ id: -2 })
    const { json: list } = await call(`${site}/webforms`)
    const { status, json } = await call(`${site}/webforms/${form}`)
    expect(status).toBe(200)
    expect(json).toEqual(list.items.find(({ id }: { id: number }) => id === form))
    const fields = json.links.find(({ rel }: { rel: string }) => rel === 'systemFields').uri
    expect((await call('', { baseUrl: fields })).json.totalItemsCount).toBe(1)
  })
})
