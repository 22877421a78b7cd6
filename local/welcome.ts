import type { RunningService } from './service.ts'

/** What a person sees when the service is ready: where it is, the token, and lines that work when pasted. */
export const welcome = ({ baseUrl, dataCentres, demo }: RunningService): string => {
  const forms = `/api/v1/admin/sites/current/webforms`
  const fields = `${forms}/${demo.webFormId}/fields/system`
  const news = `/webresources/api/v3/sites/current/categories/${demo.categoryIds[0]}/news`
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
    `  curl -s -H "Authorization: $TOKEN" "$BASE${news}?limit=3&fields=objectId,news(subject,releaseDate)"`,
    `  curl -s -H "Authorization: $TOKEN" -G --data-urlencode "where={'news.deleted': false, releaseDate: {\\$gte: '2026-01-01'}}" -d order=-releaseDate $BASE${news}`,
    `  curl -s -H "Authorization: $TOKEN" -H 'Content-Type: application/json' -d '{"items":[{"objectId":2}]}' $BASE${news}`,
    `  curl -s -H "Authorization: $TOKEN" -X DELETE "$BASE${news}?items=2"`,
    '',
    'Stop it with Ctrl+C.',
  ].join('\n')
}

/** The one line for programs (decisions.md, section 6). */
export const machineWelcome = ({ baseUrl, dataCentres, demo }: RunningService): string =>
  JSON.stringify({ baseUrl, dataCentres, ...demo })
