import fc from 'fast-check'

/** Any character except lone surrogates, like `binary` of fast-check. Creating `binary` takes a second. */
const codePoint = fc
  .integer({ min: 0, max: 0x10_ffff - 0x800 })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800))

const attacks = String.raw`
  .. . / // \ %2e%2e %2E%2E%2f %252e%252e%252f %c0%ae%c0%ae/ %c0%af %00 %5c %5C.. %e2%80%ae %65%cc%81 %ff % %% %2 ..;
  ~ ＼ ／ ．． %ef%bc%8f CON + %2F %7f`
const oddCharacters = ['\u202e', '\u2066', 'e\u0301', '\u00e9', '\ufeff', '\u0000', '\ud800', '\u2028', ' ']
const longNames = ['a'.repeat(255), 'ä'.repeat(127), 'x'.repeat(256)]

const hostilePiece = fc.oneof(
  fc.constantFrom(...attacks.trim().split(/\s+/), ...oddCharacters, ...longNames),
  fc.string({ unit: codePoint, maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ maxLength: 8 }).map(encodeURIComponent),
)

/** Up to twelve pieces that can change the target of a URL or a file name. */
export const hostilePath = fc.array(hostilePiece, { maxLength: 12 }).map((pieces) => pieces.join(''))
