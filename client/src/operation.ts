import { encodeName } from './paths.ts'

/** `path` contains a value for each name in braces of an address. */
interface Given {
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface Answered<Data> {
  readonly data: Data
  readonly headers: Headers
}

export type SendCall = <Data>(method: string, address: string, given: Given) => Promise<Answered<Data>>

export const operation =
  <Input extends Given, Data>(method: string, address: string) =>
  (send: SendCall, input: Input): Promise<Answered<Data>> =>
    send(method, address, input)

export const addressOf = (template: string, { path = {}, query = {} }: Given): string => {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeName(String(path[name])))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.append(name, String(value))
  return search.size > 0 ? `${filled}?${search}` : filled
}

export const withTag = <Data>({ data, headers }: Answered<Data>): Data & { readonly etag: string } => ({
  ...data,
  etag: headers.get('ETag') ?? '*',
})
