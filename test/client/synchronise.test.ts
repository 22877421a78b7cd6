import { expect, vi } from 'vitest'
import { createTextPrinter } from '../../client/src/command/printers.ts'
import { eventsIn, outcome, test } from './support/command.ts'
import { readTree, writeTree } from './support/site.ts'

test('push, diff and pull report each step (T-41, T-51)', async ({ demo, folder, makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'a', 'b.txt': 'b' })
  expect((await demo('diff', here, folder)).stdout).toBe('create  a.txt  1 bytes\ncreate  b.txt  1 bytes\n')
  const pushed = await demo('push', here, folder)
  expect(pushed).toMatchObject(outcome(0, 'Done: 2 created, 0 replaced, 0 removed.'))
  expect(pushed.stdout.split('\n').sort()).toStrictEqual(['', 'created  a.txt', 'created  b.txt'])
  expect(await site.texts()).toStrictEqual({ 'a.txt': 'a', 'b.txt': 'b' })

  const there = await makeDirectory()
  const events = eventsIn((await demo('--json', 'pull', folder, there)).stdout)
  expect(events[0]).toMatchObject({ event: 'plan', create: 2, bytes: 2 })
  expect(events.at(-1)).toMatchObject({ event: 'end', create: 2, failed: 0, interrupted: false })
  expect(await readTree(there)).toStrictEqual(await readTree(here))
})

test('both directions count ignored files; --all includes them (T-48)', async ({
  demo,
  folder,
  makeDirectory,
  site,
}) => {
  const sent = { '.siteignore': '*.log\n/drafts/\n!keep.log\n', 'keep.log': '', 'sub/drafts/y.html': 'y' }
  const ignored = { 'a.log': 'a', 'drafts/x.html': 'x', '.git/config': 'git', 'node_modules/m.js': '', 'sub/._x': '' }
  const here = await makeDirectory({ ...sent, ...ignored })
  await site.put('there.log', 'not mine')
  const pushed = await demo('push', '--delete', '--yes', here, folder)
  expect(pushed.stderr).toContain('5 ignored (--all includes them)')
  expect(await site.texts()).toStrictEqual({ ...sent, 'there.log': 'not mine' })
  expect((await demo('push', '--all', here, folder)).stderr).toContain('Done: 5 created')
  await site.remove('there.log')
  const there = await makeDirectory()
  // This side has no .siteignore yet.
  expect((await demo('pull', folder, there)).stderr).toContain('3 ignored (--all includes them)')
  expect((await demo('pull', '--all', folder, there)).status).toBe(0)
  expect(await readTree(there)).toStrictEqual({ ...sent, ...ignored })
  expect((await demo('diff', '--all', there, folder)).stderr).toContain('8 unchanged.')
})

test('a conflict has status 3, and --force overwrites it', async ({ demo, folder, makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'a', 'b.txt': 'b' })
  await demo('push', here, folder)
  await writeTree(here, { 'a.txt': 'mine' })
  await site.put('a.txt', 'theirs', { replace: true })
  await site.put('b.txt', 'theirs', { replace: true })
  expect(await demo('diff', here, folder)).toMatchObject({
    status: 3,
    stdout: expect.stringMatching(
      /^CONFLICT \(changed on both sides, or never synchronised\) {2}a\.txt {2}here 4 bytes, 20\S+Z; on the site 6 bytes, 20\S+Z\nleft alone \(changed on the target only\) {2}b\.txt {2}1 bytes\n$/,
    ),
    stderr: expect.stringContaining('add --force to overwrite them and 1 that changed on the target only'),
  })
  expect(await demo('push', here, folder)).toMatchObject(outcome(3, '1 in conflict'))
  expect((await demo('push', '--force', here, folder)).status).toBe(0)
  expect(await site.texts()).toStrictEqual({ 'a.txt': 'mine', 'b.txt': 'b' })
})

test('without a terminal, nothing is removed without --yes (T-43)', async ({ demo, folder, makeDirectory, site }) => {
  const here = await makeDirectory({ 'a.txt': 'a' })
  await site.put('old.txt', 'old')
  expect(await demo('push', '--delete', here, folder)).toMatchObject(outcome(1, 'Add --yes'))
  expect(await site.texts()).toStrictEqual({ 'old.txt': 'old' })
  expect((await demo('push', '--delete', '--yes', here, folder)).status).toBe(0)
  expect(await site.texts()).toStrictEqual({ 'a.txt': 'a' })
})

test('push and pull mention --delete, and what it would remove', async ({ demo, folder, makeDirectory, site }) => {
  await site.store({ 'a.txt': 'a', 'old.txt': 'old', 'older.txt': 'older' })
  const here = await makeDirectory({ 'a.txt': 'a', 'mine.txt': 'mine' })
  const onSite = ' 2 files are only on the site; --delete removes them.\n'
  expect((await demo('diff', here, folder)).stderr).toContain(`Nothing was changed.${onSite}`)
  expect((await demo('push', here, folder)).stderr).toContain(`Done: 1 created, 0 replaced, 0 removed.${onSite}`)
  const { stderr } = await demo('push', '--delete', '--yes', here, folder)
  expect(stderr).toContain('0 to create, 0 to replace (0 bytes in all), 2 to remove (8 bytes)')
  expect(stderr).not.toContain('only on')

  await writeTree(here, { 'new.txt': 'new' })
  expect((await demo('pull', folder, here)).stderr).not.toContain('--delete')
  await site.remove('mine.txt')
  expect((await demo('pull', folder, here)).stderr).toMatch(/ 1 file is only on this machine; --delete removes it\.\n$/)
  const planned = await demo('--json', 'pull', '--delete', '--dry-run', folder, here)
  expect(JSON.parse(planned.stdout.split('\n')[0] ?? '')).toMatchObject({ remove: 1, bytes: 0, removedBytes: 4 })
})

test('diff and dry runs refuse the same removals as a push', async ({ demo, folder, makeDirectory, site }) => {
  await site.store({ 'a.txt': 'a' })
  const empty = await makeDirectory()
  const refused = { status: 1, stdout: '', stderr: expect.stringContaining('has no files, so nothing was removed') }
  expect(await demo('push', '--delete', '--yes', empty, folder)).toStrictEqual(refused)
  expect(await demo('diff', '--delete', empty, folder)).toStrictEqual(refused)
  expect(await demo('push', '--delete', '--dry-run', empty, folder)).toStrictEqual(refused)
  expect((await demo('diff', empty, folder)).status).toBe(0)
})

test('--delete removes a file in place of a folder, or the reverse', async ({ demo, folder, makeDirectory, site }) => {
  await site.store({ x: 'file', 'y/z': 'in a folder' })
  const here = await makeDirectory({ 'x/in': 'in a folder', y: 'file' })
  for (const args of [
    ['diff', here, folder],
    ['push', here, folder],
    ['push', '--force', here, folder],
    ['pull', folder, here],
    ['pull', '--force', folder, here],
  ]) {
    const said = await demo(...args)
    const [file, place] = args[0] === 'pull' ? ['y', 'x'] : ['x', 'y']
    expect(said).toMatchObject(outcome(3, 'Add --delete to remove obstacles'))
    expect(said.stderr).not.toContain('--force')
    expect(said.stdout).toContain(`CONFLICT (the file ${file} is in the way)  ${file}/`)
    expect(said.stdout).toContain(`CONFLICT (the folder ${place} is in the way)  ${place}  `)
  }
  expect((await demo('push', '--delete', '--yes', here, folder)).status).toBe(0)
  expect(await site.texts()).toStrictEqual({ 'x/in': 'in a folder', y: 'file' })
})

test('a terminal shows one progress line, and then a summary (T-51)', () => {
  const lines: string[] = []
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
  try {
    const printer = createTextPrinter({}, { out: true, error: true })
    const counts = { create: 2, replace: 0, remove: 1, keep: 3, conflict: 0 }
    printer.print({ event: 'skipped', path: 'c', why: 'it is a pipe' })
    printer.print({ event: 'plan', ...counts, bytes: 2000, removedBytes: 300, ignored: 1 })
    printer.print({ event: 'progress', files: 1, totalFiles: 2, bytes: 1000, totalBytes: 2000 })
    printer.print({ event: 'done', action: 'create', path: 'a', size: 1000 })
    printer.print({ event: 'failed', path: 'b\u001b[2J', message: 'No.' })
    printer.print({ event: 'end', ...counts, create: 1, remove: 0, failed: 1, skipped: 1, interrupted: false })
  } finally {
    spy.mockRestore()
  }
  expect(lines[0]).toBe(
    'To do: 2 to create, 0 to replace (2.0 KB in all), 1 to remove (300 bytes); 3 unchanged, 1 ignored ' +
      '(--all includes them).\n',
  )
  expect(lines[1]).toMatch(/^\r1 of 2 files, 1\.0 KB of 2\.0 KB, .*\/s, .* left/)
  expect(lines.slice(2)).toStrictEqual([
    '\r\u001b[K',
    'failed  b\\u{1b}[2J: No.\n',
    'skipped  c: it is a pipe\n',
    'Done: 1 created, 0 replaced, 0 removed, 1 failed, 1 skipped.\n',
  ])
})

test('--mine and --theirs decide conflicts in both directions (T-54)', async ({
  demo,
  folder,
  makeDirectory,
  site,
}) => {
  const here = await makeDirectory({ a: '1', b: '1', 'sub/c': '1' })
  await demo('push', here, folder)
  const conflicts = { a: 'mine', b: 'mine', 'sub/c': 'mine' }
  await writeTree(here, conflicts)
  for (const path of Object.keys(conflicts)) await site.put(path, 'theirs', { replace: true })
  expect(await demo('push', '--mine', 'other', here, folder)).toMatchObject(outcome(1, '"other" is not in conflict.'))
  const pushed = await demo('push', '--mine', 'a', '--theirs', 'sub', here, folder)
  expect(pushed).toMatchObject(outcome(3, 'Done: 0 created, 1 replaced, 0 removed, 1 in conflict.'))
  expect(await site.texts()).toStrictEqual({ a: 'mine', b: 'theirs', 'sub/c': 'theirs' })
  expect(await readTree(here)).toStrictEqual(conflicts)

  const pulled = await demo('pull', '--mine', 'b', folder, here)
  expect(pulled).toMatchObject(outcome(0, 'Done: 0 created, 1 replaced, 0 removed.'))
  expect(await readTree(here)).toStrictEqual({ a: 'mine', b: 'mine', 'sub/c': 'theirs' })
  expect((await demo('push', here, folder)).status).toBe(0)
  expect(await site.texts()).toStrictEqual({ a: 'mine', b: 'mine', 'sub/c': 'theirs' })
})

test('A first pull takes the chosen side of a file (T-54)', async ({ demo, folder, makeDirectory, site }) => {
  await site.store({ a: 'theirs', b: 'theirs' })
  const here = await makeDirectory({ a: 'mine', b: 'mine' })
  expect((await demo('pull', '--theirs', 'a', '--mine', 'b', folder, here)).status).toBe(0)
  expect(await readTree(here)).toStrictEqual({ a: 'theirs', b: 'mine' })
  expect((await demo('push', here, folder)).status).toBe(0)
  expect(await site.texts()).toStrictEqual({ a: 'theirs', b: 'mine' })
})

test('diff --content shows the lines that differ (T-41)', async ({ demo, folder, makeDirectory, site }) => {
  const lines = Array.from({ length: 12 }, (_, index) => `line ${index}`)
  await site.store({ 'a.txt': lines.join('\n'), 'b.bin': 'x\0y', same: '1' })
  const changed = lines.flatMap((line, index) => (index === 5 ? ['new', 'line five'] : index === 11 ? [] : [line]))
  const here = await makeDirectory({ 'a.txt': changed.join('\n'), 'b.bin': 'x\0z', same: '1' })
  const { stdout } = await demo('diff', '--content', here, folder)
  expect(stdout.split('\n\n').slice(1)).toEqual([
    [
      'a.txt',
      ...['...', ' line 2', ' line 3', ' line 4', '-line 5', '+new', '+line five', ' line 6', ' line 7', ' line 8'],
      ...[' line 9', ' line 10', '-line 11'],
    ].join('\n'),
    'b.bin\nThe file is not text, or larger than 1 MB.\n',
  ])
  const events = eventsIn((await demo('--json', 'diff', '--content', here, folder)).stdout)
  expect(events.filter(({ event }) => event === 'content')).toMatchObject([
    { path: 'a.txt', difference: expect.stringContaining('-line 5') },
    { path: 'b.bin', difference: null },
  ])
  expect(await site.texts()).toMatchObject({ 'a.txt': lines.join('\n') })
})
