import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { test as base } from 'vitest'
import { administer, commandsOn } from './administration.ts'
import { makeDirectory, removeDirectory, scratchDirectory } from './directory.ts'
import { hostHere } from './serve-here.ts'
import { mountSmallDisk, noSmallDisk } from './small-disk.ts'
import { startService } from './spawned-service.ts'

/** A data directory of `npm start --no-demo`, without a site. */
const makeDataDirectory = async (directory: string): Promise<void> => {
  const { openMachine } = await import('../../lib/machine/machine.ts')
  const machine = await openMachine(directory, { role: 'service', durable: false })
  await machine.close()
}

/**
 * Tests of programs in their own processes. The services of a test end with it. `directory` is empty. `dataDirectory`
 * is a data directory without a site, `siteDirectory` has the data centre `us` and the site 1001, and `demoDirectory`
 * has the demo. No service runs on these. `commands` run on `siteDirectory`. All tests of a file use the same `service`.
 * `start` runs a service in its own process, and `host` in this process. `mountDisk` mounts a small disk below
 * `directory`, or skips the test.
 */
export const test = base
  .extend('directory', async ({ onTestFinished }) => scratchDirectory(onTestFinished))
  .extend('mountDisk', async ({ directory, skip }, { onCleanup }) => (megabytes: number) => {
    const disk = noSmallDisk === undefined ? mountSmallDisk(join(directory, 'disk'), megabytes) : undefined
    if (!disk) return skip(noSmallDisk ?? 'no file system can be mounted on this machine')
    onCleanup(disk.unmount)
    return disk
  })
  .extend('serve', ({ onTestFinished }) => async (...args: Parameters<typeof startService>) => {
    const service = await startService(...args)
    onTestFinished(async () => void (await service.stop()))
    return service
  })
  .extend(
    'start',
    ({ directory, serve }) =>
      (flags?: readonly string[], environment?: Record<string, string>) =>
        serve(directory, flags, environment),
  )
  .extend('host', async ({ directory }, { onCleanup }) => async (options: Parameters<typeof hostHere>[1] = {}) => {
    const service = await hostHere(directory, options)
    onCleanup(service.stop)
    return service
  })
  .extend('service', { scope: 'file' }, async ({}, { onCleanup }) => {
    const directory = makeDirectory()
    const service = await startService(directory)
    onCleanup(async () => {
      await service.stop()
      removeDirectory(directory)
    })
    return service
  })
  .extend('browser', { scope: 'worker' }, async ({}, { onCleanup }) => {
    // Few tests need the browser, and importing its library takes long.
    const browser = await (await import('./browser.ts')).launchBrowser()
    onCleanup(() => browser.close())
    return browser
  })
  .extend('siteTemplate', { scope: 'file' }, async ({}, { onCleanup }) => {
    const directory = scratchDirectory(onCleanup)
    await makeDataDirectory(directory)
    await administer(directory, ['data-centre', 'add', 'us', '--url', 'http://127.0.0.1:4000'])
    await administer(directory, ['site', 'create', '--name', 'Shop'])
    return directory
  })
  .extend('demoTemplate', { scope: 'file' }, async ({}, { onCleanup }) => {
    const directory = scratchDirectory(onCleanup)
    await (await hostHere(directory)).stop()
    return directory
  })
  .extend('dataDirectory', async ({ directory }) => {
    await makeDataDirectory(directory)
    return directory
  })
  .extend('siteDirectory', async ({ directory, siteTemplate }) => {
    await cp(siteTemplate, directory, { recursive: true })
    return directory
  })
  .extend('commands', ({ siteDirectory }) => commandsOn(siteDirectory))
  .extend('demoDirectory', async ({ directory, demoTemplate }) => {
    await cp(demoTemplate, directory, { recursive: true })
    return directory
  })
