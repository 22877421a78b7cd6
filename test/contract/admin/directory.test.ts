import { describe, expect } from 'vitest'
import { openMachine } from '../../../lib/machine/machine.ts'
import { administer, administerJson, refusedIn } from '../../support/administration.ts'
import { test } from '../../support/test.ts'

const url = 'http://127.0.0.1:4000'
const noSite = 'Site 9 does not exist. "site list" lists all sites.'

describe('data-centre', () => {
  test('add registers one; the first one is the default (T-7)', async ({ dataDirectory: directory }) => {
    const us = await administerJson(directory, ['data-centre', 'add', 'us', '--url', `${url}/`])
    expect(us).toEqual({ id: 'us', url, default: true })
    const eu = await administerJson(directory, ['data-centre', 'add', 'eu', '--url', 'https://eu.example/base'])
    expect(eu).toEqual({ id: 'eu', url: 'https://eu.example/base', default: false })
    expect(await administerJson(directory, ['data-centre', 'list'])).toEqual([eu, us])
  })

  test('add changes the base URL of one that there is, and not which is the default', async ({ siteDirectory }) => {
    await administerJson(siteDirectory, ['data-centre', 'add', 'eu', '--url', 'https://eu.example'])
    const us = await administerJson(siteDirectory, ['data-centre', 'add', 'us', '--url', 'https://us.example'])
    expect(us).toEqual({ id: 'us', url: 'https://us.example', default: true })
    const all = await administerJson(siteDirectory, ['data-centre', 'list'])
    expect(all).toEqual([{ id: 'eu', url: 'https://eu.example', default: false }, us])
  })

  test('add says that a service sets the base URL of what it serves whenever it starts', async ({ siteDirectory }) => {
    const add = (url: string) => administer(siteDirectory, ['data-centre', 'add', 'us', '--url', url])
    expect(await add('https://us.example')).toMatchObject({
      status: 0,
      stderr:
        'A service that serves us from this data directory sets its base URL whenever it starts: give it --base-url.\n',
    })
    expect(await add('https://us.example')).toMatchObject({ status: 0, stderr: '' })
  })

  test('add leaves the region of one that is deployed', async ({ dataDirectory: directory }) => {
    const deployed = { id: 'us', url, isDefault: true, region: 'us-east-1' }
    const before = await openMachine(directory)
    await before.stores.sites.putDataCentre(deployed)
    await before.close()

    await administerJson(directory, ['data-centre', 'add', 'us', '--url', 'https://us.example'])

    const after = await openMachine(directory)
    const stored = await after.stores.sites.getDataCentre('us')
    await after.close()
    expect(stored).toEqual({ ...deployed, url: 'https://us.example' })
  })

  test('add takes the region of one that a deployment could not register itself', async ({
    dataDirectory: directory,
  }) => {
    await administerJson(directory, ['data-centre', 'add', 'us', '--url', url, '--region', 'us-east-1'])

    const machine = await openMachine(directory)
    const stored = await machine.stores.sites.getDataCentre('us')
    await machine.close()
    expect(stored).toEqual({ id: 'us', url, isDefault: true, region: 'us-east-1' })
  })

  test('list is empty at first', async ({ dataDirectory: directory }) => {
    expect(await administerJson(directory, ['data-centre', 'list'])).toEqual([])
  })
})

describe('site', () => {
  test('create gives the next id, the default data centre and the rendering engine (T-8)', async ({
    siteDirectory,
  }) => {
    const site = await administerJson(siteDirectory, ['site', 'create', '--name', '  Zoë’s shop '])
    expect(site).toEqual({ id: 1002, name: 'Zoë’s shop', dataCentre: 'us', renderingEngine: true })
    const kept = { keptVersions: 0, keptBytes: 0 }
    expect(await administerJson(siteDirectory, ['site', 'show', '1002'])).toEqual({ ...site, ...kept })
  })

  test('create takes an id, a data centre and no rendering engine (T-8)', async ({ siteDirectory }) => {
    await administerJson(siteDirectory, ['data-centre', 'add', 'eu', '--url', 'https://eu.example'])
    const options = ['--name', 'Old', '--id', '7', '--data-centre', 'eu', '--no-rendering-engine']
    const site = await administerJson(siteDirectory, ['site', 'create', ...options])
    expect(site).toEqual({ id: 7, name: 'Old', dataCentre: 'eu', renderingEngine: false })
    expect(await administerJson(siteDirectory, ['site', 'list'])).toEqual([
      site,
      { id: 1001, name: 'Shop', dataCentre: 'us', renderingEngine: true },
    ])
  })

  test('create, several times at once, gives each its own id', async ({ siteDirectory }) => {
    const create = (name: string) => administerJson(siteDirectory, ['site', 'create', '--name', name])
    const sites = await Promise.all(['One', 'Two', 'Three'].map(create))
    expect(sites.map(({ id }) => id).toSorted()).toEqual([1002, 1003, 1004])
  })

  test.for([
    ['create --name Again --id 1001', 'There is a site 1001 already. Choose another --id, or leave it out.'],
    ['create --name Far --data-centre mars', 'There is no data centre mars. Choose one of: us.'],
    ['show 9', noSite],
  ] as const)('%s is refused, with what to do about it', async ([command, reason], { siteDirectory }) => {
    const outcome = await administer(siteDirectory, ['site', ...command.split(' ')])
    expect(outcome).toMatchObject({ status: 1, stdout: '', stderr: refusedIn(siteDirectory, reason) })
  })

  test('create is refused as long as there is no data centre', async ({ dataDirectory: directory }) => {
    expect(await administer(directory, ['site', 'create', '--name', 'Shop'])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: refusedIn(directory, 'There is no data centre yet. Add one with "data-centre add ID --url URL".'),
    })
  })
})

test.for(['site', 'form --site 1001'])(
  '%s: create gives no id that no path can name',
  async (kind, { siteDirectory }) => {
    const [command = '', ...options] = kind.split(' ')
    const create = (...more: string[]) =>
      administer(siteDirectory, [command, 'create', ...options, '--name', 'Far', ...more])
    expect(await create('--id', '999999999999999')).toMatchObject({ status: 0 })
    expect(await create()).toMatchObject({
      status: 1,
      stdout: '',
      stderr: refusedIn(siteDirectory, 'No id after the highest one is free. Choose a lower one with --id.'),
    })
  },
)

describe('form', () => {
  test('create gives the next id, or the one that is asked for (T-12)', async ({ siteDirectory }) => {
    const create = (...options: string[]) =>
      administerJson(siteDirectory, ['form', 'create', '--site', '1001', ...options])
    expect(await create('--name', 'Contact')).toEqual({ id: 1, name: 'Contact' })
    expect(await create('--name', 'Survey', '--id', '40')).toEqual({ id: 40, name: 'Survey' })
    expect(await create('--name', 'Newsletter')).toEqual({ id: 41, name: 'Newsletter' })
    expect(await administerJson(siteDirectory, ['form', 'list', '--site', '1001'])).toEqual([
      { id: 1, name: 'Contact' },
      { id: 40, name: 'Survey' },
      { id: 41, name: 'Newsletter' },
    ])
  })

  test('create does not touch a form that there is', async ({ siteDirectory }) => {
    const create = (name: string) =>
      administer(siteDirectory, ['form', 'create', '--site', '1001', '--id', '1', '--name', name])
    expect(await create('First')).toMatchObject({ status: 0 })
    expect(await create('Second')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: refusedIn(siteDirectory, 'Site 1001 has a web form 1 already. Choose another --id, or leave it out.'),
    })
    expect(await administerJson(siteDirectory, ['form', 'list', '--site', '1001'])).toEqual([{ id: 1, name: 'First' }])
  })

  test.for(['create --name Contact', 'list'])(
    '%s is refused for a site that is not there',
    async (command, { siteDirectory }) => {
      const outcome = await administer(siteDirectory, ['form', ...command.split(' '), '--site', '9'])
      expect(outcome).toMatchObject({ status: 1, stdout: '', stderr: refusedIn(siteDirectory, noSite) })
    },
  )
})
