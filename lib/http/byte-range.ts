/** What a `Range` header asks for of something that has `size` bytes (RFC 9110, section 14). */
export type RequestedRange =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly first: number; readonly last: number }
  | { readonly kind: 'unsatisfiable' }

const whole: RequestedRange = { kind: 'whole' }

/** One range of bytes; several at once, other units and what is not well-formed are passed over, as the RFC allows. */
export const readRange = (header: string | undefined, size: number): RequestedRange => {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(' ', '') ?? '') ?? []
  if (from === '' && to === '') return whole
  if (from === '') {
    const length = Math.min(Number(to), size)
    return length === 0 ? { kind: 'unsatisfiable' } : { kind: 'part', first: size - length, last: size - 1 }
  }
  const first = Number(from)
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (to !== '' && Number(to) < first) return whole
  return first >= size ? { kind: 'unsatisfiable' } : { kind: 'part', first, last }
}
