import { stripTypeScriptTypes } from 'node:module'

/** A single change of a source file. */
export interface SourceChange {
  readonly file: string
  /** What it does, in a word or two. */
  readonly kind: string
  readonly line: number
  readonly from: string
  readonly to: string
  readonly source: string
}

/** Comments, texts, templates and regular expressions: nothing in them is code. */
const noCode =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[(,=:[!&|?{};>]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[dgimsuvy]*/g

/** The code alone, everything where it was: types and what is no code are blanks. */
const codeIn = (source: string): string => {
  const untyped = stripTypeScriptTypes(source)
  return untyped.replace(noCode, (text) => text.replace(/[^\n]/g, ' '))
}

const isValid = (source: string): boolean => {
  try {
    stripTypeScriptTypes(source)
    return true
  } catch {
    return false
  }
}

/** What becomes of a word or a sign. */
const turned: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'comparison turned': { '===': '!==', '!==': '===' },
  'bound taken in or out': { '<': '<=', '<=': '<', '>': '>=', '>=': '>' },
  'and for or': { '&&': '||', '||': '&&', '??': '&&' },
  'sum turned': { '+': '-', '-': '+', '*': '/', '/': '*' },
  'flag flipped': { true: 'false', false: 'true' },
  'other of all': { '.some(': '.every(', '.every(': '.some(', 'Math.min(': 'Math.max(', 'Math.max(': 'Math.min(' },
}

type Replace = (found: string) => string
/** Where a kind of change can be made, in code, and what it makes of it. */
const patterns: readonly (readonly [kind: string, where: RegExp, replace: Replace])[] = [
  ...Object.entries(turned).map(([kind, words]) => {
    const alternatives = Object.keys(words).map((word) => word.replace(/[.*+?^$|()]/g, '\\$&'))
    const isWord = /\w/.test(alternatives[0] ?? '')
    const edges = isWord ? ['(?<![\\w$])', '(?![\\w$])'] : ['(?<= )', '(?= )']
    if (kind === 'other of all') edges.fill('')
    const where = new RegExp(`${edges[0]}(?:${alternatives.join('|')})${edges[1]}`, 'g')
    return [kind, where, (found: string) => words[found] ?? found] as const
  }),
  ['number moved', /(?<![\w.$])\d[\d_]*(?![\w.])/g, (found) => String(Number(found.replaceAll('_', '')) + 1)],
  ['not dropped', /(?<=[ ([])!(?=[\w(])/g, () => ''],
  ['question negated', /(?<=\bif )\((?:[^()]|\([^()]*\))*\)(?= )/g, (found) => `(!${found})`],
  ['await dropped', /\bawait (?=[\w(])/g, () => ''],
  [
    'statement removed',
    /(?<=[{};)\w\]]\n *)(?:await )?(?!return|const|let|throw|if|for|while|case|else|import|export|function)[a-z][\w.]*(?:\([^\n]*\)| [-+]?= [^\n]+|\+\+)(?=\n *[a-z}])/g,
    () => ';',
  ],
]

const lineAt = (source: string, index: number) => source.slice(0, index).split('\n').length

/** Options are texts of one word; what people read is left alone, and so is the name of what is imported. */
const optionTexts = /(?<![\w'] )(?<=[ (,[{])'[\w#:.-]+'/g

const findChanges = (file: string, source: string, text: string, kind: string, where: RegExp, replace: Replace) =>
  [...text.matchAll(where)].map(({ 0: found, index }): SourceChange => {
    const original = source.slice(index, index + found.length)
    const to = replace(original)
    const changed = source.slice(0, index) + to + source.slice(index + found.length)
    return { file, kind, line: lineAt(source, index), from: original, to, source: changed }
  })

/** Every single change that this knows how to make in a file, and that leaves it a program. */
export const changesOf = (file: string, source: string): SourceChange[] => {
  const code = codeIn(source)
  if (code.length !== source.length) return []
  const inCode = patterns.flatMap(([kind, where, replace]) => findChanges(file, source, code, kind, where, replace))
  const uncommented = stripTypeScriptTypes(source).replace(
    /^import[^']*'[^']*'|\/\*[\s\S]*?\*\/|\/\/[^\n]*/gm,
    (text) => text.replace(/[^\n]/g, ' '),
  )
  const options = findChanges(file, source, uncommented, 'text changed', optionTexts, () => "'changed'")
  return [...inCode, ...options].filter((change) => change.source !== source && isValid(change.source))
}
