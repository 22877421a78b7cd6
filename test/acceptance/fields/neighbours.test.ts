import { describe, expect, test } from 'vitest'
import { formWith, ownSiteId, site } from '../support/forms.ts'
import { call } from '../support/http.ts'

describe('the web forms of a site', () => {
  test('are listed in the wrapper of the fields, each with its links', async () => {
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

  test('are read one by one, as the list shows them', async () => {
    const form = await formWith()
    const { json: list } = await call(`${site}/webforms`)
    const { status, json } = await call(`${site}/webforms/${form}`)
    expect(status).toBe(200)
    expect(json).toEqual(list.items.find(({ id }: { id: number }) => id === form))
  })

  test('are found by following the links from one to the other', async () => {
    const form = await formWith({ id: -2 })
    const { json } = await call(`${site}/webforms/${form}`)
    const fields = json.links.find(({ rel }: { rel: string }) => rel === 'systemFields').uri
    expect((await call('', { baseUrl: fields })).json.totalItemsCount).toBe(1)
  })
})

test('the catalogue lists the 33 identifiers of the contract with their names', async () => {
  const { status, json } = await call(`${site}/webformfieldtypes/system`)
  expect(status).toBe(200)
  const catalogue = json.items.map(({ id, name }: { id: number; name: string }) => `${id} ${name}`)
  expect(catalogue).toEqual([
    '-2 CustomerDetails',
    '-3 CustomerEmailAddress',
    '-304 WebFormSecurity',
    '-10 CustomerHomeAddress',
    '-20 CustomerHomePhoneNumber',
    '-23 CustomerHomeFaxNumber',
    '-5 CustomerUsername',
    '-6 CustomerPassword',
    '-7 CustomerDOB',
    '-11 CustomerWorkAddress',
    '-21 CustomerWorkPhoneNumber',
    '-24 CustomerWorkFaxNumber',
    '-25 CustomerWebAddress',
    '-4 CustomerCompanyDetails',
    '-22 CustomerMobilePhoneNumber',
    '-500 ReferAFriend',
    '-31 CustomerAnniversary2',
    '-33 CustomerAnniversary4',
    '-34 CustomerAnniversary5',
    '-32 CustomerAnniversary3',
    '-30 CustomerAnniversary1',
    '-301 PaymentMethodType',
    '-302 CreditCardPayment',
    '-13 CustomerBillingAddress',
    '-40 CustomerShippingDetails',
    '-41 CustomerShippingAttention',
    '-12 CustomerShippingAddress',
    '-303 CreditCardUpdate',
    '-300 CreditCardProcessing',
    '-200 FileAttachment',
    '-403 Recaptcha',
    '-404 RecaptchaV2',
    '-402 ImageVerificationV2Only',
  ])
})
