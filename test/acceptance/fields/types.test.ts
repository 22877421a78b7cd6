import { expect, test } from 'vitest'
import { testWithAdmin } from '../support/admin.ts'
import { importRecords } from '../support/categories.ts'
import { fieldsOf, formWith, layoutOf, ownSiteId, site } from '../support/forms.ts'
import { call } from '../support/http.ts'

test('The catalogue lists the 33 types with their names (F-9, F-10)', async () => {
  const { status, json } = await call(`${site}/webformfieldtypes/system`)
  expect(status).toBe(200)
  const catalogue = json.items.map(({ id, name }: { id: number; name: string }) => `${id} ${name}`)
  const types = `
    -2 CustomerDetails, -3 CustomerEmailAddress, -304 WebFormSecurity, -10 CustomerHomeAddress,
    -20 CustomerHomePhoneNumber, -23 CustomerHomeFaxNumber, -5 CustomerUsername, -6 CustomerPassword,
    -7 CustomerDOB, -11 CustomerWorkAddress, -21 CustomerWorkPhoneNumber, -24 CustomerWorkFaxNumber,
    -25 CustomerWebAddress, -4 CustomerCompanyDetails, -22 CustomerMobilePhoneNumber, -500 ReferAFriend,
    -31 CustomerAnniversary2, -33 CustomerAnniversary4, -34 CustomerAnniversary5, -32 CustomerAnniversary3,
    -30 CustomerAnniversary1, -301 PaymentMethodType, -302 CreditCardPayment, -13 CustomerBillingAddress,
    -40 CustomerShippingDetails, -41 CustomerShippingAttention, -12 CustomerShippingAddress,
    -303 CreditCardUpdate, -300 CreditCardProcessing, -200 FileAttachment, -403 Recaptcha, -404 RecaptchaV2,
    -402 ImageVerificationV2Only`
  expect(catalogue).toEqual(types.trim().split(/,\s+/))
})

/** Imports a field of a form. */
const importField = async (webFormId: number, members: object) =>
  importRecords(await ownSiteId(), [{ kind: 'field', webFormId, ...members }])

testWithAdmin('The name of an imported ImageVerification is in square brackets (F-12)', async () => {
  const form = await formWith({ id: -2 })
  await importField(form, { typeId: -400, mandatory: true })
  const { json } = await call(`${fieldsOf(form)}/-400`)
  expect(json).toMatchObject({
    id: -400,
    name: '[ImageVerification]',
    type: { id: -400, name: 'ImageVerification' },
    mandatory: true,
    order: 2,
  })
})

testWithAdmin('An import moves a field; an ImageVerification moves like any field (F-12, F-24)', async () => {
  const form = await formWith({ id: -2 })
  await importField(form, { typeId: -400 })
  await call(`${fieldsOf(form)}/-400`, { method: 'PUT', body: { order: 1 } })
  expect(await layoutOf(form)).toBe('-400@1 -2@2')
  await importField(form, { typeId: -2, order: 1 })
  expect(await layoutOf(form)).toBe('-2@1 -400@2')
  expect((await call(`${fieldsOf(form)}/-400`, { method: 'DELETE' })).status).toBe(200)
})

testWithAdmin('A field that was imported with a name is shown with this name (F-11)', async () => {
  const form = await formWith()
  await importField(form, { typeId: -7, name: 'Geburtstag <&> 🎂' })
  const { json } = await call(`${fieldsOf(form)}/-7`)
  expect(json).toMatchObject({ name: 'Geburtstag <&> 🎂', type: { name: 'CustomerDOB' } })
  const { text } = await call(`${fieldsOf(form)}/-7`, { headers: { Accept: 'application/xml' } })
  expect(text).toContain('<name>Geburtstag &lt;&amp;&gt; 🎂</name>')
})
