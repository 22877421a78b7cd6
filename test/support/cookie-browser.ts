const mostRedirects = 20

/** Follows redirects with cookies, as a browser does: a cookie of a host belongs to all its ports. */
export const openBrowser = () => {
  const cookies = new Map<string, { readonly value: string; readonly path: string }>()

  const keep = (url: URL, header: string): void => {
    const [pair = '', ...attributes] = header.split(/;\s*/)
    const [name = '', ...value] = pair.split('=')
    const found = new Map(attributes.map((text) => text.toLowerCase().split('=') as [string, string]))
    const isGone = found.get('max-age') === '0' || Date.parse(found.get('expires') ?? '') < Date.now()
    if (isGone) cookies.delete(name)
    else cookies.set(name, { value: value.join('='), path: found.get('path') ?? url.pathname })
  }

  const headerFor = ({ pathname }: URL): string =>
    [...cookies]
      .filter(([, { path }]) => pathname.toLowerCase().startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ')

  const get = async (url: URL): Promise<Response> => {
    const response = await fetch(url, { redirect: 'manual', headers: { cookie: headerFor(url) } })
    for (const header of response.headers.getSetCookie()) keep(url, header)
    return response
  }

  return {
    cookies,
    get: (url: string) => get(new URL(url)),

    /** Stops before the first redirect whose address begins with this text, and returns that address. */
    async follow(from: string, end: string): Promise<URL> {
      let url = new URL(from)
      for (let hop = 0; hop < mostRedirects; hop++) {
        if (hop > 0 && url.href.startsWith(end)) return url
        const response = await get(url)
        const location = response.headers.get('location')
        if (location === null) throw new Error(`${url.href} answered ${response.status}: ${await response.text()}`)
        url = new URL(location, url)
      }
      throw new Error(`More than ${mostRedirects} redirects`)
    },
  }
}
