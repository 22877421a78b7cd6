/** Reads the base URL of a data centre: http or https, without a query or a password. A trailing slash is dropped. */
export const readBaseUrl = (text: string): string | undefined => {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  if (url.username + url.password + url.search + url.hash !== '') return undefined
  return url.href.replace(/\/+$/, '')
}
