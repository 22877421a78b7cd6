/** What is not well-formed about a multipart body. */
export class MultipartError extends Error {
  override readonly name = 'MultipartError'
}
