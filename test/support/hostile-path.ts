import fc from 'fast-check'

/** Any character but halves of surrogate pairs. As `binary` of fast-check, which takes a second to make. */
export const codePoint = fc
  .integer({ min: 0, max: 0x10_ffff - 0x800 })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800))

const hostilePiece = fc.oneof(
  fc.constantFrom(
    '..',
    '.',
    '/',
    '//',
    '\\',
    '%2e%2e',
    '%2E%2e%2f',
    '%252e%252e%252f',
    '%c0%ae%c0%ae/',
    '%c0%af',
    '%00',
    '%5c',
    '%5C..',
    '\u202e',
    '\u2066',
    '%e2%80%ae',
    'e\u0301',
    '\u00e9',
    '%65%cc%81',
    '\ufeff',
    '\u0000',
    '%ff',
    '%',
    '%%',
    '%2',
    '..;',
    '~',
    'a'.repeat(255),
    'ä'.repeat(127),
    'x'.repeat(256),
    '\ud800',
    '\u2028',
    '＼',
    '／',
    '．．',
    '%ef%bc%8f',
    'CON',
    ' ',
    '+',
    '%2F',
    '%7f',
  ),
  fc.string({ unit: codePoint, maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.string({ maxLength: 8 }).map(encodeURIComponent),
)
/** What a caller may put in a URL, or in the name of a file, to get somewhere else: up to twelve pieces in a row. */
export const hostilePath = fc.array(hostilePiece, { maxLength: 12 }).map((pieces) => pieces.join(''))
