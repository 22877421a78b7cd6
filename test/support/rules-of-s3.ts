import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { answer, bytesIn, type S3Request, xmlIn } from './s3-messages.ts'
import { allOf, tag, textIn } from './s3-xml.ts'

/**
 * Rules of S3 for uploads in parts, which emulators do not enforce: parts have numbers without gaps, all but the last
 * have at least 5 MiB, and all calls use one checksum algorithm ("Checking object integrity" and "Multipart upload
 * limits" in the user guide).
 */
const smallestPart = 5 * 1024 * 1024

interface Part {
  readonly size: number
  readonly checksum: string | undefined
}

interface Upload {
  readonly algorithm: string | undefined
  readonly parts: Map<number, Part>
}

type Answer = ReturnType<typeof answer>

const refusal = (code: string, message: string): Answer =>
  answer(400, { 'content-type': 'application/xml' }, `<Error>${tag('Code', code)}${tag('Message', message)}</Error>`)

const textOf = async ({ body }: Answer): Promise<string> => Buffer.concat(await body.toArray()).toString()

/** The reason why S3 would refuse to join these parts. Undefined if it would join them. */
const faultIn = ({ algorithm, parts }: Upload, xml: string): Answer | undefined => {
  const chosen = allOf(xml, 'Part')
  if (chosen.length === 0) return refusal('MalformedXML', 'The upload has no part')
  for (const [index, one] of chosen.entries()) {
    const number = Number(textIn(one, 'PartNumber'))
    const part = parts.get(number)
    if (number !== index + 1) return refusal('InvalidPartOrder', `Part ${number} comes where ${index + 1} is expected`)
    if (!part) return refusal('InvalidPart', `The upload has no part ${number}`)
    if (index < chosen.length - 1 && part.size < smallestPart) {
      return refusal('EntityTooSmall', `Part ${number} has ${part.size} bytes, and is not the last part`)
    }
    if (algorithm && textIn(one, `Checksum${algorithm}`) !== part.checksum) {
      return refusal(
        'InvalidRequest',
        `The upload was created using a ${algorithm} checksum, which part ${number} lacks`,
      )
    }
  }
  return undefined
}

/** Enforces these rules on the clients of a bucket, and returns the checksums of parts as S3 does. */
export const createRulesOfS3 = () => {
  const uploads = new Map<string, Upload>()

  /** Remembers the part, or returns the reason why S3 would refuse it. */
  const takePart = (upload: Upload, request: S3Request): Answer | undefined => {
    const isDigested = request.headers['x-amz-checksum-sha256'] !== undefined
    const named = request.headers['x-amz-sdk-checksum-algorithm'] ?? (isDigested ? 'SHA256' : undefined)
    if (named !== upload.algorithm) {
      return refusal('InvalidRequest', `Checksum Type mismatch: expected ${upload.algorithm}, actual ${named}`)
    }
    const checksum = named && request.headers[`x-amz-checksum-${named.toLowerCase()}`]
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers['x-amz-copy-source-range'] ?? '') ?? []
    const size = last === undefined ? bytesIn(request).length : Number(last) + 1 - Number(first)
    upload.parts.set(Number(request.query?.['partNumber']), { size, checksum })
    return undefined
  }

  const refusalOf = ({ algorithm, parts }: Upload, request: S3Request): Answer | undefined => {
    if (request.method === 'PUT') return takePart({ algorithm, parts }, request)
    return request.method === 'POST' ? faultIn({ algorithm, parts }, xmlIn(request)) : undefined
  }

  /** S3 includes the checksum of each part in listings. */
  const withChecksums = async ({ algorithm, parts }: Upload, listed: Answer): Promise<Answer> => {
    const xml = (await textOf(listed)).replaceAll(/<Part>.*?<\/Part>/gs, (one) => {
      const { checksum } = parts.get(Number(textIn(one, 'PartNumber'))) ?? {}
      const isComplete = !algorithm || one.includes(`<Checksum${algorithm}>`)
      return isComplete || !checksum ? one : one.replace('</Part>', `${tag(`Checksum${algorithm}`, checksum)}</Part>`)
    })
    const { 'content-length': _, ...headers } = listed.headers
    return { ...listed, headers, body: Readable.from([Buffer.from(xml)]) }
  }

  const asS3Answers = (upload: Upload, request: S3Request, response: Answer): Answer | Promise<Answer> => {
    if (response.statusCode !== 200) return response
    if (request.method === 'GET') return withChecksums(upload, response)
    const { checksum } = upload.parts.get(Number(request.query?.['partNumber'])) ?? {}
    if (request.method !== 'PUT' || !checksum) return response
    const name = `x-amz-checksum-${upload.algorithm?.toLowerCase()}`
    return { ...response, headers: { ...response.headers, [name]: checksum } }
  }

  const noteCreated = async (request: S3Request, response: Answer): Promise<Answer> => {
    const xml = await textOf(response)
    const id = textIn(xml, 'UploadId')
    if (id) uploads.set(id, { algorithm: request.headers['x-amz-checksum-algorithm'], parts: new Map() })
    return { ...response, body: Readable.from([Buffer.from(xml)]) }
  }

  const handle = async (request: S3Request, send: () => Promise<Answer>): Promise<Answer> => {
    if (request.method === 'POST' && request.query?.['uploads'] !== undefined) return noteCreated(request, await send())
    const upload = uploads.get(String(request.query?.['uploadId']))
    if (!upload) return send()
    return refusalOf(upload, request) ?? asS3Answers(upload, request, await send())
  }

  return {
    /** The same client, with these rules enforced. */
    hold(client: S3Client): S3Client {
      const { requestHandler } = client.config
      const send = requestHandler.handle.bind(requestHandler)
      client.config.requestHandler = new Proxy(requestHandler, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name)
          if (name !== 'handle') return typeof member === 'function' ? member.bind(target) : member
          return async (request: Parameters<typeof send>[0], options: Parameters<typeof send>[1]) => ({
            response: await handle(request, async () => (await send(request, options)).response),
          })
        },
      })
      return client
    },
  }
}
