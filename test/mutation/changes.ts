import * as ast from 'typescript/unstable/ast'

/** A call of `visit` before a statement, in front of the only statement of a branch, or before a value. */
const wraps = { statement: ['', ';', ''], branch: ['{', ';', '}'], value: ['(', ',', ')'] } as const

/** The part of a source that a call of `visit` can be put before. */
interface Place {
  readonly start: number
  readonly end: number
  readonly wrap: keyof typeof wraps
}

export interface SourceChange {
  readonly file: string
  readonly place: Place
  readonly kind: string
  /** The line and the effect of the change. */
  readonly label: string
  readonly source: string
}

type Edit = readonly [kind: string, replaced: ast.Node, by: string]

const boundMoved = 'a bound moved by one'
/** Two moments are hardly ever equal, and one attempt more changes nothing. */
const withoutEffect = /\bnow\b|wall|monotonic|timeLeft|[eE]xpires|[uU]ntil|\bsince|\bdue|\.at\b|[aA]ttempt|\btries\b/

const turnsByKind: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'comparison turned': { '===': '!==', '!==': '===' },
  [boundMoved]: { '<': '<=', '<=': '<', '>': '>=', '>=': '>' },
  'and replaced by or': { '&&': '||', '||': '&&', '??': '&&' },
  'sum turned': { '+': '-', '-': '+', '*': '/', '/': '*' },
  'flag flipped': { true: 'false', false: 'true' },
  'call reversed': { some: 'every', every: 'some', min: 'max', max: 'min' },
}

/** For each operator or word, the kind of its change and the one that replaces it. */
const turns = new Map(
  Object.entries(turnsByKind).flatMap(([kind, pairs]) =>
    Object.entries(pairs).map(([before, after]) => [before, { kind, after }] as const),
  ),
)

/** Only literal numbers, such as `24 * 3600`: a duration or a size. */
const isConstant = (node: ast.Node): boolean =>
  ast.isNumericLiteral(node) || (ast.isBinaryExpression(node) && isConstant(node.left) && isConstant(node.right))

const isTurnable = ({ kind, parent }: ast.Node): boolean => {
  if (kind === ast.SyntaxKind.TrueKeyword || kind === ast.SyntaxKind.FalseKeyword) return true
  if (ast.isBinaryExpression(parent)) return kind === parent.operatorToken.kind && !isConstant(parent)
  if (ast.isPropertyAccessExpression(parent)) return kind === parent.name.kind && ast.isCallExpression(parent.parent)
  return false
}

const editOf = (node: ast.Node): Edit | undefined => {
  if (ast.isPrefixUnaryExpression(node) && node.operator === ast.SyntaxKind.ExclamationToken)
    return ['not dropped', node, node.operand.getText()]
  // Other numbers are durations, sizes, limits and factors.
  if (ast.isNumericLiteral(node) && /^[01]$/.test(node.text))
    return ['number moved', node, String(Number(node.text) + 1)]
  if (ast.isIfStatement(node)) return ['question negated', node.expression, `!(${node.expression.getText()})`]
  if (ast.isAwaitExpression(node)) return ['await dropped', node, node.expression.getText()]
  if (ast.isExpressionStatement(node)) return ['statement removed', node, ';']
  // A single word may be an option. Longer texts are for people.
  if (ast.isStringLiteral(node) && /^[\w#:.-]+$/.test(node.text)) return ['text changed', node, "'changed'"]
  const turn = isTurnable(node) && turns.get(node.getText())
  if (!turn || (turn.kind === boundMoved && withoutEffect.test(node.parent.getText()))) return undefined
  return [turn.kind, node, turn.after]
}

const nodesBelow = (node: ast.Node): readonly ast.Node[] => {
  const nodes: ast.Node[] = []
  node.forEachChild((child) => {
    if (!ast.isTypeNode(child) && !ast.isImportDeclaration(child)) nodes.push(child, ...nodesBelow(child))
  })
  return nodes
}

const isClause = ({ kind }: ast.Node) => kind === ast.SyntaxKind.CaseClause || kind === ast.SyntaxKind.DefaultClause

const wrapOf = (node: ast.Node): Place['wrap'] | undefined => {
  const { parent } = node
  if (ast.isBlock(parent) || ast.isSourceFile(parent) || (isClause(parent) && !ast.isExpression(node)))
    return 'statement'
  if (ast.isIfStatement(parent) && node !== parent.expression && !ast.isBlock(node)) return 'branch'
  const isValue =
    (ast.isArrowFunction(parent) && node === parent.body && !ast.isBlock(node)) ||
    (ast.isConditionalExpression(parent) && node !== parent.condition) ||
    (ast.isBinaryExpression(parent) && node === parent.right)
  return isValue ? 'value' : undefined
}

const placeOf = (node: ast.Node): Place => {
  const wrap = wrapOf(node)
  if (wrap) return { start: node.getStart(), end: node.end, wrap }
  // The default of a parameter runs together with the body.
  const body = ast.isParameterDeclaration(node) && (node.parent as ast.FunctionLikeDeclaration).body
  if (!body) return placeOf(node.parent)
  return placeOf(ast.isBlock(body) ? (body.statements[0] ?? body) : body)
}

/** Every possible single change of a file. */
export const changesOf = (file: string, parsed: ast.SourceFile): readonly SourceChange[] =>
  nodesBelow(parsed).flatMap((node) => {
    const edit = editOf(node)
    if (!edit) return []
    const [kind, replaced, by] = edit
    const start = replaced.getStart()
    const line = parsed.text.slice(0, start).split('\n').length
    return [
      {
        file,
        place: placeOf(node),
        kind,
        label: `${file}:${line}  ${kind}: ${replaced.getText()} → ${by}`,
        source: parsed.text.slice(0, start) + by + parsed.text.slice(replaced.end),
      },
    ]
  })

/** A source that calls `visit` with the number of each change before it runs the code there. */
export const withVisits = (source: string, changes: readonly (SourceChange & { number: number })[]): string => {
  const insertions = changes.flatMap(({ number, place: { start, end, wrap } }) => {
    const [opening, separator, closing] = wraps[wrap]
    return [
      { at: start, text: `${opening}visit(${number})${separator}` },
      { at: end, text: closing },
    ]
  })
  return insertions
    .toSorted((one, other) => other.at - one.at)
    .reduce((before, { at, text }) => before.slice(0, at) + text + before.slice(at), source)
}
