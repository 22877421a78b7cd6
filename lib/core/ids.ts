declare const brand: unique symbol

/** A number that cannot be mistaken for another kind of number. */
type Id<Name extends string> = number & { readonly [brand]: Name }

export type SiteId = Id<'site'>
export type WebFormId = Id<'web form'>
export type CategoryId = Id<'category'>

/** Ids of categories, news items and blogs run from 1 to this: what a 32-bit integer holds, as clients of the contract expect. */
export const largestContentId = 2_147_483_647

/** The largest id of a site or a web form: beyond it, no path could name it. */
export const largestNamedId = 999_999_999_999_999

const canonicalInteger = /^(0|-?[1-9]\d{0,14})$/

/** Reads an id from a path segment; only the canonical decimal form names a resource (`7`, never `07`, `7.0` or `+7`). */
export const parseId = <I extends number>(text: string): I | undefined =>
  canonicalInteger.test(text) ? (Number(text) as I) : undefined

/** An id as a store gives it back, as a number or as text. Throws an Error for anything else: then the store is damaged. */
export const storedId = <I extends number>(value: unknown): I => {
  const id = parseId<I>(String(value))
  if (id === undefined) throw new Error(`A store holds ${String(value)} where an id should be`)
  return id
}
