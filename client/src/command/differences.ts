import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { formatPatch, OMIT_HEADERS, structuredPatch } from 'diff'
import { joinPath } from '../paths.ts'
import { hasStatus } from '../service-error.ts'
import { systemCodeOf } from '../sync/disk-errors.ts'
import { escapeControls, jsonOf } from './format-text.ts'
import { writeOut } from './output.ts'
import type { Context } from './single.ts'

// The time of a comparison grows with the square of this number.
const mostChangedLines = 3_000

/**
 * Returns the lines that differ, with three equal lines around them, as `diff -u` does. Returns undefined if too many
 * lines differ.
 */
const differenceOf = (before: string, after: string): string | undefined => {
  const options = { context: 3, maxEditLength: mostChangedLines }
  const patch = structuredPatch('', '', before, after, undefined, undefined, options)
  return patch && formatPatch(patch, OMIT_HEADERS)
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
  const shown =
    difference ?? `The file is not text, is larger than 1 MB, or has more than ${mostChangedLines} changed lines.\n`
  writeOut(`\n${escapeControls(path)}\n${shown.replace(/[^\n\t]+/g, escapeControls)}`)
}
