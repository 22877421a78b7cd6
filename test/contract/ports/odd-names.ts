/** Names that the rules of paths allow, and that a store may handle wrongly. */
export const oddNames: readonly string[] = [
  '%',
  '_',
  '*',
  '#',
  "o'clock",
  'a "b"',
  ' blank ',
  '-0',
  '~',
  'Übung',
  '日本語',
  '🍐',
  '\u{fffe}',
  '\u{ffff}',
  '\u{10ffff}',
  'x'.repeat(255),
]
