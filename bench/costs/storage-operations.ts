const boundary = 'boundary-of-the-bench'

const form = (names: readonly string[]): string => {
  const parts = names.map(
    (name) => `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\ntext\r\n`,
  )
  return `${parts.join('')}--${boundary}--\r\n`
}

const files = (count: number, batch = 0): string[] =>
  Array.from({ length: count }, (_, index) => `${batch}-${index}.txt`)

export interface StorageRequest {
  /** Under which it stands in the table; without it, the request only prepares the next ones. */
  readonly name?: string
  readonly method: string
  /** The path below the storage, and its query. */
  readonly target: string
  readonly contentType?: string
  readonly body?: string
}

const upload = (folder: string, names: readonly string[], name?: string): StorageRequest => ({
  ...(name && { name }),
  method: 'POST',
  target: folder,
  contentType: `multipart/form-data; boundary=${boundary}`,
  body: form(names),
})

/** The operations of the storage in an order in which all of them succeed. Folders lie at the root: deeper ones are looked at too. */
export const storageRequests: readonly StorageRequest[] = [
  { method: 'PUT', target: '/folder?type=folder' },
  upload('/folder', ['a.txt'], '12: upload a file into a folder'),
  upload('/folder', ['a.txt'], '12: replace a file'),
  upload('/new', ['a.txt'], '12: upload a file into a new folder'),
  upload('/ten', files(10), '12: upload 10 files into a new folder'),
  { name: '`PUT` a file', method: 'PUT', target: '/folder/b.txt', body: 'text' },
  { name: '`PUT` a page', method: 'PUT', target: '/folder/page.html', body: 'text' },
  { name: '13: progress', method: 'GET', target: '?status' },
  { name: '`GET` a file', method: 'GET', target: '/folder/a.txt' },
  { name: '`GET ?meta` of a file', method: 'GET', target: '/folder/a.txt?meta' },
  { name: '`GET ?meta` of a folder', method: 'GET', target: '/ten?meta' },
  { method: 'PUT', target: '/folder/large.bin', body: 'x'.repeat(4_400_000) },
  { name: '`GET` a file over 4 MiB: 302', method: 'GET', target: '/folder/large.bin' },
  {
    name: 'rename a file',
    method: 'PUT',
    target: '/folder/b.txt?meta',
    contentType: 'application/json',
    body: '{"name":"c.txt"}',
  },
  { name: '14: delete a file', method: 'DELETE', target: '/folder/c.txt' },
  { name: '14: delete a page', method: 'DELETE', target: '/folder/page.html' },
  { name: '14: delete a folder of 10 files', method: 'DELETE', target: '/ten' },
  ...Array.from({ length: 11 }, (_, batch) => upload('/large', files(100, batch))),
  { name: '14: delete a folder of 1,100 files', method: 'DELETE', target: '/large' },
]
