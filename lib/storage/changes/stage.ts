import { ServiceError } from '../../core/errors.ts'
import { contentTypeOf, isTemplate } from '../file-kind.ts'
import type { ObjectStore, Staged } from '../object-store.ts'
import { nameOf, type StoragePath } from '../path.ts'
import { createTemplateCheck } from '../template.ts'

export interface FileContent {
  readonly contentType: string | undefined
  readonly content: AsyncIterable<Uint8Array>
}

export const fileTooLarge = (limit: number): ServiceError =>
  new ServiceError('fileTooLarge', {
    message:
      `The file is larger than the ${limit} bytes allowed here in one request. ` +
      'Send it as a resumable upload (tus 1.0), in pieces of up to that size.',
  })

async function* inspected(
  content: AsyncIterable<Uint8Array>,
  path: StoragePath,
  largestFile: number,
): AsyncGenerator<Uint8Array> {
  const template = isTemplate(path) ? createTemplateCheck() : undefined
  let size = 0
  for await (const chunk of content) {
    size += chunk.length
    if (size > largestFile) throw fileTooLarge(largestFile)
    template?.write(chunk)
    yield chunk
  }
  const fault = template?.end()
  if (fault) throw new ServiceError(fault)
}

export interface StageDeps {
  readonly files: ObjectStore
  readonly largestFile: number
}

/** `key`: undefined while unknown. Errors: fileTooLarge, those of a template, those of the content. */
export const stageContent = (
  { files, largestFile }: StageDeps,
  path: StoragePath,
  key: string | undefined,
  { contentType, content }: FileContent,
): Promise<Staged> =>
  files.stage(inspected(content, path, largestFile), {
    key,
    contentType: contentTypeOf(nameOf(path), contentType),
  })
