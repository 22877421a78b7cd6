export interface FilePart {
  /** A file without a name has no `filename`. */
  readonly name?: string
  readonly content?: string | Buffer
  readonly part?: string
  readonly type?: string
}

export const boundary = 'boundary-of-the-tests'

export const multipart = (files: readonly FilePart[]): Buffer =>
  Buffer.concat([
    ...files.flatMap(({ name, content = 'content', part = 'file', type }) => [
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${part}"${name === undefined ? '' : `; filename="${name}"`}\r\n${type ? `Content-Type: ${type}\r\n` : ''}\r\n`,
      ),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ])

export const formHeaders = { 'Content-Type': `multipart/form-data; boundary=${boundary}` }
