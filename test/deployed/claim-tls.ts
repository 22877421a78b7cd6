import { subscribe } from 'node:diagnostics_channel'
import http, { type RequestOptions } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'

// The policies of buckets and queues allow only TLS, which the emulator does not have. So every request claims that a
// proxy has ended TLS. A request with `Expect` sends its headers at once, so the header must be there from the start.
const claim = ['X-Forwarded-Proto', 'https'] as const

http.request = new Proxy(http.request, {
  apply(request, self, given: readonly unknown[]) {
    const isOptions = (value: unknown): value is RequestOptions =>
      typeof value === 'object' && value !== null && !(value instanceof URL)
    const options = given.find(isOptions)
    if (options) options.headers = { ...options.headers, [claim[0]]: claim[1] }
    return Reflect.apply(request, self, given)
  },
})
syncBuiltinESMExports()

subscribe('undici:request:create', (message) => {
  const { request } = message as { readonly request: { addHeader(name: string, value: string): void } }
  request.addHeader(...claim)
})
