import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { joinPath } from '../paths.ts'
import { hasStatus } from '../service-error.ts'
import { systemCodeOf } from '../sync/disk-errors.ts'
import { escapeControls, jsonOf } from './format-text.ts'
import { writeOut } from './output.ts'
import type { Context } from './single.ts'

type Edit = readonly [mark: ' ' | '-' | '+', line: string]

/** A larger block is shown as replaced, because comparing it would need too much memory. */
const mostCells = 4_000_000

const marked = (mark: Edit[0], lines: readonly string[]): readonly Edit[] => lines.map((line) => [mark, line])

/** The returned function counts the lines that both texts have in common, in order, from the given lines on. */
const createLengths = (before: readonly string[], after: readonly string[]) => {
  const width = after.length + 1
  const cells = new Uint32Array((before.length + 1) * width)
  const at = (x: number, y: number): number => cells[x * width + y] ?? 0
  for (let x = before.length - 1; x >= 0; x--) {
    for (let y = after.length - 1; y >= 0; y--) {
      cells[x * width + y] = before[x] === after[y] ? at(x + 1, y + 1) + 1 : Math.max(at(x + 1, y), at(x, y + 1))
    }
  }
  return at
}

const blockOf = (before: readonly string[], after: readonly string[]): readonly Edit[] => {
  if (before.length * after.length > mostCells) return [...marked('-', before), ...marked('+', after)]
  const lengthAt = createLengths(before, after)
  const edits: Edit[] = []
  for (let [x, y] = [0, 0]; x < before.length || y < after.length; ) {
    const [old, added] = [before[x], after[y]]
    if (old !== undefined && old === added) edits.push([' ', old])
    else if (old !== undefined && (added === undefined || lengthAt(x + 1, y) >= lengthAt(x, y + 1)))
      edits.push(['-', old])
    else edits.push(['+', added ?? ''])
    const mark = edits.at(-1)?.[0]
    if (mark !== '+') x += 1
    if (mark !== '-') y += 1
  }
  return edits
}

const editsOf = (before: readonly string[], after: readonly string[]): readonly Edit[] => {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start += 1
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return [
    ...marked(' ', before.slice(0, start)),
    ...blockOf(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...marked(' ', before.slice(before.length - end)),
  ]
}

const linesAround = 3

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'))

/** Shows the lines that differ, with three equal lines around them. `...` stands for the equal lines in between. */
const differenceOf = (before: string, after: string): string => {
  const edits = editsOf(linesOf(before), linesOf(after))
  const changed = edits.flatMap(([mark], index) => (mark === ' ' ? [] : [index]))
  const shown = new Set(
    changed.flatMap((at) => Array.from({ length: 2 * linesAround + 1 }, (_, by) => at - linesAround + by)),
  )
  const lines = edits.flatMap(([mark, line], index) => {
    if (shown.has(index)) return [`${mark}${line}`]
    return index === 0 || shown.has(index - 1) ? ['...'] : []
  })
  return lines.join('\n')
}

const largestText = 1_000_000

const textOf = (bytes: Uint8Array | undefined): string | undefined => {
  if (!bytes || bytes.length > largestText || bytes.includes(0)) return undefined
  return new TextDecoder().decode(bytes)
}

/** Returns the local path of a file. Its Unicode form may differ from the form on the site. */
const locationOf = async (directory: string, path: string): Promise<string> => {
  let location = directory
  for (const name of path.split('/')) {
    const names = await readdir(location)
    const found = names.includes(name) ? name : names.find((each) => each.normalize('NFC') === name)
    location = join(location, found ?? name)
  }
  return location
}

/** The bytes of a side: empty if this side has no file, and undefined if the file is too large to be shown. */
type Side = Promise<Uint8Array | undefined>

const bytesThere = async ({ client, signal }: Context, path: string): Side => {
  try {
    const answer = await client.files.read(path, { signal })
    if (Number(answer.headers.get('Content-Length')) <= largestText) return new Uint8Array(await answer.arrayBuffer())
    await answer.body?.cancel()
    return undefined
  } catch (error) {
    if (hasStatus(error, 404)) return new Uint8Array()
    throw error
  }
}

const bytesHere = async ({ signal }: Context, directory: string, path: string): Side => {
  try {
    const location = await locationOf(directory, path)
    return (await stat(location)).size > largestText ? undefined : await readFile(location, { signal })
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCodeOf(error))) return new Uint8Array()
    throw error
  }
}

/** Prints the lines of a file that differ between the site and this machine. */
export const printDifference = async (
  context: Context,
  directory: string,
  folder: string,
  path: string,
): Promise<void> => {
  const there = textOf(await bytesThere(context, joinPath(folder, path)))
  const here = textOf(await bytesHere(context, directory, path))
  const isText = there !== undefined && here !== undefined
  const difference = isText ? differenceOf(there, here) : undefined
  if (context.json) return void writeOut(`${jsonOf({ event: 'content', path, difference: difference ?? null })}\n`)
  const shown = difference ?? 'The file is not text, or larger than 1 MB.'
  writeOut(`\n${escapeControls(path)}\n${shown.replace(/[^\n\t]+/g, escapeControls)}\n`)
}
