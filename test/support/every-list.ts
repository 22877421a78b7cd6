interface Asked {
  readonly baseUrl: string
  readonly token: string
  readonly site: number
}

interface Page {
  readonly items: readonly { readonly id: number }[]
  readonly totalItemsCount: number
}

/** Removes the number of the site and the base URL, so that two sites with the same contents have equal texts. */
const withoutPlace = (text: string, { baseUrl, site }: Asked): unknown =>
  JSON.parse(
    text
      .replaceAll(baseUrl, 'BASE')
      .replaceAll(`/sites/${site}/`, '/sites/SITE/')
      .replaceAll(`"siteId":${site}`, '"siteId":"SITE"'),
  )

export const answersOfEveryList = async (asked: Asked): Promise<ReadonlyMap<string, unknown>> => {
  const { baseUrl, token, site } = asked
  const answers = new Map<string, unknown>()
  const ask = async (path: string): Promise<readonly number[]> => {
    const answer = await fetch(`${baseUrl}${path.replace('SITE', String(site))}`, { headers: { Authorization: token } })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}: ${text}`)
    answers.set(path, withoutPlace(text, asked))
    const page: Page = JSON.parse(text)
    if (page.totalItemsCount > page.items.length) throw new Error(`${path} has more than one page`)
    return page.items.map(({ id }) => id)
  }
  const all = 'limit=500'
  const v3 = '/webresources/api/v3/sites/SITE'
  for (const form of await ask('/api/v1/admin/sites/SITE/webforms')) {
    await ask(`/api/v1/admin/sites/SITE/webforms/${form}/fields/system`)
  }
  const categories = await ask(`${v3}/categories?${all}`)
  for (const [segment, member] of Object.entries({ news: 'news', blogs: 'blog' })) {
    for (const id of await ask(`${v3}/${segment}?${all}`)) await ask(`${v3}/${segment}/${id}/categories?${all}`)
    for (const category of categories) {
      await ask(`${v3}/categories/${category}/${segment}?${all}`)
      const fields = `${member},displayable,category`
      await ask(`${v3}/categories/${category}/${segment}?${all}&order=-displayable&fields=${fields}`)
    }
  }
  await ask(`${v3}/news?${all}&fields=id,body`)
  return answers
}
