import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import packageFile from '../../../package.json' with { type: 'json' }
import { packInto, workWith } from '../../../tools/packaging/installed.ts'
import { scratchDirectory } from '../../support/directory.ts'
import { test as base } from '../../support/test.ts'

const packages = fileURLToPath(new URL('../../../node_modules/', import.meta.url))

/** Installs a package with exactly the dependencies that it names. */
const install = (file: string, folder: string): string => {
  const own = join(folder, 'node_modules', 'site-admin')
  mkdirSync(own, { recursive: true })
  execFileSync('tar', ['xzf', file, '--strip-components=1', '-C', own])
  const { dependencies } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as typeof packageFile
  for (const name of Object.keys(dependencies)) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(packages, name), link)
  }
  return own
}

const test = base.extend('own', { scope: 'file' }, async ({}, { onCleanup }) => {
  const directory = scratchDirectory(onCleanup)
  return install(await packInto(directory), directory)
})

const linkedBy = (document: string): readonly string[] =>
  [...readFileSync(document, 'utf8').matchAll(/\]\((?!#|\w+:)([^)#]+)/g)].map(([, name = '']) =>
    join(dirname(document), name),
  )

test('documents in the package link only to files in the package', ({ own }) => {
  const documents = globSync('**/*.md', { cwd: own }).map((name) => join(own, name))
  expect(documents).toContain(join(own, 'docs', 'one-machine.md'))
  expect(documents.flatMap(linkedBy).filter((name) => !existsSync(name))).toEqual([])
})

test('the package contains only JavaScript, and its commands run when installed', async ({ own, directory }) => {
  const types = readdirSync(own, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  expect(types).toEqual([])
  const folder = join(directory, 'work')
  mkdirSync(folder)
  const command = join(own, 'bin', 'site-admin.js')
  expect(await workWith({ command, folder, environment: process.env })).toEqual({
    version: packageFile.version,
    help: expect.stringMatching(/^Usage: site-admin /),
    docs: 200,
    console: [200],
    isRead: true,
    faults: [],
    ended: 0,
  })
})
