/** One thing that is wrong with a request: where (`items[3].objectId`), and what to do about it. */
export interface Problem {
  readonly path: string
  readonly message: string
}

interface ErrorDefinition {
  readonly code: number
  readonly status: number
  readonly message: string
}

/**
 * Every error that the service answers with. Codes and statuses are fixed by the contract (api.md, "Errors";
 * decisions.md, section 2); a message may be replaced by a more precise one where the error is thrown.
 */
export const errors = {
  tokenRejected: {
    code: 101000,
    status: 401,
    message: 'The token is missing, wrong, expired or revoked. Send a valid token in the Authorization header.',
  },
  siteUnknown: {
    code: 100002,
    status: 400,
    message:
      'The token does not cover this site, or there is no such site. GET /api/v1/admin/sites lists those it covers.',
  },
  siteAmbiguous: {
    code: 100002,
    status: 400,
    message: 'The token covers several sites, so "current" is ambiguous. Put the numeric site id in the path.',
  },
  renderingEngineOff: {
    code: 109002,
    status: 403,
    message:
      'This operation needs the new rendering engine, which is not enabled on the site. Ask whoever runs the service.',
  },
  routeUnknown: {
    code: 100004,
    status: 404,
    message: 'There is nothing at this path. GET /docs shows the paths that there are.',
  },
  methodNotAllowed: {
    code: 100005,
    status: 405,
    message: 'This method is not allowed here. The Allow header lists those that are.',
  },
  notAcceptable: {
    code: 100006,
    status: 406,
    message:
      'None of the media types in the Accept header can be produced. Ask for application/json or application/xml.',
  },
  mediaTypeUnsupported: {
    code: 100015,
    status: 415,
    message:
      'The media type of the request body is not supported here. Send one that GET /docs shows for this request.',
  },
  bodyTooLarge: {
    code: 100013,
    status: 413,
    message: 'The request body is larger than allowed here. Send less at once.',
  },
  conditionFailed: {
    code: 100412,
    status: 412,
    message: 'The resource has changed since it was read: If-Match does not hold. Read it again, then repeat.',
  },
  tooManyRequests: {
    code: 100429,
    status: 429,
    message: 'Too many requests. Repeat this one after the time in the Retry-After header.',
  },
  unavailable: {
    code: 100503,
    status: 503,
    message: 'The service is busy. Repeat the request after the time in the Retry-After header.',
  },
  outOfSpace: {
    code: 100507,
    status: 507,
    message: 'The disk is full, so nothing was changed. Reading goes on. Repeat the request when there is room again.',
  },
  unexpected: {
    code: 100500,
    status: 500,
    message: 'Something unexpected went wrong. Quote the request id when reporting it.',
  },
  fieldsMalformed: {
    code: 115000,
    status: 400,
    message: 'The request body is malformed. Send it as GET /docs shows it.',
  },
  webFormUnknown: { code: 115001, status: 404, message: 'There is no such web form on this site. Check its id.' },
  fieldUnknown: {
    code: 115002,
    status: 404,
    message: 'The web form has no such system field. List its fields to see those that it has.',
  },
  fieldTypeTaken: {
    code: 115006,
    status: 403,
    message: 'The web form already has a system field of this type. Change that one, or remove it first.',
  },
  categoriesMalformed: {
    code: 220000,
    status: 400,
    message: 'The request is malformed. Send it as GET /docs shows it.',
  },
  categoryUnknown: { code: 220001, status: 404, message: 'There is no such category on this site. Check its id.' },
  categoriesUnknown: {
    code: 220001,
    status: 404,
    message: 'One or more of the categories do not exist on this site. Nothing was changed. Check their ids.',
  },
  objectsUnknown: {
    code: 220002,
    status: 404,
    message: 'One or more of the objects do not exist on this site. Nothing was linked. Check their ids.',
  },
  objectUnknown: { code: 220002, status: 404, message: 'There is no such object on this site. Check its id.' },
  listTooLong: {
    code: 220003,
    status: 400,
    message: 'The list is too long to be filtered or sorted as a whole. Page through it with cursor.',
  },
  siteUnauthorized: {
    code: 104023,
    status: 400,
    message:
      'The token does not cover this site, or there is no such site. GET /api/v1/admin/sites lists those it covers.',
  },
  loginAmbiguous: {
    code: 104004,
    status: 400,
    message: 'The token covers several sites, so "current" is ambiguous. Put the numeric site id in the path.',
  },
  privilegesMissing: {
    code: 104003,
    status: 400,
    message: 'The token lacks the permission "Can use SFTP & File Manager". Use a token that has it.',
  },
  rangeNotSatisfiable: {
    code: 100416,
    status: 416,
    message: 'The range lies outside the file. Content-Range says how long that is.',
  },
  storageRefused: {
    code: 104000,
    status: 400,
    message: 'The request to the file storage is malformed. Send it as GET /docs shows it.',
  },
  fileUnknown: { code: 104001, status: 404, message: 'There is no such file or folder on this site. Check the path.' },
  notAFile: { code: 104002, status: 400, message: 'This is a folder, and no file. Name a file in it.' },
  fileTooLarge: { code: 104005, status: 400, message: 'The file is larger than allowed here.' },
  regionNameInvalid: {
    code: 104006,
    status: 400,
    message: 'Each editable region of a template needs a name of its own.',
  },
  tagOutsideRegions: {
    code: 104007,
    status: 400,
    message: 'None of the editable regions of the template holds {tag_pagecontent}. Put it into one of them.',
  },
  tagMissing: {
    code: 104008,
    status: 400,
    message: 'The template does not hold {tag_pagecontent}. Put it where the content of pages goes.',
  },
  pathUnknown: {
    code: 104009,
    status: 400,
    message: 'This path cannot be: a folder on the way is a file. Choose another path, or remove that file first.',
  },
  folderGoing: {
    code: 104010,
    status: 400,
    message: 'The folder is being deleted. Repeat the request when that is done.',
  },
  workflowDeleted: {
    code: 104011,
    status: 400,
    message: 'A page with a running workflow cannot be deleted or renamed. End the workflow first.',
  },
  workflowUpdated: {
    code: 104012,
    status: 400,
    message: 'The page has a running workflow, so it cannot be changed. End the workflow first.',
  },
  nameRequired: { code: 104014, status: 400, message: 'A name is required. Give the file one.' },
  urlInvalid: {
    code: 104015,
    status: 400,
    message: 'The path is not valid. Check its characters, and how they are encoded.',
  },
  nameTaken: { code: 104016, status: 400, message: 'Each file of an upload needs a name of its own.' },
  folderUnknown: {
    code: 104019,
    status: 400,
    message: 'There is no such folder: the path names a file. Choose a folder.',
  },
  folderReserved: {
    code: 104020,
    status: 400,
    message: 'This folder is reserved and cannot be deleted, renamed or moved.',
  },
  destinationExists: {
    code: 104022,
    status: 400,
    message: 'There is something of that name already. Choose another name, or remove it first.',
  },
  folderNotEmpty: {
    code: 104024,
    status: 403,
    message: 'The folder is not empty. Delete what it holds first, or leave out force=false.',
  },
  checksumMismatch: {
    code: 104033,
    status: 400,
    message: 'The bytes that have come are not those that the checksum in the request is of. Send them again.',
  },
  protocolVersionUnknown: {
    code: 100412,
    status: 412,
    message: 'This version of the upload protocol is not spoken here. Tus-Version lists those that are.',
  },
  uploadTooLarge: {
    code: 104005,
    status: 413,
    message: 'The upload is larger than allowed here. Tus-Max-Size in the answer to OPTIONS says how large one may be.',
  },
  offsetMismatch: {
    code: 104030,
    status: 409,
    message: 'The upload is not at this offset. Ask for its offset, then go on from there.',
  },
  appendGoing: {
    code: 104031,
    status: 423,
    message: 'Another request is adding to this upload. Repeat this one after the time in the Retry-After header.',
  },
  uploadUnknown: {
    code: 104032,
    status: 404,
    message: 'There is no such upload: it has ended, has expired, or never was. Begin a new one.',
  },
  chunkMismatch: {
    code: 104033,
    status: 460,
    message:
      'The bytes that have come are not those that Upload-Checksum is of. Nothing of them was kept: send them again.',
  },
  nameTooLong: { code: 104028, status: 400, message: 'A file or folder name is too long. Choose a shorter one.' },
} as const satisfies Record<string, ErrorDefinition>

export type ErrorName = keyof typeof errors

interface Details {
  readonly message?: string
  readonly problems?: readonly Problem[]
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/** The one error that the domain throws: a row of the table, with what is special about this occurrence. */
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

/** The error for input with several faults: the first one is its message, `problems` lists all of them. */
export const invalidInput = (name: ErrorName, problems: readonly Problem[]): ServiceError => {
  const [first] = problems
  if (!first) return new ServiceError(name)
  return new ServiceError(name, {
    message: first.path ? `${first.path}: ${first.message}` : first.message,
    problems,
  })
}
