import { expect, vi } from 'vitest'
import { createTextPrinter } from '../../client/src/command/printers.ts'
import { messages, phrase } from '../support/messages.ts'
import { eventsIn, outcome, test } from './support/command.ts'
import { readTree, writeTree } from './support/site.ts'

test('push, diff and pull report each action (T-41, T-51)', async ({ demo, folder, makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'a', 'b.txt': 'b' })
  expect((await demo('diff', here, folder)).stdout).toBe('create  a.txt  1 byte\ncreate  b.txt  1 byte\n')
  const pushed = await demo('push', here, folder)
  expect(pushed).toMatchObject(outcome(0, messages.client.done(2)))
  expect(pushed.stdout.split('\n').sort()).toStrictEqual(['', 'created  a.txt', 'created  b.txt'])
  expect(await site.texts()).toStrictEqual({ 'a.txt': 'a', 'b.txt': 'b' })

  const there = await makeDirectory()
  const events = eventsIn((await demo('--json', 'pull', folder, there)).stdout)
  expect(events[0]).toMatchObject({ event: 'plan', create: 2, bytes: 2 })
  expect(events.at(-1)).toMatchObject({ event: 'end', create: 2, failed: 0, interrupted: false })
  expect(await readTree(there)).toStrictEqual(await readTree(here))
})

test('push and pull count ignored files; --all includes them (T-48)', async ({ demo, folder, makeDirectory, site }) => {
  const sent = { '.siteignore': '*.log\n/drafts/\n!keep.log\n', 'keep.log': '', 'sub/drafts/y.html': 'y' }
  const ignored = { 'a.log': 'a', 'drafts/x.html': 'x', '.git/config': 'git', 'node_modules/m.js': '', 'sub/._x': '' }
  const here = await makeDirectory({ ...sent, ...ignored })
  await site.put('there.log', 'not mine')
  const pushed = await demo('push', '--delete', '--yes', here, folder)
  expect(pushed.stderr).toContain(messages.client.ignored(5))
  expect(await site.texts()).toStrictEqual({ ...sent, 'there.log': 'not mine' })
  expect((await demo('push', '--all', here, folder)).stderr).toContain(messages.client.done(5))
  await site.remove('there.log')
  const there = await makeDirectory()
  // The new folder has no .siteignore yet.
  expect((await demo('pull', folder, there)).stderr).toContain(messages.client.ignored(3))
  expect((await demo('pull', '--all', folder, there)).status).toBe(0)
  expect(await readTree(there)).toStrictEqual({ ...sent, ...ignored })
  expect((await demo('diff', '--all', there, folder)).stderr).toContain('8 unchanged.')
})

test('a conflict ends with status 3; --force overwrites (T-46)', async ({ demo, folder, makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'a', 'b.txt': 'b' })
  await demo('push', here, folder)
  await writeTree(here, { 'a.txt': 'mine' })
  await site.put('a.txt', 'theirs', { replace: true })
  await site.put('b.txt', 'theirs', { replace: true })
  expect(await demo('diff', here, folder)).toMatchObject({
    status: 3,
    stdout: expect.stringMatching(messages.client.conflictAnd('a.txt', 'b.txt')),
    stderr: expect.stringContaining(messages.client.addForce(1)),
  })
  expect(await demo('push', here, folder)).toMatchObject(outcome(3, '1 in conflict'))
  expect((await demo('push', '--force', here, folder)).status).toBe(0)
  expect(await site.texts()).toStrictEqual({ 'a.txt': 'mine', 'b.txt': 'b' })
})

test('only --delete removes files, after a question (T-43, T-55)', async ({ demo, folder, makeDirectory, site }) => {
  await site.store({ 'a.txt': 'a', 'old.txt': 'old', 'older.txt': 'older' })
  const here = await makeDirectory({ 'a.txt': 'a', 'mine.txt': 'mine' })
  const onSite = ' 2 files are only on the site; --delete removes them.\n'
  expect((await demo('diff', here, folder)).stderr).toContain(`Nothing was changed.${onSite}`)
  expect((await demo('push', here, folder)).stderr).toContain(messages.client.done(1) + onSite)
  // Without a terminal, nobody can answer.
  expect(await demo('push', '--delete', here, folder)).toMatchObject(outcome(1, 'Add --yes'))
  const refused = await demo('--json', 'push', '--delete', here, folder)
  expect(JSON.parse(refused.stderr)).toEqual({ code: null, message: expect.stringContaining('Add --yes'), path: null })
  const { stderr } = await demo('push', '--delete', '--yes', here, folder)
  expect(stderr).toContain('0 to create, 0 to replace (0 bytes in all), 2 to remove (8 bytes)')
  expect(stderr).not.toContain('only on')

  await writeTree(here, { 'new.txt': 'new' })
  expect((await demo('pull', folder, here)).stderr).not.toContain('--delete')
  await site.remove('mine.txt')
  expect((await demo('pull', folder, here)).stderr).toMatch(messages.client.onThisMachine)
  const planned = await demo('--json', 'pull', '--delete', '--dry-run', folder, here)
  expect(JSON.parse(planned.stdout.split('\n')[0] ?? '')).toMatchObject({ remove: 1, bytes: 0, removedBytes: 4 })
})

test('diff and dry runs refuse the same removals as a push (T-50)', async ({ demo, folder, makeDirectory, site }) => {
  await site.store({ 'a.txt': 'a' })
  const empty = await makeDirectory()
  const refused = { status: 1, stdout: '', stderr: expect.stringContaining('has no files, so nothing was removed') }
  expect(await demo('push', '--delete', '--yes', empty, folder)).toStrictEqual(refused)
  expect(await demo('diff', '--delete', empty, folder)).toStrictEqual(refused)
  expect(await demo('push', '--delete', '--dry-run', empty, folder)).toStrictEqual(refused)
  expect((await demo('diff', empty, folder)).status).toBe(0)
})

test('only --delete replaces a file with a folder, or the reverse', async ({ demo, folder, makeDirectory, site }) => {
  await site.store({ x: 'file', 'y/z': 'in a folder' })
  const here = await makeDirectory({ 'x/in': 'in a folder', y: 'file' })
  for (const args of [
    ['diff', here, folder],
    ['push', here, folder],
    ['push', '--force', here, folder],
    ['pull', folder, here],
    ['pull', '--force', folder, here],
  ]) {
    const printed = await demo(...args)
    const [file, place] = args[0] === 'pull' ? ['y', 'x'] : ['x', 'y']
    expect(printed).toMatchObject(outcome(3, 'Add --delete to remove obstacles'))
    expect(printed.stderr).not.toContain('--force')
    expect(printed.stdout).toContain(messages.client.inTheWay('file', file))
    expect(printed.stdout).toContain(messages.client.inTheWay('folder', place))
  }
  const there = await makeDirectory()
  await demo('pull', folder, there)
  expect((await demo('push', '--delete', '--yes', here, folder)).status).toBe(0)
  expect(await site.texts()).toStrictEqual({ 'x/in': 'in a folder', y: 'file' })
  expect((await demo('pull', '--delete', '--yes', folder, there)).status).toBe(0)
  expect(await readTree(there)).toStrictEqual(await readTree(here))
})

test('a terminal shows one progress line, and then a summary (T-51)', () => {
  const lines: string[] = []
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
  const printer = createTextPrinter({}, { out: true, error: true })
  const counts = { create: 2, replace: 0, remove: 1, keep: 3, conflict: 0 }
  printer.print({ event: 'skipped', path: 'c', why: 'it is a pipe' })
  printer.print({ event: 'plan', ...counts, bytes: 2000, removedBytes: 300, ignored: 1 })
  printer.print({ event: 'progress', files: 1, totalFiles: 2, bytes: 1000, totalBytes: 2000 })
  printer.print({ event: 'done', action: 'create', path: 'a', size: 1000 })
  printer.print({ event: 'failed', path: 'b\u001b[2J', message: 'No.' })
  printer.print({ event: 'end', ...counts, create: 1, remove: 0, failed: 1, skipped: 1, interrupted: false })
  expect(lines[0]).toBe(`${messages.client.toDo}${messages.client.ignored(1)}.\n`)
  expect(lines[1]).toMatch(phrase`^\r1 of 2 files, 1.0 KB of 2.0 KB, …/s, … left`)
  expect(lines.slice(2)).toStrictEqual([
    '\r\u001b[K',
    'failed  b\\u{1b}[2J: No.\n',
    'skipped  c: it is a pipe\n',
    `${messages.client.done(1, 0, ', 1 failed, 1 skipped')}\n`,
  ])
})

test('--mine and --theirs decide conflicts both ways (T-54)', async ({ demo, folder, makeDirectory, site }) => {
  const here = await makeDirectory({ a: '1', b: '1', 'sub/c': '1' })
  await demo('push', here, folder)
  const conflicts = { a: 'mine', b: 'mine', 'sub/c': 'mine' }
  await writeTree(here, conflicts)
  for (const path of Object.keys(conflicts)) await site.put(path, 'theirs', { replace: true })
  const needless = await demo('push', '--mine', 'other', here, folder)
  expect(needless).toMatchObject(outcome(1, '"other" is not in conflict.'))
  const twice = await demo('push', '--theirs', 'sub', '--mine', 'sub/c', here, folder)
  expect(twice).toMatchObject(outcome(1, '"sub/c" is in --mine and in --theirs. Choose one side.'))
  const pushed = await demo('push', '--mine', 'a', '--theirs', 'sub', here, folder)
  expect(pushed).toMatchObject(outcome(3, messages.client.done(0, 1, ', 1 in conflict')))
  expect(await site.texts()).toStrictEqual({ a: 'mine', b: 'theirs', 'sub/c': 'theirs' })
  expect(await readTree(here)).toStrictEqual(conflicts)

  const pulled = await demo('pull', '--mine', '.', folder, here)
  expect(pulled).toMatchObject(outcome(0, messages.client.done(0, 1)))
  expect(await readTree(here)).toStrictEqual({ a: 'mine', b: 'mine', 'sub/c': 'theirs' })
  expect((await demo('push', here, folder)).status).toBe(0)
  expect(await site.texts()).toStrictEqual({ a: 'mine', b: 'mine', 'sub/c': 'theirs' })
})

test('--mine and --theirs decide conflicts of a first pull (T-54)', async ({ demo, folder, makeDirectory, site }) => {
  await site.store({ a: 'theirs', b: 'theirs' })
  const here = await makeDirectory({ a: 'mine', b: 'mine' })
  expect((await demo('pull', '--theirs', 'a', '--mine', 'b', folder, here)).status).toBe(0)
  expect(await readTree(here)).toStrictEqual({ a: 'theirs', b: 'mine' })
  expect((await demo('push', here, folder)).status).toBe(0)
  expect(await site.texts()).toStrictEqual({ a: 'theirs', b: 'mine' })
})

test('--mine and --theirs accept paths in any Unicode form (T-54)', async ({ demo, folder, makeDirectory, site }) => {
  await site.store({ '\u00e4': 'theirs', '\u00fc/b': 'theirs' })
  const here = await makeDirectory({ 'a\u0308': 'mine', 'u\u0308/b': 'mine' })
  const pulled = await demo('pull', '--theirs', 'a\u0308', '--mine', 'u\u0308', folder, here)
  expect(pulled).toMatchObject(outcome(0, messages.client.done(0, 1)))
  expect(await readTree(here)).toStrictEqual({ '\u00e4': 'theirs', '\u00fc/b': 'mine' })
})

test('diff --content shows the lines that differ (T-41)', async ({ demo, folder, makeDirectory, site }) => {
  const lines = Array.from({ length: 12 }, (_, index) => `line ${index}\n`)
  const many = 'line\n'.repeat(3_001)
  await site.store({ 'a.txt': lines.join(''), 'b.bin': 'x\0y', 'c.txt': '', same: '1' })
  const changed = lines.flatMap((line, at) => (at === 5 ? ['new\n', 'line five\n'] : at === 11 ? [] : [line]))
  const here = await makeDirectory({ 'a.txt': changed.join(''), 'b.bin': 'x\0z', 'c.txt': many, same: '1' })
  const { stdout } = await demo('diff', '--content', here, folder)
  expect(stdout.split('\n\n').slice(1)).toEqual([
    [
      'a.txt',
      ...['@@ -3,10 +3,10 @@', ' line 2', ' line 3', ' line 4', '-line 5', '+new', '+line five'],
      ...[' line 6', ' line 7', ' line 8', ' line 9', ' line 10', '-line 11'],
    ].join('\n'),
    expect.stringMatching(/^b\.bin\nThe file is not text, is larger than 1 MB, or has more than \d+ changed lines\.$/),
    expect.stringMatching(/^c\.txt\nThe file is not text/),
  ])
  const events = eventsIn((await demo('--json', 'diff', '--content', here, folder)).stdout)
  expect(events.filter(({ event }) => event === 'content')).toMatchObject([
    { path: 'a.txt', difference: expect.stringContaining('-line 5') },
    { path: 'b.bin', difference: null },
    { path: 'c.txt', difference: null },
  ])
  expect(await site.texts()).toMatchObject({ 'a.txt': lines.join('') })
})

test('diff --content names a line break that the last line lacks (T-41)', async ({
  demo,
  folder,
  makeDirectory,
  site,
}) => {
  await site.store({ a: 'one\n' })
  const { stdout } = await demo('diff', '--content', await makeDirectory({ a: 'one' }), folder)
  expect(stdout).toContain('-one\n+one\n\\ No newline at end of file\n')
})

test('diff --content shows tabs, and escapes other controls (T-41)', async ({ demo, folder, makeDirectory, site }) => {
  await site.store({ a: '\tone\n' })
  const here = await makeDirectory({ a: '\ttwo\u001b[2J\r\n' })
  expect((await demo('diff', '--content', here, folder)).stdout).toContain('-\tone\n+\ttwo\\u{1b}[2J\\u{d}\n')
})

test('diff --content finds files in another Unicode form (T-41)', async ({ demo, folder, makeDirectory, site }) => {
  await site.store({ 'B\u00fcro/\u00dc.txt': 'old\n' })
  const here = await makeDirectory({ 'Bu\u0308ro/U\u0308.txt': 'new\n' })
  const { stdout } = await demo('diff', '--content', here, folder)
  expect(stdout).toContain('B\u00fcro/\u00dc.txt\n@@ -1,1 +1,1 @@\n-old\n+new\n')
})

test('diff --content shows the lines of a removed file (T-41)', async ({ demo, folder, makeDirectory, site }) => {
  const here = await makeDirectory({ 'removed.txt': 'mine\n', 'z.txt': 'old\n' })
  await demo('push', here, folder)
  await site.remove('removed.txt')
  await writeTree(here, { 'z.txt': 'new\n' })
  const { status, stdout } = await demo('diff', '--content', here, folder)
  expect(stdout.split('\n\n').slice(1)).toEqual([
    'removed.txt\n@@ -0,0 +1,1 @@\n+mine',
    'z.txt\n@@ -1,1 +1,1 @@\n-old\n+new\n',
  ])
  expect(status).toBe(0)
})
