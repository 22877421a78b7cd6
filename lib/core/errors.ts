export interface Problem {
  readonly path: string
  readonly message: string
}

const row = (code: number, status: number, message: string) => ({ code, status, message })

/** The contract fixes codes and statuses. A thrower may give a more precise message (E-1). */
export const errors = {
  tokenRejected: row(101000, 401, 'The token is missing, wrong or expired. Send a valid one in Authorization.'),
  siteUnknown: row(100002, 400, 'The token covers no such site. GET /api/v1/admin/sites lists its sites.'),
  siteAmbiguous: row(100002, 400, 'The token covers several sites. Put the numeric site id in place of "current".'),
  renderingEngineOff: row(109002, 403, "The site's new rendering engine is off. Ask the operator to enable it."),
  routeUnknown: row(100004, 404, 'This path does not exist. GET /docs lists the paths.'),
  methodNotAllowed: row(100005, 405, 'The path does not allow this method. The Allow header lists the methods.'),
  notAcceptable: row(100006, 406, 'No media type in Accept is available. Ask for application/json or application/xml.'),
  mediaTypeUnsupported: row(100015, 415, 'The media type of the body is not supported. GET /docs shows what to send.'),
  bodyTooLarge: row(100013, 413, 'The request body is too large. Split it into smaller requests.'),
  conditionFailed: row(100412, 412, 'The resource has changed: If-Match does not match. Read it again, then repeat.'),
  tooManyRequests: row(100429, 429, 'Too many requests. Repeat after the time in the Retry-After header.'),
  unavailable: row(100503, 503, 'The service is busy. Repeat after the time in the Retry-After header.'),
  outOfSpace: row(100507, 507, 'The disk is full. Nothing was changed. Free some space, then repeat.'),
  unexpected: row(100500, 500, 'The service failed unexpectedly. Report it with this request id.'),
  signInRefused: row(101001, 401, 'The name or the password is wrong, or the person may not sign in. Check both.'),
  invitationUnknown: row(101003, 404, 'The invitation is unknown, used or expired. Ask for a new one.'),
  personUnknown: row(101010, 404, 'The site has no such person. GET …/users lists its people.'),
  keyUnknown: row(101010, 404, 'The site has no such key. GET …/keys lists its keys.'),
  personTaken: row(101011, 409, 'The name is taken. Choose another one.'),
  lastOwner: row(101012, 409, 'This is the last owner of a site. Make another person an owner first.'),
  passwordWeak: row(101013, 400, 'The password is too weak. Choose one of 12 to 256 characters.'),
  accessMalformed: row(101002, 400, 'The request is malformed. GET /docs shows what to send.'),
  fieldsMalformed: row(115000, 400, 'The request body is malformed. GET /docs shows what to send.'),
  webFormUnknown: row(115001, 404, 'The site has no such web form. Check the id.'),
  fieldUnknown: row(115002, 404, 'The web form has no such system field. List its fields first.'),
  fieldTypeTaken: row(115006, 403, 'The web form already has a field of this type. Change or remove that one.'),
  categoriesMalformed: row(220000, 400, 'The request is malformed. GET /docs shows what to send.'),
  categoryUnknown: row(220001, 404, 'The site has no such category. Check the id.'),
  categoriesUnknown: row(220001, 404, 'The site lacks some of the categories. Nothing was changed. Check the ids.'),
  objectsUnknown: row(220002, 404, 'The site lacks some of the objects. Nothing was linked. Check the ids.'),
  objectUnknown: row(220002, 404, 'The site has no such object. Check the id.'),
  listTooLong: row(
    220003,
    400,
    'The list is too long to be filtered or sorted at once. Page through it with the parameter cursor.',
  ),
  siteUnauthorized: row(104023, 400, 'The token covers no such site. GET /api/v1/admin/sites lists its sites.'),
  loginAmbiguous: row(104004, 400, 'The token covers several sites. Put the numeric site id in place of "current".'),
  privilegesMissing: row(104003, 400, 'The token lacks a right, such as files:write. Use one that has it.'),
  rightMissing: row(100403, 403, 'The token lacks a right, such as forms:write. Use one that has it.'),
  rangeNotSatisfiable: row(100416, 416, 'The range is outside the file. Content-Range gives the length of the file.'),
  storageRefused: row(104000, 400, 'The request is malformed. GET /docs shows what to send.'),
  fileUnknown: row(104001, 404, 'The site has no such file or folder. Check the path.'),
  notAFile: row(104002, 400, 'This path is a folder. Name a file in it.'),
  fileTooLarge: row(104005, 400, 'The file is too large. Send a smaller one.'),
  quotaExceeded: row(104005, 400, 'The quota of the site is used up. Remove files, or ask the operator for more.'),
  regionNameInvalid: row(104006, 400, 'Two editable regions of the template share a name. Give each its own.'),
  tagOutsideRegions: row(104007, 400, 'No editable region contains {tag_pagecontent}. Move it into one of them.'),
  tagMissing: row(104008, 400, 'The template lacks {tag_pagecontent}. Put it where the content of pages goes.'),
  pathUnknown: row(104009, 400, 'A parent of this path is a file. Choose another path, or remove that file.'),
  folderLocked: row(104010, 400, 'The folder is being removed or restored. Repeat when that is done.'),
  workflowDeleted: row(104011, 400, 'The page has a running workflow. End it before you delete or rename the page.'),
  workflowUpdated: row(104012, 400, 'The page has a running workflow. End it before you change the page.'),
  nameRequired: row(104014, 400, 'The file has no name. Give it one.'),
  urlInvalid: row(104015, 400, 'The path is not valid. Check its characters and their encoding.'),
  nameTaken: row(104016, 400, 'Two files of the upload have the same name. Give each its own.'),
  folderUnknown: row(104019, 400, 'This path is a file. Choose a folder.'),
  folderReserved: row(104020, 400, 'This folder is reserved. You cannot delete, rename or move it.'),
  destinationExists: row(
    104022,
    400,
    'The name is taken. Choose another one, or delete the file or folder that has it.',
  ),
  folderNotEmpty: row(104024, 403, 'The folder is not empty. Empty it first, or leave out force=false.'),
  checksumMismatch: row(104033, 400, 'The bytes do not match the checksum of the request. Send them again.'),
  protocolVersionUnknown: row(100412, 412, 'This tus version is not supported. Tus-Version lists those that are.'),
  uploadTooLarge: row(104005, 413, 'The upload is too large. Tus-Max-Size in the answer to OPTIONS is the limit.'),
  offsetMismatch: row(
    104030,
    409,
    'Upload-Offset differs from the offset of the upload. Ask for that with HEAD, then continue there.',
  ),
  uploadLocked: row(104031, 423, 'Another request is appending. Repeat after the time in the Retry-After header.'),
  uploadUnknown: row(104032, 404, 'The upload does not exist, has ended or has expired. Create a new one.'),
  chunkMismatch: row(104033, 460, 'The bytes do not match Upload-Checksum. None were stored: send them again.'),
  nameTooLong: row(104028, 400, 'A file or folder name is too long. Choose a shorter one.'),
}

export type ErrorName = keyof typeof errors

interface Details {
  readonly message?: string
  readonly problems?: readonly Problem[]
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: number
  readonly status: number
  readonly problems: readonly Problem[]
  readonly headers: Readonly<Record<string, string>>

  constructor(name: ErrorName, details: Details = {}) {
    const definition = errors[name]
    super(details.message ?? definition.message, { cause: details.cause })
    this.code = definition.code
    this.status = definition.status
    this.problems = details.problems ?? []
    this.headers = details.headers ?? {}
  }
}

/** E-2: the first problem is the message; `problems` lists all. */
export const invalidInput = (name: ErrorName, problems: readonly Problem[]): ServiceError => {
  const [first] = problems
  if (!first) return new ServiceError(name)
  return new ServiceError(name, {
    message: first.path ? `${first.path}: ${first.message}` : first.message,
    problems,
  })
}
