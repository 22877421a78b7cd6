declare const brand: unique symbol

type Id<Name extends string> = number & { readonly [brand]: Name }

export type SiteId = Id<'site'>
export type WebFormId = Id<'web form'>
export type CategoryId = Id<'category'>

// Clients of the contract expect 32-bit integers.
export const largestContentId = 2_147_483_647

export const largestNamedId = 999_999_999_999_999

const canonicalInteger = /^(0|-?[1-9]\d{0,14})$/

/** Reads an id only in its canonical decimal form (`7`, never `07`, `7.0` or `+7`). */
export const parseId = <I extends number>(text: string): I | undefined =>
  canonicalInteger.test(text) ? (Number(text) as I) : undefined

export const storedId = <I extends number>(value: unknown): I => {
  const id = parseId<I>(String(value))
  if (id === undefined) throw new Error(`The store has the value ${String(value)} in place of an id`)
  return id
}
