/** An upload for the page. Its bytes come from the server of the page. */
export interface Order {
  readonly endpoint: string
  readonly token: string
  readonly name: string
}
