export interface Problem {
  readonly path: string
  readonly message: string
}

// the error code of RFC 6749 or RFC 8693, for standard clients.
type GrantError = 'invalid_request' | 'invalid_grant' | 'invalid_target' | 'unsupported_grant_type'

interface ErrorRow {
  readonly code: number
  readonly status: number
  readonly message: string
  readonly grantError?: GrantError
}

const row = (code: number, status: number, message: string): ErrorRow => ({ code, status, message })

const grantRow = (code: number, grantError: GrantError, message: string): ErrorRow => ({
  ...row(code, 400, message),
  grantError,
})

const notCovered = 'The token does not cover this site. GET /api/v1/admin/sites lists the sites that it covers.'
const ambiguous = 'The token covers several sites. Send the numeric id of a site in place of "current".'

/** The contract defines codes and statuses. A thrower may replace the message by a more precise one (E-1). */
export const errors = {
  tokenRejected: row(
    101000,
    401,
    'The token is missing, wrong or expired. Send a valid token in the Authorization header.',
  ),
  siteUnknown: row(100002, 400, notCovered),
  siteAmbiguous: row(100002, 400, ambiguous),
  renderingEngineOff: row(109002, 403, "The site's new rendering engine is off. Ask the operator to enable it."),
  routeUnknown: row(100004, 404, 'This path does not exist. GET /docs lists all paths.'),
  methodNotAllowed: row(100005, 405, 'This path does not allow this method. Use a method from the Allow header.'),
  notAcceptable: row(
    100006,
    406,
    'The service offers none of the media types in Accept. Ask for application/json or application/xml.',
  ),
  mediaTypeUnsupported: row(
    100015,
    415,
    'The media type of the request body is not supported. GET /docs shows what to send.',
  ),
  bodyTooLarge: row(100013, 413, 'The request body is too large. Split it into smaller requests.'),
  conditionFailed: row(
    100412,
    412,
    'If-Match failed: the resource has changed. Read it again, then repeat the request.',
  ),
  tooManyRequests: row(
    100429,
    429,
    'Too many requests arrive. Repeat your request after the time in the Retry-After header.',
  ),
  unavailable: row(100503, 503, 'The service is busy. Repeat the request after the time in the Retry-After header.'),
  outOfSpace: row(100507, 507, 'The disk is full. Nothing was changed. Free some space, then repeat the request.'),
  unexpected: row(100500, 500, 'The service failed unexpectedly. Report the failure with this request id.'),
  signInRefused: row(
    101001,
    401,
    'The name or the password is wrong, or the person may not sign in. Check the name and the password.',
  ),
  exchangeRefused: grantRow(101002, 'invalid_grant', 'The token is refused. Ask its issuer for a new token.'),
  exchangeMalformed: grantRow(101002, 'invalid_request', 'The exchange is malformed. GET /docs shows what to send.'),
  grantTypeUnknown: grantRow(
    101002,
    'unsupported_grant_type',
    'The grant_type is unknown. Send urn:ietf:params:oauth:grant-type:token-exchange, or sign in with a password.',
  ),
  targetRefused: grantRow(
    101002,
    'invalid_target',
    'No rule names this resource. Send the number of a site that a rule names.',
  ),
  invitationUnknown: row(101003, 404, 'The invitation is unknown, used or expired. Ask for a new invitation.'),
  personUnknown: row(101010, 404, 'The site has no such person. Choose a name that GET …/users lists.'),
  keyUnknown: row(101010, 404, 'The site has no such key. Choose an id that GET …/keys lists.'),
  webhookMalformed: row(230000, 400, 'The webhook is malformed. GET /docs shows what to send.'),
  webhookUnknown: row(230001, 404, 'The site has no such webhook. Choose an id that GET …/webhooks lists.'),
  deliveryUnknown: row(
    230001,
    404,
    'The webhook has no such delivery. Choose an id that GET …/deliveries lists. It lists only the last 100 deliveries.',
  ),
  tooManyWebhooks: row(
    230002,
    409,
    'The site already has 20 webhooks. Remove one of them, or let one of them report more types.',
  ),
  personTaken: row(101011, 409, 'The name is taken. Choose another name.'),
  lastOwner: row(
    101012,
    409,
    'This person is the last owner of a site. Give another person the role owner first. An invited owner counts only ' +
      'after accepting the invitation.',
  ),
  passwordWeak: row(101013, 400, 'The password is too weak. Choose a password of 12 to 256 characters.'),
  accessMalformed: row(101002, 400, 'The request is malformed. GET /docs shows what to send.'),
  fieldsMalformed: row(115000, 400, 'The request body is malformed. GET /docs shows what to send.'),
  webFormUnknown: row(115001, 404, 'The site has no web form with this id. Check the id.'),
  fieldUnknown: row(115002, 404, 'The web form has no system field with this id. List the fields of the form first.'),
  fieldTypeTaken: row(115006, 403, 'The web form already has a field of this type. Change or remove that field.'),
  categoriesMalformed: row(220000, 400, 'The request is malformed. GET /docs shows what to send.'),
  categoryUnknown: row(220001, 404, 'The site has no category with this id. Check the id.'),
  categoriesUnknown: row(
    220001,
    404,
    'Some of the categories do not exist on the site. Nothing was changed. Check the ids.',
  ),
  objectsUnknown: row(220002, 404, 'Some of the objects do not exist on the site. Nothing was linked. Check the ids.'),
  objectUnknown: row(220002, 404, 'The site has no object with this id. Check the id.'),
  listTooLong: row(
    220003,
    400,
    'The list is too long to be filtered or sorted at once. Read it page by page with the parameter cursor.',
  ),
  siteUnauthorized: row(104023, 400, notCovered),
  loginAmbiguous: row(104004, 400, ambiguous),
  privilegesMissing: row(104003, 400, 'A right is missing, such as files:write. Ask an owner, or use another token.'),
  rightMissing: row(100403, 403, 'A right is missing, such as forms:write. Ask an owner, or use another token.'),
  rangeNotSatisfiable: row(
    100416,
    416,
    'The range is outside the file. Choose a range within the length that Content-Range gives.',
  ),
  storageRefused: row(104000, 400, 'The request is malformed. GET /docs shows what to send.'),
  fileUnknown: row(104001, 404, 'The site has no such file or folder. Check the path.'),
  notAFile: row(104002, 400, 'This path is a folder. Name a file in the folder.'),
  fileTooLarge: row(104005, 400, 'The file is too large. Send a smaller file.'),
  quotaExceeded: row(
    104005,
    400,
    'The quota of the site is used up. Remove files, or ask the operator for a larger quota.',
  ),
  regionNameInvalid: row(
    104006,
    400,
    'An editable region of the template has no name, or the name of another region. Give each region its own name.',
  ),
  tagOutsideRegions: row(
    104007,
    400,
    'No editable region contains {tag_pagecontent}. Move the tag into an editable region.',
  ),
  tagMissing: row(104008, 400, 'The template lacks {tag_pagecontent}. Put the tag where the content of pages belongs.'),
  pathUnknown: row(104009, 400, 'A parent of this path is a file. Choose another path, or remove that file.'),
  folderLocked: row(
    104010,
    400,
    'The folder is being removed or restored. Repeat the request when the removal or restore has ended.',
  ),
  workflowDeleted: row(104011, 400, 'The page has a running workflow. End the workflow before you delete the page.'),
  workflowUpdated: row(104012, 400, 'The page has a running workflow. End the workflow before you change the page.'),
  nameRequired: row(104014, 400, 'The file or folder has no name. Send a path with a name.'),
  urlInvalid: row(104015, 400, 'The path is not valid. Check its characters and its percent-encoding.'),
  nameTaken: row(104016, 400, 'Two files of the upload have the same name. Give each file its own name.'),
  folderUnknown: row(104019, 400, 'This path is a file. Choose a folder.'),
  folderReserved: row(
    104020,
    400,
    'This folder is reserved: you cannot delete, rename or move it. Choose another folder.',
  ),
  destinationExists: row(
    104022,
    400,
    'The name is taken. Choose another name, or delete the file or folder that has this name.',
  ),
  folderNotEmpty: row(104024, 403, 'The folder is not empty. Empty the folder first, or leave out force=false.'),
  checksumMismatch: row(104033, 400, 'The bytes do not match the checksum of the request. Send the bytes again.'),
  protocolVersionUnknown: row(
    100412,
    412,
    'This tus version is not supported. Use a version from the Tus-Version header.',
  ),
  uploadTooLarge: row(
    104005,
    413,
    'The upload is too large. Send OPTIONS: the header Tus-Max-Size of the answer is the limit in bytes.',
  ),
  offsetMismatch: row(
    104030,
    409,
    'Upload-Offset differs from the offset of the upload. Send HEAD to get the offset, then continue there.',
  ),
  uploadLocked: row(
    104031,
    423,
    'Another request is appending to the upload. Repeat your request after the time in the Retry-After header.',
  ),
  uploadUnknown: row(104032, 404, 'The upload does not exist, has ended or has expired. Create a new upload.'),
  chunkMismatch: row(
    104033,
    460,
    'The bytes do not match Upload-Checksum. No bytes were stored. Send the bytes again.',
  ),
  nameTooLong: row(104028, 400, 'The name of a file or folder is too long. Choose a shorter name.'),
}

export type ErrorName = keyof typeof errors

interface Details {
  readonly message?: string | undefined
  readonly problems?: readonly Problem[]
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: number
  readonly status: number
  readonly grantError: GrantError | undefined
  readonly problems: readonly Problem[]
  readonly headers: Readonly<Record<string, string>>

  constructor(name: ErrorName, details: Details = {}) {
    const definition: ErrorRow = errors[name]
    super(details.message ?? definition.message, { cause: details.cause })
    this.code = definition.code
    this.status = definition.status
    this.grantError = definition.grantError
    this.problems = details.problems ?? []
    this.headers = details.headers ?? {}
  }
}

export const tooManyRequests = (reason: string, secondsToWait: number): ServiceError =>
  new ServiceError('tooManyRequests', {
    message: `${reason} Repeat your request after the time in the Retry-After header.`,
    headers: { 'Retry-After': String(Math.ceil(secondsToWait)) },
  })

export const firstFault = ([{ path, message } = { path: '', message: '' }]: readonly Problem[]): string =>
  path ? `${path}: ${message}` : message

/** E-2: the first problem is the message; `problems` lists all problems. */
export const invalidInput = (name: ErrorName, problems: readonly Problem[]): ServiceError =>
  new ServiceError(name, problems.length === 0 ? {} : { message: firstFault(problems), problems })

/** The members of a log line for an error. */
export const describeError = (error: unknown): object => {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const { name, message, stack, cause } = error
  return { name, message, stack, ...(cause !== undefined && { cause: describeError(cause) }) }
}
