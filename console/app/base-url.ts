/** The address that the service has for itself, if the page has another one. The service writes it into the page. */
export const otherBaseUrl = (): string | undefined => {
  const own = document.documentElement.dataset['baseUrl'] ?? ''
  return URL.canParse(own) && new URL('.', location.href).href !== `${own.replace(/\/+$/, '')}/` ? own : undefined
}
