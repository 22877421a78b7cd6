import { spawnSync } from 'node:child_process'
import { startInShell } from '../../support/program.ts'
import { asDemo, eventsIn } from '../support/command.ts'
import { test, writeTree } from '../support/site.ts'

/** In its own user namespace, a program can get a low limit of watched folders. */
const withWatches = (number: number, command: string): string =>
  `exec unshare --user --map-root-user bash -c 'echo ${number} > /proc/sys/user/max_inotify_watches && exec ${command}' bash "$@"`
const canLimit = spawnSync('bash', ['-c', withWatches(5, 'true')]).status === 0

test.skipIf(!canLimit).concurrent.for([0, 5])(
  'a folder is checked at intervals if the system can watch only %i folders (T-56)',
  async (watches, { expect, service, folder, makeDirectory, site }) => {
    const texts = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`${index}/file.txt`, 'old']))
    const here = await makeDirectory(texts)
    const line = withWatches(watches, '"$node" client/src/command/main.ts --json watch "$1" "$2"')
    const program = startInShell(line, [here, folder], asDemo(service))
    try {
      const patiently = { timeout: 30_000 }
      await expect.poll(() => site.texts(), patiently).toEqual(texts)
      // A second unwatched folder causes no second message.
      for (const change of [{ '7/file.txt': 'new' }, { '8/below/file.txt': 'new' }]) {
        await writeTree(here, change)
        await expect.poll(() => site.texts(), patiently).toMatchObject(change)
      }
    } finally {
      program.kill('SIGINT')
    }
    const { stdout } = await program.ended
    expect(eventsIn(stdout).filter(({ event }) => event === 'polling')).toStrictEqual([
      { event: 'polling', delay: 5000 },
    ])
  },
)
