/** What the page is told to upload. Its bytes come from where the page comes from. */
export interface Order {
  readonly client: 'tus-js-client' | 'Uppy'
  readonly endpoint: string
  readonly token: string
  readonly name: string
  /** Left out: everything goes in one request. */
  readonly chunkSize?: number
}
