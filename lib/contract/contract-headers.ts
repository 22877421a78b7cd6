const text = { type: 'string' }
const count = { type: 'integer' }

const header = (description: string, schema: Readonly<Record<string, string>> = text) => ({
  description,
  required: true,
  schema,
})

/** The headers of answers, as OpenAPI describes them. */
export const answerHeaders = {
  'X-Request-Id': header('The id of the request. Quote it when you report a fault.'),
  Location: header('The address of the created resource, or of the bytes.'),
  ETag: header('The name of the present state, for If-Match and If-None-Match.'),
  'Last-Modified': header('The time when the file was stored, as an HTTP date.'),
  'Accept-Ranges': header('Requests may ask for parts of the file.', { const: 'bytes' }),
  'Content-Range': header('The part of the file that the answer contains.'),
  'X-Content-Length': header(
    'On HEAD: the number of bytes that GET would send. API Gateway does not pass on the Content-Length of a HEAD.',
    count,
  ),
  'Cache-Control': header('Says who may keep the answer, and for how long.'),
  'Upload-Offset': header('The number of bytes of the upload that are stored.', count),
  'Upload-Length': header('The number of bytes of the whole upload.', count),
  'Upload-Defer-Length': header('The length of the upload is not known yet.', { const: '1' }),
  'Upload-Metadata': header('The metadata of the request that created the upload.'),
  'Upload-Expires': header('The time when the upload expires without another append, as an HTTP date.'),
  'Tus-Resumable': header('The version of the upload protocol.', { const: '1.0.0' }),
  'Retry-After': header('Seconds to wait before you repeat the request.', count),
  'WWW-Authenticate': header('The way to send a token.', { const: 'Bearer' }),
  Allow: header('The methods that are allowed here.'),
}

export type HeaderName = keyof typeof answerHeaders
