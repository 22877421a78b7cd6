import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** Patterns that plain English avoids. They find words, not sense: a sentence that matches none may still be bad. */
const patterns = {
  'of which': /\b(of|behind|under|between|in front of) (which|whom|whose)\b/i,
  whom: /\bwhom\b/i,
  'begins with a clause':
    /^(what|whatever|whoever|who|whom|so often|of|such(?! as)|only where|where there|whether)\b(?!.*\?$)(?!(?: \w+){1,3}\.?$)/i,
  'is none of': /\b(is|are|was|were) (none|one|nobody|no \w+) (of|that)\b/i,
  'what is': /\bwhat (is|was|has|there|may|goes|comes|must|cannot|can)\b(?! (wrong|missing|new|left|to do)\b)(?!.*\?)/i,
  'there is': /\bthat there (is|are)\b|\bwhat is there\b|\bthan there (is|are)\b/i,
  'old or filling word':
    /\b(therein|thereof|thereby|anew|hence|likewise|at the most|all that (is|was|it|they|there|the)|whereupon|withal)\b|(?<!not )\bat all\b/i,
  'is told': /\b(is|are|was|be) (told(?! to\b)|said|asked for|let|wanted|spoken|given back|taken back|brought back)\b/i,
  'behind the answer': /\b(behind|beside) (the|an|its|his) (answer|fact|one)\b/i,
  'goes on': /\b(goes|go|gone|going) on (being|with)\b/i,
  ', and no': /, and (no|none) (?!other|others|more|longer|body|sooner|later|earlier)/i,
  stands: /\b(stands|stand|standing) (in(?! for\b)|at|above|there|beside)\b/i,
}

const root = join(import.meta.dirname, '..', '..')
const files = globSync('**/*.{ts,tsx,js,md}', {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|cdk\.out|dist|generated|reports|coverage|\.[^/]+)$/.test(path),
}).filter((file) => !/CHANGELOG\.md$|texts\/de\.ts$/.test(file))

interface Text {
  readonly folder: string
  readonly index: number
  readonly text: string
}

const folderOf = (file: string): string => {
  if (file.startsWith('test/')) return 'test'
  if (file.endsWith('.md')) return 'documents'
  return file
    .split('/')
    .slice(0, file.startsWith('lib/') ? 2 : 1)
    .join('/')
}

const lineEndsOf = (text: string): string => text.replaceAll(/[^\n]/g, '')

/** Every line is a text: cells of tables, items, lines of paragraphs. Code is left out. */
function* textsInDocument(source: string, folder: string): Generator<Text> {
  let index = 0
  for (const line of source.replaceAll(/```[\s\S]*?```/g, lineEndsOf).split('\n')) {
    const plain = line.replaceAll(/`[^`]*`/g, 'X').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    yield { folder, index, text: plain.replace(/^[\s|*>#-]+/, '').replaceAll('|', '. ') }
    index += 1
  }
}

function* commentsIn(source: string, folder: string): Generator<Text> {
  for (const { 1: block, 2: lines = '', index } of source.matchAll(
    /\/\*\*?([\s\S]*?)\*\/|(?:^|[\s;])((?:\/\/[^\n]*\n\s*)+)/g,
  )) {
    const text = (block ?? lines).replaceAll(/^\s*(\*|\/\/)\s?/gm, ' ').replaceAll(/`[^`]*`/g, 'X')
    yield { folder, index, text }
  }
}

function* titlesIn(source: string): Generator<Text> {
  const titles = /\b(?:it|test|describe)(?:\.\w+)*\(\s*(?:'((?:[^'\\]|\\.)*)'|`([^`]*)`)/g
  for (const { 1: plain, 2: template = '', index } of source.matchAll(titles)) {
    yield { folder: 'test titles', index, text: plain ?? template }
  }
}

function* messagesIn(source: string, folder: string): Generator<Text> {
  for (const { 1: plain, 2: template = '', index } of source.matchAll(/'((?:[^'\\\n]|\\.){24,})'|`([^`]{24,})`/g)) {
    const text = (plain ?? template).replaceAll(/\$\{[^}]*\}/g, 'X')
    const isProse = text.split(' ').length >= 5 && /[a-z] [a-z]/.test(text)
    if (isProse && !/SELECT|CREATE|INSERT|UPDATE|DELETE FROM|=>|;\s*$/.test(text)) yield { folder, index, text }
  }
}

function* textsInCode(source: string, folder: string): Generator<Text> {
  yield* commentsIn(source, folder)
  yield* folder === 'test' ? titlesIn(source) : messagesIn(source, folder)
}

interface Sentence {
  readonly folder: string
  readonly text: string
  /** The place of the sentence, and the pattern that the sentence matches. Undefined if the sentence is plain. */
  readonly fault: string | undefined
}

const sentencesIn = (file: string): readonly Sentence[] => {
  const written = readFileSync(join(root, file), 'utf8')
  // A concatenation counts as one text; `\u2028` keeps its line breaks. A glob such as `**/*.ts` begins no comment.
  const source = written
    .replaceAll(/'\s*\+\s*\n\s*'/g, '\u2028')
    .replaceAll(/(['"`])((?:\*\*|[^'"`\n])*\/\*(?!\*\s)[^'"`\n]*)\1/g, '$1x$1')
  const isDocument = file.endsWith('.md')
  const texts = isDocument ? textsInDocument(written, folderOf(file)) : textsInCode(source, folderOf(file))
  return [...texts].flatMap(({ folder, index, text: whole }) =>
    whole.split(/(?<=[.!?:])\s+/).flatMap((part) => {
      const text = part.replaceAll(/\s+/g, ' ').trim()
      if (text.split(' ').length < 4) return []
      const [why] = Object.entries(patterns).find(([, pattern]) => pattern.test(text)) ?? []
      const line = isDocument ? index + 1 : source.slice(0, index).split(/[\n\u2028]/).length
      return { folder, text, fault: why && `${file}:${line} [${why}] ${text}` }
    }),
  )
}

/** The sentences to rewrite, if their share is larger than the given share. */
const faultsBeyond = (share: number, sentences: readonly Sentence[]): readonly string[] => {
  const faults = sentences.flatMap(({ fault }) => fault ?? [])
  return faults.length > share * sentences.length ? faults : []
}

const sentences = files.flatMap(sentencesIn)

test('at most 1 sentence of the repository in 100 must be decoded', () => {
  expect(faultsBeyond(0.01, sentences)).toEqual([])
  expect(sentences.length).toBeGreaterThan(10_000)
})

test('in each folder of 100 sentences or more, at most 1 in 50 must be decoded', () => {
  const folders = Map.groupBy(sentences, ({ folder }) => folder)
  const large = [...folders.values()].filter(({ length }) => length >= 100)
  expect(large.flatMap((some) => faultsBeyond(0.02, some))).toEqual([])
  expect(large.length).toBeGreaterThan(10)
})

test('an unplain sentence matches a pattern', () => {
  const decoded = 'Of a large folder the rest may go on being removed behind the answer.'
  const matching = Object.entries(patterns).flatMap(([why, pattern]) => (pattern.test(decoded) ? why : []))
  expect(matching).toEqual(['begins with a clause', 'behind the answer', 'goes on'])
})
