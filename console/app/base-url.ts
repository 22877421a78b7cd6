/** The base URL of the service, if the page was opened at another address. The service writes it into the page. */
export const otherBaseUrl = (): string | undefined => {
  const own = document.documentElement.dataset['baseUrl'] ?? ''
  return URL.canParse(own) && new URL('.', location.href).href !== `${own.replace(/\/+$/, '')}/` ? own : undefined
}
