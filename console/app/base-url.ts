/**
 * The base URL of the service, if the user has opened the page at another address. The service writes this URL into the
 * page.
 */
export const otherBaseUrl = (): string | undefined => {
  const own = document.documentElement.dataset['baseUrl'] ?? ''
  return URL.canParse(own) && new URL('.', location.href).href !== `${own.replace(/\/+$/, '')}/` ? own : undefined
}
