import { expect } from 'vitest'
import { commandsOn } from '../../../support/administration.ts'
import { lastAnswer, requestText, sendText } from '../../../support/raw-http.ts'
import { test as base } from '../../../support/test.ts'

/** A service with two data centres, a site in the second one, and a token for this site. */
const test = base.extend('centres', async ({ directory, start }) => {
  const { dataCentres } = await start(['--data-centres', 'us:0,eu:0'])
  const { run } = commandsOn(directory)
  const { id } = await run('site create --name Europe --data-centre eu')
  const { token } = await run(`token issue --user ann --site ${id}`)
  const { us = '', eu = '' } = dataCentres
  return { us, eu, token, id }
})

const fields = (site: number) => `/api/v1/admin/sites/${site}/webforms/1/fields/system`

test.for([
  ['?b=1&a=2&b=3'],
  ['?2=x&1=y'],
  ['?a=&b&=c&&d'],
  ['?a=x+y%20z&b=%c3%a9&c=%E9%'],
  ['?a={"b":[1]}&c=?d/e'],
  ['?', ''],
  ['?a=b#c', '?a=b%23c'],
  ['#b?c=d', '%23b?c=d'],
])('a redirect keeps %s byte by byte (O-4)', async ([sent = '', kept = sent], { centres }) => {
  const { us, eu, token, id } = centres
  const path = `/api/v2/admin/sites/${id}/storage/a`
  const request = requestText('GET', path + sent, { Authorization: token, Connection: 'close' })
  const { status, headers } = lastAnswer(await sendText(us, request))
  expect({ status, location: headers['location'] }).toEqual({ status: 301, location: eu + path + kept })
})

/** The addresses to which the console page may send requests. */
const consoleMayAsk = async (baseUrl: string): Promise<readonly string[]> => {
  const policy = (await fetch(`${baseUrl}/console`)).headers.get('content-security-policy') ?? ''
  return /connect-src ([^;]*)/.exec(policy)?.[1]?.split(' ') ?? []
}

base('a new data centre gets redirects at once, and the console may call it', async ({ directory, start }) => {
  const { baseUrl } = await start()
  const added = 'http://127.0.0.1:9'
  expect(await consoleMayAsk(baseUrl)).toEqual(["'self'", baseUrl])

  const { run, attempt } = commandsOn(directory)
  expect(await attempt(`data-centre add eu --url ${added}`)).toMatchObject({ status: 0, stderr: '' })
  const { id } = await run('site create --name Europe --data-centre eu')
  const { token } = await run(`token issue --user ann --site ${id}`)

  expect(await consoleMayAsk(baseUrl)).toEqual(["'self'", added, baseUrl])
  const answer = await fetch(baseUrl + fields(id), { headers: { Authorization: token }, redirect: 'manual' })
  expect({ status: answer.status, location: answer.headers.get('location') }).toEqual({
    status: 301,
    location: added + fields(id),
  })
})

base('the default data centre is the first data centre of the last start', async ({ directory, start }) => {
  const first = await start(['--data-centres', 'us:0,eu:0'])
  await first.stop()
  const second = await start(['--data-centres', 'ap:0,eu:0'])
  expect(await commandsOn(directory).run('data-centre list')).toMatchObject([
    { id: 'ap', default: true },
    { id: 'eu', default: false },
    { id: 'us', default: false },
  ])
  await second.stop()
})
