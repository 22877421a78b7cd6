import { stripTypeScriptTypes } from 'node:module'

export interface SourceChange {
  readonly file: string
  /** Where the changed code begins. */
  readonly offset: number
  readonly kind: string
  /** The line and the effect of the change. */
  readonly label: string
  readonly source: string
}

/** Comments, texts, templates and regular expressions contain no code. */
const noCode =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[(,=:[!&|?{};>]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[dgimsuvy]*/g

const blank = (text: string): string => text.replace(/[^\n]/g, ' ')

/** The code at its original positions. Types, comments and texts are replaced by blanks. */
const codeIn = (source: string): string => stripTypeScriptTypes(source).replace(noCode, blank)

const isValid = (source: string): boolean => {
  try {
    return stripTypeScriptTypes(source) !== ''
  } catch {
    return false
  }
}

type Pattern = readonly [kind: string, where: RegExp, replace: (found: string) => string]

const turned = (kind: string, where: RegExp, to: Record<string, string>): Pattern => [kind, where, (it) => to[it] ?? it]

const patterns: readonly Pattern[] = [
  turned('comparison turned', /(?<= )[=!]==(?= )/g, { '===': '!==', '!==': '===' }),
  turned('a bound moved by one', /(?<= )[<>]=?(?= )/g, { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }),
  turned('and replaced by or', /(?<= )(?:&&|\|\||\?\?)(?= )/g, { '&&': '||', '||': '&&', '??': '&&' }),
  turned('sum turned', /(?<= )[-+*/](?= )/g, { '+': '-', '-': '+', '*': '/', '/': '*' }),
  turned('flag flipped', /(?<![\w$])(?:true|false)(?![\w$])/g, { true: 'false', false: 'true' }),
  turned('call reversed', /\.(?:some|every)\(/g, { '.some(': '.every(', '.every(': '.some(' }),
  turned('call reversed', /\bMath\.m(?:in|ax)\(/g, { 'Math.min(': 'Math.max(', 'Math.max(': 'Math.min(' }),
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

/** A quoted word may be an option, and is changed. Texts for people, and names of imports and errors, stay. */
const optionTexts = /(?<![\w'] )(?<=[ (,[{])'(?!\w+Error')[\w#:.-]+'/g

const findChanges = (file: string, source: string, code: string, [kind, where, replace]: Pattern) =>
  [...code.matchAll(where)].map(({ 0: found, index }): SourceChange => {
    const original = source.slice(index, index + found.length)
    const to = replace(original)
    const changed = source.slice(0, index) + to + source.slice(index + found.length)
    const line = source.slice(0, index).split('\n').length
    // V8 counts an operator together with its right side, which runs less often than its left side.
    const offset = kind === 'and replaced by or' ? index - 1 : index
    return { file, offset, kind, label: `${file}:${line}  ${kind}: ${original} → ${to}`, source: changed }
  })

/** Every possible single change after which a file still compiles. */
export const changesOf = (file: string, source: string): SourceChange[] => {
  const code = codeIn(source)
  if (code.length !== source.length) return []
  const inCode = patterns.flatMap((pattern) => findChanges(file, source, code, pattern))
  const comments = /^import[^']*'[^']*'|\/\*[\s\S]*?\*\/|\/\/[^\n]*/gm
  const uncommented = stripTypeScriptTypes(source).replace(comments, blank)
  const options = findChanges(file, source, uncommented, ['text changed', optionTexts, () => "'changed'"])
  return [...inCode, ...options].filter((change) => change.source !== source && isValid(change.source))
}
