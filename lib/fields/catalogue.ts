export const fieldTypes: ReadonlyMap<number, string> = new Map([
  [-2, 'CustomerDetails'],
  [-3, 'CustomerEmailAddress'],
  [-304, 'WebFormSecurity'],
  [-10, 'CustomerHomeAddress'],
  [-20, 'CustomerHomePhoneNumber'],
  [-23, 'CustomerHomeFaxNumber'],
  [-5, 'CustomerUsername'],
  [-6, 'CustomerPassword'],
  [-7, 'CustomerDOB'],
  [-11, 'CustomerWorkAddress'],
  [-21, 'CustomerWorkPhoneNumber'],
  [-24, 'CustomerWorkFaxNumber'],
  [-25, 'CustomerWebAddress'],
  [-4, 'CustomerCompanyDetails'],
  [-22, 'CustomerMobilePhoneNumber'],
  [-500, 'ReferAFriend'],
  [-31, 'CustomerAnniversary2'],
  [-33, 'CustomerAnniversary4'],
  [-34, 'CustomerAnniversary5'],
  [-32, 'CustomerAnniversary3'],
  [-30, 'CustomerAnniversary1'],
  [-301, 'PaymentMethodType'],
  [-302, 'CreditCardPayment'],
  [-13, 'CustomerBillingAddress'],
  [-40, 'CustomerShippingDetails'],
  [-41, 'CustomerShippingAttention'],
  [-12, 'CustomerShippingAddress'],
  [-303, 'CreditCardUpdate'],
  [-300, 'CreditCardProcessing'],
  [-200, 'FileAttachment'],
  [-403, 'Recaptcha'],
  [-404, 'RecaptchaV2'],
  [-402, 'ImageVerificationV2Only'],
])

/** F-12: stored fields may have this type, and reads return them. The service itself creates no field of this type. */
export const imageVerification = { id: -400, typeName: 'ImageVerification', fieldName: '[ImageVerification]' } as const

export const fieldTypeName = (typeId: number): string | undefined =>
  typeId === imageVerification.id ? imageVerification.typeName : fieldTypes.get(typeId)
