import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { scratchDirectory } from '../../../support/directory.ts'
import { openLocalFiles } from '../../../support/local-files.ts'
import { bytesIn, putObject } from '../../../support/objects.ts'
import { chunks, megabyte } from '../object-store/workbench.ts'

const target = { key: undefined, contentType: 'a/b' }

/** True if the program exists here and succeeded. */
const didRun = (program: string, ...args: readonly string[]): boolean => {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

let directory: string

beforeEach(() => {
  directory = scratchDirectory()
})

describe('A full disk', () => {
  it.for([true, false])(
    'A file that does not fit is refused, and a smaller one stored (durable: %s)',
    async (durable, { skip }) => {
      const blobs = join(directory, 'blobs')
      mkdirSync(blobs)
      if (!didRun('mount', '-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', blobs)) {
        return skip('NOT PROVEN: no small file system can be mounted here')
      }
      const { files, close } = openLocalFiles(directory, { durable })
      try {
        const kept = Buffer.alloc(megabyte, 'k')
        await putObject(files, 'live/1001/kept', kept)
        const tooLarge = () => files.stage(chunks(Buffer.alloc(8 * megabyte)), target)
        await expect(tooLarge()).rejects.toMatchObject({ status: 507, code: 100507 })
        const failure = expect.objectContaining({ status: 507 })
        const refused = { status: 'rejected', reason: failure }
        expect(await Promise.allSettled([tooLarge(), tooLarge()])).toEqual([refused, refused])
        expect(readdirSync(blobs)).toHaveLength(1)
        await putObject(files, 'live/1001/small', 'small')

        expect((await bytesIn(files, 'live/1001/kept'))?.equals(kept)).toBe(true)
        await (await files.stage(chunks(Buffer.alloc(2 * megabyte)), target)).discard()
        expect(readdirSync(blobs)).toHaveLength(1)
      } finally {
        close()
        execFileSync('umount', [blobs])
      }
    },
  )
})

describe('A process without a free file handle', () => {
  it('Large files answer 503, and small files are still read from the database', async ({ skip }) => {
    if (!didRun('prlimit', '--version')) return skip('NOT PROVEN: the program prlimit is missing')
    const { files, close } = openLocalFiles(directory, { durable: true })
    const put = (key: string, bytes: Buffer) => putObject(files, key, bytes)
    const read = (key: string) => bytesIn(files, key)
    const large = Buffer.alloc(megabyte, 'x')
    await put('live/1001/large', large)
    await put('live/1001/small', Buffer.from('small'))
    const limit = readdirSync('/proc/self/fd').length + 100
    const [soft = '', hard = ''] = execFileSync('prlimit', [
      '--pid',
      String(process.pid),
      '--nofile',
      '--raw',
      '-o',
      'SOFT,HARD',
      '--noheadings',
    ])
      .toString()
      .trim()
      .split(/\s+/)
    const handles: number[] = []
    const useUp = () => {
      try {
        for (;;) handles.push(openSync('/dev/null', 'r'))
      } catch {
        // The removed file had the last free handle.
      }
    }
    expect(didRun('prlimit', '--pid', String(process.pid), `--nofile=${limit}:${hard}`)).toBe(true)
    try {
      useUp()
      await expect(put('live/1001/new', large)).rejects.toMatchObject({ status: 503, code: 100503 })
      await expect(read('live/1001/large')).rejects.toMatchObject({ status: 503 })
      expect(await put('live/1001/new', Buffer.from('small, too'))).toEqual({ outcome: 'placed' })
      expect((await read('live/1001/small'))?.toString()).toBe('small')
    } finally {
      for (const handle of handles) closeSync(handle)
      didRun('prlimit', '--pid', String(process.pid), `--nofile=${soft}:${hard}`)
    }
    expect(await put('live/1001/new', large)).toEqual({ outcome: 'placed' })
    expect((await read('live/1001/large'))?.equals(large)).toBe(true)
    close()
  })
})
