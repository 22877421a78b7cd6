import type { RunningService } from './service.ts'

/** What a person sees when the service is ready: where it is, the token, and lines that work when pasted. */
export const welcome = ({ baseUrl, dataCentres, demo }: RunningService): string => {
  const forms = `/api/v1/admin/sites/current/webforms`
  const fields = `${forms}/${demo.webFormId}/fields/system`
  const others = Object.entries(dataCentres).filter(([, url]) => url !== baseUrl)
  return [
    `site-admin is ready at ${baseUrl}`,
    ...others.map(([id, url]) => `Data centre ${id} is at ${url}`),
    '',
    `Site   ${demo.siteId}`,
    `Token  ${demo.token}`,
    '',
    'Try it:',
    `  BASE=${baseUrl} TOKEN=${demo.token}`,
    `  curl -s -H "Authorization: $TOKEN" $BASE${forms}`,
    `  curl -s -H "Authorization: $TOKEN" $BASE${fields}`,
    `  curl -s -H "Authorization: $TOKEN" -H 'Content-Type: application/json' -d '{"type":{"id":-7},"mandatory":true,"order":2}' $BASE${fields}`,
    `  curl -s -H "Authorization: $TOKEN" -H 'Accept: application/xml' $BASE${fields}/-7`,
    `  curl -s -H "Authorization: $TOKEN" -X DELETE $BASE${fields}/-7`,
    '',
    'Stop it with Ctrl+C.',
  ].join('\n')
}

/** The one line for programs (decisions.md, section 6). */
export const machineWelcome = ({ baseUrl, dataCentres, demo }: RunningService): string =>
  JSON.stringify({ baseUrl, dataCentres, ...demo })
